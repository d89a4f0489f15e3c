//! The other side.

pub(crate) mod minisearch;
pub(crate) mod sqlite;
pub(crate) mod tantivy;
