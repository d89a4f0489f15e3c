#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod filter;
mod mem_table;
mod postings;
mod read;
mod row_id;
mod word_index;
mod write_batch;

pub use mem_table::{MemTable, MemTableOptions, Row};
pub use roaring::RoaringBitmap;
pub use row_id::RowId;
pub use shelfward_dense::CancelFlag;
pub use write_batch::WriteBatch;
