//! What a document is made of.

mod clause;
pub(crate) mod fence;
pub(crate) mod headings;
pub(crate) mod lines;
pub(crate) mod markdown;
mod plain;

pub use markdown::markdown_blocks;
pub use plain::plain_blocks;

use crate::span::Span;
use serde::{Deserialize, Serialize};

/// What a block is to its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BlockKind {
    /// A title; its level is 1 for the highest, up to 9.
    Heading(u8),
    /// A paragraph, or code.
    Text,
    /// An entry of a list.
    Item,
    /// The head of a table, which names its columns.
    TableHead,
    /// Another row of a table.
    Row,
}

/// A part of a document that is whole by itself.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its text: that of a Markdown heading without its signs, any other as it stands, without
    /// white space at its ends.
    pub text: String,
    /// Where it stands in the text that it was read from, signs included, in byte offsets; `None`
    /// for a block of a file that is no text.
    pub span: Option<Span>,
}

/// Shows kind and sizes, never text.
impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Block")
            .field("kind", &self.kind)
            .field("bytes", &self.text.len())
            .field("span", &self.span)
            .finish()
    }
}
