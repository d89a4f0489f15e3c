use std::time::Duration;

use shelfward_adapter::url::milliseconds;

/// When a write that returned is on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Synchronous {
    /// When the call returns: it outlives a loss of power.
    #[default]
    Full,
    /// Soon after: it outlives the process, and a loss of power may undo the last writes, whole
    /// ones and in their order.
    Normal,
}

/// What a [`SqliteStore`](crate::SqliteStore) does.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SqliteOptions {
    /// Whether a file that is not there is made. Default `true`.
    pub create: bool,
    /// Whether only reads are served. Default `false`; a file that cannot be written is read-only
    /// anyway.
    pub read_only: bool,
    /// When a write that returned is on the disk. Default [`Synchronous::Full`].
    pub synchronous: Synchronous,
    /// How long a write waits for a writer of another process or store: not at all, or up to 23 days.
    /// Default 5 s.
    #[serde(rename = "busy_timeout_ms", deserialize_with = "milliseconds")]
    pub busy_timeout: Duration,
    /// Whether the whole file is verified when it is opened. Default `true`.
    pub verify_on_open: bool,
    /// The most bytes that the file may have, at least the 8,192 of an empty store. A write that
    /// needs more fails whole. Default none.
    pub max_bytes: Option<u64>,
    /// How many reads run at a time, 1 to 1,024; further ones wait. Default 8.
    pub readers: usize,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            create: true,
            read_only: false,
            synchronous: Synchronous::default(),
            busy_timeout: Duration::from_secs(5),
            verify_on_open: true,
            max_bytes: None,
            readers: 8,
        }
    }
}

impl SqliteOptions {
    shelfward_adapter::setters! {
        /// Sets whether a file that is not there is made.
        with_create: create bool;
        /// Sets whether only reads are served.
        with_read_only: read_only bool;
        /// Sets when a write that returned is on the disk.
        with_synchronous: synchronous Synchronous;
        /// Sets how long a write waits for a writer of another process or store.
        with_busy_timeout: busy_timeout Duration;
        /// Sets whether the whole file is verified when it is opened.
        with_verify_on_open: verify_on_open bool;
        /// Sets the most bytes that the file may have.
        with_max_bytes: max_bytes Option<u64>;
        /// Sets how many reads run at a time.
        with_readers: readers usize;
    }

    /// Why these options cannot be used; `None` when they can.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        if !(1..=MOST_READERS).contains(&self.readers) {
            Some("readers must lie between 1 and 1024")
        } else if self.max_bytes.is_some_and(|max| max < EMPTY_BYTES) {
            Some("max_bytes must be 8192 or more, which is what an empty store needs")
        } else if self.busy_timeout > LONGEST_WAIT {
            Some("busy_timeout must be 2000000 seconds or less")
        } else {
            None
        }
    }

    /// And why not for a store in memory.
    pub(crate) fn problem_in_memory(&self) -> Option<&'static str> {
        if self.read_only {
            Some("a store in memory is empty at first, so read_only must be false")
        } else if !self.create {
            Some("a store in memory is always made, so create must be true")
        } else {
            self.problem()
        }
    }
}

const MOST_READERS: usize = 1_024;

/// Two pages: the schema and the table of collections.
const EMPTY_BYTES: u64 = 2 * 4_096;

/// About the maximum of the engine's busy timeout.
const LONGEST_WAIT: Duration = Duration::from_secs(2_000_000);
