//! A store behind a server, both of them here: what the suite's cases of servers are tested on.
//!
//! The connections are real. What goes over them is the number of a job, which the client has laid
//! on a queue that both can reach, and there it finds the answer.

mod client;
mod collection;
mod server;

pub use client::RemoteStore;
pub use server::RemoteServer;
