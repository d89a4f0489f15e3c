#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc = include_str!("../README.md")]

mod fold;
#[cfg(feature = "splitters")]
mod grapheme;
mod plain;
mod runs;
mod script;
#[cfg(feature = "splitters")]
mod snippet;
mod span;
mod turns;
mod words;

#[cfg(feature = "splitters")]
pub use snippet::{Snippet, SnippetAround, snippet_around};
pub use span::Span;
pub use turns::{ChunkTurns, Turn, TurnPassage, TurnPlace, chunk_turns};
pub use words::{WordRule, lexical_tokens};
