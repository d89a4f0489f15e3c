//! What a document is made of.

mod fence;
pub(crate) mod headings;
mod lines;
