#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc = include_str!("../README.md")]

mod fold;
mod plain;
mod runs;
mod script;
mod span;
mod turns;
mod words;

pub use span::Span;
pub use turns::{ChunkTurns, Turn, TurnPassage, TurnPlace, chunk_turns};
pub use words::{WordRule, lexical_tokens};
