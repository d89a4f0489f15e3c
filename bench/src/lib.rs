#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod benchmark;
pub mod material;
pub mod options;
pub mod process;
pub mod report;
pub mod rounds;
pub mod vectors;
