//! Callers whose tokenizer panics, whose metadata nests deep, whose queries are long.

#![expect(clippy::panic, reason = "what is tested is a tokenizer that panics")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;
use shelfward_core::Match;
use shelfward_lexical::fuzzy::{FuzzySettings, FuzzySettingsError};
use shelfward_lexical::{AddError, LexicalIndex, PartitionSearch, PartitionedIndex, SearchOptions};
use shelfward_lexical::{Bm25, TokenizerFn, inverted::Term};
use shelfward_text::WordRule;

fn or_panic(text: &str) -> Vec<String> {
    text.split(' ')
        .map(|word| match word {
            "boom" => panic!("no word of mine"),
            word => word.to_owned(),
        })
        .collect()
}

/// Hands words out one by one, so that a panic comes after some were taken.
struct OneByOne;

impl shelfward_lexical::Tokenizer for OneByOne {
    fn for_each_word(&self, text: &str, each: &mut dyn FnMut(&str)) {
        for word in text.split(' ') {
            assert!(word != "boom", "no word of mine");
            each(word);
        }
    }
}

#[test]
fn a_tokenizer_that_panics_changes_nothing() {
    let mut index = LexicalIndex::new(OneByOne);
    index.add_document("a", "alpha beta", None).unwrap();
    let before = index.to_json();
    let added = catch_unwind(AssertUnwindSafe(|| {
        index.add_document("a", "gamma gamma delta boom", None)
    }));
    assert!(added.is_err());
    assert_eq!(index.to_json(), before);
    assert_eq!(index.search("alpha", 10).len(), 1);
    index.add_document("b", "gamma delta", None).unwrap();
    assert_eq!(index.search("gamma", 10)[0].id, "b");
    assert_eq!(index.to_json()["terms"][2], json!(["gamma", [[1, 1]]]));

    let mut index = LexicalIndex::new(TokenizerFn(or_panic));
    assert!(catch_unwind(AssertUnwindSafe(|| index.add_document("a", "a boom", None))).is_err());
    assert!(index.is_empty());
}

#[test]
fn what_can_be_indexed_can_be_restored() {
    let nested = |depth: usize| (1..depth).fold(json!([]), |inner, _| json!([inner]));
    let mut index = LexicalIndex::new(WordRule::Unicode);
    index.add_document("a", "alpha", Some(nested(64))).unwrap();
    let refused = index.add_document("a", "beta", Some(nested(65)));
    assert_eq!(refused, Err(AddError::MetadataDepth));
    assert_eq!(index.search("alpha", 1).len(), 1);

    let mut bytes = Vec::new();
    index.write_to(&mut bytes).unwrap();
    let restored = LexicalIndex::from_bytes(&bytes, WordRule::Unicode).unwrap();
    assert_eq!(restored.to_json(), index.to_json());
    let text = index.to_json().to_string();
    let restored = LexicalIndex::from_json_text(&text, WordRule::Unicode).unwrap();
    assert_eq!(restored.to_json(), index.to_json());

    let mut saved = index.to_json();
    saved["documents"][0][2] = nested(65);
    let refused = LexicalIndex::from_json(&saved, WordRule::Unicode).unwrap_err();
    assert!(refused.to_string().contains("documents[0]"), "{refused}");
    let refused = index.add_document("b", "beta", Some(nested(1_000)));
    assert_eq!(refused, Err(AddError::MetadataDepth));
}

#[test]
fn words_that_nobody_holds_add_nothing() {
    let mut index = LexicalIndex::new(WordRule::Unicode);
    for at in 0..500 {
        index
            .add_document(&format!("d{at}"), &format!("x y{}", at % 50), None)
            .unwrap();
    }
    let absent: Vec<String> = (0..2_000).map(|at| format!("absent{at}")).collect();
    let long = format!("{} x y7 {}", absent.join(" "), absent.join(" "));
    for (matching, found) in [(Match::Any, 10), (Match::All, 0)] {
        for prefix in [false, true] {
            let options = SearchOptions::default().matching(matching).prefix(prefix);
            let quick = index.search_with(&long, 10, &options).unwrap();
            let plain = index.search_exhaustively(&long, 10, &options).unwrap();
            assert_eq!(quick, plain);
            assert_eq!(quick.len(), found);
        }
    }
}

#[test]
fn equal_scores_of_a_partition_stand_in_the_order_of_names() {
    let mut index = PartitionedIndex::new(Bm25::default());
    for name in ["z", "m", "a", "q"] {
        assert!(index.put("p", name, ["an", "apple"]));
    }
    assert!(index.put("p", "best", ["apple", "apple"]));
    let terms = [Term {
        text: "apple",
        prefix: false,
    }];
    for (top_k, names) in [
        (1, &["best"][..]),
        (2, &["best", "a"]),
        (4, &["best", "a", "m", "q"]),
    ] {
        let search = PartitionSearch {
            terms: &terms,
            matching: Match::Any,
            top_k,
            max_expansions: None,
        };
        let found = index.search(&"p", &search, |_| true).unwrap();
        let found: Vec<_> = found.into_iter().map(|(name, _)| *name).collect();
        assert_eq!(found, names, "{top_k}");
    }
}

/// Constants under which some scores are infinite, and some no numbers.
#[test]
fn scores_that_are_no_numbers_stand_last_in_a_partition() {
    let mut index = PartitionedIndex::new(Bm25::new(1e308, 1.0).unwrap());
    for name in 0..200_u32 {
        // In no order: of many lengths, and some with the word twice.
        let length = (name * 37 % 101) as usize;
        let mut words = vec!["other"; length];
        words.push("apple");
        if name % 3 == 0 {
            words.push("apple");
        }
        assert!(index.put("p", name, words));
    }
    let terms = [Term {
        text: "apple",
        prefix: false,
    }];
    for top_k in [1, 50, 150, 199, 200, 300] {
        let search = PartitionSearch {
            terms: &terms,
            matching: Match::Any,
            top_k,
            max_expansions: None,
        };
        let found = index.search(&"p", &search, |_| true).unwrap();
        assert_eq!(found.len(), top_k.min(200));
        let last = found
            .iter()
            .take_while(|(_, score)| !score.is_nan())
            .count();
        let (numbers, others) = found.split_at(last);
        assert!(numbers.is_sorted_by(|a, b| a.1 > b.1 || a.1 == b.1 && a.0 < b.0));
        assert!(others.iter().all(|(_, score)| score.is_nan()));
        assert!(others.is_sorted_by_key(|(name, _)| *name));
        assert!(top_k < 199 || !numbers.is_empty() && !others.is_empty());
    }
}

#[test]
fn passages_without_bounds_are_refused() {
    let refused = |settings: FuzzySettings| -> FuzzySettingsError {
        shelfward_lexical::fuzzy::FuzzyIndex::new(settings).unwrap_err()
    };
    let settings = || FuzzySettings::new([("body", 1.0)]);
    let wide = refused(settings().passage_width(10_001));
    assert!(wide.to_string().contains("passageWidth"), "{wide}");
    let many = refused(settings().passages(usize::MAX));
    assert!(many.to_string().contains("passages"), "{many}");
}
