//! What metadata holds, and what it refuses at the door.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use proptest::collection::vec;
use proptest::prelude::*;
use shelfward_core::{
    Float, Kind, List, Metadata, MetadataError, MetadataKey, MetadataProblem, RESERVED_PREFIX,
    Scalar, Text, Value,
};

#[track_caller]
fn refused(json: &str) -> MetadataError {
    let error = Metadata::from_json(json).unwrap_err();
    assert!(error.to_string().starts_with("metadata at "), "{error}");
    assert_short_line(&error.to_string());
    error
}

#[track_caller]
fn refused_at(json: &str, path: &str, problem: &MetadataProblem) {
    let error = refused(json);
    assert_eq!((error.path(), error.problem()), (path, problem), "{json}");
    assert!(
        error.to_string().contains(path),
        "{error} does not name {path}"
    );
}

fn printed(metadata: &Metadata) -> String {
    serde_json::to_string(metadata).unwrap()
}

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn printed_metadata_reads_back_as_itself(metadata in metadata()) {
        let json = printed(&metadata);
        let read = Metadata::from_json(&json).unwrap();
        prop_assert_eq!(&read, &metadata);
        // `5` and `5.0` are equal, so equality alone would not notice one turned into the other.
        prop_assert_eq!(printed(&read), json.clone());
        prop_assert_eq!(&serde_json::from_str::<Metadata>(&json).unwrap(), &metadata);
    }

    #[test]
    fn floats_are_held_exactly_and_minus_zero_as_zero(float in floats()) {
        let read = Metadata::from_json(&format!("{{\"k\":{}}}", serde_json::to_string(&float).unwrap()));
        let made = Metadata::new().with("k", float);
        for metadata in [read.unwrap(), made.unwrap()] {
            let Some(Value::Scalar(Scalar::Float(held))) = metadata.get("k") else {
                return Err(TestCaseError::fail(format!("{metadata:?} holds no float")));
            };
            prop_assert_eq!(held.get().to_bits(), (float + 0.0).to_bits());
        }
    }

    #[test]
    fn a_list_is_accepted_exactly_when_its_members_are_of_one_kind(members in vec(scalars(), 0..5)) {
        let one_kind = members.windows(2).all(|pair| pair[0].kind() == pair[1].kind());
        let json = format!("{{\"k\":{}}}", serde_json::to_string(&members).unwrap());
        prop_assert_eq!(List::new(members.clone()).is_ok(), one_kind);
        match Metadata::from_json(&json) {
            Ok(metadata) => {
                prop_assert!(one_kind);
                prop_assert_eq!(metadata.get("k").unwrap().elements(), &members[..]);
            }
            Err(error) => {
                prop_assert!(!one_kind);
                let mixed = matches!(error.problem(), MetadataProblem::MixedList { .. });
                prop_assert!(mixed, "{}", error);
            }
        }
    }

    #[test]
    fn an_integer_of_a_value_is_exact_or_absent(scalar in scalars()) {
        let value = Value::Scalar(scalar.clone());
        match value.as_integer() {
            Some(integer) => prop_assert_eq!(Scalar::from(integer), scalar),
            // No integer equals it: not even the nearest ones.
            None => if let Scalar::Float(float) = scalar {
                #[expect(clippy::cast_possible_truncation, reason = "the nearest one is meant")]
                let near = float.get() as i64;
                for integer in [near.saturating_sub(1), near, near.saturating_add(1)] {
                    prop_assert_ne!(Scalar::from(integer), Scalar::Float(float));
                }
            }
        }
    }

    #[test]
    fn keys_are_in_order_whatever_the_order_given(metadata in metadata()) {
        let mut pairs: Vec<_> = metadata.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        prop_assert!(pairs.is_sorted_by(|a, b| a.0 < b.0));
        prop_assert_eq!(pairs.len(), metadata.len());
        pairs.reverse();
        prop_assert_eq!(printed(&pairs.into_iter().collect()), printed(&metadata));
    }
}

#[test]
fn null_removes_the_key_and_an_empty_list_is_kept() {
    let metadata = Metadata::from_json(r#"{"gone":null,"kept":[],"k":1}"#).unwrap();
    assert_eq!(printed(&metadata), r#"{"k":1,"kept":[]}"#);
    assert!(metadata.get("gone").is_none());
    assert_eq!(metadata.get("kept").unwrap().elements(), &[]);
    assert!(Metadata::from_json(r#"{"gone":null}"#).unwrap().is_empty());
}

#[test]
fn a_repeated_key_is_refused_even_when_it_was_null() {
    for (json, path) in [
        (r#"{"k":1,"k":1}"#, "k"),
        (r#"{"k":1,"l":2,"k":3}"#, "k"),
        (r#"{"k":null,"k":1}"#, "k"),
        (r#"{"k":1,"k":null}"#, "k"),
        (r#"{"k":1,"\u006b":1}"#, "k"),
    ] {
        refused_at(json, path, &MetadataProblem::RepeatedKey);
        serde_json::from_str::<Metadata>(json).unwrap_err();
    }
}

#[test]
fn nested_values_are_refused_with_their_path() {
    let object = MetadataProblem::Nested { what: "an object" };
    let list = MetadataProblem::Nested {
        what: "a list in a list",
    };
    refused_at(r#"{"k":{}}"#, "k", &object);
    refused_at(r#"{"k":{"a":{"b":1}}}"#, "k", &object);
    refused_at(r#"{"k":["a",{}]}"#, "k[1]", &object);
    refused_at(r#"{"k":[[]]}"#, "k[0]", &list);
    refused_at(r#"{"k":[1,2,[3]]}"#, "k[2]", &list);
    refused_at(r#"{"k":[[1,"a"]]}"#, "k[0]", &list);
    refused_at(r#"{"k":["a",null]}"#, "k[1]", &MetadataProblem::NullMember);
}

#[test]
fn however_deep_a_list_nests_the_refusal_is_typed() {
    let json = format!(r#"{{"k":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    refused_at(
        &json,
        "k[0]",
        &MetadataProblem::Nested {
            what: "a list in a list",
        },
    );
    let json = format!(
        r#"{{"k":{}1{}}}"#,
        r#"{"a":"#.repeat(10_000),
        "}".repeat(10_000)
    );
    refused_at(&json, "k", &MetadataProblem::Nested { what: "an object" });
}

#[test]
fn mixed_lists_are_refused_with_both_kinds_named() {
    let mixed = |first, second| MetadataProblem::MixedList { first, second };
    refused_at(r#"{"k":[1,"a"]}"#, "k", &mixed("a number", "a text"));
    refused_at(
        r#"{"k":["a","b",true]}"#,
        "k",
        &mixed("a text", "a boolean"),
    );
    refused_at(r#"{"k":[true,0]}"#, "k", &mixed("a boolean", "a number"));
    // Integers and floats are one kind, and each keeps how it was written.
    let numbers = Metadata::from_json(r#"{"k":[1,2.0,3.5]}"#).unwrap();
    assert_eq!(printed(&numbers), r#"{"k":[1,2.0,3.5]}"#);
}

#[test]
fn numbers_that_cannot_be_held_are_refused() {
    for number in [
        "9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616",
        "1000000000000000000000",
    ] {
        for json in [
            format!(r#"{{"k":{number}}}"#),
            format!(r#"{{"k":[1,{number}]}}"#),
            format!(r#"{{"l":"\\","k":[ {number} ]}}"#),
        ] {
            assert_eq!(
                refused(&json).problem(),
                &MetadataProblem::IntegerRange,
                "{json}"
            );
        }
    }
    assert!(matches!(
        refused(r#"{"k":1e400}"#).problem(),
        MetadataProblem::NotAnObject { .. }
    ));
    for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Float::new(float), Err(MetadataProblem::NotFinite));
        let error = Metadata::new().with("k", float).unwrap_err();
        assert_eq!(
            (error.path(), error.problem()),
            ("k", &MetadataProblem::NotFinite)
        );
    }
    let error = Metadata::new().with("k", u64::MAX).unwrap_err();
    assert_eq!(
        (error.path(), error.problem()),
        ("k", &MetadataProblem::IntegerRange)
    );
    let extremes = r#"{"a":9223372036854775807,"b":-9223372036854775808,"c":1e+19}"#;
    assert_eq!(printed(&Metadata::from_json(extremes).unwrap()), extremes);
}

#[test]
fn a_text_holds_no_nul() {
    refused_at(r#"{"k":"a\u0000b"}"#, "k", &MetadataProblem::Nul);
    refused_at(r#"{"k":["a","\u0000"]}"#, "k[1]", &MetadataProblem::Nul);
    assert_eq!(Text::new("\0"), Err(MetadataProblem::Nul));
    assert_eq!(Value::texts(["a", "\0"]), Err(MetadataProblem::Nul));
    assert_eq!(
        Metadata::new().with("k", "\0").unwrap_err().problem(),
        &MetadataProblem::Nul
    );
    serde_json::from_str::<Text>(r#""\u0000""#).unwrap_err();
    // Other control characters are text.
    assert_eq!(Text::new("\u{1}\n").unwrap().as_str(), "\u{1}\n");
}

#[test]
fn a_document_that_is_no_object_is_refused() {
    for json in [
        "",
        "null",
        "1",
        "1.5",
        "true",
        "[]",
        r#""text""#,
        "{",
        "{} {}",
        r#"{"k":1,}"#,
        r#"{"k"}"#,
        r#"{"k":1"#,
        r#"{"k":NaN}"#,
        r#"{"k":"\ud800"}"#,
        r#"{1:1}"#,
        "\u{feff}{}",
    ] {
        let error = refused(json);
        assert_eq!(error.path(), "the document", "{json}");
        assert!(
            matches!(error.problem(), MetadataProblem::NotAnObject { .. }),
            "{json}: {error}"
        );
        serde_json::from_str::<Metadata>(json).unwrap_err();
    }
}

#[test]
fn messages_are_short_and_one_line_whatever_is_given() {
    let long = "x".repeat(10 << 20);
    let breaks = "\\n\\r\\u2028\\u2029\\u0085\\u001b[2J\\u202e".repeat(20);
    for json in [
        format!(r#""{long}""#),
        format!(r#"["{long}"]"#),
        long.clone(),
        format!(r#"{{"{long}":1}}"#),
        format!(r#"{{"${long}":1}}"#),
        format!(r#"{{"{RESERVED_PREFIX}{long}":1}}"#),
        format!(r#"{{"k":{{"{long}":1}}}}"#),
        format!(r#"{{"k":["{long}",1]}}"#),
        format!(r#"{{"k":"{long}\u0000"}}"#),
        format!(r#"{{"{breaks}":1}}"#),
        format!(r#"{{"${breaks}":1}}"#),
    ] {
        let error = refused(&json);
        assert!(!error.to_string().contains('\u{202e}'), "{error:?}");
        let error = serde_json::from_str::<Metadata>(&json).unwrap_err();
        assert_short_line(&error.to_string());
    }
}

#[test]
fn keys_keep_to_the_rule() {
    let character = |character| MetadataProblem::KeyCharacter { character };
    let long = "é".repeat(64) + "x";
    let cases = [
        ("", MetadataProblem::EmptyKey),
        (&*long, MetadataProblem::LongKey { bytes: 129 }),
        ("$k", MetadataProblem::OperatorKey),
        ("_shelfward_", MetadataProblem::ReservedKey),
        ("_shelfward_count", MetadataProblem::ReservedKey),
        ("a'", character('\'')),
        ("a\"", character('"')),
        ("`a", character('`')),
        ("a[", character('[')),
        ("]a", character(']')),
        ("a(", character('(')),
        ("a)", character(')')),
        ("{a", character('{')),
        ("a}", character('}')),
        ("a\0", character('\0')),
        ("a\n", character('\n')),
        ("a\u{7f}", character('\u{7f}')),
        ("a\u{9f}", character('\u{9f}')),
    ];
    for (name, problem) in cases {
        assert_eq!(
            MetadataKey::new(name).unwrap_err().problem(),
            &problem,
            "{name:?}"
        );
        assert_eq!(
            Metadata::new().with(name, 1).unwrap_err().problem(),
            &problem,
            "{name:?}"
        );
        let json = serde_json::to_string(name).unwrap();
        assert_eq!(
            refused(&format!("{{{json}:1}}")).problem(),
            &problem,
            "{name:?}"
        );
        // A null is no way around the rule.
        assert_eq!(
            refused(&format!("{{{json}:null}}")).problem(),
            &problem,
            "{name:?}"
        );
        serde_json::from_str::<MetadataKey>(&json).unwrap_err();
    }
    for name in [
        &*"é".repeat(64),
        "a",
        "a.b",
        "a b",
        "a$",
        "_",
        "shelfward_",
        "_Shelfward_x",
        "鍵",
        "a/b:c-d,e",
    ] {
        assert_eq!(MetadataKey::new(name).unwrap().as_str(), name);
    }
}

#[test]
fn an_adapter_reads_reserved_keys_back_and_nobody_else_does() {
    let key = MetadataKey::stored("_shelfward_count").unwrap();
    assert!(key.is_reserved());
    assert!(!MetadataKey::new("count").unwrap().is_reserved());
    // The rest of the rule holds for them too.
    for name in ["", "$k", "_shelfward_'", "_shelfward_\n"] {
        MetadataKey::stored(name).unwrap_err();
    }
}

#[test]
fn values_made_in_code_are_those_read_from_json() {
    let made = Metadata::new()
        .with("bool", true)
        .unwrap()
        .with("byte", 7_u8)
        .unwrap()
        .with("small", -7_i32)
        .unwrap()
        .with("large", 7_u64)
        .unwrap()
        .with("float", 7.0)
        .unwrap()
        .with("text", "t")
        .unwrap()
        .with("owned", String::from("t"))
        .unwrap()
        .with("bools", [true, false])
        .unwrap()
        .with("numbers", vec![1_i64, 2])
        .unwrap()
        .with("floats", [0.5, 1.0])
        .unwrap()
        .with("texts", ["a", "b"])
        .unwrap()
        .with("empty", Vec::<String>::new())
        .unwrap()
        .with("list", Value::texts(["x"]).unwrap())
        .unwrap();
    let read = Metadata::from_json(
        r#"{"bool":true,"byte":7,"small":-7,"large":7,"float":7.0,"text":"t","owned":"t",
            "bools":[true,false],"numbers":[1,2],"floats":[0.5,1.0],"texts":["a","b"],"empty":[],
            "list":["x"]}"#,
    )
    .unwrap();
    assert_eq!(made, read);
    assert_eq!(printed(&made), printed(&read));
    let error = Metadata::new().with("k", [0.0, f64::NAN]).unwrap_err();
    assert_eq!(error.problem(), &MetadataProblem::NotFinite);
    let error = Metadata::new()
        .with("k", vec![Scalar::from(1), Scalar::from(true)])
        .unwrap_err();
    assert!(
        matches!(error.problem(), MetadataProblem::MixedList { .. }),
        "{error}"
    );
}

#[test]
fn setting_and_removing_answer_what_was_held() {
    let key = MetadataKey::new("k").unwrap();
    let mut metadata = Metadata::new();
    assert_eq!(metadata.insert(key.clone(), 1), None);
    assert_eq!(
        metadata.insert(key, Value::texts(["a"]).unwrap()),
        Some(Value::from(1))
    );
    assert_eq!(metadata.remove("k"), Some(Value::texts(["a"]).unwrap()));
    assert_eq!(metadata.remove("k"), None);
    assert!(metadata.is_empty());
}

#[test]
fn a_plain_value_is_not_a_list_of_it_though_filters_see_them_alike() {
    let metadata = Metadata::from_json(r#"{"plain":"a","list":["a"],"n":[5]}"#).unwrap();
    let (plain, list) = (
        metadata.get("plain").unwrap(),
        metadata.get("list").unwrap(),
    );
    assert_ne!(plain, list);
    assert_eq!(plain.elements(), list.elements());
    assert_eq!(metadata.text("plain"), Some("a"));
    assert_eq!(metadata.text("list"), None);
    assert_eq!(metadata.get("n").unwrap().as_integer(), None);
}

#[test]
fn byte_len_counts_keys_texts_and_eight_for_each_number() {
    for (json, bytes) in [
        (r#"{}"#, 0),
        (r#"{"k":[]}"#, 1),
        (r#"{"ключ":"é"}"#, 8 + 2),
        (r#"{"k":1,"l":[1.5,2],"m":["ab","c"]}"#, 3 + 8 + 16 + 3),
    ] {
        assert_eq!(
            Metadata::from_json(json).unwrap().byte_len(),
            bytes,
            "{json}"
        );
    }
}

#[test]
fn kinds_are_those_that_compare() {
    assert_eq!(Scalar::from(1).kind(), Scalar::float(1.5).unwrap().kind());
    for (scalar, kind, name) in [
        (Scalar::from(true), Kind::Bool, "a boolean"),
        (Scalar::from(1), Kind::Number, "a number"),
        (Scalar::text("1").unwrap(), Kind::Text, "a text"),
    ] {
        assert_eq!((scalar.kind(), scalar.kind().name()), (kind, name));
    }
}
