#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc = include_str!("../README.md")]

mod bm25;
pub mod fuzzy;
mod index;
pub mod inverted;
mod tokenizer;

pub use bm25::{Bm25, Bm25Error};
pub use index::{AddError, Document, Hit, LexicalIndex, Part, SavedError, SearchOptions, Stats};
pub use inverted::{Full, TooManyExpansions};
pub use tokenizer::{Tokenizer, TokenizerFn};
