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
    /// The most bytes that the file may have, at least the 12,288 of an empty store. A write that
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
    /// Sets whether a file that is not there is made.
    #[must_use]
    pub fn with_create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Sets whether only reads are served.
    #[must_use]
    pub fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Sets when a write that returned is on the disk.
    #[must_use]
    pub fn with_synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// Sets how long a write waits for a writer of another process or store.
    #[must_use]
    pub fn with_busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Sets whether the whole file is verified when it is opened.
    #[must_use]
    pub fn with_verify_on_open(mut self, verify: bool) -> Self {
        self.verify_on_open = verify;
        self
    }

    /// Sets the most bytes that the file may have.
    #[must_use]
    pub fn with_max_bytes(mut self, max: Option<u64>) -> Self {
        self.max_bytes = max;
        self
    }

    /// Sets how many reads run at a time.
    #[must_use]
    pub fn with_readers(mut self, readers: usize) -> Self {
        self.readers = readers;
        self
    }

    /// Why these options cannot be used; `None` when they can.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        if !(1..=MOST_READERS).contains(&self.readers) {
            Some("readers must lie between 1 and 1024")
        } else if self.max_bytes.is_some_and(|max| max < EMPTY_BYTES) {
            Some("max_bytes must be 12288 or more, which is what an empty store needs")
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

/// Three pages: the schema, the table of collections, and its index.
const EMPTY_BYTES: u64 = 3 * 4_096;

/// About the maximum of the engine's busy timeout.
const LONGEST_WAIT: Duration = Duration::from_secs(2_000_000);
