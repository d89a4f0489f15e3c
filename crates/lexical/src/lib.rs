#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc = include_str!("../README.md")]

mod bm25;
mod bm25_index;
pub mod fuzzy;
pub mod hybrid;
mod index;
pub mod inverted;
mod partitioned;
mod tokenizer;

pub use bm25::{Bm25, Bm25Error};
pub use bm25_index::{Bm25Index, Bm25Tokenizer, Stemmer, StopWords};
pub use index::{
    AddError, BytesError, Document, Hit, LexicalIndex, OtherWordRule, Part, SavedError,
    SearchOptions, Stats,
};
pub use inverted::{Full, TooManyExpansions};
pub use partitioned::{PartitionSearch, PartitionedIndex};
pub use tokenizer::{Tokenizer, TokenizerFn};
