//! What the groups ask, what each case's rule is and what the verdicts mean, in words.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// What a group of cases asks and what follows from a failure, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Group {
    /// Its title.
    pub title: String,
    /// What it asks of a store.
    pub asks: String,
    /// What a failure means for readers.
    pub means: String,
    /// What one can do about a failure.
    pub remedy: String,
}

/// What a verdict means and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Legend {
    /// The verdict.
    pub verdict: Verdict,
    /// What the store does.
    pub meaning: String,
    /// What to do where it was not expected.
    pub action: String,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(flatten)]
    group: Group,
    rules: BTreeMap<String, String>,
}

// Read once; that it can be read is what a test shows.
static ENTRIES: LazyLock<BTreeMap<String, Entry>> =
    LazyLock::new(|| toml::from_str(include_str!("rules.toml")).unwrap_or_default());

/// What a group asks, if there is one of that name.
pub fn group(name: &str) -> Option<&'static Group> {
    ENTRIES.get(name).map(|entry| &entry.group)
}

/// The rule of the case `group/name`, in one sentence; nothing where there is no such case.
pub fn rule(id: &str) -> &'static str {
    let entry = id.split_once('/');
    let rule = entry.and_then(|(group, name)| ENTRIES.get(group)?.rules.get(name));
    rule.map_or("", String::as_str)
}

/// Every verdict, what it means and what to do.
pub fn legend() -> Vec<Legend> {
    let verdicts = [
        Verdict::Widens,
        Verdict::Narrows,
        Verdict::Miscounts,
        Verdict::Misorders,
        Verdict::Errors,
        Verdict::Refuses,
        Verdict::Honours,
        Verdict::NotRun,
    ];
    let legend = verdicts.map(|verdict| Legend {
        verdict,
        meaning: verdict.meaning().to_owned(),
        action: verdict.action().to_owned(),
    });
    legend.to_vec()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::suite::Suite;

    #[test]
    fn every_case_has_a_rule_of_one_sentence_and_every_rule_a_case() {
        let read: BTreeMap<String, Entry> = toml::from_str(include_str!("rules.toml")).unwrap();
        let rules = read.iter().flat_map(|(group, entry)| {
            let rules = entry.rules.iter();
            rules.map(move |(name, rule)| (format!("{group}/{name}"), rule.as_str()))
        });
        let rules: BTreeMap<String, &str> = rules.collect();
        let cases = Suite::all_cases().into_iter();
        let cases: BTreeSet<String> = cases.map(|case| case.info().id.clone()).collect();
        let without: Vec<_> = cases.iter().filter(|id| !rules.contains_key(*id)).collect();
        assert!(
            without.is_empty(),
            "give these a rule in rules.toml: {without:?}"
        );
        let stray: Vec<_> = rules.keys().filter(|id| !cases.contains(*id)).collect();
        assert!(stray.is_empty(), "rules.toml names no case by {stray:?}");
        for (id, sentence) in rules {
            assert_eq!(rule(&id), sentence);
            let whole = sentence.len() > 15 && sentence.ends_with('.');
            assert!(whole && !sentence.contains(". "), "{id}: {sentence:?}");
        }
    }

    #[test]
    fn every_group_says_what_it_asks_what_that_means_and_what_to_do() {
        for case in Suite::all_cases() {
            let group = group(case.info().group()).unwrap();
            let texts = [&group.title, &group.asks, &group.means, &group.remedy];
            assert!(texts.iter().all(|text| text.len() > 3), "{group:?}");
        }
        assert!(group("all").is_none(), "it would read as the total");
    }
}
