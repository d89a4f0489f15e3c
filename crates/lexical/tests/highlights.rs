//! Why a text was found: the words of a query marked as the index finds them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use shelfward_lexical::{
    Bm25Index, Bm25Tokenizer, LexicalIndex, SearchOptions, Stemmer, StopWords, Tokenizer,
    TokenizerFn,
};
use shelfward_text::{Highlight, Span, WordRule};

fn shown(found: &Highlight) -> String {
    let part = |(part, marked): (&str, bool)| {
        if marked {
            format!("[{part}]")
        } else {
            part.to_owned()
        }
    };
    found.parts().map(part).collect()
}

fn tokenizers() -> Vec<Bm25Tokenizer> {
    vec![
        Bm25Tokenizer::default(),
        Bm25Tokenizer::plain_english(),
        Bm25Tokenizer::plain_english().stem(Stemmer::Porter),
        Bm25Tokenizer::new(WordRule::Seed).stop_words(StopWords::English),
        Bm25Tokenizer::new(WordRule::UnicodeBigrams).stem(Stemmer::German),
    ]
}

#[track_caller]
fn check(
    tokenizer: impl Tokenizer,
    query: &str,
    options: SearchOptions,
    text: &str,
    expected: &str,
) {
    let mut index = LexicalIndex::new(tokenizer);
    index.add_document("a", text, None).unwrap();
    index.add_document("b", "Something else.", None).unwrap();
    let found = index.search_with(query, 9, &options).unwrap();
    let ids: Vec<&str> = found.iter().map(|hit| hit.id).collect();
    let marked = index.highlighter(query, &options).whole(text);
    assert_eq!(ids.contains(&"a"), !marked.marks.is_empty());
    assert_eq!(shown(&marked), expected);
}

#[test]
fn what_is_found_is_marked() {
    let plain = SearchOptions::default();
    let english = || {
        Bm25Tokenizer::default()
            .stem(Stemmer::English)
            .stop_words(StopWords::English)
    };
    check(
        english(),
        "policy",
        plain,
        "Our policies.",
        "Our [policies].",
    );
    check(
        english(),
        "pony",
        plain,
        "Ponies, a pony’s",
        "[Ponies], a [pony]’s",
    );
    check(english(), "the", plain, "The end.", "The end.");
    check(
        english(),
        "run",
        plain.prefix(true),
        "She runs, running",
        "She [runs], [running]",
    );
    check(
        Bm25Tokenizer::plain_english(),
        "ÉTÉ",
        plain,
        "L'été “été” ÉTÉ",
        "L'[été] “été” [ÉTÉ]",
    );
    check(
        Bm25Tokenizer::plain_english(),
        "ΟΔΌΣ",
        plain,
        "a ΟΔΌΣ. İ ΟΔΌΣ",
        "a [ΟΔΌΣ]. İ [ΟΔΌΣ]",
    );
    check(
        WordRule::UnicodeBigrams,
        "図書館",
        plain,
        "昨日図書館で",
        "昨日[図書館]で",
    );
    // A function says nothing of places.
    let by_space =
        || TokenizerFn(|text: &str| text.to_lowercase().split(' ').map(str::to_owned).collect());
    check(
        by_space(),
        "gb/s",
        plain,
        "at 3 gb/s or GB/s",
        "at 3 [gb/s] or [GB/s]",
    );
    let by_sign = || TokenizerFn(|text: &str| text.split(['/', ' ']).map(str::to_owned).collect());
    check(
        by_sign(),
        "b c",
        plain,
        "a/b/b d c/c/",
        "a/[b]/[b] d [c]/[c]/",
    );
}

#[test]
fn a_rare_word_of_the_index_decides() {
    let text = "It is what it is and it is not more. Elsewhere panics are named.";
    let mut index = Bm25Index::new(Bm25Tokenizer::default());
    index.add_document("a", text, None).unwrap();
    for id in ["b", "c", "d"] {
        index
            .add_document(id, "what it is and is not", None)
            .unwrap();
    }
    let options = SearchOptions::default();
    let snippet = |query: &str, options| {
        let found = index
            .highlighter(query, &options)
            .max_chars(28)
            .snippet(text);
        shown(&found)
    };
    assert_eq!(
        snippet("what is it panics", options),
        "Elsewhere [panics] are named."
    );
    assert_eq!(
        snippet("wh i panic", options.prefix(true)),
        "Elsewhere [panics] are named."
    );
    assert_eq!(
        snippet("is it", options),
        "[It] [is] what [it] [is] and [it] [is]"
    );
}

proptest! {
    #[test]
    fn words_and_their_places_agree(text in "(\\PC|[a-zA-Z]{1,6}ing|ΑΣ|İ|'| |\\n|\u{ad}|漢字){0,40}") {
        for tokenizer in tokenizers() {
            let mut words = Vec::new();
            let mut last = 0;
            let mut sound = true;
            tokenizer.for_each_word_at(&text, &mut |word, span: Span| {
                words.push(word.to_owned());
                sound &= last <= span.start && span.slice(&text).is_some_and(|part| !part.is_empty());
                last = span.start;
            });
            prop_assert!(sound);
            prop_assert_eq!(words, tokenizer.words(&text), "{:?}", tokenizer);
        }
    }
}
