//! The saved form, and settings that are refused.

use proptest::prelude::*;
use shelfward_lexical::fuzzy::{
    FuzzyDocument, FuzzyIndex, FuzzyRestoreError, FuzzySearch, FuzzySettings, Token,
};
use shelfward_text::Span;

const SAVED: &str = r#"{"v":1,"fields":{"title":10.0,"body":1.0},"passageFields":["title"],"editMinLength":5,"passages":2,"passageWidth":80,"documents":[{"id":"b\"","fields":{"title":["x","y"]}},{"id":"a","fields":{"title":"","body":"naïve\n"}}]}"#;

#[test]
fn settings_out_of_range_name_themselves() {
    let one = || FuzzySettings::new([("t", 1.0)]);
    for (settings, setting, message) in [
        (
            FuzzySettings::new([("t", 0.0)]),
            "fields.t",
            "fields.t is 0; it must be a finite number above 0",
        ),
        (
            FuzzySettings::new([("t", 1.0), ("u", -2.5)]),
            "fields.u",
            "fields.u is -2.5; it must be a finite number above 0",
        ),
        (
            FuzzySettings::new([("t", f64::NAN)]),
            "fields.t",
            "fields.t is NaN; it must be a finite number above 0",
        ),
        (
            FuzzySettings::new([("t", f64::INFINITY)]),
            "fields.t",
            "fields.t is inf; it must be a finite number above 0",
        ),
        (
            FuzzySettings::new([("t", 1.0), ("t", 2.0)]),
            "fields.t",
            "fields.t is given twice; it must be given once",
        ),
        (
            FuzzySettings::new(Vec::<(String, f64)>::new()),
            "fields",
            "fields is empty; it must be at least one field",
        ),
        (
            one().passage_fields(["u"]),
            "passageFields",
            "passageFields is a list with \"u\"; it must be a list of fields of the index",
        ),
        (
            one().passage_fields(["t", "t"]),
            "passageFields",
            "passageFields is a list with \"t\"; it must be a list that names each field once",
        ),
        (
            one().edit_min_length(0),
            "editMinLength",
            "editMinLength is 0; it must be at least 1",
        ),
        (
            one().passage_width(0),
            "passageWidth",
            "passageWidth is 0; it must be at least 1",
        ),
    ] {
        let error = FuzzyIndex::new(settings).unwrap_err();
        assert_eq!(error.setting(), setting);
        assert_eq!(error.to_string(), message);
    }
    let many = (0..10_001).map(|i| (i.to_string(), 1.0));
    assert!(FuzzyIndex::new(FuzzySettings::new(many)).is_err());
}

#[test]
fn saved_and_restored_it_is_the_same() {
    let index = FuzzyIndex::from_json(SAVED).unwrap();
    assert_eq!(index.to_json(), SAVED);
    let hits = index.search("naive", &FuzzySearch::default());
    assert_eq!((&*hits[0].id, hits[0].score), ("a", 1.0));

    // Fields that nobody chose for passages are not written as if somebody had.
    let plain = FuzzyIndex::new(FuzzySettings::new([("z", 2.0), ("a", 0.1)])).unwrap();
    let json = r#"{"v":1,"fields":{"z":2.0,"a":0.1},"editMinLength":4,"passages":3,"passageWidth":160,"documents":[]}"#;
    assert_eq!(plain.to_json(), json);
}

#[test]
fn a_restore_reads_the_texts_with_the_tokenizer_given() {
    let whole = |text: &str| -> Vec<Token> {
        let span = Span {
            start: 0,
            end: text.len(),
        };
        vec![Token {
            word: text.to_owned(),
            span,
        }]
    };
    let mut index = FuzzyIndex::with_tokenizer(FuzzySettings::new([("t", 1.0)]), whole).unwrap();
    index
        .add_document(FuzzyDocument::new("1").field("t", "two words"))
        .unwrap();
    let json = index.to_json();
    let found = |index: &FuzzyIndex| index.rank("words", &FuzzySearch::default()).len();
    assert_eq!(found(&index), 0);
    assert_eq!(found(&FuzzyIndex::from_json_with(&json, whole).unwrap()), 0);
    assert_eq!(found(&FuzzyIndex::from_json(&json).unwrap()), 1);
}

#[test]
fn what_is_wrong_with_a_saved_index_is_named() {
    let with = |from: &str, to: &str| SAVED.replace(from, to);
    for (json, message) in [
        (
            "[]".to_owned(),
            "the saved index is out of shape; it must be an object",
        ),
        (
            "{}".to_owned(),
            "v is missing; it must be 1, the version that this release reads",
        ),
        (
            with(r#""v":1"#, r#""v":2"#),
            "v is 2; it must be 1, the version that this release reads",
        ),
        (
            with(r#""v":1"#, r#""v":-1"#),
            "v is -1; it must be 1, the version that this release reads",
        ),
        // Another version may look like nothing that is known here.
        (
            r#"{"w":[],"v":"1"}"#.to_owned(),
            "v is no number; it must be 1, the version that this release reads",
        ),
        (
            with(r#""passages":2,"#, ""),
            "passages is out of shape; it must be there",
        ),
        (
            with(r#""passages":2"#, r#""passages":2.5"#),
            "passages is out of shape; it must be a whole number of 0 or more",
        ),
        (
            with(r#""passages":2"#, r#""pages":2"#),
            "pages is out of shape; it must be left out, for version 1 has no such member",
        ),
        (
            with(r#""title":10.0"#, r#""title":"10""#),
            "fields.title is out of shape; it must be a number",
        ),
        (
            with(r#""title":10.0"#, r#""title":-1"#),
            "fields.title is -1; it must be a finite number above 0",
        ),
        (
            with(r#""editMinLength":5"#, r#""editMinLength":0"#),
            "editMinLength is 0; it must be at least 1",
        ),
        (
            with(r#"["title"]"#, r#"[1]"#),
            "passageFields is out of shape; it must be a list of names",
        ),
        (
            with(r#"["x","y"]"#, r#"["x",null]"#),
            "documents[0].fields.title is out of shape; it must be a text or a list of texts",
        ),
        (
            with(r#""id":"a","#, ""),
            "documents[1].id is out of shape; it must be there",
        ),
        (
            with(r#""id":"a""#, r#""id":7"#),
            "documents[1].id is out of shape; it must be a text",
        ),
        (
            with(r#""id":"a""#, r#""id":"a","n":7"#),
            "documents[1].n is out of shape; it must be left out, for a document has id and fields alone",
        ),
        (
            with(r#""id":"a""#, r#""id":"""#),
            "documents[1]: a document has an empty id; an id has at least one character",
        ),
        (
            with(r#""id":"a""#, r#""id":"b\"""#),
            "documents[1].id is \"b\\\"\", which an earlier document has; each id is given once",
        ),
    ] {
        let error = FuzzyIndex::from_json(&json).unwrap_err();
        assert_eq!(error.to_string(), message, "{json}");
    }
    for json in ["", "{", "{\"v\":1}x", "{\"v\":1,\"v\":1}"] {
        let error = FuzzyIndex::from_json(json).unwrap_err();
        assert!(
            matches!(error, FuzzyRestoreError::Syntax { .. }),
            "{json}: {error}"
        );
    }
    // No message holds a text of a document.
    let secret = with(r#""body":"naïve\n""#, r#""body":{"s":"secret"}"#);
    let error = FuzzyIndex::from_json(&secret).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"));
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        (0..9_u8).prop_map(|n| n.to_string()),
        Just("1e400".to_owned()),
        "[a-z]{0,4}".prop_map(|text| format!("{text:?}")),
    ];
    let names = prop_oneof![
        Just("v"),
        Just("fields"),
        Just("passageFields"),
        Just("editMinLength"),
        Just("passages"),
        Just("passageWidth"),
        Just("documents"),
        Just("id"),
        Just("title"),
    ];
    leaf.prop_recursive(4, 32, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|list| format!("[{}]", list.join(","))),
            prop::collection::vec((names.clone(), inner), 0..8).prop_map(|members| {
                let members: Vec<_> = members
                    .iter()
                    .map(|(name, value)| format!("{name:?}:{value}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_json_makes_it_panic(json in json(), cut in 0..SAVED.len(), put in ".{0,3}") {
        let _ = FuzzyIndex::from_json(&json);
        let _ = FuzzyIndex::from_json(&json.replacen('{', "{\"v\":1,", 1));
        if SAVED.is_char_boundary(cut) {
            let (start, end) = SAVED.split_at(cut);
            let _ = FuzzyIndex::from_json(&[start, put.as_str(), end].concat());
        }
    }
}
