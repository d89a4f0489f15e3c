//! Sizes at which anything quadratic would not come to an end in time.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;

use shelfward_core::Match;
use shelfward_lexical::{Bm25Tokenizer, LexicalIndex, SearchOptions};
use shelfward_text::WordRule;

/// Debug builds are slow: they get a share of the size.
const fn size(whole: usize) -> usize {
    if cfg!(debug_assertions) {
        whole / 10
    } else {
        whole
    }
}

fn empty() -> LexicalIndex {
    LexicalIndex::new(WordRule::Unicode)
}

fn add(index: &mut LexicalIndex, id: usize, text: &str) {
    index.add_document(&id.to_string(), text, None).unwrap();
}

#[test]
fn a_text_of_50_mb_and_a_query_of_one() {
    let mut index = empty();
    let mut text = String::new();
    let mut number = 0_usize;
    while text.len() < size(50 << 20) {
        write!(text, "word{} filler ", number % 10_007).unwrap();
        number += 1;
    }
    add(&mut index, 0, &text);
    add(&mut index, 1, "word7");
    assert_eq!(index.search("word7", 10).len(), 2);
    assert_eq!(index.stats().term_count, 10_008);
    let query = &text[..size(10 << 20) / 10];
    for matching in [Match::Any, Match::All] {
        let options = SearchOptions::default().matching(matching);
        let hits = index.search_with(query, 10, &options).unwrap();
        assert_eq!(hits[0].id, "0");
        assert_eq!(
            hits,
            index.search_exhaustively(query, 10, &options).unwrap()
        );
    }
    // One word of 1 MB.
    let long = "a".repeat(1 << 20);
    add(&mut index, 2, &long);
    assert_eq!(index.search(&long, 10)[0].id, "2");
    let begun = SearchOptions::default().prefix(true);
    assert_eq!(
        index.search_with(&long[1..], 10, &begun).unwrap()[0].id,
        "2"
    );
}

#[test]
fn a_query_of_10_000_words() {
    let mut index = empty();
    for id in 0..size(10_000) {
        add(&mut index, id, &format!("common w{id} w{}", id * 7 % 9_973));
    }
    let words: Vec<String> = (0..10_000).map(|i| format!("w{i}")).collect();
    let query = words.join(" ");
    assert_eq!(index.search(&query, usize::MAX).len(), size(10_000));
    let all = SearchOptions::default().matching(Match::All);
    assert!(index.search_with(&query, 10, &all).unwrap().is_empty());
    // The same word as often.
    let again = "common ".repeat(10_000);
    let once = index.search("common", 10);
    let often = index.search(&again, 10);
    for (once, often) in once.iter().zip(&often) {
        assert_eq!(once.id, often.id);
        assert!((once.score * 10_000.0 - often.score).abs() <= 1e-9 * often.score);
    }
}

#[test]
fn two_letters_that_begin_100_000_words() {
    let words = size(100_000);
    let mut index = empty();
    for id in 0..words {
        add(&mut index, id, &format!("pp{id} common"));
    }
    let options = SearchOptions::default().prefix(true);
    let hits = index.search_with("pp", 10, &options).unwrap();
    // All alike: those that were added first.
    let ids: Vec<&str> = hits.iter().map(|hit| hit.id).collect();
    assert_eq!(ids, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    assert_eq!(
        index.search_with("pp", usize::MAX, &options).unwrap().len(),
        words
    );
    let refused = index.search_with("pp", 10, &options.max_expansions(1_000));
    let refused = refused.unwrap_err();
    assert_eq!((refused.given, refused.max), (words, 1_000));
    // Between two searches a word is added.
    for id in words..words + 100 {
        add(&mut index, id, &format!("pp{id}"));
        assert_eq!(
            index.search_with(&format!("pp{id}"), 1, &options).unwrap()[0].id,
            id.to_string()
        );
    }
}

/// A document that is replaced again and again leaves nothing behind that grows without end.
#[test]
fn replacing_one_document_takes_no_more_memory() {
    let mut index = empty();
    for id in 0..100 {
        add(&mut index, id, "some words that stay");
    }
    let text = |turn: usize| -> String {
        (0..2_000).fold(String::new(), |mut text, i| {
            write!(text, "turn{turn}word{i} ").unwrap();
            text
        })
    };
    add(&mut index, 100, &text(0));
    let mut most = 0;
    for turn in 1..size(2_000) {
        add(&mut index, 100, &text(turn));
        most = most.max(index.memory_bytes());
    }
    assert_eq!(index.len(), 101);
    assert!(most < 4 << 20, "{most}");
    assert_eq!(index.search("some", 200).len(), 100);
}

/// Repeated words of a replaced document are not looked up among removed ones each time.
#[test]
fn replacing_a_document_that_repeats_a_common_word() {
    let mut index = empty();
    for id in 0..size(100_000) {
        add(&mut index, id, "common words");
    }
    for id in 0..50 {
        index.remove_document(&(id * 97).to_string());
    }
    let text = "common ".repeat(size(1_000_000));
    add(&mut index, 3, &text);
    let hits = index.search("common", 1);
    assert_eq!(hits.len(), 1);
    assert_eq!(index.len(), size(100_000) - 50);
}

#[test]
fn every_document_removed_and_added_again() {
    let documents = size(50_000);
    let mut index = empty();
    for turn in 0..2 {
        for id in 0..documents {
            add(&mut index, id, &format!("common order{id} turn{turn}"));
        }
        assert_eq!(index.search("common", usize::MAX).len(), documents);
        for id in 0..documents {
            assert!(index.remove_document(&id.to_string()));
        }
        assert!(index.is_empty());
        assert!(index.search("common", 10).is_empty());
        assert_eq!(index.stats().term_count, 0);
    }
}

#[test]
fn the_seeds_tokenizer_on_a_long_text() {
    let text = "The Plan’s Σ-report, ΟΔΟΣ! ".repeat(size(400_000));
    let mut words = 0_usize;
    shelfward_lexical::Tokenizer::for_each_word(
        &Bm25Tokenizer::plain_english(),
        &text,
        &mut |_| words += 1,
    );
    assert_eq!(words, 3 * size(400_000));
}
