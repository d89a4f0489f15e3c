//! A second process on the same store: what it is told to do, how it does it, and how it is had.
//!
//! The suite begins its own program again. `run_tests` finds a place in the environment there, opens
//! the store at it, and does what it reads from its input, a line of JSON for each task, until the
//! input ends or it is killed.

mod peer;
mod serve;
pub(crate) mod stream;
mod task;

pub(crate) use peer::{Peer, Processes};
pub use serve::this_process;
pub(crate) use serve::{child_place, serve_child, write_source};
pub(crate) use stream::Stream;
pub(crate) use task::{Failure, PASSAGES, Reply, Task, Write, letter_source};
