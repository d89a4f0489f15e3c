//! What a fuzzy index finds, and what it scores: tables of cases.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use shelfward_lexical::fuzzy::{
    FieldText, FuzzyDocument, FuzzyIndex, FuzzySearch, FuzzySettings, Token, within_one_edit,
};
use shelfward_text::Span;

fn index(settings: FuzzySettings, documents: Vec<FuzzyDocument>) -> FuzzyIndex {
    let mut index = FuzzyIndex::new(settings).unwrap();
    index.add_documents(documents).unwrap();
    index
}

/// An index with one field of weight 1.
fn texts(texts: &[(&str, &str)]) -> FuzzyIndex {
    let documents = texts.iter();
    let documents = documents.map(|(id, text)| FuzzyDocument::new(*id).field("t", *text));
    index(FuzzySettings::new([("t", 1.0)]), documents.collect())
}

fn shop() -> FuzzyIndex {
    index(
        FuzzySettings::new([("title", 10.0), ("body", 1.0)]),
        vec![
            FuzzyDocument::new("refunds")
                .field("title", "Refunds")
                .field("body", "A refund goes back to the card that paid."),
            FuzzyDocument::new("shipping")
                .field("title", "Shipping")
                .field("body", "Orders ship within two business days."),
        ],
    )
}

#[track_caller]
fn check(index: &FuzzyIndex, query: &str, search: &FuzzySearch, expected: &[(&str, f64)]) {
    let hits = index.search(query, search);
    let found: Vec<_> = hits.iter().map(|hit| (&*hit.id, hit.score)).collect();
    assert_eq!(found, expected, "{query:?}");
    let ranked = index.rank(query, search);
    let ranked: Vec<_> = ranked.iter().map(|hit| (&*hit.id, hit.score)).collect();
    assert_eq!(ranked, expected, "{query:?}, ranked alone");
}

#[test]
fn the_kinds_of_match_and_the_weights_of_fields() {
    let all = FuzzySearch::default();
    for (query, expected) in [
        // Two letters swapped, in the body.
        ("refnud", &[("refunds", 0.5)][..]),
        // The title begins with it.
        ("ref", &[("refunds", 7.5)]),
        ("refund", &[("refunds", 7.5)]),
        ("refunds", &[("refunds", 10.0)]),
        ("shpping", &[("shipping", 5.0)]),   // dropped
        ("shippping", &[("shipping", 5.0)]), // added
        ("shilping", &[("shipping", 5.0)]),  // changed
        ("hsipping", &[("shipping", 5.0)]),  // swapped
        ("hsippnig", &[]),                   // two edits
        ("crad", &[("refunds", 0.5)]),
        // Three letters are too few for an edit.
        ("twp", &[]),
        // Every word has to match somewhere in the document, in whatever field.
        ("refunds card", &[("refunds", 11.0)]),
        ("business refund", &[]),
        // A word that is repeated adds each time.
        ("card card card", &[("refunds", 3.0)]),
        ("", &[]),
        ("  \t\n", &[]),
        ("!!! ???", &[]),
        ("\u{301}", &[]),
    ] {
        check(&shop(), query, &all, expected);
    }
    let any = all.any_word();
    check(
        &shop(),
        "business refund",
        &any,
        &[("refunds", 7.5), ("shipping", 1.0)],
    );
    check(&shop(), "zebra refund", &any, &[("refunds", 7.5)]);
    check(&shop(), "", &any, &[]);
}

#[test]
fn the_best_match_is_that_of_the_highest_product() {
    let index = index(
        FuzzySettings::new([("title", 10.0), ("body", 1.0)]),
        vec![
            // The same word in the body, and only one edit away in the title: 5 is more than 1.
            FuzzyDocument::new("1")
                .field("title", "planet")
                .field("body", "planes"),
            FuzzyDocument::new("2").field("body", "planes"),
        ],
    );
    check(
        &index,
        "planes",
        &FuzzySearch::default(),
        &[("1", 5.0), ("2", 1.0)],
    );
}

/// Letters swapped at the start, at the end and in words too short for an edit.
#[test]
fn a_swap_of_neighbours_is_one_edit() {
    let words = FuzzyDocument::new("1").field("title", ["weird", "form", "cat"]);
    let index = index(FuzzySettings::new([("title", 10.0)]), vec![words]);
    let all = FuzzySearch::default();
    check(&index, "wierd", &all, &[("1", 5.0)]);
    check(&index, "from", &all, &[("1", 5.0)]);
    check(&index, "act", &all, &[]);
    for (a, b) in [
        ("weird", "wierd"),
        ("form", "from"),
        ("cat", "act"),
        ("read", "raed"),
    ] {
        assert!(within_one_edit(a, b) && within_one_edit(b, a), "{a} {b}");
    }
}

#[test]
fn edits_need_letters_in_both_words() {
    for (least, query, expected) in [
        (1, "b", &[("1", 0.5), ("2", 0.5), ("3", 0.5)][..]), // a, c, dog: no, do
        (1, "do", &[("3", 1.0), ("1", 0.5)]),
        (2, "dx", &[("3", 0.5)]),
        (3, "dx", &[]),
        (4, "housx", &[("4", 0.5)]),
        (6, "housx", &[]),
    ] {
        let settings = FuzzySettings::new([("t", 1.0)]).edit_min_length(least);
        let documents = [("1", "d"), ("2", "c"), ("3", "do e"), ("4", "house")];
        let documents = documents.map(|(id, text)| FuzzyDocument::new(id).field("t", text));
        let index = index(settings, documents.into());
        let hits = index.rank(query, &FuzzySearch::default());
        let found: Vec<_> = hits.iter().map(|hit| (&*hit.id, hit.score)).collect();
        let expected: Vec<_> = expected.to_vec();
        assert_eq!(found, expected, "{least} {query}");
    }
}

#[test]
fn words_are_compared_in_lower_case_composed_and_without_accents() {
    let index = texts(&[
        ("composed", "résumé"),
        ("decomposed", "re\u{301}sume\u{301}"),
        ("plain", "Resume"),
        ("sharp", "Straße"),
        ("turkish", "İstanbul"),
        ("greek", "Ἀθῆναι"),
        ("hangul", "한국어"),
        ("hebrew", "שלום עולם"),
        ("arabic", "مرحبا"),
        ("emoji", "👩‍👩‍👧 family 🇩🇪"),
        ("digits", "x² ½ 12345"),
    ]);
    let all = FuzzySearch::default();
    let resumes = [("composed", 1.0), ("decomposed", 1.0), ("plain", 1.0)];
    for query in ["resume", "RÉSUMÉ", "re\u{301}sume\u{301}"] {
        check(&index, query, &all, &resumes);
    }
    for (query, expected) in [
        ("straße", &[("sharp", 1.0)][..]),
        ("strase", &[("sharp", 0.5)]),
        ("istanbul", &[("turkish", 1.0)]),
        ("αθηναι", &[("greek", 1.0)]),
        ("한국", &[("hangul", 0.75)]),
        ("שלום", &[("hebrew", 1.0)]),
        ("שלומ", &[("hebrew", 0.5)]),
        ("مرحا", &[("arabic", 0.5)]),
        ("👩‍👩‍👧", &[]),
        ("family 🇩🇪", &[("emoji", 1.0)]),
        ("12354", &[("digits", 0.5)]),
        ("½", &[("digits", 1.0)]),
        // A mark belongs to the letter before it; on its own it is no word.
        ("\u{301}resume", &resumes),
    ] {
        check(&index, query, &all, expected);
    }
}

#[test]
fn an_apostrophe_inside_a_word_belongs_to_it() {
    let index = texts(&[
        ("ascii", "don't panic"),
        ("curly", "don\u{2019}t panic"),
        ("quoted", "'don' 't'"),
        ("twice", "rock''n''roll"),
    ]);
    let all = FuzzySearch::default();
    for (query, expected) in [
        ("don't", &[("ascii", 1.0), ("curly", 0.5)][..]),
        ("don\u{2019}t", &[("curly", 1.0), ("ascii", 0.5)]),
        ("dont", &[("ascii", 0.5), ("curly", 0.5)]),
        ("don", &[("quoted", 1.0), ("ascii", 0.75), ("curly", 0.75)]),
        ("'t", &[("quoted", 1.0)]),
        ("roll", &[("twice", 1.0)]),
        ("rock'", &[("twice", 1.0)]),
    ] {
        check(&index, query, &all, expected);
    }
}

/// Nothing that is typed is an operator, and nothing fails.
#[test]
fn queries_have_no_grammar() {
    let index = texts(&[("1", "POL-358 GB/s ubuntu 24.04 title:x near only")]);
    let all = FuzzySearch::default();
    for (query, expected) in [
        ("POL-358", &[("1", 2.0)][..]),
        ("GB/s", &[("1", 2.0)]),
        ("\"ubuntu 24.04\"", &[("1", 3.0)]),
        ("\"", &[]),
        ("title:x", &[("1", 2.0)]),
        ("NEAR(", &[("1", 1.0)]),
        ("*", &[]),
        ("-only", &[("1", 1.0)]),
    ] {
        check(&index, query, &all, expected);
    }
}

#[test]
fn fields_are_texts_or_lists_and_unknown_ones_are_left_out() {
    let index = index(
        FuzzySettings::new([("title", 2.0), ("tags", 3.0)]),
        vec![
            FuzzyDocument::new("1")
                .field("tags", vec!["red tea", "cup"])
                .field("secret", "budget")
                .field("title", "tea"),
            FuzzyDocument::new("2"),
            FuzzyDocument::new("3").field("tags", FieldText::List(Vec::new())),
        ],
    );
    let all = FuzzySearch::default();
    check(&index, "budget", &all, &[]);
    check(&index, "cup tea", &all, &[("1", 6.0)]);
    let hits = index.search("tea", &all);
    let [hit] = hits.as_slice() else {
        panic!("one hit");
    };
    let fields: Vec<_> = hit.fields.iter().map(|field| &*field.name).collect();
    assert_eq!(fields, ["title", "tags"], "in the order of the settings");
    let marked: Vec<Vec<_>> = hit.fields[1]
        .value
        .texts()
        .iter()
        .map(|t| t.words().collect())
        .collect();
    assert_eq!(marked, [vec!["tea"], vec![]]);
    assert_eq!(index.len(), 3);
}

#[test]
fn top_k_cuts_and_ties_stand_as_added() {
    let ids: Vec<String> = (0..15).map(|i| format!("d{i}")).collect();
    let documents = ids
        .iter()
        .map(|id| FuzzyDocument::new(id).field("t", "plan"));
    let mut index = index(FuzzySettings::new([("t", 1.0)]), documents.collect());
    let found = |index: &FuzzyIndex, search: FuzzySearch| -> Vec<String> {
        let hits = index.search("plan", &search).into_iter();
        hits.map(|hit| hit.id.to_string()).collect()
    };
    assert_eq!(found(&index, FuzzySearch::default()), ids[..10]);
    assert_eq!(found(&index, FuzzySearch::default().top_k(3)), ids[..3]);
    assert_eq!(found(&index, FuzzySearch::default().every_hit()), ids);
    assert!(found(&index, FuzzySearch::default().top_k(0)).is_empty());

    // Replaced, a document counts as added last; removed and added again too.
    index
        .add_document(FuzzyDocument::new("d0").field("t", "plan"))
        .unwrap();
    assert!(index.remove_document("d1"));
    assert!(!index.remove_document("d1"));
    index
        .add_document(FuzzyDocument::new("d1").field("t", "plan"))
        .unwrap();
    let found = found(&index, FuzzySearch::default().every_hit());
    assert_eq!(found[0], "d2");
    assert_eq!(found[13..], ["d0", "d1"]);
    assert_eq!(index.len(), 15);
}

#[test]
fn a_replaced_text_is_found_no_more() {
    let mut index = texts(&[("1", "alpha beta"), ("2", "alpha")]);
    index
        .add_document(FuzzyDocument::new("1").field("t", "gamma"))
        .unwrap();
    let all = FuzzySearch::default();
    check(&index, "alpha", &all, &[("2", 1.0)]);
    check(&index, "beta", &all, &[]);
    check(&index, "gamma", &all, &[("1", 1.0)]);
    assert!(index.contains("1") && index.remove_document("1") && !index.contains("1"));
    check(&index, "gamma", &all, &[]);
}

#[test]
fn a_refused_document_changes_nothing() {
    let mut index = texts(&[("1", "alpha")]);
    let twice = FuzzyDocument::new("2").field("t", "a").field("t", "b");
    for (refused, why) in [
        (
            FuzzyDocument::new(""),
            "a document has an empty id; an id has at least one character",
        ),
        (
            twice,
            "document \"2\" gives field \"t\" twice; give a list of texts instead",
        ),
    ] {
        let before = FuzzyDocument::new("0").field("t", "alpha");
        let error = index.add_documents([before, refused]).unwrap_err();
        assert_eq!(error.to_string(), why);
        assert_eq!(index.len(), 1);
    }
}

#[test]
fn a_tokenizer_of_the_callers_own() {
    // Pairs of letters: their places overlap, and are marked as one.
    let pairs = |text: &str| -> Vec<Token> {
        let letters: Vec<_> = text.char_indices().collect();
        let pair = |pair: &[(usize, char)]| Token {
            word: pair.iter().map(|(_, letter)| *letter).collect(),
            span: Span {
                start: pair[0].0,
                end: pair[1].0 + pair[1].1.len_utf8(),
            },
        };
        letters.windows(2).map(pair).collect()
    };
    let mut index = FuzzyIndex::with_tokenizer(FuzzySettings::new([("t", 1.0)]), pairs).unwrap();
    index
        .add_document(FuzzyDocument::new("1").field("t", "昨日図書館で"))
        .unwrap();
    let hits = index.search("図書館", &FuzzySearch::default());
    assert_eq!(hits[0].score, 2.0);
    assert_eq!(hits[0].passages[0].words().collect::<Vec<_>>(), ["図書館"]);

    // A place that is none gives no mark and does no harm.
    let wrong = |text: &str| -> Vec<Token> {
        let spans = [(0, 1), (1, 0), (0, 99), (2, 2)];
        let spans = spans.map(|(start, end)| Span { start, end });
        let words = spans.iter().map(|span| Token {
            word: text.to_owned(),
            span: *span,
        });
        words
            .chain([Token {
                word: "\u{301}".to_owned(),
                span: spans[0],
            }])
            .collect()
    };
    let mut index = FuzzyIndex::with_tokenizer(FuzzySettings::new([("t", 1.0)]), wrong).unwrap();
    index
        .add_document(FuzzyDocument::new("1").field("t", "é"))
        .unwrap();
    let hits = index.search("é", &FuzzySearch::default());
    assert_eq!(hits.len(), 1);
    assert!(hits[0].fields[0].value.texts()[0].marks.is_empty());
}

#[test]
fn several_threads_search_at_once() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&shop());
}

#[test]
fn nothing_printable_shows_a_text() {
    let index = texts(&[("1", "confidential")]);
    let hits = index.search("confidential", &FuzzySearch::default());
    let document = FuzzyDocument::new("1").field("t", "confidential");
    for shown in [
        format!("{index:?}"),
        format!("{hits:?}"),
        format!("{document:?}"),
    ] {
        assert!(!shown.contains("confidential"), "{shown}");
    }
}
