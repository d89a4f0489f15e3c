#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod answers;
mod capabilities;
mod collection;
mod config;
mod connect;
mod error;
mod files;
mod home;
mod index;
mod job;
mod record_mapping;
mod shelf;
mod store;

pub use config::{HnswOptions, PlannerCosts};
pub use connect::connect;
pub use store::{GraphReport, HnswStore};
