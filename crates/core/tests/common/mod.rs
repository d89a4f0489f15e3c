//! Strategies for scalars, values, metadata and filters, shared by the tests of this folder.
//!
//! Keys and values come from small sets, so that filters and records meet; the numbers are those
//! that a rounding or a cast would confuse. Every strategy is boxed: unboxed, the nested value trees
//! are too large for the stack of a test's thread.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::panic, reason = "a test fails by panicking")]

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use shelfward_core::filter::{FilterBuilder, all_of, any_of, key, not};
use shelfward_core::{Filter, FilterError, List, Metadata, MetadataKey, Scalar, Value};

/// Keys that filters and metadata share.
pub(crate) const KEYS: [&str; 4] = ["a", "b", "a.b", "ключ 鍵"];

/// 2^53: the first integer whose successor no float holds.
pub(crate) const FLOAT_GAP: i64 = 1 << 53;

/// Whether an operand is a float of 2^63 or more.
pub(crate) fn holds_large(filter: &Filter) -> bool {
    let large = |v: &Scalar| matches!(v, Scalar::Float(x) if x.get().abs() >= 2_f64.powi(63));
    let mut tests = filter.tests().into_iter();
    tests.any(|test| test.op().operands().iter().any(large))
}

pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

pub(crate) fn keys() -> BoxedStrategy<&'static str> {
    select(&KEYS[..]).boxed()
}

pub(crate) fn integers() -> BoxedStrategy<i64> {
    prop_oneof![
        4 => -3_i64..=3,
        2 => (FLOAT_GAP - 3)..=(FLOAT_GAP + 3),
        1 => (-FLOAT_GAP - 3)..=(-FLOAT_GAP + 3),
        1 => select(&[i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX, i64::MAX - 512][..]),
        1 => any::<i64>(),
    ]
    .boxed()
}

pub(crate) fn floats() -> BoxedStrategy<f64> {
    const GAP: f64 = 9_007_199_254_740_992.0;
    const OUT: f64 = 9_223_372_036_854_775_808.0; // 2^63, the first float above every i64
    prop_oneof![
        4 => (-6_i8..=6).prop_map(|halves| f64::from(halves) / 2.0),
        1 => select(&[0.0, -0.0, 0.1, -0.1, 1e-7, 123_456.789][..]),
        2 => select(&[GAP - 1.0, GAP, GAP + 2.0, GAP + 4.0, -GAP, -GAP - 2.0][..]),
        1 => select(&[OUT, -OUT, OUT - 1024.0, -OUT - 2048.0, 1e19, -1e19, 1e300][..]),
        1 => select(&[f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, f64::EPSILON][..]),
        1 => any::<f64>().prop_filter("finite", |float| float.is_finite()),
    ]
    .boxed()
}

pub(crate) fn numbers() -> BoxedStrategy<Scalar> {
    prop_oneof![
        integers().prop_map(Scalar::from),
        floats().prop_map(|float| Scalar::float(float).unwrap()),
    ]
    .boxed()
}

pub(crate) fn texts() -> BoxedStrategy<Scalar> {
    const KNOWN: &[&str] = &[
        "",
        "a",
        "A",
        "b",
        "ab",
        "1",
        "5",
        "5.0",
        "true",
        "null",
        "$eq",
        "\"q\"\\",
        "line\nbreak\u{7f}",
        "\u{e9}",
        "e\u{301}",
        "ß",
        "日本",
        "\u{ffff}",
        "\u{10000}",
        "\u{10ffff}",
    ];
    prop_oneof![
        6 => select(KNOWN).prop_map(str::to_owned),
        1 => "[^\u{0}]{0,6}",
    ]
    .prop_map(|text| Scalar::text(text).unwrap())
    .boxed()
}

pub(crate) fn scalars() -> BoxedStrategy<Scalar> {
    prop_oneof![
        1 => any::<bool>().prop_map(Scalar::from),
        3 => numbers(),
        3 => texts(),
    ]
    .boxed()
}

/// Operands of a range: a number or a text.
pub(crate) fn range_operands() -> BoxedStrategy<Scalar> {
    prop_oneof![numbers(), texts()].boxed()
}

pub(crate) fn lists() -> BoxedStrategy<List> {
    prop_oneof![
        1 => Just(Vec::new()),
        2 => vec(any::<bool>().prop_map(Scalar::from), 1..3),
        4 => vec(numbers(), 1..5),
        4 => vec(texts(), 1..5),
    ]
    .prop_map(|members| List::new(members).unwrap())
    .boxed()
}

pub(crate) fn values() -> BoxedStrategy<Value> {
    prop_oneof![
        3 => scalars().prop_map(Value::Scalar),
        2 => lists().prop_map(Value::List),
    ]
    .boxed()
}

pub(crate) fn metadata() -> BoxedStrategy<Metadata> {
    vec(option::weighted(0.7, values()), KEYS.len())
        .prop_map(|values| {
            let pairs = KEYS.iter().zip(values);
            pairs
                .filter_map(|(key, value)| Some((MetadataKey::new(key).unwrap(), value?)))
                .collect()
        })
        .boxed()
}

/// One test of one field, by any operator.
pub(crate) fn tests() -> BoxedStrategy<FilterBuilder> {
    let operands = || vec(scalars(), 0..4);
    prop_oneof![
        3 => (keys(), scalars()).prop_map(|(k, v)| key(k).eq(v)),
        1 => (keys(), scalars()).prop_map(|(k, v)| key(k).ne(v)),
        2 => (keys(), operands()).prop_map(|(k, vs)| key(k).is_in(vs)),
        1 => (keys(), operands()).prop_map(|(k, vs)| key(k).not_in(vs)),
        2 => (keys(), operands()).prop_map(|(k, vs)| key(k).all(vs)),
        1 => (keys(), range_operands()).prop_map(|(k, v)| key(k).gt(v)),
        1 => (keys(), range_operands()).prop_map(|(k, v)| key(k).gte(v)),
        1 => (keys(), range_operands()).prop_map(|(k, v)| key(k).lt(v)),
        1 => (keys(), range_operands()).prop_map(|(k, v)| key(k).lte(v)),
        1 => (keys(), any::<bool>()).prop_map(|(k, exists)| key(k).exists(exists)),
    ]
    .boxed()
}

pub(crate) fn builders() -> BoxedStrategy<FilterBuilder> {
    tests()
        .prop_recursive(6, 40, 4, |inner| {
            prop_oneof![
                2 => vec(inner.clone(), 0..5).prop_map(all_of),
                2 => vec(inner.clone(), 0..5).prop_map(any_of),
                2 => inner.clone().prop_map(not),
                1 => (inner.clone(), inner.clone()).prop_map(|(left, right)| left.and(right)),
                1 => (inner.clone(), inner).prop_map(|(left, right)| left.or(right)),
            ]
        })
        .boxed()
}

pub(crate) fn filters() -> BoxedStrategy<Filter> {
    builders()
        .prop_map(|builder| builder.build().unwrap())
        .boxed()
}

pub(crate) fn built(builder: FilterBuilder) -> Filter {
    builder.build().unwrap()
}

/// Reads a filter that the grammar has.
#[track_caller]
pub(crate) fn read(json: &str) -> Filter {
    Filter::from_json(json).unwrap_or_else(|error| panic!("{json} was refused: {error}"))
}

/// The refusal of a filter, whose message is checked to be short and on one line.
#[track_caller]
pub(crate) fn refused(json: &str) -> FilterError {
    match Filter::from_json(json) {
        Ok(filter) => panic!("{json} was read as {filter}"),
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("filter"), "{message}");
            assert_short_line(&message);
            error
        }
    }
}

#[track_caller]
pub(crate) fn assert_short_line(message: &str) {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    assert!(
        !message.contains(breaks),
        "{message:?} is more than one line"
    );
    assert!(message.len() < 1000, "{} bytes of message", message.len());
}
