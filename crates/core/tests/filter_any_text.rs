//! Whatever text is given, reading a filter or metadata ends soon, without a panic, and with a short
//! message.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "core has no clock, its tests measure"
)]

mod common;

use std::time::{Duration, Instant};

use common::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use shelfward_core::filter::{FilterBuilder, FilterProblem, key};
use shelfward_core::{Filter, Metadata};

#[test]
fn messages_are_short_and_one_line_whatever_is_given() {
    let long = "x".repeat(10 << 20);
    let breaks = "\\n\\r\\u2028\\u2029\\u0085\\u001b[2J\\u202e".repeat(20);
    for json in [
        format!(r#"{{"{long}":1}}"#),
        format!(r#"{{"${long}":1}}"#),
        format!(r#"{{"k":{{"{long}":1}}}}"#),
        format!(r#"{{"k":{{"$not":{{"${long}":"{long}"}}}}}}"#),
        format!(r#"{{"_shelfward_{long}":1}}"#),
        format!(r#"{{"k":{{"$exists":"{long}"}}}}"#),
        format!(r#"{{"k":{{"$in":"{long}"}}}}"#),
        format!(r#""{long}""#),
        format!(r#"["{long}"]"#),
        long.clone(),
        format!("{{\"k\":\"{long}"),
        format!(r#"{{"{breaks}":1}}"#),
        format!(r#"{{"k":{{"{breaks}":1}}}}"#),
        format!(r#"{{"${breaks}":1}}"#),
    ] {
        // `refused` measures the message; the path alone is short as well.
        let error = refused(&json);
        assert!(
            error.path().chars().count() <= 64 * 8,
            "{}",
            error.path().len()
        );
        assert!(!error.path().contains('\u{202e}'), "{:?}", error.path());
        let error = serde_json::from_str::<Filter>(&json).unwrap_err();
        assert_short_line(&error.to_string());
    }
}

/// Text that is JSON or nearly so, with the words of the grammar in it.
fn jsonish() -> impl Strategy<Value = String> {
    let words = select(
        &[
            "\"k\"",
            "\"l\"",
            "\"$eq\"",
            "\"$in\"",
            "\"$all\"",
            "\"$not\"",
            "\"$and\"",
            "\"$or\"",
            "\"$exists\"",
            "\"$gt\"",
            "\"\"",
            "\"\\ud800\"",
            "\"\\u0000\"",
            "1",
            "-0",
            "1e400",
            "99999999999999999999",
            "-1.5e-7",
            "true",
            "false",
            "null",
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            " ",
            "\\",
            "\"",
            "-",
            "e",
            ".",
            "é",
            "\u{10000}",
        ][..],
    );
    vec(words, 0..40).prop_map(|words| words.concat())
}

/// Text that is JSON of any shape, often near to the grammar, with members that may repeat.
fn json_values() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        scalars().prop_map(|scalar| serde_json::to_string(&scalar).unwrap()),
        select(
            &[
                "null",
                "[]",
                "{}",
                "1e400",
                "99999999999999999999",
                "\"\\u0000\""
            ][..]
        )
        .prop_map(str::to_owned),
    ];
    let names = select(
        &[
            "k", "l", "$eq", "$ne", "$in", "$nin", "$all", "$gt", "$lte", "$exists", "$not",
            "$and", "$or", "$x", "",
        ][..],
    );
    leaf.prop_recursive(8, 64, 5, move |inner| {
        let members = vec((names.clone(), inner.clone()), 0..4);
        prop_oneof![
            1 => vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            2 => members.prop_map(|members| {
                let members: Vec<_> =
                    members.iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn check_any(text: &str) {
    let read_by_serde = serde_json::from_str::<Filter>(text).ok();
    match Filter::from_json(text) {
        Ok(filter) => {
            assert_eq!(read(&filter.to_string()), filter);
            // A float so large may be an integer that serde has rounded.
            let right = (!holds_large(&filter)).then_some(filter);
            assert_eq!(read_by_serde, right);
        }
        Err(error) => {
            assert_short_line(&error.to_string());
            assert_eq!(read_by_serde, None, "{error}");
        }
    }
    if let Err(error) = Metadata::from_json(text) {
        assert_short_line(&error.to_string());
    }
}

proptest! {
    #![proptest_config(config(2048))]

    #[test]
    fn words_of_the_grammar_in_any_order_never_panic(text in jsonish()) {
        check_any(&text);
    }

    #[test]
    fn json_of_any_shape_never_panics_and_what_is_read_round_trips(text in json_values()) {
        check_any(&text);
    }

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..200)) {
        check_any(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_filter_with_one_byte_changed_never_panics(
        filter in filters(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = filter.to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        check_any(&String::from_utf8_lossy(&bytes));
        check_any(&String::from_utf8_lossy(&bytes[..at]));
    }
}

#[test]
fn nesting_of_ten_thousand_levels_is_refused() {
    const LEVELS: usize = 10_000;
    for open in [
        "[",
        "{",
        r#"{"k":"#,
        r#"{"k":["#,
        r#"{"$not":"#,
        r#"{"$and":["#,
        r#"{"$or":[{},"#,
        r#"{"k":1,"$not":"#,
        r#"{"k":{"$not":"#,
        r#"{"k":{"$in":["#,
        r#"{"$not":{"k":{"$eq":"#,
    ] {
        let text = open.repeat(LEVELS);
        refused(&text);
        refused(&format!(r#"{{"k":{text}"#));
        refused(&format!(r#"{{"k":{{"$in":{text}"#));
        refused(&format!(r#"{{"k":{{"$not":{text}"#));
        refused(&format!(r#"{{"$or":[{text}"#));
        serde_json::from_str::<Filter>(&text).unwrap_err();
        Metadata::from_json(&text).unwrap_err();
        Metadata::from_json(&format!(r#"{{"k":{text}"#)).unwrap_err();
    }
    let whole = format!(
        "{}{}{}",
        r#"{"$not":"#.repeat(LEVELS),
        "{}",
        "}".repeat(LEVELS)
    );
    assert_eq!(
        refused(&whole).problem(),
        &FilterProblem::TooDeep { max: 64 }
    );
}

#[test]
fn megabytes_are_read_or_refused_in_linear_time() {
    const SIZE: usize = 1 << 19;
    let fill = |open: &str, item: &str, close: &str| {
        format!("{open}{}{close}", item.repeat(SIZE / item.len()))
    };
    let mut texts: Vec<String> = vec![
        fill("", "[", ""),
        fill("", "\"", ""),
        fill("", "\\", ""),
        fill("", "1", ""),
        fill("", "-", ""),
        fill("", "9,", ""),
        fill("", " ", "{}"),
        fill(r#"{"k":""#, "é", r#""}"#),
        fill(r#"{"k":""#, r#"\""#, r#""}"#),
        fill(r#"{"k":"#, "1", "}"),
        fill(r#"{"k":0."#, "1", "}"),
        fill(r#"{"k":1e"#, "9", "}"),
        fill(r#"{"k":1"#, "0", ".5}"),
        fill(r#"{"k":{"$in":["#, "1,", "1]}}"),
        fill(r#"{"$or":["#, "{},", "{}]}"),
        fill(r#"{"$or":["#, r#"{"k":1},"#, "{}]}"),
        fill(r#"{"$not":"#, r#"{"$not":"#, ""),
        fill(r#"{"k":[["#, "1,", "1]]}"),
    ];
    let members: Vec<_> = (0..SIZE / 12).map(|at| format!(r#""k{at}":1"#)).collect();
    texts.push(format!("{{{}}}", members.join(",")));
    let operators: Vec<_> = (0..SIZE / 12).map(|at| format!(r#""$k{at}":1"#)).collect();
    texts.push(format!(r#"{{"k":{{{}}}}}"#, operators.join(",")));
    for text in texts {
        // A quadratic step over half a million bytes takes minutes; a linear one far below a second.
        let start = Instant::now();
        let filter = Filter::from_json(&text).map(|filter| filter.to_string());
        let metadata = Metadata::from_json(&text).map(|metadata| metadata.len());
        let shown: String = text.chars().take(20).collect();
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{shown}: {:?}",
            start.elapsed()
        );
        if let Err(error) = filter {
            assert_short_line(&error.to_string());
        }
        if let Err(error) = metadata {
            assert_short_line(&error.to_string());
        }
    }
}

#[test]
fn chains_far_over_the_limits_are_refused_in_linear_time() {
    let start = Instant::now();
    for join in [FilterBuilder::and, FilterBuilder::or] {
        let tests = (0..200_000).map(|at| key("k").eq(at));
        let chain = tests.reduce(join).unwrap();
        let problem = FilterProblem::TooManyNodes {
            nodes: 200_001,
            max: 1024,
        };
        assert_eq!(chain.build().unwrap_err().problem(), &problem);
    }
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
}
