//! Folding changes no answer for records that keep to the declared kinds, and leaves operands of
//! those kinds only.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Filter, FilterBuilder, FilterProblem, Op, Test, all_of, any_of, key, not};
use crate::metadata::{List, Metadata, MetadataKey, Scalar, Value};
use crate::names::CollectionName;
use crate::spec::{CollectionSpec, Field, FieldKind, Metric};

const FIELDS: [(&str, FieldKind); 5] = [
    ("text", FieldKind::Text),
    ("list", FieldKind::TextList),
    ("integer", FieldKind::Integer),
    ("float", FieldKind::Float),
    ("bool", FieldKind::Bool),
];

fn spec() -> CollectionSpec {
    let fields = FIELDS.map(|(name, kind)| Field::new(MetadataKey::new(name).unwrap(), kind));
    CollectionSpec::new(CollectionName::new("c").unwrap(), 2, Metric::Cosine, "e")
        .with_fields(fields)
        .with_open_fields(true)
}

fn numbers() -> BoxedStrategy<Scalar> {
    const GAP: i64 = 1 << 53;
    const OUT: f64 = 9_223_372_036_854_775_808.0;
    let integers = prop_oneof![
        3 => -3_i64..=3,
        2 => (GAP - 2)..=(GAP + 3),
        1 => (-GAP - 3)..=(-GAP + 2),
        1 => select(&[i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX, i64::MAX - 511, i64::MAX - 1023][..]),
    ];
    let floats = prop_oneof![
        3 => (-6_i8..=6).prop_map(|halves| f64::from(halves) / 2.0),
        1 => select(&[9_007_199_254_740_991.0, 9_007_199_254_740_992.0, 9_007_199_254_740_994.0, 9_007_199_254_740_996.0][..]),
        1 => select(&[OUT, -OUT, OUT - 1024.0, -OUT - 2048.0, 1e300, -1e300, 5e-324, -5e-324, 0.1, -0.0][..]),
    ];
    prop_oneof![
        integers.prop_map(Scalar::from),
        floats.prop_map(|float| Scalar::float(float).unwrap()),
    ]
    .boxed()
}

fn texts() -> BoxedStrategy<Scalar> {
    select(
        &[
            "",
            "a",
            "b",
            "ab",
            "1",
            "0.5",
            "true",
            "é",
            "\u{ffff}",
            "\u{10000}",
        ][..],
    )
    .prop_map(|text| Scalar::text(text).unwrap())
    .boxed()
}

fn scalars() -> BoxedStrategy<Scalar> {
    prop_oneof![
        1 => any::<bool>().prop_map(Scalar::from),
        4 => numbers(),
        3 => texts(),
    ]
    .boxed()
}

fn names() -> BoxedStrategy<&'static str> {
    select(&["text", "list", "integer", "float", "bool", "undeclared"][..]).boxed()
}

fn tests() -> BoxedStrategy<FilterBuilder> {
    let operands = || vec(scalars(), 0..4);
    let bounds = || prop_oneof![3 => numbers(), 1 => texts()];
    prop_oneof![
        (names(), scalars()).prop_map(|(k, v)| key(k).eq(v)),
        (names(), scalars()).prop_map(|(k, v)| key(k).ne(v)),
        (names(), operands()).prop_map(|(k, vs)| key(k).is_in(vs)),
        (names(), operands()).prop_map(|(k, vs)| key(k).not_in(vs)),
        (names(), operands()).prop_map(|(k, vs)| key(k).all(vs)),
        (names(), bounds()).prop_map(|(k, v)| key(k).gt(v)),
        (names(), bounds()).prop_map(|(k, v)| key(k).gte(v)),
        (names(), bounds()).prop_map(|(k, v)| key(k).lt(v)),
        (names(), bounds()).prop_map(|(k, v)| key(k).lte(v)),
        (names(), any::<bool>()).prop_map(|(k, exists)| key(k).exists(exists)),
    ]
    .boxed()
}

fn filters() -> BoxedStrategy<Filter> {
    tests()
        .prop_recursive(4, 16, 3, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(all_of),
                vec(inner.clone(), 0..4).prop_map(any_of),
                inner.prop_map(not),
            ]
        })
        .prop_map(|builder| builder.build().unwrap())
        .boxed()
}

/// Values that a field of this kind accepts at write, the lenient ones included.
fn held(kind: FieldKind) -> BoxedStrategy<Value> {
    let name = FIELDS.iter().find(|(_, k)| *k == kind).unwrap().0;
    let key = MetadataKey::new(name).unwrap();
    let any = match kind {
        FieldKind::Text => texts().prop_map(Value::Scalar).boxed(),
        FieldKind::Bool => any::<bool>().prop_map(Value::from).boxed(),
        FieldKind::Integer | FieldKind::Float => numbers().prop_map(Value::Scalar).boxed(),
        FieldKind::TextList => prop_oneof![
            1 => texts().prop_map(Value::Scalar),
            3 => vec(texts(), 0..4).prop_map(|texts| List::new(texts).unwrap().into()),
        ]
        .boxed(),
    };
    let spec = spec();
    any.prop_filter("a value of the declared kind", move |value| {
        spec.check_value(&key, value).is_ok()
    })
    .boxed()
}

fn records() -> BoxedStrategy<Metadata> {
    let fields: Vec<_> = FIELDS
        .iter()
        .map(|(name, kind)| {
            let pair = held(*kind).prop_map(|value| (MetadataKey::new(name).unwrap(), value));
            proptest::option::weighted(0.8, pair)
        })
        .collect();
    (fields, proptest::option::of(scalars()))
        .prop_map(|(pairs, undeclared)| {
            let mut metadata: Metadata = pairs.into_iter().flatten().collect();
            if let Some(value) = undeclared {
                metadata.insert(MetadataKey::new("undeclared").unwrap(), value);
            }
            metadata
        })
        .boxed()
}

/// Whether each operand of the test is one that a column of the declared kind holds.
fn of_declared_kind(test: &Test, spec: &CollectionSpec) -> bool {
    let Some(field) = spec.field(test.key().as_str()) else {
        return true;
    };
    test.op().operands().iter().all(|operand| {
        matches!(
            (field.kind, operand),
            (FieldKind::Text | FieldKind::TextList, Scalar::Text(_))
                | (FieldKind::Integer, Scalar::Integer(_))
                | (FieldKind::Float, Scalar::Float(_))
                | (FieldKind::Bool, Scalar::Bool(_))
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn folding_changes_no_match_for_records_of_the_declared_kinds(
        filter in filters(),
        records in vec(records(), 6),
    ) {
        let folded = filter.fold(&spec());
        for metadata in &records {
            prop_assert_eq!(
                folded.matches(metadata),
                filter.matches(metadata),
                "{:?} became {:?}, of {:?}", filter, folded, metadata
            );
        }
    }

    #[test]
    fn a_folded_test_changes_no_match(test in tests(), records in vec(records(), 16)) {
        // Alone, where nothing around it hides a difference.
        let filter = test.build().unwrap();
        let folded = filter.fold(&spec());
        for metadata in &records {
            prop_assert_eq!(
                folded.matches(metadata),
                filter.matches(metadata),
                "{:?} became {:?}, of {:?}", filter, folded, metadata
            );
        }
    }

    #[test]
    fn folding_leaves_operands_of_the_declared_kinds_and_is_done_once(filter in filters()) {
        let spec = spec();
        let folded = filter.fold(&spec);
        for test in folded.tests() {
            prop_assert!(of_declared_kind(test, &spec), "{:?} became {:?}", filter, folded);
        }
        prop_assert_eq!(folded.fold(&spec).to_string(), folded.to_string());
    }

    #[test]
    fn a_folded_selector_never_matches_a_record_without_metadata(filter in filters()) {
        if let Ok(narrow) = filter.narrow() {
            let folded = narrow.folded(|filter| filter.fold(&spec()));
            prop_assert!(!folded.filter().matches(&Metadata::new()), "{:?}", folded);
        }
    }
}

#[test]
fn operands_are_folded_to_the_declared_kind() {
    let cases = [
        (r#"{"text":1}"#, r#"{"$or":[]}"#),
        (r#"{"text":{"$ne":1}}"#, r#"{}"#),
        (
            r#"{"text":{"$in":[1,"a",true]}}"#,
            r#"{"text":{"$in":["a"]}}"#,
        ),
        (r#"{"text":{"$nin":[1]}}"#, r#"{"text":{"$nin":[]}}"#),
        (r#"{"list":{"$all":["a",1]}}"#, r#"{"$or":[]}"#),
        (r#"{"list":{"$all":[]}}"#, r#"{"list":{"$all":[]}}"#),
        (r#"{"text":{"$gt":1}}"#, r#"{"$or":[]}"#),
        (r#"{"bool":{"$gte":0}}"#, r#"{"$or":[]}"#),
        (r#"{"bool":{"$eq":"true"}}"#, r#"{"$or":[]}"#),
        (r#"{"integer":5.0}"#, r#"{"integer":5}"#),
        (r#"{"integer":5.5}"#, r#"{"$or":[]}"#),
        (r#"{"integer":{"$gt":5.5}}"#, r#"{"integer":{"$gte":6}}"#),
        (r#"{"integer":{"$gte":5.5}}"#, r#"{"integer":{"$gte":6}}"#),
        (r#"{"integer":{"$lt":-5.5}}"#, r#"{"integer":{"$lte":-6}}"#),
        (r#"{"integer":{"$lte":-5.5}}"#, r#"{"integer":{"$lte":-6}}"#),
        (r#"{"integer":{"$lt":5.0}}"#, r#"{"integer":{"$lt":5}}"#),
        (
            r#"{"integer":{"$lt":1e300}}"#,
            r#"{"integer":{"$exists":true}}"#,
        ),
        (r#"{"integer":{"$gt":1e300}}"#, r#"{"$or":[]}"#),
        (
            r#"{"integer":{"$gt":-1e300}}"#,
            r#"{"integer":{"$exists":true}}"#,
        ),
        (r#"{"integer":{"$lt":-1e300}}"#, r#"{"$or":[]}"#),
        (
            r#"{"integer":{"$gte":9223372036854775808.0}}"#,
            r#"{"$or":[]}"#,
        ),
        (r#"{"float":5}"#, r#"{"float":5.0}"#),
        (r#"{"float":9007199254740993}"#, r#"{"$or":[]}"#),
        // 2^53 + 1 lies between the floats 2^53 and 2^53 + 2.
        (
            r#"{"float":{"$gt":9007199254740993}}"#,
            r#"{"float":{"$gt":9007199254740992.0}}"#,
        ),
        (
            r#"{"float":{"$lte":9007199254740993}}"#,
            r#"{"float":{"$lte":9007199254740992.0}}"#,
        ),
        (
            r#"{"float":{"$lte":9223372036854775807}}"#,
            r#"{"float":{"$lt":9.223372036854776e+18}}"#,
        ),
        (r#"{"$not":{"text":1}}"#, r#"{"$not":{"$or":[]}}"#),
        (r#"{"undeclared":1}"#, r#"{"undeclared":1}"#),
    ];
    for (json, expected) in cases {
        let folded = Filter::from_json(json).unwrap().fold(&spec());
        assert_eq!(folded.to_string(), expected, "{json}");
    }
}

#[test]
fn a_test_of_an_undeclared_field_is_refused_wherever_it_stands() {
    let closed = spec().with_open_fields(false);
    for json in [
        r#"{"undeclared":1}"#,
        r#"{"text":"a","undeclared":{"$exists":false}}"#,
        r#"{"$or":[{"text":"a"},{"$not":{"undeclared":{"$in":[]}}}]}"#,
    ] {
        let filter = Filter::from_json(json).unwrap();
        let error = filter.check_fields(&closed).unwrap_err();
        assert_eq!(error.path(), "undeclared", "{json}");
        assert_eq!(error.problem(), &FilterProblem::UndeclaredField, "{json}");
        filter.check_fields(&spec()).unwrap();
    }
    let declared = r#"{"text":"a","$or":[{"integer":{"$gt":1}},{"list":"b"}]}"#;
    Filter::from_json(declared)
        .unwrap()
        .check_fields(&closed)
        .unwrap();
    Filter::everything().check_fields(&closed).unwrap();
}

#[test]
fn a_range_of_a_boolean_field_never_holds() {
    // The builders refuse a boolean bound; one that is made in the crate folds to nothing.
    let filter = Filter::test(
        MetadataKey::new("bool").unwrap(),
        Op::Gte(Scalar::from(false)),
    );
    assert!(filter.fold(&spec()).is_nothing());
}
