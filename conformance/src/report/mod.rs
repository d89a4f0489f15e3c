//! What a run found: as data, as a page for a browser, as JUnit XML, and beside an earlier run.

mod abilities;
mod compare;
mod files;
mod html;
mod junit;
mod rules;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use shelfward_core::Capabilities;

use crate::suite::Suite;
use crate::verdict::Verdict;

pub use abilities::{Ability, abilities};
pub use compare::{Change, CompareError, Comparison};
pub use files::{Files, FilesError};
pub use html::html;
pub use junit::junit;
pub use rules::{Group, Legend, group, legend, rule};

/// The version of the report's shape.
pub const SCHEMA: u32 = 1;

/// What a run found of one store. The shape is stable: fields are added, never changed, within one
/// `schema`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Report {
    /// The version of this shape.
    pub schema: u32,
    /// The store.
    pub store: String,
    /// When the run began, in UTC, as RFC 3339 writes it.
    pub date: String,
    /// The version of the suite.
    pub suite: String,
    /// Versions of what was tested, by name.
    pub versions: BTreeMap<String, String>,
    /// What the store declares.
    pub capabilities: Capabilities,
    /// The same in words.
    pub abilities: Vec<Ability>,
    /// The seed of the random cases.
    pub seed: u64,
    /// How many cases were selected. Fewer have run where the run was interrupted.
    pub selected: usize,
    /// Whether the run was ended from outside, so that the report holds only what was found until then.
    #[serde(default)]
    pub interrupted: bool,
    /// What the groups of the cases ask, and what their failures mean.
    pub groups: BTreeMap<String, Group>,
    /// What the verdicts mean.
    pub verdicts: Vec<Legend>,
    /// The cases that ran, by id.
    pub cases: Vec<CaseReport>,
    /// How many cases found what.
    pub totals: BTreeMap<Verdict, usize>,
    /// What the run made and could not remove: collections by their names.
    pub left_behind: Vec<String>,
}

/// A store that was not run, and why: it needs a server and its harness is told of none, or it could
/// not begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NotRun {
    /// The version of this shape.
    pub schema: u32,
    /// The store.
    pub store: String,
    /// Why, as `DATABASE_URL is not set`.
    pub not_run: String,
    /// Whether it was to be run and could not begin, as with a wrong password.
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(value: &bool) -> bool {
    !value
}

impl NotRun {
    /// A store that was not run.
    pub fn new(store: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            schema: SCHEMA,
            store: store.into(),
            not_run: why.into(),
            failed: false,
        }
    }

    /// A store that was to be run and could not begin.
    pub fn failed(store: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            failed: true,
            ..Self::new(store, why)
        }
    }
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.failed {
            "could not begin"
        } else {
            "not run"
        };
        write!(f, "{}: {what}: {}", self.store, self.not_run)
    }
}

/// What became of one store. As JSON it is one or the other, told apart by `notRun`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "there is one for each store")]
pub enum Outcome {
    /// It was not run.
    NotRun(NotRun),
    /// What the run found.
    Ran(Report),
}

impl Outcome {
    /// The store.
    pub fn store(&self) -> &str {
        match self {
            Self::Ran(report) => &report.store,
            Self::NotRun(not) => &not.store,
        }
    }

    /// What was found, where it was run.
    pub fn ran(&self) -> Option<&Report> {
        match self {
            Self::Ran(report) => Some(report),
            Self::NotRun(_) => None,
        }
    }

    /// Why it was not run, where it was not.
    pub fn not_run(&self) -> Option<&NotRun> {
        match self {
            Self::Ran(_) => None,
            Self::NotRun(not) => Some(not),
        }
    }
}

/// What one case found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CaseReport {
    /// `group/name`.
    pub id: String,
    /// The group.
    pub group: String,
    /// Its rule, in one sentence.
    #[serde(default)]
    pub rule: String,
    /// What was found.
    pub verdict: Verdict,
    /// What was expected: `honours`, `refuses` where the capabilities exclude the thing, or the
    /// verdict of a known gap; `notRun` where the case has nothing to ask of such a store.
    pub expected: Verdict,
    /// What was expected and got, where it departs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// What lies under the error that was met, outermost first, with the engine's own code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// The reason of the known gap, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_gap: Option<String>,
    /// How long it took.
    pub millis: u64,
}

impl CaseReport {
    /// Whether the case found what was expected.
    pub fn as_expected(&self) -> bool {
        self.verdict == self.expected
    }

    /// Whether the store was asked anything.
    pub fn ran(&self) -> bool {
        self.verdict != Verdict::NotRun
    }
}

impl Report {
    /// Counts the cases, orders them, and adds what their groups and verdicts mean.
    pub(crate) fn complete(mut self) -> Self {
        self.cases.sort_by(|a, b| a.id.cmp(&b.id));
        for case in &self.cases {
            *self.totals.entry(case.verdict).or_insert(0) += 1;
            if let Some(told) = group(&case.group) {
                let groups = self.groups.entry(case.group.clone());
                groups.or_insert_with(|| told.clone());
            }
        }
        self
    }

    /// The cases that did not find what was expected.
    pub fn unexpected(&self) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(|case| !case.as_expected())
    }

    /// The groups of which no case asked the store anything, but for those that ask servers alone
    /// beside others that did.
    pub fn silent_groups(&self) -> Vec<&str> {
        let is_silent = |group: &str| {
            let mut cases = self.cases.iter();
            cases.all(|case| case.group != group || !case.ran())
        };
        let (mut silent, heard): (Vec<_>, Vec<_>) = self
            .groups()
            .into_iter()
            .partition(|group| is_silent(group));
        if !heard.is_empty() {
            silent.retain(|group| !Suite::is_of_servers(group));
        }
        silent
    }

    /// The groups that were selected, in order.
    pub fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = self.cases.iter().map(|case| case.group.as_str()).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }
}
