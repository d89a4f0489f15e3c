//! What fails inside an adapter, and how callers see it.

use std::fmt;
use std::time::Duration;

use shelfward_core::{CollectionName, ErrorKind, Operation, StoreError};

/// What a call is about, for its error.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Which call.
    pub operation: Operation,
    /// The collection, where it is about one.
    pub collection: Option<&'a CollectionName>,
}

impl<'a> Call<'a> {
    /// A call about a store.
    pub fn new(operation: Operation) -> Self {
        Self {
            operation,
            collection: None,
        }
    }

    /// A call about a collection.
    pub fn on(operation: Operation, collection: &'a CollectionName) -> Self {
        Self {
            operation,
            collection: Some(collection),
        }
    }

    /// The call's error of a kind.
    pub fn error(&self, kind: impl Into<ErrorKind>) -> StoreError {
        let error = StoreError::new(self.operation, kind);
        match self.collection {
            Some(name) => error.on(name),
            None => error,
        }
    }
}

/// The error type of an adapter: kinds that are named already, its engine's errors, and
/// `Cancelled`. It says what kind each is; the rest stands here.
pub trait Classify: Sized {
    /// What kind of failure it is. `timeout` is how long the engine was waited for.
    fn classify(self, timeout: Duration) -> Failure;

    /// The error that a caller sees.
    fn into_store_error(self, call: Call<'_>, timeout: Duration) -> StoreError {
        let failure = self.classify(timeout);
        let mut error = call.error(failure.kind);
        if failure.nothing_done {
            error = error.nothing_done();
        }
        match failure.cause {
            Some(cause) => error.with_source(cause),
            None => error,
        }
    }
}

/// Makes the error type of an adapter, with `Kind(ErrorKind)` and `Cancelled` among its variants, of what fails
/// beside the engine.
#[macro_export]
macro_rules! error_conversions {
    ($error:ident) => {
        impl From<shelfward_core::ErrorKind> for $error {
            fn from(kind: shelfward_core::ErrorKind) -> Self {
                Self::Kind(kind)
            }
        }

        impl From<shelfward_core::MetadataError> for $error {
            fn from(error: shelfward_core::MetadataError) -> Self {
                Self::Kind(error.into())
            }
        }

        impl From<$crate::cancel::Cancelled> for $error {
            fn from(_: $crate::cancel::Cancelled) -> Self {
                Self::Cancelled
            }
        }
    };
}

/// A failure as callers may see it.
#[derive(Debug)]
pub struct Failure {
    kind: ErrorKind,
    cause: Option<Cause>,
    nothing_done: bool,
}

impl Failure {
    /// Says what lies under it: a code of the engine's or words of the adapter's, never the engine's
    /// text, which may hold values, an address or a path.
    #[must_use]
    pub fn with_source(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(Cause(cause.into()));
        self
    }

    /// Says that nothing of the call was done.
    #[must_use]
    pub fn nothing_done(mut self) -> Self {
        self.nothing_done = true;
        self
    }
}

impl From<ErrorKind> for Failure {
    fn from(kind: ErrorKind) -> Self {
        Self {
            kind,
            cause: None,
            nothing_done: false,
        }
    }
}

#[derive(Debug)]
struct Cause(String);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Cause {}

/// A limit that is passed.
pub fn limit(what: &'static str, given: usize, max: usize) -> ErrorKind {
    let as_u64 = |n| u64::try_from(n).unwrap_or(u64::MAX);
    ErrorKind::Limit {
        what,
        given: as_u64(given),
        max: as_u64(max),
    }
}

/// A request that is refused, and what would be right.
pub fn invalid(what: impl Into<String>) -> ErrorKind {
    ErrorKind::Invalid(what.into())
}
