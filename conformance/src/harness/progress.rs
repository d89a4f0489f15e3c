use std::collections::BTreeMap;

use crate::report::CaseReport;
use crate::suite::Suite;

/// How far a run is, for the program that watches it.
pub(super) struct Progress {
    done: usize,
    of: usize,
    /// Of each group, how many cases are left.
    left: BTreeMap<String, usize>,
    /// And how many were not as expected.
    bad: BTreeMap<String, usize>,
}

impl Progress {
    pub(super) fn new(suite: &Suite) -> Self {
        let mut left = BTreeMap::new();
        for case in suite.cases() {
            *left.entry(case.info().group().to_owned()).or_default() += 1;
        }
        Self {
            done: 0,
            of: suite.cases().len(),
            left,
            bad: BTreeMap::new(),
        }
    }

    /// A line of JSON for a case that has ended.
    pub(super) fn line(&mut self, report: &CaseReport) -> String {
        self.done += 1;
        let left = self.left.entry(report.group.clone()).or_default();
        *left = left.saturating_sub(1);
        let bad = self.bad.entry(report.group.clone()).or_default();
        *bad += usize::from(!report.as_expected());
        serde_json::json!({
            "case": report.id, "group": report.group, "left": left, "bad": bad,
            "done": self.done, "of": self.of,
        })
        .to_string()
    }
}
