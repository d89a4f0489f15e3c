#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc = include_str!("../README.md")]

mod accents;
mod blocks;
mod fold;
mod grapheme;
mod invisible;
mod plain;
mod runs;
mod script;
mod sentence;
mod snippet;
mod span;
mod split;
mod turns;
mod width;
mod word_places;
mod words;

pub use blocks::{Block, BlockKind, markdown_blocks, plain_blocks};
pub use runs::InWord;
pub use snippet::{Highlight, Highlighter, Snippet, SnippetAround, snippet_around};
pub use span::Span;
pub use split::{
    Boundaries, ByHeading, ByHeadingOptions, ByParagraph, ByParagraphOptions, Document,
    DocumentPiece, FixedWithOverlap, FixedWithOverlapOptions, Pages, Piece, SplitError, Splitter,
    WholeDocument, fixed, split_documents, structure,
};
pub use turns::{ChunkTurns, Turn, TurnPassage, TurnPlace, chunk_turns, is_blank};
pub use word_places::WordPlaces;
pub use words::{WordRule, is_prefix, lexical_tokens};
