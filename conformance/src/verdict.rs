use std::fmt;

use serde::{Deserialize, Serialize};
use shelfward_core::library::LibraryError;
use shelfward_core::{MetadataError, NameError, ScopeError, StoreError};

/// What one case found of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Verdict {
    /// It does what the rule says.
    Honours,
    /// It refuses with a typed error before anything is sent. Expected where its capabilities
    /// exclude the thing.
    Refuses,
    /// It answers less than it should.
    Narrows,
    /// It answers more than it should. Never a known gap on what scopes are made of.
    Widens,
    /// It answers a wrong number.
    Miscounts,
    /// It answers the right things in a wrong order, or with wrong scores.
    Misorders,
    /// It fails, or takes what it must refuse.
    Errors,
    /// The case does not apply to it, for a reason that is given. Never so in silence.
    NotRun,
}

impl Verdict {
    /// The verdict as one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Honours => "honours",
            Self::Refuses => "refuses",
            Self::Narrows => "narrows",
            Self::Widens => "widens",
            Self::Miscounts => "miscounts",
            Self::Misorders => "misorders",
            Self::Errors => "errors",
            Self::NotRun => "not run",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A departure from a rule: the verdict, and what was expected and got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The verdict.
    pub verdict: Verdict,
    /// What was expected and got, in ids and numbers, never texts.
    pub message: String,
}

/// What a case answers: nothing, or a departure.
pub(crate) type Checked<T = ()> = Result<T, Finding>;

impl Finding {
    pub(crate) fn new(verdict: Verdict, message: impl Into<String>) -> Self {
        Self {
            verdict,
            message: message.into(),
        }
    }

    pub(crate) fn errors(message: impl Into<String>) -> Self {
        Self::new(Verdict::Errors, message)
    }

    pub(crate) fn widens(message: impl Into<String>) -> Self {
        Self::new(Verdict::Widens, message)
    }

    pub(crate) fn narrows(message: impl Into<String>) -> Self {
        Self::new(Verdict::Narrows, message)
    }

    pub(crate) fn misorders(message: impl Into<String>) -> Self {
        Self::new(Verdict::Misorders, message)
    }
}

impl From<StoreError> for Finding {
    fn from(error: StoreError) -> Self {
        let verdict = if error.is_refusal() {
            Verdict::Refuses
        } else {
            Verdict::Errors
        };
        Self::new(verdict, error.to_string())
    }
}

impl From<LibraryError> for Finding {
    fn from(error: LibraryError) -> Self {
        match error {
            LibraryError::Store(error) => error.into(),
            other => Self::errors(other.to_string()),
        }
    }
}

macro_rules! errors {
    ($($error:ty),+) => {$(
        impl From<$error> for Finding {
            fn from(error: $error) -> Self {
                Self::errors(error.to_string())
            }
        }
    )+};
}

errors!(
    shelfward_core::GroupsError,
    MetadataError,
    NameError,
    ScopeError,
    shelfward_core::FilterError,
    shelfward_core::MetadataProblem,
    tokio::task::JoinError
);
