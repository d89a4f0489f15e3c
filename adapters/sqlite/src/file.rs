//! Opening one file: what is looked at before anything touches it, and how connections are set.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, ffi};
use shelfward_core::ErrorKind;

use crate::config::{SqliteOptions, Synchronous};
use crate::database_file::{DatabaseFile, FileFingerprint, beside, has_log};
use crate::error::{Error, Result, corrupt};
use crate::schema;

/// What a connection is for, which decides how much of the file it keeps in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Write,
    Read,
}

fn invalid(text: &str) -> Error {
    Error::Kind(shelfward_adapter::error::invalid(text))
}

fn denied(right: &'static str) -> Error {
    Error::Kind(ErrorKind::Denied(right))
}

/// Opens the connection that writes, and makes the store where there is none yet.
pub(crate) fn open(path: &Path, options: &SqliteOptions) -> Result<(Connection, DatabaseFile)> {
    let before = FileFingerprint::at(path);
    let may_make = options.create && !options.read_only;
    let fresh = check_before_touching(path, may_make)?;
    let opened = match begin(path, options, OpenMode::Log { create: fresh }) {
        Err(Error::Engine(error)) if cannot_open(&error) => {
            if !options.read_only || has_log(path) {
                let why = why_it_cannot_open(path, options, &error);
                return Err(why.unwrap_or(Error::Engine(error)));
            }
            // Without files beside it, it can be read as it stands, for as long as nobody writes:
            // each read looks at that.
            begin(path, options, OpenMode::Immutable).map(|opened| (opened, true))
        }
        opened => opened.map(|opened| (opened, false)),
    };
    let (connection, is_immutable) = opened?;
    let place = DatabaseFile::new(path.to_owned(), before, is_immutable)?;
    Ok((connection, place))
}

fn cannot_open(error: &rusqlite::Error) -> bool {
    // The second where the log itself is what cannot be made.
    let code = error.sqlite_error_code();
    code == Some(rusqlite::ErrorCode::CannotOpen) || code == Some(rusqlite::ErrorCode::ReadOnly)
}

/// Why the engine could not open a file or one beside it, as far as it is the folder's rights.
fn why_it_cannot_open(
    path: &Path,
    options: &SqliteOptions,
    error: &rusqlite::Error,
) -> Option<Error> {
    if error.sqlite_extended_error_code() == Some(ffi::SQLITE_READONLY_ROLLBACK) {
        return Some(invalid(UNREAD_LOG));
    }
    if may_write_in_folder(path) {
        return None;
    }
    Some(invalid(if options.read_only {
        UNREAD_LOG
    } else {
        "the file's folder may not be written, where a store keeps its log; get the right to, or \
         open what is there with read_only"
    }))
}

/// Whether the process may write in the folder of a file.
fn may_write_in_folder(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    may(Right::Write, folder.unwrap_or(Path::new(".")))
}

#[derive(Clone, Copy)]
enum Right {
    Read,
    Write,
}

/// Whether the process has a right, asked without opening or writing anything.
#[cfg(unix)]
fn may(right: Right, path: &Path) -> bool {
    use rustix::fs::{Access, access};
    use rustix::io::Errno;

    let asked = match right {
        Right::Read => Access::READ_OK,
        Right::Write => Access::WRITE_OK,
    };
    !matches!(access(path, asked), Err(Errno::ACCESS | Errno::ROFS))
}

/// Elsewhere nobody can tell without doing it.
#[cfg(not(unix))]
fn may(_: Right, _: &Path) -> bool {
    true
}

const UNREAD_LOG: &str = "the log beside the file holds newer writes, and cannot be read without the \
    right to write in its folder; open and close the store once with that right, or get it";

/// Opens a connection and looks at what it finds.
fn begin(path: &Path, options: &SqliteOptions, way: OpenMode) -> Result<Connection> {
    let may_make = options.create && !options.read_only;
    let connection = connect(path, options, Use::Write, way)?;
    let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    // Whoever was making it may have died over it; then the engine has undone that just now.
    if pages == 0 && !may_make {
        return Err(invalid(EMPTY));
    }
    prepare(&connection, options, pages == 0)?;
    checkpoint_on_close(&connection, true)?;
    Ok(connection)
}

/// Whether the engine brings the log into the file when the last connection is closed.
fn checkpoint_on_close(connection: &Connection, checkpoint: bool) -> Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !checkpoint)?;
    Ok(())
}

/// What is concluded from a commit that failed, which the engine has rolled back.
///
/// Where syncing the log failed, all of the write is in it, and a crash before the next write would
/// bring it back. So another write is put in its place there; where that fails too, nobody knows.
pub(crate) fn after_failed_commit(connection: &Connection, error: rusqlite::Error) -> Error {
    let overwrite = || -> rusqlite::Result<()> {
        let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
        // As it was, but written.
        connection.pragma_update(None, "user_version", schema::VERSION)?;
        transaction.commit()
    };
    match overwrite() {
        Ok(()) => Error::Uncommitted(error),
        Err(_) => Error::Engine(error),
    }
}

/// Brings the log into the file, as far as nobody reads what is in the log alone. The engine does it
/// at the last close as well, and tells nobody when it fails.
///
/// Of the file alone: the engine's temporary database has no log, and may be in a transaction.
pub(crate) fn checkpoint(connection: &Connection) -> Result<()> {
    if !connection.is_readonly(rusqlite::MAIN_DB)? {
        connection.query_row("PRAGMA main.wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    }
    Ok(())
}

const EMPTY: &str = "the file is empty, and no store may be made in it";

/// Opens the one connection of a store in memory.
pub(crate) fn open_in_memory(options: &SqliteOptions) -> Result<Connection> {
    let connection = Connection::open_in_memory()?;
    set(&connection, options, Use::Write)?;
    schema::initialise(&connection)?;
    limit_size(&connection, options)?;
    Ok(connection)
}

/// Whether the file is yet to be made. Refuses a file that is not ours.
fn check_before_touching(path: &Path, may_make: bool) -> Result<bool> {
    if path.as_os_str().is_empty() || path.as_os_str() == ":memory:" {
        let text = "a file's path is due; a store in memory is opened by `in_memory`";
        return Err(invalid(text));
    }
    match std::fs::metadata(path) {
        Ok(file) if !file.is_file() => Err(invalid("a file is due, not a folder or a device")),
        Ok(file) if file.len() == 0 && may_make => Ok(true),
        Ok(file) if file.len() == 0 => Err(invalid(EMPTY)),
        Ok(_) => match check_header(path) {
            Ok(()) => Ok(false),
            Err(Error::Engine(_)) if !may(Right::Read, path) => Err(denied(
                "the store's file may not be read; give this user the right to read it",
            )),
            Err(error) => Err(error),
        },
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound if !path.parent().is_none_or(Path::exists) => Err(invalid(
                "the folder that the file is to be in does not exist; make it first",
            )),
            io::ErrorKind::NotFound if may_make => Ok(true),
            io::ErrorKind::NotFound => {
                Err(invalid("there is no such file, and it may not be made"))
            }
            io::ErrorKind::NotADirectory => Err(invalid(
                "the path leads through a file, where a folder is due",
            )),
            io::ErrorKind::PermissionDenied => Err(denied(
                "a folder that leads to the store's file may not be entered; give this user the right to",
            )),
            _ => Err(Error::Kind(ErrorKind::Unavailable)),
        },
    }
}

/// Whose file it is and of which version, by its header, without a lock, a log or a rollback.
///
/// Through the engine, because opening and closing the file beside it would release the locks that
/// other connections of this process hold on it.
///
/// Whether a file with a log is damaged is judged only when it is opened with that. While a
/// checkpoint runs, and after one that a kill or a full disk cut off, the pages that are missing in
/// the file are in the log. What is read while another connection writes may still be half of it, so
/// the look is repeated while there is a log.
fn check_header(path: &Path) -> Result<()> {
    const LOOKS: u32 = 100;
    let log = beside(path, "-wal");
    for _ in 1..LOOKS {
        match look_at_header(path) {
            Err(Error::Engine(_)) if log.exists() => {
                std::thread::sleep(Duration::from_millis(5));
            }
            looked => return looked,
        }
    }
    look_at_header(path)
}

fn look_at_header(path: &Path) -> Result<()> {
    let connection = open_as_it_stands(path)?;
    // The engine then reads the header of a file that is shorter than the header says.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, has_log(path))?;
    versions(&connection)
}

fn open_as_it_stands(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(immutable_uri(path), flags)?)
}

/// The file as a URI of the engine, to be read as it stands.
fn immutable_uri(path: &Path) -> String {
    use std::fmt::Write as _;

    let mut uri = String::from(if path.is_absolute() {
        "file://"
    } else {
        "file:./"
    });
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                uri.push(char::from(*byte));
            }
            // Writing to a text does not fail.
            byte => drop(write!(uri, "%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

fn versions(connection: &Connection) -> Result<()> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    if pragma("application_id")? != schema::APPLICATION_ID {
        return Err(corrupt("the file is another program's"));
    }
    match pragma("user_version")? {
        schema::VERSION => Ok(()),
        version if version > schema::VERSION => Err(Error::Kind(ErrorKind::Unsupported(
            "the file was written by a newer version; open it with that one",
        ))),
        _ => Err(corrupt("the file has no version that there ever was")),
    }
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenMode {
    /// With the log beside it.
    Log { create: bool },
    /// Without looking at anything beside it.
    Immutable,
}

/// Opens a connection for a read.
pub(crate) fn connect_reader(place: &DatabaseFile, options: &SqliteOptions) -> Result<Connection> {
    let way = if place.is_immutable {
        OpenMode::Immutable
    } else {
        OpenMode::Log { create: false }
    };
    connect(&place.path, options, Use::Read, way)
}

fn connect(
    path: &Path,
    options: &SqliteOptions,
    for_what: Use,
    way: OpenMode,
) -> Result<Connection> {
    let connection = match way {
        OpenMode::Log { create } => {
            let connection = open_with_log(path, options, create)?;
            // A file that is refused keeps its log, which may be the log of another file.
            if for_what == Use::Write && has_log(path) {
                checkpoint_on_close(&connection, false)?;
            }
            connection
        }
        OpenMode::Immutable => open_as_it_stands(path)?,
    };
    set(&connection, options, for_what)?;
    Ok(connection)
}

fn open_with_log(path: &Path, options: &SqliteOptions, create: bool) -> Result<Connection> {
    // Without URI: a path is never read as anything else.
    let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags |= if options.read_only {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    };
    if create {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    Ok(Connection::open_with_flags(path, flags)?)
}

fn set(connection: &Connection, options: &SqliteOptions, for_what: Use) -> Result<()> {
    connection.busy_timeout(options.busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(64);
    // A damaged page is met as an error rather than read past.
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // In KiB, taken as it is needed. A large write that fits goes to the disk once.
    let cache = match for_what {
        Use::Write => -65_536,
        Use::Read => -8_192,
    };
    connection.pragma_update(None, "cache_size", cache)?;
    // What a large write made the log grow to is given back.
    connection.pragma_update_and_check(None, "journal_size_limit", 67_108_864, |_| Ok(()))?;
    connection.pragma_update(
        None,
        "synchronous",
        match options.synchronous {
            Synchronous::Full => "FULL",
            Synchronous::Normal => "NORMAL",
        },
    )?;
    Ok(())
}

fn prepare(connection: &Connection, options: &SqliteOptions, fresh: bool) -> Result<()> {
    if fresh {
        // In one transaction, so that a file is ours from its first page on; before the journal is
        // another, so that this page is in the file itself.
        let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Exclusive)?;
        let objects: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        // Another process may have made it meanwhile.
        if objects == 0 {
            schema::initialise(connection)?;
        }
        transaction.commit()?;
    }
    // All of it of one moment: others may make collections meanwhile.
    let moment = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    versions(connection)?;
    if options.verify_on_open {
        verify(connection)?;
    }
    schema::check_tables(connection)?;
    drop(moment);
    if !connection.is_readonly(rusqlite::MAIN_DB)? {
        use_wal(connection, options)?;
        limit_size(connection, options)?;
    }
    Ok(())
}

fn verify(connection: &Connection) -> Result<()> {
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found == "ok" {
        Ok(())
    } else {
        Err(corrupt("the file is damaged"))
    }
}

/// Readers see the old until the new is whole only with a write-ahead log.
fn use_wal(connection: &Connection, options: &SqliteOptions) -> Result<()> {
    let begun = Instant::now();
    loop {
        let set = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match set {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(_) => {
                return Err(Error::Kind(ErrorKind::Unsupported(
                    "a write-ahead log, which this file system does not serve",
                )));
            }
            // The engine does not wait here by itself.
            Err(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == rusqlite::ErrorCode::DatabaseBusy
                    && begun.elapsed() < options.busy_timeout =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn limit_size(connection: &Connection, options: &SqliteOptions) -> Result<()> {
    if let Some(max) = options.max_bytes {
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from(max).unwrap_or(i64::MAX) / page.max(1);
        let pages = pages.clamp(1, i64::from(u32::MAX) - 1);
        connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
    }
    Ok(())
}
