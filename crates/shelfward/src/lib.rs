#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod connect;

pub use connect::{ConnectError, connect};

pub use shelfward_core::*;
/// Words, and transcripts cut into passages.
pub use shelfward_text as text;

/// The in-memory store.
#[cfg(feature = "memory")]
pub use shelfward_memory as memory;

// Pages outside of this crate, whose samples must compile too. A published crate does not have them.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
