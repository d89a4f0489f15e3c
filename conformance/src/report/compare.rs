use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use super::{CaseReport, Outcome};

/// What became of a case from one report to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Change {
    /// It found what was expected, or was not run, and no longer does.
    NewFailure,
    /// It did not find what was expected, and does now.
    Fixed,
    /// It found or expected something else, and is as good or bad as before.
    Changed,
    /// Only the earlier report has it.
    OnlyBefore,
    /// Only the later report has it.
    OnlyAfter,
}

/// Two reports beside each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What became of what, with a line for the reader: `postgres eq/text: honours, now widens`.
    changes: BTreeMap<Change, Vec<String>>,
    same: usize,
}

/// Why two reports could not be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A file could not be read.
    #[error("{} cannot be read", .0.display())]
    Read(PathBuf, #[source] std::io::Error),
    /// It is no report.
    #[error("{} is no report as --json writes it", .0.display())]
    NoReport(PathBuf, #[source] serde_json::Error),
}

fn read(file: &Path) -> Result<Vec<Outcome>, CompareError> {
    let json = std::fs::read(file).map_err(|e| CompareError::Read(file.to_owned(), e))?;
    serde_json::from_slice(&json).map_err(|e| CompareError::NoReport(file.to_owned(), e))
}

impl Comparison {
    /// Compares two JSON files, the earlier one first.
    ///
    /// # Errors
    /// [`CompareError`].
    pub fn of_files(before: &Path, after: &Path) -> Result<Self, CompareError> {
        Ok(Self::new(&read(before)?, &read(after)?))
    }

    /// Compares an earlier with a later report.
    pub fn new(before: &[Outcome], after: &[Outcome]) -> Self {
        let mut comparison = Self::default();
        let stores: BTreeSet<&str> = before.iter().chain(after).map(Outcome::store).collect();
        for store in stores {
            let of = |outcomes: &'_ [Outcome]| {
                let outcome = outcomes.iter().find(|outcome| outcome.store() == store);
                outcome.cloned()
            };
            comparison.store(store, of(before).as_ref(), of(after).as_ref());
        }
        comparison
    }

    fn store(&mut self, store: &str, before: Option<&Outcome>, after: Option<&Outcome>) {
        let (before, after) = match (before, after) {
            (Some(Outcome::Ran(before)), Some(Outcome::Ran(after))) => (before, after),
            (before, after) => return self.not_both(store, before, after),
        };
        let by_id = |cases: &'_ [CaseReport]| -> BTreeMap<String, CaseReport> {
            let cases = cases.iter();
            cases.map(|case| (case.id.clone(), case.clone())).collect()
        };
        let (before, mut after) = (by_id(&before.cases), by_id(&after.cases));
        for (id, was) in before {
            match after.remove(&id) {
                Some(is) => self.case(store, &was, &is),
                None => self.note(Change::OnlyBefore, format!("{store} {id}: {}", told(&was))),
            }
        }
        for (id, is) in after {
            let line = format!("{store} {id}: {}", told(&is));
            // A case that is new and fails is a failure like any other.
            let change = match is.as_expected() {
                true => Change::OnlyAfter,
                false => Change::NewFailure,
            };
            self.note(change, line);
        }
    }

    fn case(&mut self, store: &str, was: &CaseReport, is: &CaseReport) {
        let change = match (was.as_expected(), is.as_expected()) {
            (true, false) => Change::NewFailure,
            (false, true) => Change::Fixed,
            _ if (was.verdict, was.expected) != (is.verdict, is.expected) => Change::Changed,
            _ => {
                self.same += 1;
                return;
            }
        };
        let line = format!("{store} {}: {}, now {}", is.id, was.verdict, told(is));
        self.note(change, line);
    }

    /// A store that one of the two has not run.
    fn not_both(&mut self, store: &str, before: Option<&Outcome>, after: Option<&Outcome>) {
        let told = |outcome: Option<&Outcome>| match outcome {
            None => "is not there".to_owned(),
            Some(Outcome::Ran(report)) => format!("ran {} cases", report.cases.len()),
            Some(Outcome::NotRun(not)) => {
                let what = if not.failed {
                    "could not begin"
                } else {
                    "was not run"
                };
                format!("{what} ({})", not.not_run)
            }
        };
        let failed = |outcome: Option<&Outcome>| {
            let not_run = outcome.and_then(Outcome::not_run);
            not_run.is_some_and(|not| not.failed)
        };
        let bad = match after {
            Some(Outcome::Ran(report)) => report.unexpected().next().is_some(),
            _ => failed(after),
        };
        let change = match (before, after) {
            _ if bad && !failed(before) => Change::NewFailure,
            (_, None) => Change::OnlyBefore,
            (None, _) => Change::OnlyAfter,
            _ if failed(before) && !bad => Change::Fixed,
            _ if told(before) == told(after) => {
                self.same += 1;
                return;
            }
            _ => Change::Changed,
        };
        self.note(
            change,
            format!("{store} {}, now {}", told(before), told(after)),
        );
    }

    fn note(&mut self, change: Change, line: String) {
        self.changes.entry(change).or_default().push(line);
    }

    /// What became of this kind, a line each.
    pub fn of(&self, change: Change) -> &[String] {
        self.changes.get(&change).map_or(&[], Vec::as_slice)
    }
}

fn told(case: &CaseReport) -> String {
    let mut told = case.verdict.to_string();
    if !case.as_expected() {
        told += &format!(", expected {}", case.expected);
        let causes = case.causes.iter().map(String::as_str);
        let why: Vec<&str> = [case.message.as_str()].into_iter().chain(causes).collect();
        told += &format!(": {}", why.join(": "));
    } else if !case.ran() {
        told += &format!(" ({})", case.message);
    }
    told
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (Change::NewFailure, "new failures"),
            (Change::Fixed, "fixed"),
            (Change::Changed, "changed"),
            (Change::OnlyBefore, "only in the first report"),
            (Change::OnlyAfter, "only in the second report"),
        ];
        for (change, title) in kinds {
            let lines = self.of(change);
            if !lines.is_empty() {
                writeln!(f, "{title}: {}", lines.len())?;
                lines.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
            }
        }
        write!(f, "the same: {}", self.same)
    }
}
