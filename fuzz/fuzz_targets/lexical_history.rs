//! After any history an index is searched as the plain formula searches it, and as one that was made
//! of what is left.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use shelfward_core::Match;
use shelfward_lexical::{Bm25, LexicalIndex, SearchOptions, TokenizerFn};

#[derive(Arbitrary, Debug)]
struct Input {
    k1: f64,
    b: f64,
    usual: bool,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// Words of a few letters, each repeated.
    Add {
        id: u8,
        words: Vec<(u8, u8)>,
    },
    /// The same document under many ids, so that lists get long.
    AddMany {
        from: u16,
        many: u16,
        word: u8,
        every: u8,
    },
    Remove {
        id: u8,
    },
    RemoveMany {
        from: u16,
        many: u16,
    },
    Search {
        words: Vec<u8>,
        all: bool,
        prefix: bool,
        top_k: u8,
    },
}

/// One of 64 words, of which one letter begins many.
fn word(number: u8) -> String {
    let mut word = String::new();
    let mut rest = number % 64 + 1;
    while rest > 0 {
        word.push(char::from(b'a' + rest % 3));
        rest /= 3;
    }
    word
}

fn by_space(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fuzz_target!(|input: Input| {
    let bm25 = match Bm25::new(input.k1, input.b) {
        Ok(bm25) if !input.usual => bm25,
        _ => Bm25::default(),
    };
    let tokenizer = TokenizerFn(by_space as fn(&str) -> Vec<String>);
    let mut index = LexicalIndex::with_bm25(tokenizer, bm25);
    let mut live = std::collections::BTreeSet::new();
    for step in input.steps.iter().take(64) {
        match step {
            Step::Add { id, words } => {
                let words = words.iter().take(32);
                let words = words.map(|(word_number, times)| {
                    (word(*word_number) + " ").repeat(usize::from(*times % 40))
                });
                let text = words.collect::<String>() + " ";
                index
                    .add_document(&id.to_string(), &text, None)
                    .expect("room");
                live.insert(id.to_string());
            }
            Step::AddMany {
                from,
                many,
                word: number,
                every,
            } => {
                for id in u32::from(*from)..u32::from(*from) + u32::from(*many % 1_000) {
                    let other = u8::try_from(id % 251).expect("below 256");
                    let rare = id % (u32::from(*every) + 1) == 0;
                    let more = if rare { word(other) } else { String::new() };
                    let text = format!("{} {more} ", word(*number));
                    index
                        .add_document(&id.to_string(), &text, None)
                        .expect("room");
                    live.insert(id.to_string());
                }
            }
            Step::Remove { id } => {
                let id = id.to_string();
                assert_eq!(index.remove_document(&id), live.remove(&id));
            }
            Step::RemoveMany { from, many } => {
                for id in u32::from(*from)..u32::from(*from) + u32::from(*many % 1_000) {
                    let id = id.to_string();
                    assert_eq!(index.remove_document(&id), live.remove(&id));
                }
            }
            Step::Search {
                words,
                all,
                prefix,
                top_k,
            } => {
                let words: Vec<String> = words.iter().take(8).map(|n| word(*n)).collect();
                search(&index, &words.join(" "), *all, *prefix, usize::from(*top_k));
            }
        }
        assert_eq!(index.len(), live.len());
    }
    let saved = index.to_json();
    let tokenizer = TokenizerFn(by_space as fn(&str) -> Vec<String>);
    let again = LexicalIndex::from_json(&saved, tokenizer).expect("what was saved");
    assert_eq!(again.to_json(), saved);
    assert_eq!(again.stats(), index.stats());
    for number in [0, 7, 20] {
        let ours = search(&index, &word(number), false, true, 10);
        assert_eq!(ours, search(&again, &word(number), false, true, 10));
    }
});

/// The answer, which the plain formula gives too. Scores that are not a number equal themselves here.
fn search(
    index: &LexicalIndex<TokenizerFn<fn(&str) -> Vec<String>>>,
    query: &str,
    all: bool,
    prefix: bool,
    top_k: usize,
) -> Vec<(String, u64)> {
    let matching = if all { Match::All } else { Match::Any };
    let options = SearchOptions::default().matching(matching).prefix(prefix);
    let bits = |hits: Vec<shelfward_lexical::Hit<'_>>| -> Vec<(String, u64)> {
        let hits = hits.into_iter();
        hits.map(|hit| (hit.id.to_owned(), hit.score.to_bits()))
            .collect()
    };
    let quick = index
        .search_with(query, top_k, &options)
        .expect("no limit is set");
    let plain = index
        .search_exhaustively(query, top_k, &options)
        .expect("no limit is set");
    let quick = bits(quick);
    assert_eq!(quick, bits(plain), "{query}");
    quick
}
