#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod bm25;
mod case;
mod cases;
mod check;
mod context;
mod damage;
mod embedder;
mod fixture;
mod gaps;
mod harness;
#[doc(hidden)]
pub mod layer;
mod library;
mod oracle;
mod process;
mod proxy;
pub mod report;
mod server;
mod store;
mod suite;
mod sweep;
mod verdict;

pub use case::{Case, CaseInfo};
pub use damage::{Damage, damage_files};
pub use embedder::TableEmbedder;
pub use gaps::{GapsError, KnownGap, KnownGaps};
pub use harness::{could_not_begin, not_run, run_tests};
#[doc(hidden)]
pub use process::this_process;
pub use server::{CrashableServer, Server};
pub use store::StoreUnderTest;
pub use suite::{DEFAULT_SEED, Selection, Suite};
pub use verdict::{Finding, Verdict};

// The page of the book, whose samples must compile. A published crate does not have it.
#[cfg(doctest)]
#[doc = include_str!("../../docs/conformance.md")]
mod page {}
