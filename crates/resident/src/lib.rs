#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod filter;
mod postings;
mod rows;
mod words;

pub use roaring::RoaringBitmap;
pub use rows::{Changes, Row, Rows, RowsOptions, Slot};
pub use shelfward_dense::Stop;
