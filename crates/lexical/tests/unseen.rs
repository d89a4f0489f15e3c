//! Words are found in every spelling: with and without what is not seen in them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hybrid_support;

use hybrid_support::core::{TestEmbedder, ids, library_with, memory, scope, source, tenant};
use shelfward_core::library::{Mode, SearchRequest};
use shelfward_lexical::{
    Bm25Index, Bm25Tokenizer, LexicalIndex, SearchOptions, Stemmer, Tokenizer,
};
use shelfward_text::WordRule;

/// One word, spelled in several ways.
const SPELLINGS: [[&str; 4]; 3] = [
    [
        "Textdatei",
        "Text\u{ad}datei",
        "TEXT\u{ad}DATEI\u{ad}",
        "Te\u{200c}xt\u{2060}datei",
    ],
    [
        "Gesamtkonzept",
        "Gesamt\u{ad}kon\u{ad}zept",
        "Gesamt\u{200d}konzept",
        "\u{feff}gesamtkonzept",
    ],
    [
        "Résumé",
        "Re\u{301}\u{ad}sume\u{301}",
        "re\u{34f}\u{301}sumé",
        "rés\u{ad}umé\u{fe0f}",
    ],
];

fn check(tokenizer: impl Tokenizer + Clone) {
    for spellings in SPELLINGS {
        for text in spellings {
            let mut index = LexicalIndex::new(tokenizer.clone());
            index
                .add_document("a", &format!("Die {text} fehlt."), None)
                .unwrap();
            index.add_document("b", "Sonst nichts.", None).unwrap();
            for query in spellings {
                let found = index.search(query, 10);
                assert_eq!(found.len(), 1, "{query:?} in {text:?}");
                assert_eq!(found[0].id, "a");
                // A word that is only begun.
                let begun = query.char_indices().nth(5).unwrap().0;
                let options = SearchOptions::default().prefix(true);
                let found = index.search_with(&query[..begun], 10, &options).unwrap();
                assert_eq!(found.len(), 1, "{:?} in {text:?}", &query[..begun]);
            }
        }
    }
}

#[test]
fn an_index_finds_every_spelling() {
    check(WordRule::Unicode);
    check(WordRule::UnicodeBigrams);
}

#[test]
fn a_bm25_index_finds_every_spelling() {
    check(Bm25Tokenizer::default());
    let stemmed = Bm25Tokenizer::default().stem(Stemmer::German);
    let mut index = Bm25Index::new(stemmed);
    index.add_document("a", "Text\u{ad}dateien", None).unwrap();
    assert_eq!(index.search("Textdatei", 10).len(), 1);
}

#[tokio::test]
async fn a_library_finds_every_spelling() {
    for spellings in SPELLINGS {
        for text in spellings {
            let (library, _) = library_with(&memory(), TestEmbedder::default()).await;
            let org = library.tenant(tenant("a"));
            org.index_source(source("s", &["g"], &[text, "Sonst nichts."]))
                .await
                .unwrap();
            for query in spellings {
                let request = SearchRequest::new(query).mode(Mode::Lexical);
                let answer = library.search(&scope("a", &["g"]), &request).await.unwrap();
                assert_eq!(ids(&answer), ["s#0"], "{query:?} in {text:?}");
            }
        }
    }
}
