//! What the JSON form of a filter accepts, and how it refuses everything else.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use common::*;
use proptest::prelude::*;
use shelfward_core::filter::{FilterBuilder, FilterProblem, Node, all_of, any_of, key, not};
use shelfward_core::{MetadataProblem, Scalar};

#[track_caller]
fn refused_at(json: &str, path: &str, problem: &FilterProblem) {
    let error = refused(json);
    assert_eq!((error.path(), error.problem()), (path, problem), "{json}");
    if !path.is_empty() {
        assert!(
            error.to_string().contains(path),
            "{error} does not name {path}"
        );
    }
}

#[track_caller]
fn refused_shape(json: &str, path: &str, wanted: &str, given: &str) {
    let error = refused(json);
    assert_eq!(error.path(), path, "{json}");
    let FilterProblem::Shape { expected, found } = error.problem() else {
        panic!("{json}: {error}");
    };
    assert_eq!((*expected, *found), (wanted, given), "{json}");
}

// What is read, and how it is printed.

#[test]
fn every_form_is_read_and_printed_in_its_shortest_form() {
    let cases = [
        (r#" { } "#, r#"{}"#),
        (r#"{"$and":[]}"#, r#"{}"#),
        (r#"{"$or":[]}"#, r#"{"$or":[]}"#),
        (r#"{"k":"v"}"#, r#"{"k":"v"}"#),
        (r#"{"k":{"$eq":"v"}}"#, r#"{"k":"v"}"#),
        (r#"{"k":{"$eq":1,"$ne":2}}"#, r#"{"k":{"$eq":1,"$ne":2}}"#),
        (r#"{"k":{"$gt":0},"l":true}"#, r#"{"k":{"$gt":0},"l":true}"#),
        (
            r#"{"k":{"$gt":0,"$lte":9.5}}"#,
            r#"{"k":{"$gt":0,"$lte":9.5}}"#,
        ),
        (
            r#"{"k":{"$gte":"a","$lt":"b"}}"#,
            r#"{"k":{"$gte":"a","$lt":"b"}}"#,
        ),
        (
            r#"{"k":{"$in":[1,"1",true,1.0]}}"#,
            r#"{"k":{"$in":[1,"1",true,1.0]}}"#,
        ),
        (r#"{"k":{"$nin":[]}}"#, r#"{"k":{"$nin":[]}}"#),
        (r#"{"k":{"$all":["a","a"]}}"#, r#"{"k":{"$all":["a","a"]}}"#),
        (r#"{"k":{"$exists":false}}"#, r#"{"k":{"$exists":false}}"#),
        (r#"{"k":{"$not":{"$eq":1}}}"#, r#"{"$not":{"k":1}}"#),
        (r#"{"k":{"$not":1}}"#, r#"{"$not":{"k":1}}"#),
        (
            r#"{"k":{"$not":{"$gt":1,"$lt":5}}}"#,
            r#"{"$not":{"k":{"$gt":1,"$lt":5}}}"#,
        ),
        (
            r#"{"k":{"$exists":true,"$not":{"$in":[1]}}}"#,
            r#"{"k":{"$exists":true},"$not":{"k":{"$in":[1]}}}"#,
        ),
        (r#"{"$not":{}}"#, r#"{"$not":{}}"#),
        (r#"{"$and":[{"k":1}]}"#, r#"{"$and":[{"k":1}]}"#),
        (r#"{"$and":[{"k":1},{"l":2}]}"#, r#"{"k":1,"l":2}"#),
        (
            r#"{"$and":[{"k":1},{"k":2}]}"#,
            r#"{"$and":[{"k":1},{"k":2}]}"#,
        ),
        (
            r#"{"$and":[{"k":1},{"l":2},{"k":{"$gt":0}}]}"#,
            r#"{"$and":[{"k":1},{"l":2},{"k":{"$gt":0}}]}"#,
        ),
        (
            r#"{"$and":[{"$or":[]},{"$or":[{}]}]}"#,
            r#"{"$and":[{"$or":[]},{"$or":[{}]}]}"#,
        ),
        (
            r#"{"k":1,"$or":[{"l":2},{"m":3}],"$not":{"n":4}}"#,
            r#"{"k":1,"$or":[{"l":2},{"m":3}],"$not":{"n":4}}"#,
        ),
        (
            r#"{"\u006b":"\u00e9\ud800\udc00"}"#,
            "{\"k\":\"é\u{10000}\"}",
        ),
        (r#"{"k":"\n\u0001\"\\"}"#, r#"{"k":"\n\u0001\"\\"}"#),
        (
            r#"{"a.b":1,"ключ":2,"a b":3}"#,
            r#"{"a.b":1,"ключ":2,"a b":3}"#,
        ),
        (r#"{"k":1e3}"#, r#"{"k":1000.0}"#),
        (r#"{"k":-0.0}"#, r#"{"k":0.0}"#),
    ];
    for (json, printed) in cases {
        assert_eq!(read(json).to_string(), printed, "{json}");
        assert_eq!(read(printed), read(json), "{json}");
        assert_eq!(read(printed).to_string(), printed);
    }
}

#[test]
fn filters_made_in_code_are_those_read_from_json() {
    let cases = [
        (key("k").eq(1), r#"{"k":1}"#),
        (key("k").eq("é"), r#"{"k":"é"}"#),
        (key("k").ne(2.5), r#"{"k":{"$ne":2.5}}"#),
        (key("k").is_in(["a", "b"]), r#"{"k":{"$in":["a","b"]}}"#),
        (key("k").not_in([true]), r#"{"k":{"$nin":[true]}}"#),
        (key("k").all(Vec::<i64>::new()), r#"{"k":{"$all":[]}}"#),
        (
            key("k").gt(1).and(key("k").lt(5)),
            r#"{"k":{"$gt":1,"$lt":5}}"#,
        ),
        (
            key("k").gte(1).or(key("k").lte(0)),
            r#"{"$or":[{"k":{"$gte":1}},{"k":{"$lte":0}}]}"#,
        ),
        (key("k").exists(true), r#"{"k":{"$exists":true}}"#),
        (not(key("k").eq(1)), r#"{"$not":{"k":1}}"#),
        (all_of([]), r#"{}"#),
        (any_of([]), r#"{"$or":[]}"#),
        (all_of([key("k").eq(1)]), r#"{"$and":[{"k":1}]}"#),
        (
            key("k").eq(1).and(key("l").eq(2)).and(key("m").eq(3)),
            r#"{"k":1,"l":2,"m":3}"#,
        ),
        (all_of([]).and(key("k").eq(1)), r#"{"$and":[{},{"k":1}]}"#),
    ];
    for (builder, json) in cases {
        // `{"$and":[{},…]}` prints its first child as a member, so compare the filters.
        assert_eq!(built(builder), read(json), "{json}");
    }
}

#[test]
fn a_chain_of_and_or_of_or_is_flat() {
    let chain = |join: fn(FilterBuilder, FilterBuilder) -> FilterBuilder| {
        built((0..5).map(|at| key("k").eq(at)).reduce(join).unwrap())
    };
    let ands = chain(FilterBuilder::and);
    assert!(
        matches!(ands.node(), Node::And(children) if children.len() == 5),
        "{ands}"
    );
    let ors = chain(FilterBuilder::or);
    assert!(
        matches!(ors.node(), Node::Or(children) if children.len() == 5),
        "{ors}"
    );
}

proptest! {
    #![proptest_config(config(2048))]

    #[test]
    fn floats_round_trip_exactly(float in floats()) {
        let json = format!(r#"{{"k":{}}}"#, serde_json::to_string(&float).unwrap());
        for filter in [built(key("k").eq(float)), read(&json)] {
            let again = read(&filter.to_string());
            let [Scalar::Float(held)] = again.tests()[0].op().operands() else {
                return Err(TestCaseError::fail(format!("{again} holds no float")));
            };
            // Minus zero is held as zero.
            prop_assert_eq!(held.get().to_bits(), (float + 0.0).to_bits());
        }
    }

    #[test]
    fn integers_round_trip_exactly(integer in integers()) {
        let filter = read(&format!(r#"{{"k":{{"$in":[{integer}]}}}}"#));
        let matched = matches!(
            filter.tests()[0].op().operands(), [Scalar::Integer(held)] if *held == integer
        );
        prop_assert!(matched, "{}", filter);
        prop_assert_eq!(filter.to_string(), format!(r#"{{"k":{{"$in":[{integer}]}}}}"#));
    }
}

// Refusals with their paths.

#[test]
fn a_repeated_member_is_refused_with_its_path() {
    let cases = [
        (r#"{"k":1,"k":1}"#, "k"),
        (r#"{"k":1,"l":2,"k":{"$gt":0}}"#, "k"),
        (r#"{"k":1,"\u006b":2}"#, "k"),
        (r#"{"$or":[],"$or":[]}"#, "$or"),
        (r#"{"$and":[],"k":1,"$and":[]}"#, "$and"),
        (r#"{"$not":{},"$not":{}}"#, "$not"),
        (r#"{"k":{"$gt":1,"$gt":2}}"#, "k.$gt"),
        (r#"{"k":{"$in":[1],"$exists":true,"$in":[1]}}"#, "k.$in"),
        (r#"{"k":{"$not":{"$eq":1},"$not":{"$eq":1}}}"#, "k.$not"),
        (r#"{"k":{"$not":{"$eq":1,"$eq":1}}}"#, "k.$not.$eq"),
        (r#"{"$or":[{},{"k":1,"k":1}]}"#, "$or[1].k"),
        (
            r#"{"$not":{"$and":[{"l":{"$lt":1,"$lt":1}}]}}"#,
            "$not.$and[0].l.$lt",
        ),
    ];
    for (json, path) in cases {
        refused_at(json, path, &FilterProblem::RepeatedMember);
    }
}

#[test]
fn an_unknown_operator_is_refused_with_its_path() {
    let cases = [
        (r#"{"$nor":[]}"#, "$nor"),
        (r#"{"$":1}"#, "$"),
        (r#"{"$eq":1}"#, "$eq"),
        (r#"{"$AND":[]}"#, "$AND"),
        (r#"{"k":{"$contains":"x"}}"#, "k.$contains"),
        (r#"{"k":{"$textSearch":"x"}}"#, "k.$textSearch"),
        (r#"{"k":{"$regex":".*"}}"#, "k.$regex"),
        (r#"{"k":{"$and":[]}}"#, "k.$and"),
        (r#"{"k":{"eq":1}}"#, "k.eq"),
        (r#"{"k":{"nested":{"deep":1}}}"#, "k.nested"),
        (r#"{"k":{"$eq":1,"$EQ":1}}"#, "k.$EQ"),
        (r#"{"k":{"$not":{"$size":1}}}"#, "k.$not.$size"),
        (
            r#"{"$or":[{"k":1},{"$not":{"l":{"$al":["a"]}}}]}"#,
            "$or[1].$not.l.$al",
        ),
    ];
    for (json, path) in cases {
        refused_at(json, path, &FilterProblem::UnknownOperator);
    }
    assert!(
        refused(r#"{"k":{"$regex":""}}"#)
            .to_string()
            .contains("$exists")
    );
}

#[test]
fn a_condition_without_an_operator_is_refused_with_its_path() {
    for (json, path) in [
        (r#"{"f":{}}"#, "f"),
        (r#"{"f":{"$not":{}}}"#, "f.$not"),
        (r#"{"$and":[{"g":1},{"f":{}}]}"#, "$and[1].f"),
    ] {
        refused_at(json, path, &FilterProblem::EmptyCondition);
    }
}

#[test]
fn null_is_refused_and_the_message_says_exists() {
    for (json, path) in [
        (r#"{"k":null}"#, "k"),
        (r#"{"k":{"$eq":null}}"#, "k.$eq"),
        (r#"{"k":{"$ne":null}}"#, "k.$ne"),
        (r#"{"k":{"$gt":null}}"#, "k.$gt"),
        (r#"{"k":{"$in":[1,null]}}"#, "k.$in[1]"),
        (r#"{"k":{"$not":null}}"#, "k.$not"),
    ] {
        refused_at(json, path, &FilterProblem::Null);
        assert!(refused(json).to_string().contains("use $exists"), "{json}");
    }
}

#[test]
fn a_range_of_booleans_is_refused_with_its_path() {
    for op in ["$gt", "$gte", "$lt", "$lte"] {
        for operand in ["true", "false"] {
            let json = format!(r#"{{"$not":{{"k":{{"{op}":{operand}}}}}}}"#);
            refused_at(&json, &format!("$not.k.{op}"), &FilterProblem::BooleanRange);
        }
    }
    let made = [
        key("k").gt(true),
        key("k").gte(true),
        key("k").lt(false),
        key("k").lte(false),
    ];
    for (builder, op) in made.into_iter().zip(["$gt", "$gte", "$lt", "$lte"]) {
        let error = builder.build().unwrap_err();
        assert_eq!(error.path(), format!("k.{op}"));
        assert_eq!(error.problem(), &FilterProblem::BooleanRange);
    }
}

#[test]
fn a_list_where_a_scalar_is_due_is_refused() {
    for op in ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"] {
        let due = "a boolean, a number or a text";
        let path = format!("k.{op}");
        refused_shape(&format!(r#"{{"k":{{"{op}":[1]}}}}"#), &path, due, "a list");
        refused_shape(
            &format!(r#"{{"k":{{"{op}":{{"$eq":1}}}}}}"#),
            &path,
            due,
            "an object",
        );
    }
    let due = "a value or an object of operators ($in for any of several)";
    refused_shape(r#"{"k":["a"]}"#, "k", due, "a list");
    refused_shape(r#"{"k":{"$not":["a"]}}"#, "k.$not", due, "a list");
}

#[test]
fn a_scalar_where_a_list_is_due_is_refused() {
    let others = [
        ("1", "a number"),
        ("-1", "a number"),
        ("1.5", "a number"),
        ("9223372036854775807", "a number"),
        (r#""a""#, "a text"),
        ("true", "a boolean"),
        ("null", "null"),
    ];
    for (operand, found) in others {
        for op in ["$in", "$nin", "$all"] {
            let json = format!(r#"{{"k":{{"{op}":{operand}}}}}"#);
            refused_shape(&json, &format!("k.{op}"), "a list of values", found);
        }
        for op in ["$and", "$or"] {
            refused_shape(
                &format!(r#"{{"{op}":{operand}}}"#),
                op,
                "a list of filters",
                found,
            );
            let json = format!(r#"{{"{op}":[{{}},{operand}]}}"#);
            refused_shape(&json, &format!("{op}[1]"), "a filter object", found);
        }
        refused_shape(
            &format!(r#"{{"$not":{operand}}}"#),
            "$not",
            "a filter object",
            found,
        );
        refused_shape(operand, "", "a filter object", found);
    }
    refused_shape(
        r#"{"k":{"$in":{"a":1}}}"#,
        "k.$in",
        "a list of values",
        "an object",
    );
    refused_shape(
        r#"{"$or":{"k":1}}"#,
        "$or",
        "a list of filters",
        "an object",
    );
    refused_shape(r#"{"$not":[{"k":1}]}"#, "$not", "a filter object", "a list");
    refused_shape(r#"[{"k":1}]"#, "", "a filter object", "a list");
    refused_shape(
        r#"{"k":{"$all":[["a"]]}}"#,
        "k.$all[0]",
        "a boolean, a number or a text",
        "a list",
    );
    refused_shape(
        r#"{"k":{"$in":[{}]}}"#,
        "k.$in[0]",
        "a boolean, a number or a text",
        "an object",
    );
}

#[test]
fn exists_takes_a_boolean_only() {
    for (operand, found) in [
        ("1", "a number"),
        ("0.5", "a number"),
        (r#""true""#, "a text"),
        ("null", "null"),
        ("[]", "a list"),
        ("{}", "an object"),
    ] {
        let json = format!(r#"{{"k":{{"$exists":{operand}}}}}"#);
        refused_shape(&json, "k.$exists", "true or false", found);
    }
}

#[test]
fn keys_outside_the_rule_are_refused_with_their_path() {
    let long = "k".repeat(129);
    let cases: Vec<(&str, MetadataProblem)> = vec![
        ("", MetadataProblem::EmptyKey),
        (&long, MetadataProblem::LongKey { bytes: 129 }),
        ("_shelfward_revision", MetadataProblem::ReservedKey),
        ("it's", MetadataProblem::KeyCharacter { character: '\'' }),
        ("a`b", MetadataProblem::KeyCharacter { character: '`' }),
        ("a[0]", MetadataProblem::KeyCharacter { character: '[' }),
        ("a(b", MetadataProblem::KeyCharacter { character: '(' }),
        ("a}", MetadataProblem::KeyCharacter { character: '}' }),
        ("a\"b", MetadataProblem::KeyCharacter { character: '"' }),
        ("a\nb", MetadataProblem::KeyCharacter { character: '\n' }),
        ("a\0", MetadataProblem::KeyCharacter { character: '\0' }),
        (
            "a\u{85}",
            MetadataProblem::KeyCharacter {
                character: '\u{85}',
            },
        ),
    ];
    for (name, problem) in cases {
        let problem = FilterProblem::Metadata(problem);
        let json = format!(
            r#"{{"$or":[{{{}:1}}]}}"#,
            serde_json::to_string(name).unwrap()
        );
        let error = refused(&json);
        assert_eq!(error.problem(), &problem, "{json}");
        assert!(error.path().starts_with("$or[0]."), "{error}");
        let error = key(name).eq(1).build().unwrap_err();
        assert_eq!(error.problem(), &problem, "{name:?}");
        assert_short_line(&error.to_string());
    }
    read(&format!(r#"{{"{}":1}}"#, "k".repeat(128)));
    read(r#"{"a.b-c/d:e f":1,"_own":2,"a$":3}"#);
}

#[test]
fn an_integer_outside_64_bits_is_refused_wherever_it_stands() {
    let texts = [
        "9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "100000000000000000000000000000000000000",
        "-100000000000000000000000000000000000000",
    ];
    for number in texts {
        for json in [
            format!(r#"{{"k":{number}}}"#),
            format!(r#"{{"k":{{"$eq":{number}}}}}"#),
            format!(r#"{{"k":{{"$ne": {number} }}}}"#),
            format!(r#"{{"k":{{"$gt":{number}}}}}"#),
            format!(r#"{{"k":{{"$in":[1,{number}]}}}}"#),
            format!(r#"{{"k":{{"$all":[{number}]}}}}"#),
            format!(r#"{{"k":{{"$not":{number}}}}}"#),
            format!(r#"{{"$or":[{{"l":"\\\""}},{{"k":{number}}}]}}"#),
        ] {
            let error = refused(&json);
            let range = FilterProblem::Metadata(MetadataProblem::IntegerRange);
            assert_eq!(error.problem(), &range, "{json}");
        }
    }
    let error = refused(r#"{"k":9223372036854775808}"#);
    assert_eq!(error.path(), "the number at byte 5");
    assert_eq!(
        key("k").eq(u64::MAX).build().unwrap_err().problem(),
        &FilterProblem::Metadata(MetadataProblem::IntegerRange)
    );
}

#[test]
fn the_extremes_of_64_bits_and_large_floats_are_read() {
    read(r#"{"k":9223372036854775807}"#);
    read(r#"{"k":-9223372036854775808}"#);
    // Written as a float, so it is one; a number inside a text or a key is none.
    read(r#"{"k":9223372036854775808.0}"#);
    read(r#"{"k":1e19}"#);
    read(r#"{"k":"99999999999999999999","99999999999999999999":1}"#);
    read(r#"{"k":"\"99999999999999999999"}"#);
}

#[test]
fn a_number_that_no_float_holds_is_refused() {
    for json in [r#"{"k":1e400}"#, r#"{"k":{"$in":[-1e999]}}"#] {
        assert!(
            matches!(refused(json).problem(), FilterProblem::Json { .. }),
            "{json}"
        );
    }
    for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = key("k").is_in([0.0, float]).build().unwrap_err();
        assert_eq!(error.path(), "k.$in[1]");
        assert_eq!(
            error.problem(),
            &FilterProblem::Metadata(MetadataProblem::NotFinite)
        );
    }
}

#[test]
fn a_text_with_nul_is_refused_wherever_it_stands() {
    let nul = FilterProblem::Metadata(MetadataProblem::Nul);
    refused_at(r#"{"k":"a\u0000"}"#, "k", &nul);
    refused_at(r#"{"k":{"$ne":"\u0000"}}"#, "k.$ne", &nul);
    refused_at(r#"{"k":{"$nin":["a","\u0000b"]}}"#, "k.$nin[1]", &nul);
    let error = key("k").lt("\0").build().unwrap_err();
    assert_eq!((error.path(), error.problem()), ("k.$lt", &nul));
}

#[test]
fn the_first_thing_wrong_in_a_builder_is_what_is_answered() {
    let error = key("k")
        .eq(1)
        .and(key("").eq(1))
        .or(key("$x").eq("\0"))
        .build()
        .unwrap_err();
    assert_eq!(
        error.problem(),
        &FilterProblem::Metadata(MetadataProblem::EmptyKey)
    );
}

#[test]
fn text_that_is_not_one_json_object_is_refused() {
    for json in [
        "",
        " ",
        "{",
        "}",
        "{}}",
        "{} {}",
        "{},",
        r#"{"k"}"#,
        r#"{"k":}"#,
        r#"{"k":1,}"#,
        r#"{"k":1"#,
        r#"{"k":"a"#,
        r#"{"k":"\"#,
        r#"{"k":"\u12"}"#,
        r#"{"k":"\ud800"}"#,
        r#"{k:1}"#,
        r#"{'k':1}"#,
        r#"{"k":01}"#,
        r#"{"k":+1}"#,
        r#"{"k":.5}"#,
        r#"{"k":1.}"#,
        r#"{"k":--1}"#,
        r#"{"k":NaN}"#,
        r#"{"k":Infinity}"#,
        r#"{"k":tru}"#,
        r#"{"k":undefined}"#,
        "{\"k\":\"a\nb\"}",
        r#"{"k":1}x"#,
        "\u{feff}{}",
        "{\"k\":1}\0",
        r#"{1:2}"#,
        r#"{null:1}"#,
    ] {
        let error = refused(json);
        assert!(
            matches!(error.problem(), FilterProblem::Json { .. }),
            "{json}: {error}"
        );
        assert_eq!(error.path(), "");
    }
}

#[test]
fn every_beginning_of_a_filter_is_refused() {
    let whole = r#"{"k":{"$in":["é\"",-1.5e3,true],"$not":{"$gt":9223372036854775807}},"$or":[{},{"$not":{"l":null}}]}"#;
    let whole = whole.replace("null", r#"{"$exists":false}"#);
    read(&whole);
    for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        refused(&whole[..end]);
    }
}
