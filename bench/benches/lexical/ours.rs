//! Our side.

use shelfward_lexical::inverted::InvertedIndex;
use shelfward_lexical::{Bm25, LexicalIndex, SearchOptions};
use shelfward_text::WordRule;

use crate::TOP_K;

/// Documents by text id.
pub(crate) fn by_id(documents: &[String]) -> LexicalIndex {
    let mut index = LexicalIndex::new(WordRule::Unicode);
    for (at, document) in documents.iter().enumerate() {
        index
            .add_document(&format!("d{at}"), document, None)
            .unwrap();
    }
    index.shrink_to_fit();
    index
}

/// Documents by number.
pub(crate) fn by_number(documents: &[String]) -> InvertedIndex {
    let mut index = InvertedIndex::new(Bm25::default());
    add_all(&mut index, documents);
    index.shrink_to_fit();
    index
}

pub(crate) fn add_all(index: &mut InvertedIndex, documents: &[String]) {
    for document in documents {
        index
            .add(|each| WordRule::Unicode.for_each_word(document, each))
            .unwrap();
    }
}

/// The answers must be those of the plain formula. Answers how many were compared.
pub(crate) fn check(
    index: &LexicalIndex,
    queries: &[Vec<String>],
    options: &SearchOptions,
) -> usize {
    for query in queries {
        let query = query.join(" ");
        let quick = index.search_with(&query, TOP_K, options).unwrap();
        let plain = index.search_exhaustively(&query, TOP_K, options).unwrap();
        let same = quick.len() == plain.len()
            && quick
                .iter()
                .zip(&plain)
                .all(|(a, b)| a.id == b.id && (a.score - b.score).abs() <= 1e-12 * b.score.abs());
        assert!(same, "{query}: {quick:?}, by the plain formula {plain:?}");
    }
    queries.len()
}
