#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod collection;
mod durable;
mod fault;
mod filter_semantics;
mod legs;
mod lexical;
mod lost_writes;
mod old_records;
mod query_parsing;
mod records;
mod remote;
mod scans;
mod search;
mod store;

pub use durable::DurableStore;
pub use fault::{Fault, KEPT_BY_THE_HANDLE};
pub use legs::{in_one_state, partition_only, search_one};
pub use remote::{RemoteServer, RemoteStore};
pub use store::FaultyStore;
