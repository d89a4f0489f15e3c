#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod cursor;
mod filter;
mod postings;
mod rows;
mod words;

pub use cursor::{cursor_at, key_of};
pub use roaring::RoaringBitmap;
pub use rows::{Row, Rows, RowsOptions, Slot};
pub use shelfward_dense::Stop;
