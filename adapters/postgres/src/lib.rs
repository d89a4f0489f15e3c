#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod capabilities;
mod catalog;
mod collection;
mod commits;
mod config;
mod connect;
mod context;
mod copy;
mod ddl;
mod error;
mod extension;
mod filter_translation;
mod identifier;
mod insert;
mod introspect;
mod locks;
mod metadata_json;
mod names;
mod open_store;
mod params;
mod pieces;
mod reads;
mod record_mapping;
mod row_level_security;
mod schema;
mod search;
mod server;
mod store;
mod transaction;
mod words;
mod writes;

pub use config::{PostgresOptions, VectorIndex};
pub use connect::connect;
pub use identifier::Identifier;
pub use row_level_security::Reader;
pub use store::PostgresStore;
pub use words::text_search_query;
