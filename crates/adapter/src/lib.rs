#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod cancel;
pub mod catalog;
pub mod error;
pub mod filter;
pub mod handle;
mod setters;
pub mod sql;
pub mod sync;
pub mod url;
