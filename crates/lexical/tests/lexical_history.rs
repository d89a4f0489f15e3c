//! Histories of documents that are added, replaced and removed: the quick search against the plain
//! formula, in the crate and once more in the test.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod lexical_plain;

use std::fmt::Write as _;

use lexical_plain::Plain;
use proptest::prelude::*;
use serde_json::json;
use shelfward_core::Match;
use shelfward_lexical::inverted::{InvertedIndex, Search, Term};
use shelfward_lexical::{Bm25, LexicalIndex, SearchOptions};
use shelfward_text::WordRule;

/// A small generator, so that a history of thousands of steps is one number.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(((self.0 >> 32) * u64::from(end)) >> 32).unwrap()
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(u32::try_from(of.len()).unwrap()) as usize]
    }

    /// A word of `words`, the first ones often. Many begin others.
    fn word(&mut self, words: u32) -> String {
        let (a, b) = (self.below(words), self.below(words));
        let mut rest = u64::from(a) * u64::from(b) / u64::from(words) + 1;
        let mut word = String::new();
        while rest > 0 {
            word.push(char::from(b'a' + u8::try_from(rest % 3).unwrap()));
            rest /= 3;
        }
        word
    }

    fn words(&mut self, vocabulary: u32, most: u32) -> Vec<String> {
        let length = self.below(most + 1);
        (0..length).map(|_| self.word(vocabulary)).collect()
    }
}

#[derive(Clone, Debug)]
struct History {
    seed: u64,
    steps: u32,
    ids: u32,
    vocabulary: u32,
    /// Of a hundred steps, how many remove.
    removals: u32,
    bm25: (f64, f64),
}

fn histories() -> impl Strategy<Value = History> {
    let usual = (
        prop::sample::select(vec![0.0, 0.3, 1.2, 2.0, 100.0]),
        prop::sample::select(vec![0.0, 0.75, 1.0]),
    );
    let unusual = (
        prop::sample::select(vec![-3.0, -0.5, 1.2, 1e9]),
        prop::sample::select(vec![-0.5, 0.75, 1.5, 4.0]),
    );
    let bm25 = prop_oneof![3 => usual, 1 => unusual];
    (
        1..u64::MAX,
        prop_oneof![Just(40_u32), Just(400), Just(2_500)],
        prop_oneof![Just(5_u32), Just(300), Just(2_000)],
        prop_oneof![Just(4_u32), Just(30), Just(500)],
        prop_oneof![Just(0_u32), Just(10), Just(45)],
        bm25,
    )
        .prop_map(|(seed, steps, ids, vocabulary, removals, bm25)| History {
            seed,
            steps,
            ids,
            vocabulary,
            removals,
            bm25,
        })
}

fn compare(
    index: &LexicalIndex,
    plain: &Plain,
    random: &mut Random,
    vocabulary: u32,
) -> Result<(), TestCaseError> {
    let query = random.words(vocabulary * 2, 5);
    let top_k = random.one_of(&[0, 1, 3, 10, 100, usize::MAX]);
    let options = SearchOptions::default()
        .matching(random.one_of(&[Match::Any, Match::All]))
        .prefix(random.below(3) == 0);
    let mut text = query.join(" ");
    if let (1, Some(again)) = (random.below(2), query.first()) {
        write!(text, " {again}").unwrap();
    }
    let hits = index.search_with(&text, top_k, &options).unwrap();
    let slow = index.search_exhaustively(&text, top_k, &options).unwrap();
    prop_assert_eq!(&hits, &slow, "{} {} {:?}", text, top_k, options);
    let asked: Vec<&str> = text.split_whitespace().collect();
    let checked = plain.check(&hits, index.bm25(), (&asked, top_k), &options);
    prop_assert!(checked.is_ok(), "{text} {top_k} {options:?}: {checked:?}");
    Ok(())
}

fn check_statistics(index: &LexicalIndex, plain: &Plain) -> Result<(), TestCaseError> {
    let stats = index.stats();
    prop_assert_eq!(stats.document_count, u32::try_from(plain.len()).unwrap());
    prop_assert_eq!(stats.term_count, plain.words().len());
    prop_assert_eq!(stats.average_length, plain.average_length());
    let saved = index.to_json();
    let words: Vec<&str> = saved["terms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|term| term[0].as_str().unwrap())
        .collect();
    prop_assert_eq!(words, plain.words());
    Ok(())
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: if cfg!(debug_assertions) { 12 } else { 200 },
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_history_is_searched_as_the_formula_says(history in histories()) {
        let random = &mut Random(history.seed);
        let bm25 = Bm25::new(history.bm25.0, history.bm25.1).unwrap();
        let mut index = LexicalIndex::with_bm25(WordRule::Seed, bm25);
        let mut plain = Plain::default();
        for step in 0..history.steps {
            let id = format!("d{}", random.below(history.ids));
            if random.below(100) < history.removals {
                prop_assert_eq!(index.remove_document(&id), plain.remove(&id));
            } else {
                let most = match random.below(400) {
                    0 => 5_000,
                    1..20 => 300,
                    _ => random.one_of(&[0, 3, 8, 20]),
                };
                let words = random.words(history.vocabulary, most);
                // Never empty, and sometimes without a word.
                let text = format!("{}.", words.join(" "));
                index.add_document(&id, &text, Some(json!(step))).unwrap();
                plain.add(&id, words);
            }
            if random.below(history.steps) < 30 {
                compare(&index, &plain, random, history.vocabulary)?;
            }
        }
        check_statistics(&index, &plain)?;
        let restored = LexicalIndex::from_json(&index.to_json(), WordRule::Seed).unwrap();
        check_statistics(&restored, &plain)?;
        let text = index.to_json().to_string();
        let read = LexicalIndex::from_json_text(&text, WordRule::Seed).unwrap();
        prop_assert_eq!(read.to_json(), index.to_json());
        for _ in 0..20 {
            compare(&index, &plain, random, history.vocabulary)?;
            compare(&restored, &plain, random, history.vocabulary)?;
        }
        // A restored index goes on as the one that was saved.
        let mut restored = restored;
        for _ in 0..200 {
            let id = format!("d{}", random.below(history.ids));
            let words = random.words(history.vocabulary, 6);
            restored.add_document(&id, &format!("{}.", words.join(" ")), None).unwrap();
            plain.add(&id, words);
        }
        check_statistics(&restored, &plain)?;
        compare(&restored, &plain, random, history.vocabulary)?;
    }

    /// What callers allow narrows both searches alike, and no statistic.
    #[test]
    fn allowed_documents_are_found_alike(
        seed in 1..u64::MAX,
        documents in 1..3_000_u32,
        every in 1..500_u32,
        top_k in prop::sample::select(vec![1, 10, usize::MAX]),
        prefix in any::<bool>(),
    ) {
        let random = &mut Random(seed);
        let mut index = InvertedIndex::new(Bm25::default());
        for _ in 0..documents {
            let words = random.words(40, 9);
            index.add(|each| words.iter().for_each(|word| each(word))).unwrap();
        }
        for _ in 0..documents / 20 {
            index.remove(random.below(documents));
        }
        // Some of them removed already, and in no order.
        index.remove_all((0..documents / 4).map(|_| random.below(documents)).collect());
        let allowed = |document: u32| document.is_multiple_of(every);
        for matching in [Match::Any, Match::All] {
            let words = random.words(40, 4);
            let terms: Vec<Term<'_>> = words.iter().map(|text| Term { text, prefix }).collect();
            let all = Search { terms: &terms, matching, top_k, with_ties: false, max_expansions: None, allowed: None };
            let some = Search { allowed: Some(&allowed), ..all };
            let found = index.search(&some).unwrap();
            prop_assert_eq!(&found, &index.search_exhaustively(&some).unwrap());
            let all = index.search(&Search { top_k: usize::MAX, ..all }).unwrap();
            let kept = all.into_iter().filter(|scored| allowed(scored.document));
            prop_assert_eq!(found, kept.take(top_k).collect::<Vec<_>>());
        }
    }
}
