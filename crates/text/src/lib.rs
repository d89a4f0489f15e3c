#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc = include_str!("../README.md")]

mod accents;
#[cfg(feature = "splitters")]
mod blocks;
mod fold;
#[cfg(feature = "splitters")]
mod grapheme;
mod invisible;
mod plain;
mod runs;
mod script;
#[cfg(feature = "splitters")]
mod sentence;
#[cfg(feature = "splitters")]
mod snippet;
mod span;
#[cfg(feature = "splitters")]
mod split;
mod turns;
mod width;
#[cfg(feature = "splitters")]
mod word_places;
mod words;

#[cfg(feature = "splitters")]
pub use blocks::{Block, BlockKind, markdown_blocks, plain_blocks};
pub use runs::InWord;
#[cfg(feature = "splitters")]
pub use snippet::{Highlight, Highlighter, Snippet, SnippetAround, snippet_around};
pub use span::Span;
#[cfg(feature = "splitters")]
pub use split::{
    Boundaries, ByHeading, ByHeadingOptions, ByParagraph, ByParagraphOptions, Document,
    DocumentPiece, FixedWithOverlap, FixedWithOverlapOptions, Pages, Piece, SplitError, Splitter,
    WholeDocument, fixed, split_documents, structure,
};
pub use turns::{ChunkTurns, Turn, TurnPassage, TurnPlace, chunk_turns, is_blank};
#[cfg(feature = "splitters")]
pub use word_places::WordPlaces;
pub use words::{WordRule, is_prefix, lexical_tokens};
