//! Queries of so many words that what rounding their sum loses would show.

use shelfward_core::Match;
use shelfward_lexical::inverted::{InvertedIndex, Search, Term};
use shelfward_lexical::{Bm25, Full};

/// How many words one document shares with the query. The other shares one, which the query says as
/// often: its score is no sum.
const WORDS: usize = 20_000;

/// Constants and counts under which every part is rounded the same way.
const K1_AND_TIMES: [(f64, usize); 2] = [(0.35, 2), (1.2, 1)];

fn index(bm25: Bm25, words: &[String], times: usize) -> Result<InvertedIndex, Full> {
    let mut index = InvertedIndex::new(bm25);
    index.add(|each| {
        for word in words {
            (0..times).for_each(|_| each(word));
        }
    })?;
    index.add(|each| (0..times).for_each(|_| each("one")))?;
    Ok(index)
}

#[test]
fn rounding_many_parts_loses_no_document() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = (0..WORDS).map(|i| format!("w{i}")).collect();
    let term = |text| Term {
        text,
        prefix: false,
    };
    for (k1, times) in K1_AND_TIMES {
        let index = index(Bm25::new(k1, 0.0)?, &words, times)?;
        for said in [WORDS - 1, WORDS + 1] {
            let mut terms: Vec<Term<'_>> = words.iter().map(|word| term(word)).collect();
            terms.extend((0..said).map(|_| term("one")));
            let asked = Search {
                terms: &terms,
                matching: Match::Any,
                top_k: 1,
                with_ties: false,
                max_expansions: None,
                allowed: None,
            };
            let plain = index.search_exhaustively(&asked)?;
            assert_eq!(index.search(&asked)?, plain, "{k1} {times} {said}");
        }
    }
    Ok(())
}
