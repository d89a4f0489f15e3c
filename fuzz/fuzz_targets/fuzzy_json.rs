//! What is restored from any text can be searched, changed, and saved again as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfward_lexical::fuzzy::{FuzzyIndex, FuzzySearch, Match};

fuzz_target!(|text: &str| {
    let Ok(mut index) = FuzzyIndex::from_json(text) else {
        return;
    };
    let saved = index.to_json();
    let again = FuzzyIndex::from_json(&saved).expect("what was saved");
    assert_eq!(again.to_json(), saved);
    for query in ["a", "title", text.get(..8).unwrap_or("b")] {
        for matching in [Match::All, Match::Any] {
            let search = FuzzySearch::default().matching(matching).every_hit();
            let hits = index.search(query, &search);
            assert_eq!(hits, again.search(query, &search));
            for hit in &hits {
                assert!(hit.score.is_finite() || hit.score == f64::INFINITY);
            }
            let ids: Vec<_> = hits.iter().map(|hit| hit.id.to_string()).collect();
            assert!(ids.iter().all(|id| !id.is_empty()));
        }
    }
    let hits = index.search("a", &FuzzySearch::default().every_hit());
    let ids: Vec<String> = hits.iter().map(|hit| hit.id.to_string()).collect();
    for id in ids {
        assert!(index.remove_document(&id));
    }
    assert!(index.search("a", &FuzzySearch::default()).is_empty());
});
