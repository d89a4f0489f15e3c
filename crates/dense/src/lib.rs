#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod bound;
mod cancel;
mod exact;
mod line;
mod matrix;
mod nearest;
mod quantized;
mod simd;
#[cfg(test)]
mod tests;
mod top;

pub use cancel::CancelFlag;
pub use matrix::Matrix;
pub use nearest::Candidates;
pub use simd::{Instructions, instructions, squared_distance};
