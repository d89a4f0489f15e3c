//! The files of a collection: a snapshot, and a log of the writes since.
//!
//! Both are made of the same frames, each with a checksum. A collection's snapshot names its
//! generation; a log and a saved graph belong to one generation. A save writes everything of the
//! next generation beside what is there, and the rename of the snapshot is the moment it counts.

pub(crate) mod codec;
pub(crate) mod file_identity;
pub(crate) mod frame;
pub(crate) mod generation;
pub(crate) mod layout;
pub(crate) mod log;
pub(crate) mod log_entry;
pub(crate) mod snapshot;
