//! Sizes at which anything quadratic would not come to an end in time.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use shelfward_lexical::fuzzy::{FuzzyDocument, FuzzyIndex, FuzzySearch, FuzzySettings};

fn empty() -> FuzzyIndex {
    FuzzyIndex::new(FuzzySettings::new([("t", 1.0)])).unwrap()
}

fn document(id: usize, text: impl Into<String>) -> FuzzyDocument {
    FuzzyDocument::new(id.to_string()).field("t", text.into())
}

#[test]
fn documents_one_by_one() {
    const MANY: usize = 20_000;
    let mut index = empty();
    for id in 0..MANY {
        index
            .add_document(document(id, format!("common order{id:06}")))
            .unwrap();
        if id % 2_000 == 0 {
            // A search between two additions finds what was added last.
            let hits = index.rank(&format!("order{id:06}"), &FuzzySearch::default());
            assert_eq!(hits[0].id.to_string(), id.to_string());
        }
    }
    for id in 0..MANY {
        index
            .add_document(document(id, format!("common invoice{id:06}")))
            .unwrap();
    }
    assert!(
        index
            .rank("order000007", &FuzzySearch::default())
            .is_empty()
    );
    assert_eq!(
        index
            .rank("common", &FuzzySearch::default().every_hit())
            .len(),
        MANY
    );
    assert_eq!(
        index.rank("invocie000007", &FuzzySearch::default())[0].score,
        0.5
    );
    for id in 0..MANY {
        assert!(index.remove_document(&id.to_string()));
    }
    assert!(index.is_empty());
    assert!(index.rank("common", &FuzzySearch::default()).is_empty());
}

/// A small document that is replaced again and again beside a large one that stays.
#[test]
fn replacing_a_small_document_beside_a_large_one() {
    let mut index = empty();
    let large: Vec<String> = (0..100_000).map(|i| format!("w{i}")).collect();
    index.add_document(document(0, large.join(" "))).unwrap();
    for turn in 0..20_000 {
        index
            .add_document(document(1, format!("turn{turn}")))
            .unwrap();
    }
    assert_eq!(index.rank("turn19999", &FuzzySearch::default()).len(), 1);
    assert_eq!(
        index
            .rank("turn1", &FuzzySearch::default().every_hit())
            .len(),
        1
    );
}

#[test]
fn long_words_queries_and_texts() {
    let mut index = empty();
    let long = "a".repeat(1 << 20);
    index.add_document(document(0, long.clone())).unwrap();
    // Words that share all their forms with one letter dropped.
    let alike: Vec<String> = ('\u{4E00}'..'\u{9000}')
        .map(|c| format!("abc{c}"))
        .collect();
    index.add_document(document(1, alike.join(" "))).unwrap();

    let all = FuzzySearch::default();
    assert_eq!(index.rank(&long, &all)[0].score, 1.0);
    assert_eq!(index.rank(&format!("{long}b"), &all)[0].score, 0.5);
    assert_eq!(index.rank("abcd", &all)[0].score, 0.5);
    assert!(index.rank(&"b ".repeat(1 << 19), &all).is_empty());
    let words: Vec<String> = (0..10_000).map(|i| format!("abc{i}")).collect();
    assert_eq!(index.rank(&words.join(" "), &all.any_word()).len(), 1);

    // One line, of which the end alone matches.
    let line = format!("{} needle", "hay (stack). ".repeat(100_000));
    index.add_document(document(2, line)).unwrap();
    let hits = index.search("needle", &all);
    assert!(hits[0].passages[0].text.ends_with("needle"));
}
