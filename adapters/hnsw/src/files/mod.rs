//! What a collection is kept in: a snapshot, and a log of the writes since.
//!
//! Both are made of the same frames, each with a checksum. A collection's snapshot names its
//! generation; a log and a saved graph belong to one generation. A save writes everything of the
//! next generation beside what is there, and the rename of the snapshot is the moment it counts.

pub(crate) mod bytes;
pub(crate) mod change;
pub(crate) mod frame;
pub(crate) mod generation;
pub(crate) mod identity;
pub(crate) mod layout;
pub(crate) mod log;
pub(crate) mod snapshot;
