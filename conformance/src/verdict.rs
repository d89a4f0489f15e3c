use std::error::Error;
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

    /// What the store does, in a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Honours => "It does what the rule says.",
            Self::Refuses => "It refuses with a typed error before anything is sent.",
            Self::Narrows => "It answers less than it should.",
            Self::Widens => "It answers or deletes more than it should.",
            Self::Miscounts => "It answers a wrong number.",
            Self::Misorders => {
                "It answers the right things in a wrong order, or with wrong scores."
            }
            Self::Errors => "It fails, or accepts what it must refuse.",
            Self::NotRun => {
                "It promises nothing that the case could ask about; the reason is given."
            }
        }
    }

    /// What to do where the verdict was not expected, in a sentence.
    pub fn action(self) -> &'static str {
        match self {
            Self::Honours => {
                "Nothing; where a known gap was expected, remove it from known_gaps.toml."
            }
            Self::Refuses => "Do without the feature, or correct the capabilities that declare it.",
            Self::Narrows => {
                "Expect missing results; ask for more hits, or correct the filter or the declared recall."
            }
            Self::Widens => {
                "Treat it as a leak: do not use the store for several readers until it is fixed."
            }
            Self::Miscounts => {
                "Do not rely on counts, such as those of removals; verify with a search."
            }
            Self::Misorders => {
                "Do not rely on ranks and scores; check the metric and the tie order."
            }
            Self::Errors => {
                "Read the causes; check the server, its limits and timeouts, then the adapter."
            }
            Self::NotRun => "Provide what the reason names, if the store is meant to have it.",
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
    /// What lies under the error that was met, outermost first: codes of the engine among it.
    pub causes: Vec<String>,
}

/// What lies under an error, outermost first. What says the same as the one above it is left out.
pub(crate) fn causes(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut above = error.to_string();
    let under = std::iter::successors(error.source(), |&error| error.source());
    let texts = under.map(ToString::to_string);
    texts
        .filter(|text| std::mem::replace(&mut above, text.clone()) != *text)
        .collect()
}

/// An error and what lies under it, on one line.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    [vec![error.to_string()], causes(error)].concat().join(": ")
}

/// What a case answers: nothing, or a departure.
pub(crate) type Checked<T = ()> = Result<T, Finding>;

impl Finding {
    pub(crate) fn new(verdict: Verdict, message: impl Into<String>) -> Self {
        Self {
            verdict,
            message: message.into(),
            causes: Vec::new(),
        }
    }

    /// The same, because of this error.
    pub(crate) fn because(mut self, error: &(dyn Error + 'static)) -> Self {
        self.causes = causes(error);
        self
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
        Self::new(verdict, error.to_string()).because(&error)
    }
}

impl From<LibraryError> for Finding {
    fn from(error: LibraryError) -> Self {
        match error {
            LibraryError::Store(error) => error.into(),
            other => Self::errors(other.to_string()).because(&other),
        }
    }
}

macro_rules! errors {
    ($($error:ty),+) => {$(
        impl From<$error> for Finding {
            fn from(error: $error) -> Self {
                Self::errors(error.to_string()).because(&error)
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
