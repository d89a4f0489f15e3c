use shelfward_adapter::error::invalid;
use shelfward_adapter::url::UrlOptions;
use shelfward_core::{Operation, Result, StoreError};

use crate::{SqliteOptions, SqliteStore};

/// A store from what stands behind `sqlite:` in a URL: a path or `:memory:`, and options behind a
/// question mark.
///
/// ```
/// # fn main() -> Result<(), shelfward_core::StoreError> {
/// let store = shelfward_sqlite::connect(":memory:?max_bytes=1000000")?;
/// assert!(shelfward_sqlite::connect(":memory:?readers=2").is_err());
/// # Ok(())
/// # }
/// ```
///
/// The path is taken as it stands, without any decoding. One with a question mark in it is opened by
/// [`SqliteStore::open`]. The README lists the options.
///
/// # Errors
/// [`ErrorKind::Invalid`](shelfward_core::ErrorKind::Invalid) for an unknown option or an invalid value, and
/// those of [`SqliteStore::open`].
pub fn connect(rest: &str) -> Result<SqliteStore> {
    let refused = |kind| StoreError::new(Operation::Connect, kind);
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    };
    let given = UrlOptions::parse(query).map_err(refused)?;
    let options: SqliteOptions = given.read(&[]).map_err(refused)?;
    match path {
        "" => Err(refused(invalid(
            "a path or :memory: is due behind sqlite:, as in sqlite:library.db",
        ))),
        ":memory:" => {
            let mut others = given;
            others.take(&["max_bytes"]);
            if !others.is_empty() {
                return Err(refused(invalid(
                    "a store in memory has no option but max_bytes",
                )));
            }
            SqliteStore::in_memory_with(options)
        }
        path if path.starts_with(':') => Err(refused(invalid(
            "of names that begin with a colon, this store knows :memory: alone",
        ))),
        // Others write a host there, or nothing.
        path if path.starts_with("//") => Err(refused(invalid(
            "the path stands right behind sqlite:, as in sqlite:library.db or sqlite:/srv/library.db",
        ))),
        path => SqliteStore::open(path, options),
    }
}
