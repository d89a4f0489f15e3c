//! The index against a plain reference: every word is looked at, every time.

use proptest::prelude::*;
use shelfward_lexical::fuzzy::{
    FuzzyDocument, FuzzyIndex, FuzzySearch, FuzzySettings, Match, within_one_edit,
};

/// A document of the reference: its id and the words of its fields, in the order of `WEIGHTS`.
type Plain = (u8, [Vec<String>; 3]);

const WEIGHTS: [(&str, f64); 3] = [("a", 1.0), ("b", 8.0), ("c", 3.0)];

fn score(document: &Plain, query: &[String], least: usize, matching: Match) -> Option<f64> {
    let long = |word: &str| word.chars().count() >= least;
    let mut sum = 0.0;
    let mut matched = 0;
    for wanted in query {
        let mut best: f64 = 0.0;
        for (words, (_, weight)) in document.1.iter().zip(WEIGHTS) {
            for word in words {
                let count = if word == wanted {
                    1.0
                } else if word.starts_with(wanted.as_str()) {
                    0.75
                } else if long(word) && long(wanted) && within_one_edit(word, wanted) {
                    0.5
                } else {
                    0.0
                };
                best = best.max(count * weight);
            }
        }
        sum += best;
        matched += usize::from(best > 0.0);
    }
    let enough = match matching {
        Match::All => !query.is_empty() && matched == query.len(),
        Match::Any => matched > 0,
    };
    enough.then_some(sum)
}

#[derive(Clone, Debug)]
enum Step {
    Add(Plain),
    Remove(u8),
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[abé]{1,6}",
        // Longer than what is filed by deletions, and at the edge of it.
        1 => "[ab]{2}a{28,32}[ab]{2}",
    ]
}

fn words(most: usize) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(word(), 0..most)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..8_u8, [words(4), words(3), words(3)]).prop_map(Step::Add),
        1 => (0..8_u8).prop_map(Step::Remove),
    ]
}

/// Accents are dropped, so the reference drops the one that the alphabet has.
fn folded(words: &[String]) -> Vec<String> {
    words.iter().map(|word| word.replace('é', "e")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn finds_and_scores_as_the_reference(
        steps in prop::collection::vec(step(), 0..20),
        queries in prop::collection::vec(words(4), 1..6),
        least in 1..7_usize,
        top_k in prop_oneof![Just(usize::MAX), 0..5_usize],
    ) {
        let settings = FuzzySettings::new(WEIGHTS).edit_min_length(least);
        let mut index = FuzzyIndex::new(settings).unwrap();
        let mut plain: Vec<Plain> = Vec::new();
        for step in steps {
            match step {
                Step::Add((id, fields)) => {
                    let mut document = FuzzyDocument::new(id.to_string());
                    for (words, (name, _)) in fields.iter().zip(WEIGHTS) {
                        document = document.field(name, words.join(" "));
                    }
                    index.add_document(document).unwrap();
                    plain.retain(|(other, _)| *other != id);
                    plain.push((id, fields.map(|words| folded(&words))));
                }
                Step::Remove(id) => {
                    let was = plain.len();
                    plain.retain(|(other, _)| *other != id);
                    prop_assert_eq!(index.remove_document(&id.to_string()), was > plain.len());
                }
            }
        }
        prop_assert_eq!(index.len(), plain.len());
        let restored = FuzzyIndex::from_json(&index.to_json()).unwrap();
        for query in &queries {
            for matching in [Match::All, Match::Any] {
                let wanted = folded(query);
                let mut expected: Vec<(String, f64)> = plain
                    .iter()
                    .filter_map(|one| Some((one.0.to_string(), score(one, &wanted, least, matching)?)))
                    .collect();
                expected.sort_by(|(_, a), (_, b)| b.total_cmp(a));
                expected.truncate(top_k);
                let search = FuzzySearch::default().matching(matching).top_k(top_k);
                for index in [&index, &restored] {
                    let hits = index.search(&query.join(" "), &search);
                    let found: Vec<_> = hits.iter().map(|hit| (hit.id.to_string(), hit.score)).collect();
                    prop_assert_eq!(&found, &expected);
                }
            }
        }
    }

    #[test]
    fn one_edit_is_a_distance_of_one_at_most(a in "[abcé]{0,7}", b in "[abcé]{0,7}") {
        prop_assert_eq!(within_one_edit(&a, &b), distance(&a, &b) <= 1);
        prop_assert_eq!(within_one_edit(&a, &b), within_one_edit(&b, &a));
    }
}

/// Damerau-Levenshtein as the textbooks have it: changes, letters more or fewer, neighbours swapped.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let changed = usize::from(a[i - 1] != b[j - 1]);
                let mut least = (table[i - 1][j] + 1)
                    .min(table[i][j - 1] + 1)
                    .min(table[i - 1][j - 1] + changed);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(table[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    table[a.len()][b.len()]
}

/// Every word one edit away is found, around the length at which words are filed otherwise.
#[test]
fn every_edit_of_a_long_word_is_found() {
    for length in [4, 5, 30, 31, 32, 33, 34, 35, 50, 51] {
        let word: String = ('a'..='z').cycle().take(length).collect();
        let mut index = FuzzyIndex::new(FuzzySettings::new([("t", 1.0)])).unwrap();
        index
            .add_document(FuzzyDocument::new("1").field("t", word.as_str()))
            .unwrap();
        let letters: Vec<char> = word.chars().collect();
        let mut edits: Vec<Vec<char>> = Vec::new();
        for at in 0..=length {
            let mut more = letters.clone();
            more.insert(at, '9');
            edits.push(more);
            if at < length {
                let mut changed = letters.clone();
                changed[at] = '9';
                edits.push(changed);
                let mut fewer = letters.clone();
                fewer.remove(at);
                edits.push(fewer);
            }
            if at + 1 < length {
                let mut swapped = letters.clone();
                swapped.swap(at, at + 1);
                edits.push(swapped);
            }
        }
        for edit in edits {
            let edit: String = edit.into_iter().collect();
            let score = index
                .rank(&edit, &FuzzySearch::default())
                .first()
                .map(|hit| hit.score);
            let begun = word.starts_with(&edit);
            let expected = match (begun, edit.len() >= 4) {
                (true, _) => Some(0.75),
                (false, true) => Some(0.5),
                (false, false) => None,
            };
            assert_eq!(score, expected, "{edit} for {word}");
        }
    }
}
