#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod capabilities;
mod collection;
mod config;
mod state;
mod store;

pub use config::MemoryOptions;
pub use store::MemoryStore;
