#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod capabilities;
mod collection;
mod config;
mod connect;
mod error;
mod files;
mod index;
mod jobs;
mod open_store;
mod record_mapping;
mod search;
mod state;
mod store;
mod store_dir;
mod store_handle;

pub use config::{HnswOptions, PlannerCosts};
pub use connect::connect;
pub use store::{GraphReport, HnswStore};
