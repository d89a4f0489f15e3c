//! The saved form: what is restored, and every fault by its name.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use shelfward_lexical::{
    AddError, Bm25, Bm25Index, Bm25Tokenizer, BytesError, Document, LexicalIndex, OtherWordRule,
    Part, SavedError, Stemmer, StopWords, TokenizerFn,
};
use shelfward_text::WordRule;

fn saved() -> Value {
    json!({
        "v": 1, "k1": 1.2, "b": 0.75,
        "documents": [["a", 2], ["b", 1, { "x": [1.5, null] }]],
        "terms": [["foo", [[0, 1], [1, 1]]], ["bar", [[0, 1]]]],
    })
}

fn with(place: &str, value: Value) -> Value {
    let mut saved = saved();
    *saved.pointer_mut(place).unwrap() = value;
    saved
}

fn without(name: &str) -> Value {
    let mut saved = saved();
    saved.as_object_mut().unwrap().remove(name);
    saved
}

fn with_rule(rule: Value) -> Value {
    let mut saved = saved();
    saved["rule"] = rule;
    saved
}

fn restored(saved: &Value) -> Result<LexicalIndex, SavedError> {
    LexicalIndex::from_json(saved, WordRule::Seed)
}

#[test]
fn what_is_saved_is_restored() {
    for whole in [
        saved(),
        json!({ "v": 1, "k1": 1.2, "b": 0.75, "documents": [], "terms": [] }),
        with("/k1", json!(-1)),
        with("/b", json!(7.25)),
        with("/k1", json!(1e300)),
        // Neither is made by adding documents.
        with("/documents/0/0", json!("")),
        with("/terms/0/0", json!("")),
        with("/documents/0/1", json!(0)),
        with("/documents/0/1", json!(u32::MAX)),
        with("/terms/0/1/0/1", json!(u32::MAX)),
        with("/documents/1/2", Value::Null),
    ] {
        assert_eq!(restored(&whole).unwrap().to_json(), whole);
        let text = whole.to_string();
        let read = LexicalIndex::from_json_text(&text, WordRule::Seed).unwrap();
        assert_eq!(read.to_json().to_string(), text);
    }
}

#[test]
fn other_spellings_of_the_same_are_read() {
    for other in [
        with("/v", json!(1.0)),
        with("/documents/0/1", json!(2.0)),
        with("/terms/0/1/1/0", json!(1.0)),
        // Longer tuples than are written, and members that nobody knows.
        with("/documents/1", json!(["b", 1, { "x": [1.5, null] }, 9])),
        with("/terms/1", json!(["bar", [[0, 1, 9]], 9])),
        // Postings in any order.
        with("/terms/0/1", json!([[1, 1], [0, 1]])),
    ] {
        assert_eq!(restored(&other).unwrap().to_json(), saved(), "{other}");
    }
    // A word that no document holds is no word of the index.
    let index = restored(&with("/terms/1/1", json!([]))).unwrap();
    assert_eq!(index.stats().term_count, 1);
    assert!(index.search("bar", 10).is_empty());
}

#[test]
fn every_fault_is_named() {
    let whole = "must be of version 1";
    let nan_or = "a finite number";
    let cases = [
        (Value::Null, "its root"),
        (json!([]), "its root"),
        (json!("x"), "its root"),
        (json!({}), whole),
        (without("v"), whole),
        (with("/v", json!(2)), whole),
        (with("/v", json!("1")), whole),
        (with("/v", Value::Null), whole),
        (with_rule(json!(2)), "rule a text"),
        (with_rule(Value::Null), "rule a text"),
        (
            with_rule(json!("")),
            "by the rule seed/1: this one has those of \"\"",
        ),
        (without("k1"), "k1 a finite number"),
        (with("/k1", json!("1.2")), "k1 a finite number"),
        (with("/k1", Value::Null), "k1 a finite number"),
        (without("b"), "at b a finite number"),
        (with("/b", json!([0.75])), nan_or),
        (without("documents"), "documents a list"),
        (with("/documents", json!({})), "documents a list"),
        (with("/documents/0", json!({ "id": "a" })), "documents[0]"),
        (with("/documents/1", json!([])), "documents[1]"),
        (with("/documents/1", json!(["b"])), "documents[1]"),
        (with("/documents/1/0", json!(1)), "documents[1]"),
        (with("/documents/0/1", json!("2")), "documents[0] a length"),
        (with("/documents/0/1", json!(-1)), "documents[0] a length"),
        (with("/documents/0/1", json!(1.5)), "documents[0] a length"),
        (with("/documents/0/1", json!(1e20)), "documents[0] a length"),
        (
            with("/documents/1/0", json!("a")),
            "documents[1] an id that",
        ),
        (without("terms"), "terms a list"),
        (with("/terms", json!({})), "terms a list"),
        (with("/terms/1", json!("bar")), "terms[1]"),
        (with("/terms/1", json!(["bar"])), "terms[1]"),
        (with("/terms/1/0", json!(1)), "terms[1]"),
        (with("/terms/1/1", json!({})), "terms[1]"),
        (with("/terms/1/0", json!("foo")), "terms[1] a word that"),
        (with("/terms/0/1/0", json!(0)), "terms[0].postings[0]"),
        (with("/terms/0/1/1", json!([1])), "terms[0].postings[1]"),
        (with("/terms/0/1/1/0", json!(2)), "terms[0].postings[1]"),
        (with("/terms/0/1/1/0", json!(-1)), "terms[0].postings[1]"),
        (with("/terms/0/1/1/0", json!("1")), "terms[0].postings[1]"),
        (with("/terms/0/1/1/0", json!(0.5)), "terms[0].postings[1]"),
        (with("/terms/0/1/1/1", json!(0)), "terms[0].postings[1]"),
        (with("/terms/0/1/1/1", json!(-1)), "terms[0].postings[1]"),
        (with("/terms/0/1/1/1", json!(1.5)), "terms[0].postings[1]"),
        (
            with("/terms/0/1/1/0", json!(0)),
            "postings[1] a document that",
        ),
        // The first one is named.
        (
            json!({ "v": 1, "k1": null, "b": 1, "documents": 5, "terms": 5 }),
            "k1",
        ),
        (
            json!({ "v": 1, "k1": 1, "b": 1, "documents": [["a", 1], ["a", 1]], "terms": 5 }),
            "documents[1] an id that",
        ),
        (
            json!({ "v": 1, "k1": 1, "b": 1, "documents": [], "terms": [["x", [[0, 1]]]] }),
            "terms[0].postings[0]",
        ),
    ];
    for (saved, named) in cases {
        let refused = restored(&saved).unwrap_err().to_string();
        assert!(refused.contains(named), "{saved}: {refused}");
    }
    let twice = restored(&with("/documents/1/0", json!("a"))).unwrap_err();
    let part = Part::Document(1);
    assert_eq!(
        twice,
        SavedError::Twice {
            part,
            what: "an id"
        }
    );
}

/// An index saved under a rule is searched by that one, in that version, or not at all.
#[test]
fn words_of_another_rule_are_refused_by_name() {
    let mut index = LexicalIndex::new(WordRule::Unicode);
    index.add_document("a", "Text\u{ad}datei", None).unwrap();
    let saved = index.to_json();
    assert_eq!(saved["rule"], "unicode/3");
    let again = LexicalIndex::from_json(&saved, WordRule::Unicode).unwrap();
    assert_eq!(again.search("Textdatei", 10).len(), 1);
    // What only hands on to a rule names it too.
    assert!(LexicalIndex::from_json(&saved, &&WordRule::Unicode).is_ok());
    assert!(Bm25Index::from_json(&saved, Bm25Tokenizer::default()).is_ok());

    let refused = |saved: &Value, rule: WordRule| {
        let refused = LexicalIndex::from_json(saved, rule).unwrap_err();
        match refused.clone() {
            SavedError::Rule(other) => (other, refused.to_string()),
            other => panic!("{other}"),
        }
    };
    let mut older = saved.clone();
    older["rule"] = json!("unicode/2");
    let (other, message) = refused(&older, WordRule::Unicode);
    assert_eq!(other.saved.as_deref(), Some("unicode/2"));
    assert_eq!(other.asked, "unicode/3");
    assert!(
        message.contains("build it again from its texts"),
        "{message}"
    );
    // Saved before rules had versions.
    older.as_object_mut().unwrap().remove("rule");
    let (other, message) = refused(&older, WordRule::UnicodeBigrams);
    assert_eq!(other.saved, None);
    assert!(message.contains("older release"), "{message}");
    // Another rule altogether.
    for rule in [WordRule::Seed, WordRule::UnicodeBigrams] {
        assert_eq!(refused(&saved, rule).0.saved.as_deref(), Some("unicode/3"));
    }
    assert!(Bm25Index::from_json(&saved, Bm25Tokenizer::plain_english()).is_err());

    // The same of the form in bytes.
    let mut bytes = Vec::new();
    index.write_to(&mut bytes).unwrap();
    assert!(LexicalIndex::from_bytes(&bytes, WordRule::Unicode).is_ok());
    let other = LexicalIndex::from_bytes(&bytes, WordRule::UnicodeBigrams).unwrap_err();
    let expected = OtherWordRule {
        saved: Some("unicode/3".to_owned()),
        asked: "unicode-bigrams/3".to_owned(),
    };
    assert!(matches!(other, BytesError::Rule(other) if other == expected));
    // A file of an older release.
    let at = bytes
        .windows(9)
        .position(|part| part == b"unicode/3")
        .unwrap();
    let end = bytes.len() - 4;
    bytes[at + 8] = b'2';
    let checksum = crc32fast::hash(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&checksum);
    let older = LexicalIndex::from_bytes(&bytes, WordRule::Unicode).unwrap_err();
    assert!(
        older
            .to_string()
            .contains("unicode/3: this one has those of \"unicode/2\""),
        "{older}"
    );
}

/// Stop words and stems are words of another rule too.
#[test]
fn another_tokenizer_of_the_same_rule_is_refused_by_name() {
    let words = |word: &str| StopWords::These([word.to_owned(), "and".to_owned()].into());
    let plain = || Bm25Tokenizer::new(WordRule::Unicode);
    let tokenizers = [
        plain(),
        plain().stop_words(StopWords::English),
        plain().stop_words(words("the")),
        plain().stop_words(words("a")),
        plain().stem(Stemmer::English),
        plain().stem(Stemmer::Porter),
        plain().stop_words(StopWords::English).stem(Stemmer::Porter),
        Bm25Tokenizer::new(WordRule::UnicodeFolded),
        Bm25Tokenizer::plain_english(),
    ];
    for made in &tokenizers {
        let mut index = Bm25Index::new(made);
        index.add_document("a", "The policies", None).unwrap();
        let (json, mut bytes) = (index.to_json(), Vec::new());
        index.write_to(&mut bytes).unwrap();
        for given in &tokenizers {
            let json = LexicalIndex::from_json(&json, given);
            let bytes = LexicalIndex::from_bytes(&bytes, given);
            assert_eq!(json.is_ok(), made == given, "{made:?} by {given:?}");
            assert_eq!(bytes.is_ok(), made == given, "{made:?} by {given:?}");
        }
    }
    let mut index = Bm25Index::new(plain().stop_words(StopWords::English).stem(Stemmer::Porter));
    index.add_document("a", "x", None).unwrap();
    let refused = LexicalIndex::from_json(&index.to_json(), WordRule::Unicode).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("unicode/3 stop:english stem:porter"),
        "{refused}"
    );
}

/// Of what a function answers, nothing is known: it is taken on trust.
#[test]
fn words_of_a_function_are_taken_on_trust() {
    let by_space = || TokenizerFn(|text: &str| text.split(' ').map(str::to_owned).collect());
    let mut index = LexicalIndex::new(by_space());
    index.add_document("a", "GB/s", None).unwrap();
    let saved = index.to_json();
    assert_eq!(saved.get("rule"), None);
    let restored = LexicalIndex::from_json(&saved, by_space()).unwrap();
    assert_eq!(restored.search("GB/s", 10).len(), 1);
    assert!(LexicalIndex::from_json(&saved, WordRule::Unicode).is_err());
    let mut bytes = Vec::new();
    index.write_to(&mut bytes).unwrap();
    assert!(LexicalIndex::from_bytes(&bytes, by_space()).is_ok());
    assert!(LexicalIndex::from_bytes(&bytes, WordRule::Unicode).is_err());
}

#[test]
fn what_is_no_json_is_refused() {
    let read = |text: &str| LexicalIndex::from_json_text(text, WordRule::Seed);
    for text in ["", "{", "\u{FEFF}{}", "NaN", "{\"v\":1,\"k1\":1e999}"] {
        assert!(matches!(read(text), Err(SavedError::NotJson(_))), "{text}");
    }
    // As deep as memory lasts, closed and not.
    for deep in [200, 1_000_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = open.repeat(deep) + "1" + &close.repeat(deep);
            assert!(matches!(read(&nested), Err(SavedError::NotJson(_))));
            assert!(matches!(
                read(&open.repeat(deep)),
                Err(SavedError::NotJson(_))
            ));
            let metadata =
                format!(r#"{{"v":1,"k1":1,"b":1,"documents":[["a",1,{nested}]],"terms":[]}}"#);
            assert!(matches!(read(&metadata), Err(SavedError::NotJson(_))));
        }
    }
}

#[test]
fn what_has_no_name_or_no_text_is_not_added() {
    let mut index = LexicalIndex::new(WordRule::Unicode);
    index.add_document("a", "first", None).unwrap();
    let document = |id, text| Document {
        id,
        text,
        metadata: None,
    };
    for (id, text, why) in [
        ("", "x", AddError::EmptyId),
        ("a", "", AddError::EmptyText),
        ("", "", AddError::EmptyId),
    ] {
        assert_eq!(index.add_document(id, text, None), Err(why));
        // None of several is added then.
        let several = [document("b", "second"), document(id, text)];
        assert_eq!(index.add_documents(&several), Err(why));
    }
    assert_eq!(index.search("first second", 10).len(), 1);
    // White space is a text, of no word.
    index.add_document("a", " ", None).unwrap();
    assert_eq!(index.stats().document_count, 1);
    assert_eq!(index.stats().term_count, 0);
    assert!(!index.remove_document("b"));
    assert!(index.remove_document("a"));
    assert!(index.is_empty());
}

#[test]
fn constants_that_are_no_numbers_are_named() {
    for (k1, b, name) in [
        (f64::NAN, 0.75, "k1"),
        (f64::INFINITY, 0.75, "k1"),
        (1.2, f64::NEG_INFINITY, "b"),
    ] {
        let refused = Bm25::new(k1, b).unwrap_err();
        assert_eq!(refused.name(), name);
        assert!(refused.to_string().starts_with(name), "{refused}");
    }
}
