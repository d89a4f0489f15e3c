//! The page of stores: what each falls short of and what the library does about it, what each can do,
//! and how many cases each honours. `docs/stores.json` holds it as data, `docs/stores.md` shows it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use shelfward_conformance::report::{CaseReport, Outcome, Report};
use shelfward_core::Capabilities;

/// What `docs/stores.json` holds. No times, so that an equal run gives an equal file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    generated_by: String,
    pub(super) stores: Vec<StoreEntry>,
}

/// What the suite found of one store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoreEntry {
    pub(super) store: String,
    /// What was asked, by name.
    #[serde(default)]
    pub(super) versions: BTreeMap<String, String>,
    pub(super) capabilities: Capabilities,
    pub(super) groups: BTreeMap<String, Tally>,
    pub(super) departures: Vec<Departure>,
}

/// The cases of one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tally {
    pub(super) ran: usize,
    pub(super) as_expected: usize,
    /// How many were not run, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) not_run: BTreeMap<String, usize>,
}

/// A known gap, or a case that did not find what was expected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Departure {
    pub(super) case: String,
    pub(super) verdict: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) known_gap: Option<String>,
}

/// The stores that were not run: those whose entries are kept, and those that never were on the page.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Unseen {
    pub(super) kept: Vec<String>,
    pub(super) left_out: Vec<String>,
}

const GENERATED_BY: &str = "cargo xtask conformance --update-docs";

impl Page {
    /// The page after a run. The entry of a store that was not run is the one that `present` holds, so
    /// that the page comes out the same where its server is and where it is not, and claims nothing
    /// that no run has shown.
    pub(super) fn new(outcomes: &[Outcome], present: &Self) -> (Self, Unseen) {
        let (mut stores, mut unseen) = (Vec::new(), Unseen::default());
        for outcome in outcomes {
            let name = outcome.store();
            let entry = match outcome {
                Outcome::Ran(report) => Some(StoreEntry::new(report)),
                Outcome::NotRun(_) => {
                    let entry = present.stores.iter().find(|entry| entry.store == name);
                    let list = match entry {
                        Some(_) => &mut unseen.kept,
                        None => &mut unseen.left_out,
                    };
                    list.push(name.to_owned());
                    entry.cloned()
                }
            };
            stores.extend(entry);
        }
        stores.sort_by(|a, b| a.store.cmp(&b.store));
        let generated_by = GENERATED_BY.to_owned();
        (
            Self {
                generated_by,
                stores,
            },
            unseen,
        )
    }

    /// A page without stores.
    pub(super) fn empty() -> Self {
        let generated_by = GENERATED_BY.to_owned();
        Self {
            generated_by,
            stores: Vec::new(),
        }
    }

    /// Takes the versions of each store from another page.
    pub(super) fn keep_versions(&mut self, other: &Self) {
        for entry in &mut self.stores {
            let kept = other.stores.iter().find(|kept| kept.store == entry.store);
            if let Some(kept) = kept {
                entry.versions.clone_from(&kept.versions);
            }
        }
    }

    pub(super) fn to_json(&self) -> Result<String, String> {
        let json = serde_json::to_string_pretty(self).map_err(|e| e.to_string())?;
        Ok(json + "\n")
    }
}

impl StoreEntry {
    fn new(report: &Report) -> Self {
        let mut groups: BTreeMap<String, Tally> = BTreeMap::new();
        for case in &report.cases {
            let tally = groups.entry(case.group.clone()).or_default();
            tally.ran += usize::from(case.ran() || !case.as_expected());
            tally.as_expected += usize::from(case.ran() && case.as_expected());
            if !case.ran() && case.as_expected() {
                *tally.not_run.entry(case.message.clone()).or_default() += 1;
            }
        }
        let departs = |case: &&CaseReport| case.known_gap.is_some() || !case.as_expected();
        let departures = report.cases.iter().filter(departs);
        Self {
            store: report.store.clone(),
            versions: report.versions.clone(),
            capabilities: report.capabilities.clone(),
            groups,
            departures: departures
                .map(|case| Departure {
                    case: case.id.clone(),
                    verdict: case.verdict.to_string(),
                    known_gap: case.known_gap.clone(),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::tests::{not_run, ran};

    #[test]
    fn the_page_names_gaps_and_departures_and_counts_cases() {
        let (page, _) = Page::new(&[ran()], &Page::empty());
        let text = page.to_markdown();
        assert!(text.starts_with("<!-- generated by"), "{text}");
        let gap = "| made-up | writes/empty-text | errors | the server \\| holds no empty text |";
        assert!(text.contains(gap), "{text}");
        assert!(
            text.contains("| made-up | eq/case | widens | unexpected |"),
            "{text}"
        );
        assert!(
            text.contains("| `eq`: Filters: equality | 1 of 2 |"),
            "{text}"
        );
    }

    #[test]
    fn the_page_says_in_words_what_a_store_can_and_why_it_was_not_asked() {
        let mut report = serde_json::to_value(ran()).unwrap();
        report["versions"] = serde_json::json!({ "engine": "9.1" });
        report["capabilities"]["dense"] =
            serde_json::json!({ "approximate": { "minRecall": 0.9 } });
        for key in ["verdict", "expected"] {
            report["cases"][0][key] = "notRun".into();
        }
        report["cases"][0]["message"] = "it has no lexical leg".into();
        let ran = serde_json::from_value(report).unwrap();
        let (page, _) = Page::new(&[ran], &Page::empty());
        let text = page.to_markdown();
        for told in [
            "| versions | engine 9.1 |",
            "| dense search | approximate, at least 90 % of the nearest on average |",
            "| `eq`: Filters: equality | 0 of 1, 1 not run |",
            "| made-up | `eq` | 1 | it has no lexical leg |",
        ] {
            assert!(text.contains(told), "{told} is not in\n{text}");
        }
    }

    #[test]
    fn the_versions_of_another_server_change_nothing_when_the_page_is_checked() {
        let (before, _) = Page::new(&[ran()], &Page::empty());
        let (mut after, _) = Page::new(&[ran()], &Page::empty());
        after.stores[0]
            .versions
            .insert("server".to_owned(), "99".to_owned());
        after.keep_versions(&before);
        assert_eq!(after, before);
    }

    #[test]
    fn of_a_store_that_was_not_run_the_page_keeps_what_it_holds_and_claims_nothing_else() {
        let (before, _) = Page::new(&[ran()], &Page::empty());
        let read = serde_json::from_str(&before.to_json().unwrap()).unwrap();
        let (page, unseen) = Page::new(&[not_run("made-up"), not_run("never-shown")], &read);
        assert_eq!(page, before);
        assert_eq!(unseen.kept, ["made-up"]);
        assert_eq!(unseen.left_out, ["never-shown"]);
        assert!(!page.to_markdown().contains("never-shown"));
    }

    #[test]
    fn a_group_that_is_new_to_a_kept_entry_is_not_run_there() {
        let (mut before, _) = Page::new(&[ran()], &Page::empty());
        before.stores[0].store = "far".to_owned();
        before.stores[0].groups.remove("writes");
        let (page, _) = Page::new(&[ran(), not_run("far")], &before);
        assert!(
            page.to_markdown()
                .contains("| `writes`: Writes | not run | 1 of 1 |")
        );
    }
}
