//! What a run found, as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use shelfward_core::Capabilities;

use crate::suite::Suite;
use crate::verdict::Verdict;

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
    /// Versions of what was tested, by name.
    pub versions: BTreeMap<String, String>,
    /// What the store declares.
    pub capabilities: Capabilities,
    /// The seed of the random cases.
    pub seed: u64,
    /// The cases that ran, by id.
    pub cases: Vec<CaseReport>,
    /// How many cases found what.
    pub totals: BTreeMap<Verdict, usize>,
    /// What the run made and could not remove: collections by their names.
    pub left_behind: Vec<String>,
}

/// A store that was not run, and why: what its harness reports where it needs a server and is told of
/// none.
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
}

impl NotRun {
    /// A store that was not run.
    pub fn new(store: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            schema: SCHEMA,
            store: store.into(),
            not_run: why.into(),
        }
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
    /// What was found.
    pub verdict: Verdict,
    /// What was expected: `honours`, `refuses` where the capabilities exclude the thing, or the
    /// verdict of a known gap; `notRun` where the case has nothing to ask of such a store.
    pub expected: Verdict,
    /// What was expected and got, where it departs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
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
    pub(crate) fn new(
        store: &str,
        versions: Vec<(String, String)>,
        capabilities: Capabilities,
        seed: u64,
        mut cases: Vec<CaseReport>,
        left_behind: Vec<String>,
    ) -> Self {
        cases.sort_by(|a, b| a.id.cmp(&b.id));
        let mut totals = BTreeMap::new();
        for case in &cases {
            *totals.entry(case.verdict).or_insert(0) += 1;
        }
        let versions = versions.into_iter().collect();
        let store = store.to_owned();
        Self {
            schema: SCHEMA,
            store,
            versions,
            capabilities,
            seed,
            cases,
            totals,
            left_behind,
        }
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
