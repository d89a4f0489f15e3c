use std::time::Duration;

use shelfward_core::{ErrorKind, Operation, Result, StoreError};

use crate::{SqliteOptions, SqliteStore, Synchronous};

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
/// [`ErrorKind::Invalid`] for an option that there is not or a value that it does not take, and
/// those of [`SqliteStore::open`].
pub fn connect(rest: &str) -> Result<SqliteStore> {
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    };
    let mut options = SqliteOptions::default();
    let mut seen = Vec::new();
    for pair in query.into_iter().flat_map(|query| query.split('&')) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if seen.contains(&name) {
            return Err(refused("an option is given twice; give each once"));
        }
        seen.push(name);
        set(&mut options, name, value)?;
    }
    match path {
        "" => Err(refused(
            "a path or :memory: is due behind sqlite:, as in sqlite:library.db",
        )),
        ":memory:" if seen.iter().any(|name| *name != "max_bytes") => {
            Err(refused("a store in memory has no option but max_bytes"))
        }
        ":memory:" => SqliteStore::in_memory_with(options),
        path if path.starts_with(':') => Err(refused(
            "of names that begin with a colon, this store knows :memory: alone",
        )),
        // Others write a host there, or nothing.
        path if path.starts_with("//") => Err(refused(
            "the path stands right behind sqlite:, as in sqlite:library.db or sqlite:/srv/library.db",
        )),
        path => SqliteStore::open(path, options),
    }
}

fn set(options: &mut SqliteOptions, name: &str, value: &str) -> Result<()> {
    match name {
        "create" => options.create = truth(value, "create takes true or false")?,
        "read_only" => options.read_only = truth(value, "read_only takes true or false")?,
        "verify_on_open" => {
            options.verify_on_open = truth(value, "verify_on_open takes true or false")?;
        }
        "synchronous" => {
            options.synchronous = match value {
                "full" => Synchronous::Full,
                "normal" => Synchronous::Normal,
                _ => return Err(refused("synchronous takes full or normal")),
            }
        }
        "busy_timeout_ms" => {
            let millis = number(value, "busy_timeout_ms takes a number of milliseconds")?;
            options.busy_timeout = Duration::from_millis(millis);
        }
        "max_bytes" => {
            options.max_bytes = Some(number(value, "max_bytes takes a number of bytes")?);
        }
        "readers" => {
            options.readers = usize::try_from(number(value, "readers takes a number")?)
                .map_err(|_| refused("readers takes a smaller number"))?;
        }
        _ => {
            return Err(refused(
                "there is no such option; there are create, read_only, synchronous, \
                 busy_timeout_ms, verify_on_open, max_bytes and readers",
            ));
        }
    }
    Ok(())
}

fn truth(value: &str, expected: &'static str) -> Result<bool> {
    value.parse().map_err(|_| refused(expected))
}

fn number(value: &str, expected: &'static str) -> Result<u64> {
    value.parse().map_err(|_| refused(expected))
}

fn refused(expected: &str) -> StoreError {
    StoreError::new(Operation::Connect, ErrorKind::Invalid(expected.to_owned()))
}
