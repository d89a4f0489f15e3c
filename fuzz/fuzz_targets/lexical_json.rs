//! What is restored from any text can be searched, changed, and saved again as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfward_core::Match;
use shelfward_lexical::{LexicalIndex, SearchOptions, TokenizerFn};
use shelfward_text::WordRule;

fuzz_target!(|text: &str| {
    // A function names no word rule, which would not be found by chance.
    let words = || TokenizerFn(|text: &str| WordRule::Unicode.words(text));
    let Ok(mut index) = LexicalIndex::from_json_text(text, words()) else {
        return;
    };
    let saved = index.to_json();
    let again = LexicalIndex::from_json(&saved, words()).expect("what was saved");
    // A number so small or great that it is written otherwise is still the same.
    assert_eq!(again.to_json(), saved);
    assert_eq!(again.stats(), index.stats());
    let terms = saved["terms"].as_array().expect("a list");
    let mut query = String::from("a");
    for term in terms.iter().take(4) {
        query.push(' ');
        query.push_str(term[0].as_str().expect("a word"));
    }
    for matching in [Match::Any, Match::All] {
        for prefix in [false, true] {
            let options = SearchOptions::default().matching(matching).prefix(prefix);
            for top_k in [1, usize::MAX] {
                let quick = index.search_with(&query, top_k, &options);
                let plain = index.search_exhaustively(&query, top_k, &options);
                let ids = |hits: Result<Vec<shelfward_lexical::Hit<'_>>, _>| -> Vec<(String, u64)> {
                    let hits = hits.expect("no limit is set");
                    let hits = hits.into_iter();
                    hits.map(|hit| (hit.id.to_owned(), hit.score.to_bits()))
                        .collect()
                };
                assert_eq!(ids(quick), ids(plain));
            }
        }
    }
    index
        .add_document("a", &query, None)
        .expect("there is room");
    assert!(index.remove_document("a"));
});
