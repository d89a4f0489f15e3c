//! The meaning of every operator, written out: each row is a condition, each column a field.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::read;
use shelfward_core::Metadata;

/// Metadata whose field `k` is as each column says.
fn records(columns: &[&str]) -> Vec<Metadata> {
    columns
        .iter()
        .map(|value| match *value {
            "missing" => Metadata::from_json(r#"{"other":1}"#).unwrap(),
            value => Metadata::from_json(&format!(r#"{{"k":{value}}}"#)).unwrap(),
        })
        .collect()
}

/// Each row: what is asked of `k`, and one sign per column, `x` where it matches, `.` where not.
#[track_caller]
fn check(columns: &[&str], rows: &[(&str, &str)]) {
    let records = records(columns);
    for (condition, signs) in rows {
        let signs: Vec<char> = signs.chars().filter(|c| *c != ' ').collect();
        assert_eq!(signs.len(), records.len(), "the row of {condition}");
        let filter = read(&format!(r#"{{"k":{condition}}}"#));
        let opposite = read(&format!(r#"{{"k":{{"$not":{condition}}}}}"#));
        for ((record, column), sign) in records.iter().zip(columns).zip(signs) {
            let expected = sign == 'x';
            assert_eq!(filter.matches(record), expected, "{condition} of {column}");
            assert_eq!(
                opposite.matches(record),
                !expected,
                "not {condition} of {column}"
            );
        }
    }
}

#[test]
fn equality_asks_whether_some_element_equals() {
    check(
        &[
            "missing",
            "[]",
            r#""1""#,
            r#""a""#,
            r#"["a","b"]"#,
            "1",
            "5",
            "5.0",
            "[5,6.5]",
            "true",
            "[true,false]",
        ],
        &[
            //                              miss [] "1" "a" a,b 1 5 5.0 5,6.5 true t,f
            (r#""1""#, ". . x . . . . . . . ."),
            (r#"1"#, ". . . . . x . . . . ."),
            (r#"1.0"#, ". . . . . x . . . . ."),
            (r#""a""#, ". . . x x . . . . . ."),
            (r#""A""#, ". . . . . . . . . . ."),
            (r#""b""#, ". . . . x . . . . . ."),
            (r#"5"#, ". . . . . . x x x . ."),
            (r#"5.0"#, ". . . . . . x x x . ."),
            (r#""5""#, ". . . . . . . . . . ."),
            (r#"6.5"#, ". . . . . . . . x . ."),
            (r#"true"#, ". . . . . . . . . x x"),
            (r#"false"#, ". . . . . . . . . . x"),
            (r#""true""#, ". . . . . . . . . . ."),
            (r#""""#, ". . . . . . . . . . ."),
            (r#"{"$eq":"a"}"#, ". . . x x . . . . . ."),
            (r#"{"$eq":5}"#, ". . . . . . x x x . ."),
            (r#"{"$ne":"1"}"#, "x x . x x x x x x x x"),
            (r#"{"$ne":1}"#, "x x x x x . x x x x x"),
            (r#"{"$ne":"a"}"#, "x x x . . x x x x x x"),
            (r#"{"$ne":5.0}"#, "x x x x x x . . . x x"),
            (r#"{"$ne":false}"#, "x x x x x x x x x x ."),
        ],
    );
}

#[test]
fn lists_of_operands_ask_for_any_or_for_all() {
    check(
        &[
            "missing",
            "[]",
            r#""a""#,
            r#"["a","b"]"#,
            r#"["b","c"]"#,
            r#""1""#,
            "1",
            "[1,5.0]",
            "5",
            "true",
            "[false]",
        ],
        &[
            //                              miss [] "a" a,b b,c "1" 1 1,5.0 5 true [f]
            (r#"{"$in":[]}"#, ". . . . . . . . . . ."),
            (r#"{"$in":["a"]}"#, ". . x x . . . . . . ."),
            (r#"{"$in":["a","c"]}"#, ". . x x x . . . . . ."),
            (r#"{"$in":["a","a"]}"#, ". . x x . . . . . . ."),
            (r#"{"$in":[1,"a",false]}"#, ". . x x . . x x . . x"),
            (r#"{"$in":["1"]}"#, ". . . . . x . . . . ."),
            (r#"{"$in":[5]}"#, ". . . . . . . x x . ."),
            (r#"{"$in":["zz",7]}"#, ". . . . . . . . . . ."),
            (r#"{"$nin":[]}"#, "x x x x x x x x x x x"),
            (r#"{"$nin":["a"]}"#, "x x . . x x x x x x x"),
            (r#"{"$nin":["a","c"]}"#, "x x . . . x x x x x x"),
            (r#"{"$nin":[1,"a",false]}"#, "x x . . x x . . x x ."),
            (r#"{"$nin":[5.0,"1"]}"#, "x x x x x . x . . x x"),
            (r#"{"$all":[]}"#, "x x x x x x x x x x x"),
            (r#"{"$all":["a"]}"#, ". . x x . . . . . . ."),
            (r#"{"$all":["a","a"]}"#, ". . x x . . . . . . ."),
            (r#"{"$all":["b","a"]}"#, ". . . x . . . . . . ."),
            (r#"{"$all":["b"]}"#, ". . . x x . . . . . ."),
            (r#"{"$all":["a","c"]}"#, ". . . . . . . . . . ."),
            (r#"{"$all":[1,1.0]}"#, ". . . . . . x x . . ."),
            (r#"{"$all":[5,1]}"#, ". . . . . . . x . . ."),
            (r#"{"$all":["a",1]}"#, ". . . . . . . . . . ."),
        ],
    );
}

#[test]
fn ranges_ask_some_element_of_the_operands_kind() {
    check(
        &[
            "missing",
            "[]",
            "4",
            "4.5",
            "5",
            "5.0",
            "6",
            "[1,9]",
            r#""5""#,
            r#""a""#,
            r#"["b"]"#,
            "true",
            "[false,true]",
        ],
        &[
            //                              miss [] 4 4.5 5 5.0 6 1,9 "5" "a" [b] true f,t
            (r#"{"$gt":5}"#, ". . . . . . x x . . . . ."),
            (r#"{"$gt":5.0}"#, ". . . . . . x x . . . . ."),
            (r#"{"$gt":4.5}"#, ". . . . x x x x . . . . ."),
            (r#"{"$gte":5}"#, ". . . . x x x x . . . . ."),
            (r#"{"$lt":5}"#, ". . x x . . . x . . . . ."),
            (r#"{"$lte":5.0}"#, ". . x x x x . x . . . . ."),
            (r#"{"$gt":9}"#, ". . . . . . . . . . . . ."),
            // Different elements may satisfy the two: 1 is less than 5, 9 is greater than 4.
            (r#"{"$gt":4,"$lt":5}"#, ". . . x . . . x . . . . ."),
            (r#"{"$gte":4,"$lte":4}"#, ". . x . . . . x . . . . ."),
            (r#"{"$gt":"5"}"#, ". . . . . . . . . x x . ."),
            (r#"{"$gte":"5"}"#, ". . . . . . . . x x x . ."),
            (r#"{"$lt":"a"}"#, ". . . . . . . . x . . . ."),
            (r#"{"$lte":"a"}"#, ". . . . . . . . x x . . ."),
            (r#"{"$gte":""}"#, ". . . . . . . . x x x . ."),
            (r#"{"$lt":""}"#, ". . . . . . . . . . . . ."),
            (r#"{"$gte":"a","$lt":6}"#, ". . . . . . . . . . . . ."),
        ],
    );
}

#[test]
fn exists_asks_for_at_least_one_element() {
    check(
        &[
            "missing",
            "null",
            "[]",
            r#""""#,
            "0",
            "false",
            "[false]",
            r#"[""]"#,
            r#"["a","b"]"#,
        ],
        &[
            (r#"{"$exists":true}"#, ". . . x x x x x x"),
            (r#"{"$exists":false}"#, "x x x . . . . . ."),
            (r#"{"$exists":true,"$ne":false}"#, ". . . x x . . x x"),
            (r#"{"$exists":false,"$eq":0}"#, ". . . . . . . . ."),
            (r#"{"$exists":true,"$all":[]}"#, ". . . x x x x x x"),
        ],
    );
}

#[test]
fn numbers_are_compared_by_exact_value() {
    check(
        &[
            "9007199254740992",
            "9007199254740993",
            "9007199254740992.0",
            "9223372036854775807",
            "9223372036854775808.0",
            "-9223372036854775808",
            "0",
            "-0.0",
            "0.1",
        ],
        &[
            //                            2^53 +1 2^53. max 2^63. min 0 -0. 0.1
            ("9007199254740992", "x . x . . . . . ."),
            ("9007199254740993", ". x . . . . . . ."),
            ("9007199254740992.0", "x . x . . . . . ."),
            (r#"{"$gt":9007199254740992.0}"#, ". x . x x . . . ."),
            (r#"{"$gte":9007199254740993}"#, ". x . x x . . . ."),
            (r#"{"$lt":9007199254740993}"#, "x . x . . x x x x"),
            ("9223372036854775807", ". . . x . . . . ."),
            ("9223372036854775808.0", ". . . . x . . . ."),
            (r#"{"$lt":9223372036854775808.0}"#, "x x x x . x x x x"),
            (r#"{"$gte":-9223372036854775808.0}"#, "x x x x x x x x x"),
            ("-9223372036854775808.0", ". . . . . x . . ."),
            ("0", ". . . . . . x x ."),
            ("-0.0", ". . . . . . x x ."),
            ("0.1", ". . . . . . . . x"),
            (r#"{"$gt":-0.0}"#, "x x x x x . . . x"),
            (r#"{"$in":[0.1,0]}"#, ". . . . . . x x x"),
        ],
    );
}

#[test]
fn texts_are_compared_by_unicode_scalar_value() {
    check(
        &[
            r#""""#,
            r#""A""#,
            r#""a""#,
            r#""aa""#,
            r#""é""#,
            r#""e\u0301""#,
            r#""\uffff""#,
            r#""\ud800\udc00""#,
        ],
        &[
            //                           "" A a aa é e+´ ffff 10000
            (r#""é""#, ". . . . x . . ."),
            (r#""e\u0301""#, ". . . . . x . ."),
            (r#"{"$lt":"a"}"#, "x x . . . . . ."),
            (r#"{"$gt":"a"}"#, ". . . x x x x x"),
            (r#"{"$gt":"z"}"#, ". . . . x . x x"),
            (r#"{"$gt":"\uffff"}"#, ". . . . . . . x"),
            (r#"{"$lte":"\uffff"}"#, "x x x x x x x ."),
        ],
    );
}

#[test]
fn and_or_and_not_are_those_of_logic() {
    let records = [
        r#"{}"#,
        r#"{"k":1}"#,
        r#"{"l":2}"#,
        r#"{"k":1,"l":2}"#,
        r#"{"k":9,"l":[]}"#,
    ];
    let rows = [
        (r#"{}"#, "xxxxx"),
        (r#"{"$and":[]}"#, "xxxxx"),
        (r#"{"$or":[]}"#, "....."),
        (r#"{"$not":{}}"#, "....."),
        (r#"{"$not":{"$or":[]}}"#, "xxxxx"),
        (r#"{"k":1,"l":2}"#, "...x."),
        (r#"{"$and":[{"k":1},{"l":2}]}"#, "...x."),
        (r#"{"$or":[{"k":1},{"l":2}]}"#, ".xxx."),
        (r#"{"$or":[{"k":1},{}]}"#, "xxxxx"),
        (r#"{"$not":{"k":1}}"#, "x.x.x"),
        (r#"{"$not":{"k":1,"l":2}}"#, "xxx.x"),
        (r#"{"$not":{"$or":[{"k":1},{"l":2}]}}"#, "x...x"),
        (r#"{"k":1,"$not":{"l":2}}"#, ".x..."),
        (
            r#"{"k":1,"$or":[{"l":2},{"l":{"$exists":false}}]}"#,
            ".x.x.",
        ),
        (r#"{"$not":{"$not":{"k":1}}}"#, ".x.x."),
        (r#"{"k":{"$not":{"$not":{"$eq":1}}}}"#, ".x.x."),
        (r#"{"k":{"$not":{"$gte":1,"$lt":5}}}"#, "x.x.x"),
        (r#"{"k":{"$exists":true,"$not":{"$eq":1}}}"#, "....x"),
    ];
    for (json, expected) in rows {
        let filter = read(json);
        let signs: String = records
            .iter()
            .map(|record| filter.matches(&Metadata::from_json(record).unwrap()))
            .map(|matches| if matches { 'x' } else { '.' })
            .collect();
        assert_eq!(signs, expected, "{json}");
    }
}
