#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod config;
mod error;
mod files;
mod index;
mod record_mapping;

pub use config::{HnswOptions, PlannerCosts};
