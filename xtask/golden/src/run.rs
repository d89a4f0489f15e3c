//! Running the files of a folder and counting what came of them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::case::{Case, Expected, GoldenFile, json_files};
use crate::compare::{Difference, cut};
use crate::deviations::DEVIATIONS;
use crate::functions::{DESCRIBED, FUNCTIONS};
use crate::rule::{Deviation, Function, Ours};

/// What came of one file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileResult {
    pub(crate) file: String,
    pub(crate) function: String,
    #[serde(flatten)]
    pub(crate) counts: Counts,
    /// The cases that deviate, by rule; a case may do so by several.
    pub(crate) deviations: BTreeMap<&'static str, Vec<String>>,
    pub(crate) failures: Vec<Failure>,
}

/// How many cases ended how.
#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// Ours answers otherwise, by a rule.
    pub(crate) deviating: usize,
    /// Evidence of what the originals do, not to be imitated.
    pub(crate) described: usize,
    /// Cases of functions that ours does not have.
    pub(crate) not_known: usize,
}

/// A case that failed.
#[derive(Serialize)]
pub(crate) struct Failure {
    pub(crate) case: String,
    pub(crate) what: String,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.deviating += other.deviating;
        self.described += other.described;
        self.not_known += other.not_known;
    }

    pub(crate) fn all(self) -> usize {
        self.passed + self.failed + self.deviating + self.described + self.not_known
    }
}

/// Whether something is said here of a function.
fn is_known(name: &str) -> bool {
    FUNCTIONS.iter().any(|function| function.name == name) || DESCRIBED.contains(&name)
}

/// Runs every file below a folder, or those of some functions.
pub(crate) fn run_folder(folder: &Path, only: &[String]) -> Result<Vec<FileResult>, String> {
    let mut results = Vec::new();
    for path in json_files(folder)? {
        match GoldenFile::read(folder, &path, is_known) {
            Ok(files) => {
                let wanted = |file: &&GoldenFile| only.is_empty() || only.contains(&file.function);
                results.extend(files.iter().filter(wanted).map(run_file));
            }
            Err(why) => results.push(unreadable(&path, why)),
        }
    }
    Ok(results)
}

fn run_file(file: &GoldenFile) -> FileResult {
    let mut result = FileResult {
        file: file.path.display().to_string(),
        function: file.function.clone(),
        counts: Counts::default(),
        deviations: BTreeMap::new(),
        failures: Vec::new(),
    };
    match FUNCTIONS.iter().find(|known| known.name == file.function) {
        Some(function) => {
            for case in &file.cases {
                result.run(function, case);
            }
        }
        None if DESCRIBED.contains(&file.function.as_str()) => {
            result.counts.described = file.cases.len();
        }
        None => result.counts.not_known = file.cases.len(),
    }
    result
}

/// A file that cannot be read has failed: what it holds was not checked.
fn unreadable(path: &Path, why: String) -> FileResult {
    let file = path.display().to_string();
    FileResult {
        function: String::new(),
        counts: Counts {
            failed: 1,
            ..Counts::default()
        },
        deviations: BTreeMap::new(),
        failures: vec![Failure {
            case: file.clone(),
            what: why,
        }],
        file,
    }
}

impl FileResult {
    fn run(&mut self, function: &Function, case: &Value) {
        let (name, outcome) = match Case::read(case) {
            Ok(case) => {
                let outcome = judge(function, &case);
                (case.name, outcome)
            }
            Err(why) => ("?".to_owned(), Outcome::Failed(why)),
        };
        match outcome {
            Outcome::Passed => self.counts.passed += 1,
            Outcome::Deviating(rules) => {
                self.counts.deviating += 1;
                for rule in rules {
                    self.deviations.entry(rule).or_default().push(name.clone());
                }
            }
            Outcome::Failed(what) => {
                self.counts.failed += 1;
                self.failures.push(Failure { case: name, what });
            }
        }
    }
}

/// What came of one case.
pub(crate) enum Outcome {
    Passed,
    /// Every difference is by a rule; these are the rules.
    Deviating(Vec<&'static str>),
    Failed(String),
}

/// The rules by which a function may deviate; the first that fits counts.
pub(crate) fn deviations(function: &Function) -> impl Iterator<Item = &'static Deviation> {
    DEVIATIONS
        .iter()
        .filter(|rule| rule.of.contains(&function.name))
}

/// Runs a case and judges it.
fn judge(function: &Function, case: &Case) -> Outcome {
    let refused = |expected: &Value, why: String| {
        Difference::refused(0, format!("expected {}, failed: {why}", cut(expected)))
    };
    let differences = match ((function.run)(&case.input), &case.expected) {
        (Err(_), Expected::Error) => Vec::new(),
        (Err(why), Expected::Output(expected)) => vec![refused(expected, why)],
        (Ok(ours), Expected::Error) => {
            let what = format!("expected a failure, got {}", cut(&ours));
            vec![Difference::answered(0, what)]
        }
        (Ok(ours), Expected::Output(expected)) => {
            (function.differences)(&case.input, &ours, expected)
        }
    };
    let mut rules = Vec::new();
    for difference in &differences {
        match excused(function, &case.input, difference) {
            Some(rule) if rules.contains(&rule) => {}
            Some(rule) => rules.push(rule),
            None => return Outcome::Failed(difference.what.clone()),
        }
    }
    if rules.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Deviating(rules)
    }
}

fn excused(function: &Function, input: &Value, difference: &Difference) -> Option<&'static str> {
    let fits = |rule: &&Deviation| match rule.ours {
        Ours::Refuses => difference.refused,
        Ours::Answers => !difference.refused,
        Ours::Either => true,
    };
    let mut rules = deviations(function).filter(fits);
    rules
        .find(|rule| (rule.applies)(input, difference.at))
        .map(|rule| rule.name)
}
