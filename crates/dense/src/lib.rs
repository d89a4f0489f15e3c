#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod bound;
mod exact;
mod line;
mod matrix;
mod nearest;
mod quantized;
mod simd;
mod stop;
#[cfg(test)]
mod tests;
mod top;

pub use matrix::Matrix;
pub use nearest::Among;
pub use simd::{Instructions, instructions, squared_distance};
pub use stop::Stop;
