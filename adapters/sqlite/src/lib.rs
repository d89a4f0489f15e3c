#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod cache;
mod capabilities;
mod collection;
mod config;
mod connect;
mod database;
mod database_file;
mod error;
mod file;
mod handle;
mod reads;
mod record_mapping;
mod schema;
mod search;
mod store;
mod writes;

pub use config::{SqliteOptions, Synchronous};
pub use connect::connect;
pub use store::SqliteStore;
