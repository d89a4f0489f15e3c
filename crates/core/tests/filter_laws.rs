//! Laws that every filter keeps, whatever it is made of.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::cmp::Ordering;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use common::*;
use proptest::collection::vec;
use proptest::prelude::*;
use shelfward_core::filter::{
    FilterProblem, FilterSupport, Matcher, Node, Op, all_of, any_of, key, not,
};
use shelfward_core::{Filter, Kind, List, Metadata, MetadataKey, Scalar, Value};

fn one(name: &str, value: impl Into<Value>) -> Metadata {
    let mut metadata = Metadata::new();
    metadata.insert(MetadataKey::new(name).unwrap(), value);
    metadata
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn a_printed_filter_reads_back_as_itself(filter in filters()) {
        let printed = filter.to_string();
        let read = Filter::from_json(&printed).unwrap();
        prop_assert_eq!(&read, &filter);
        // `5` and `5.0` are equal, so equality alone would not notice one turned into the other.
        prop_assert_eq!(read.to_string(), printed);
    }

    #[test]
    fn serde_prints_and_reads_as_the_filter_itself_does(filter in filters()) {
        let printed = serde_json::to_string(&filter).unwrap();
        prop_assert_eq!(&printed, &filter.to_string());
        // A float so large may be an integer that serde has rounded.
        let right = (!holds_large(&filter)).then_some(filter);
        prop_assert_eq!(serde_json::from_str::<Filter>(&printed).ok(), right);
    }

    #[test]
    fn reading_keeps_what_a_filter_matches(filter in filters(), metadata in metadata()) {
        let read = Filter::from_json(&filter.to_string()).unwrap();
        prop_assert_eq!(read.matches(&metadata), filter.matches(&metadata));
    }

    #[test]
    fn in_is_the_or_of_eq(k in keys(), vs in vec(scalars(), 0..5), metadata in metadata()) {
        let each = any_of(vs.iter().map(|v| key(k).eq(v.clone())));
        let whole = key(k).is_in(vs.clone());
        prop_assert_eq!(built(whole).matches(&metadata), built(each).matches(&metadata));
    }

    #[test]
    fn all_is_the_and_of_eq(k in keys(), vs in vec(scalars(), 0..3), metadata in metadata()) {
        let each = all_of(vs.iter().map(|v| key(k).eq(v.clone())));
        let whole = key(k).all(vs.clone());
        prop_assert_eq!(built(whole).matches(&metadata), built(each).matches(&metadata));
    }

    #[test]
    fn all_matches_a_list_that_holds_every_operand(list in lists(), extra in scalars()) {
        let held = key("a").all(list.members().to_vec());
        let metadata = one("a", list.clone());
        prop_assert!(built(held.clone()).matches(&metadata));
        let more = built(held.and(key("a").eq(extra.clone())));
        prop_assert_eq!(more.matches(&metadata), list.members().contains(&extra));
    }

    #[test]
    fn negative_operators_are_exact_complements(
        k in keys(),
        v in scalars(),
        vs in vec(scalars(), 0..4),
        metadata in metadata(),
    ) {
        let pairs = [
            (key(k).eq(v.clone()), key(k).ne(v)),
            (key(k).is_in(vs.clone()), key(k).not_in(vs)),
            (key(k).exists(true), key(k).exists(false)),
        ];
        for (positive, negative) in pairs {
            prop_assert_ne!(built(positive).matches(&metadata), built(negative).matches(&metadata));
        }
    }

    #[test]
    fn not_is_the_exact_complement(filter in builders(), metadata in metadata()) {
        prop_assert_ne!(
            built(not(filter.clone())).matches(&metadata),
            built(filter).matches(&metadata)
        );
    }

    #[test]
    fn not_under_a_key_is_not_around_it(test in tests(), metadata in metadata()) {
        let test = built(test);
        let name = test.tests()[0].key().clone();
        let condition = test.tests()[0].op().clone();
        let operand = serde_json::to_string(condition.operands()).unwrap();
        let operand = match &condition {
            Op::In(_) | Op::Nin(_) | Op::All(_) => operand,
            Op::Exists(exists) => exists.to_string(),
            _ => operand[1..operand.len() - 1].to_owned(),
        };
        let name = serde_json::to_string(&name).unwrap();
        let inside = format!(r#"{{{name}:{{"$not":{{"{}":{operand}}}}}}}"#, condition.name());
        let inside = Filter::from_json(&inside).unwrap();
        prop_assert_eq!(&inside, &built(not(test.into())));
        prop_assert_eq!(inside.matches(&metadata), Filter::from_json(&inside.to_string()).unwrap().matches(&metadata));
    }

    #[test]
    fn not_of_and_is_or_of_nots(parts in vec(builders(), 0..4), metadata in metadata()) {
        let left = built(not(all_of(parts.clone())));
        let right = built(any_of(parts.into_iter().map(not)));
        prop_assert_eq!(left.matches(&metadata), right.matches(&metadata));
    }

    #[test]
    fn not_of_or_is_and_of_nots(parts in vec(builders(), 0..4), metadata in metadata()) {
        let left = built(not(any_of(parts.clone())));
        let right = built(all_of(parts.into_iter().map(not)));
        prop_assert_eq!(left.matches(&metadata), right.matches(&metadata));
    }

    #[test]
    fn a_double_negation_changes_nothing(filter in builders(), metadata in metadata()) {
        let twice = built(not(not(filter.clone())));
        prop_assert_eq!(twice.matches(&metadata), built(filter).matches(&metadata));
    }

    #[test]
    fn and_and_or_are_those_of_logic(
        parts in vec(builders(), 0..4),
        metadata in metadata(),
    ) {
        let each: Vec<bool> =
            parts.iter().map(|part| built(part.clone()).matches(&metadata)).collect();
        prop_assert_eq!(built(all_of(parts.clone())).matches(&metadata), !each.contains(&false));
        prop_assert_eq!(built(any_of(parts)).matches(&metadata), each.contains(&true));
    }

    #[test]
    fn a_missing_field_and_an_empty_list_are_alike(
        filter in filters(),
        k in keys(),
        mut metadata in metadata(),
    ) {
        metadata.remove(k);
        let without = filter.matches(&metadata);
        metadata.insert(MetadataKey::new(k).unwrap(), List::default());
        prop_assert_eq!(filter.matches(&metadata), without);
    }

    #[test]
    fn a_plain_value_and_a_list_of_it_are_alike(
        filter in filters(),
        k in keys(),
        v in scalars(),
        mut metadata in metadata(),
    ) {
        let name = MetadataKey::new(k).unwrap();
        metadata.insert(name.clone(), v.clone());
        let plain = filter.matches(&metadata);
        metadata.insert(name, List::new(vec![v]).unwrap());
        prop_assert_eq!(filter.matches(&metadata), plain);
    }

    #[test]
    fn the_order_and_repetition_of_members_do_not_matter(
        filter in filters(),
        k in keys(),
        list in lists(),
        mut metadata in metadata(),
    ) {
        let name = MetadataKey::new(k).unwrap();
        metadata.insert(name.clone(), list.clone());
        let given = filter.matches(&metadata);
        let turned = list.members().iter().rev().chain(list.members()).cloned().collect();
        metadata.insert(name, List::new(turned).unwrap());
        prop_assert_eq!(filter.matches(&metadata), given);
    }

    #[test]
    fn a_filter_reads_only_the_keys_that_it_names(filter in filters(), metadata in metadata()) {
        let named: Metadata = metadata
            .iter()
            .filter(|(k, _)| filter.tests().iter().any(|test| test.key() == *k))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        prop_assert_eq!(filter.matches(&named), filter.matches(&metadata));
    }

    #[test]
    fn a_range_asks_some_element_of_its_own_kind(
        k in keys(),
        x in range_operands(),
        metadata in metadata(),
    ) {
        let elements = metadata.get(k).map_or(&[][..], Value::elements);
        let some = |wanted: &[Ordering]| {
            elements
                .iter()
                .filter(|element| element.kind() == x.kind())
                .any(|element| wanted.contains(&element.compare(&x).unwrap()))
        };
        use Ordering::{Equal, Greater, Less};
        prop_assert_eq!(built(key(k).gt(x.clone())).matches(&metadata), some(&[Greater]));
        prop_assert_eq!(built(key(k).gte(x.clone())).matches(&metadata), some(&[Greater, Equal]));
        prop_assert_eq!(built(key(k).lt(x.clone())).matches(&metadata), some(&[Less]));
        prop_assert_eq!(built(key(k).lte(x.clone())).matches(&metadata), some(&[Less, Equal]));
    }
}

// How a filter is split between a store's engine and us.

fn supports() -> impl Strategy<Value = FilterSupport> {
    any::<[bool; 7]>().prop_map(|flags| {
        let mut support = FilterSupport::kernel();
        [
            support.ne,
            support.nin,
            support.number_ranges,
            support.text_ranges,
            support.exists,
            support.or,
            support.not,
        ] = flags;
        support
    })
}

/// Whether every operator of the filter is one that the support declares.
fn served(filter: &Filter, support: &FilterSupport) -> bool {
    match filter.node() {
        Node::And(children) => children.iter().all(|child| served(child, support)),
        Node::Or(children) => support.or && children.iter().all(|child| served(child, support)),
        Node::Not(child) => support.not && served(child, support),
        Node::Test(test) => match test.op() {
            Op::Eq(_) | Op::In(_) | Op::All(_) => true,
            Op::Ne(_) => support.ne,
            Op::Nin(_) => support.nin,
            Op::Exists(_) => support.exists,
            Op::Gt(x) | Op::Gte(x) | Op::Lt(x) | Op::Lte(x) if x.kind() == Kind::Text => {
                support.text_ranges
            }
            Op::Gt(_) | Op::Gte(_) | Op::Lt(_) | Op::Lte(_) => support.number_ranges,
        },
    }
}

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn the_whole_is_native_and_residual(
        filter in filters(),
        support in supports(),
        records in vec(metadata(), 8),
    ) {
        let split = support.split(&filter);
        for metadata in &records {
            let whole = filter.matches(metadata);
            let native = split.native.matches(metadata);
            let residual = split.residual.as_ref().is_none_or(|rest| rest.matches(metadata));
            prop_assert!(native || !whole, "native is narrower: {:?}", split);
            prop_assert_eq!(native && residual, whole, "{:?}", split);
        }
    }

    #[test]
    fn the_whole_is_native_and_residual_under_nots(
        parts in vec(builders(), 1..4),
        nots in 1_usize..5,
        support in supports(),
        records in vec(metadata(), 8),
    ) {
        // `not` and `or` are served, so that whatever is under them could be widened.
        let support = { let mut s = support; s.not = true; s.or = true; s };
        let filter = (0..nots).fold(any_of(parts.clone()), |inner, _| not(inner).and(parts[0].clone()));
        let filter = built(not(filter));
        let split = support.split(&filter);
        for metadata in &records {
            let whole = filter.matches(metadata);
            let native = split.native.matches(metadata);
            let residual = split.residual.as_ref().is_none_or(|rest| rest.matches(metadata));
            prop_assert!(native || !whole, "native is narrower: {:?}", split);
            prop_assert_eq!(native && residual, whole, "{:?}", split);
        }
    }

    #[test]
    fn the_native_part_holds_only_what_is_declared(filter in filters(), support in supports()) {
        let split = support.split(&filter);
        prop_assert!(served(&split.native, &support), "{:?}", split);
        // What the engine serves whole leaves nothing over.
        if served(&filter, &support) {
            prop_assert_eq!(split.residual, None);
            prop_assert_eq!(split.native, filter);
        }
    }

    #[test]
    fn a_full_engine_leaves_nothing(filter in filters()) {
        let split = FilterSupport::full().split(&filter);
        prop_assert_eq!(split.residual, None);
        prop_assert_eq!(split.native, filter);
    }

    #[test]
    fn the_kernel_stays_native_beside_anything(
        k in keys(),
        vs in vec(scalars(), 1..4),
        rest in builders(),
        support in supports(),
    ) {
        let kernel = built(key(k).is_in(vs.clone()));
        let split = support.split(&built(all_of([kernel.clone().into(), rest])));
        let in_native = split.native == kernel
            || matches!(split.native.node(), Node::And(parts) if parts.contains(&kernel));
        prop_assert!(in_native, "{:?}", split);
    }
}

// What can be seen to match nothing.

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn what_is_seen_to_match_nothing_matches_nothing(
        filter in prop_oneof![
            filters(),
            (keys(), builders()).prop_map(|(k, rest)| built(key(k).is_in([0_i64; 0]).and(rest))),
            vec(any_of_nothing(), 0..3).prop_map(|parts| built(any_of(parts))),
        ],
        records in vec(metadata(), 8),
    ) {
        if filter.never_matches() {
            for metadata in &records {
                prop_assert!(!filter.matches(metadata), "{:?} matches {:?}", filter, metadata);
            }
        }
    }
}

/// Filters of which many match nothing.
fn any_of_nothing() -> impl Strategy<Value = shelfward_core::filter::FilterBuilder> {
    prop_oneof![
        Just(any_of([])),
        keys().prop_map(|k| key(k).is_in([0_i64; 0])),
        builders().prop_map(|rest| any_of([]).and(rest)),
    ]
}

#[test]
fn some_filters_are_seen_to_match_nothing_and_others_are_not() {
    for (json, seen) in [
        (r#"{"$or":[]}"#, true),
        (r#"{"k":{"$in":[]}}"#, true),
        (r#"{"k":1,"$or":[]}"#, true),
        (r#"{"$or":[{"k":{"$in":[]}},{"$or":[]}]}"#, true),
        (r#"{}"#, false),
        (r#"{"$and":[]}"#, false),
        (r#"{"k":{"$all":[]}}"#, false),
        (r#"{"k":{"$nin":[]}}"#, false),
        (r#"{"$or":[{"k":1},{"$or":[]}]}"#, false),
        (r#"{"$not":{"$or":[]}}"#, false),
        // It matches nothing, which is not seen.
        (r#"{"$not":{}}"#, false),
    ] {
        let filter = Filter::from_json(json).unwrap();
        assert_eq!(filter.never_matches(), seen, "{json}");
    }
}

// Selectors.

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn a_narrowed_filter_never_matches_a_record_without_the_fields_that_it_names(
        filter in prop_oneof![
            filters(),
            (tests(), builders()).prop_map(|(test, rest)| built(test.and(rest))),
            vec(tests(), 1..3).prop_map(|tests| built(not(all_of(tests)))),
        ],
        v in values(),
    ) {
        let Ok(narrow) = filter.clone().narrow() else { return Ok(()) };
        prop_assert_eq!(narrow.filter(), &filter);
        prop_assert!(!filter.matches(&Metadata::new()));
        prop_assert!(!filter.matches(&one("another", v)));
        let empty: Metadata =
            KEYS.iter().map(|k| (MetadataKey::new(k).unwrap(), List::default().into())).collect();
        prop_assert!(!filter.matches(&empty));
    }

    #[test]
    fn a_positive_condition_beside_anything_narrows(
        k in keys(),
        vs in vec(scalars(), 1..4),
        rest in builders(),
    ) {
        let conditions = [
            key(k).eq(vs[0].clone()),
            key(k).is_in(vs.clone()),
            key(k).all(vs.clone()),
            not(key(k).ne(vs[0].clone())),
            not(key(k).not_in(vs)),
        ];
        for condition in conditions {
            prop_assert!(built(all_of([rest.clone(), condition])).narrow().is_ok());
        }
    }

    #[test]
    fn an_alternative_that_does_not_narrow_is_refused(filter in filters(), narrow in tests()) {
        prop_assume!(filter.clone().narrow().is_err());
        let either = built(any_of([narrow, filter.into()]));
        prop_assert!(either.narrow().is_err());
    }
}

#[test]
fn tautologies_and_open_selectors_do_not_narrow() {
    for json in [
        r#"{}"#,
        r#"{"$and":[]}"#,
        r#"{"$and":[{}]}"#,
        r#"{"$and":[{"$and":[]},{}]}"#,
        r#"{"$or":[]}"#,
        r#"{"$or":[{}]}"#,
        r#"{"$or":[{"k":1},{}]}"#,
        r#"{"$or":[{"k":1},{"$and":[]}]}"#,
        r#"{"$or":[{"k":1},{"$not":{"$or":[]}}]}"#,
        r#"{"k":{"$all":[]}}"#,
        r#"{"k":{"$in":[]}}"#,
        r#"{"k":{"$nin":[]}}"#,
        r#"{"k":{"$nin":[1]}}"#,
        r#"{"k":{"$ne":1}}"#,
        r#"{"k":{"$not":{"$in":[]}}}"#,
        r#"{"$not":{"k":{"$in":[]}}}"#,
        r#"{"$not":{"k":{"$nin":[]}}}"#,
        r#"{"$not":{"k":{"$all":[1]}}}"#,
        r#"{"$not":{"k":1}}"#,
        r#"{"$not":{}}"#,
        r#"{"$not":{"$not":{}}}"#,
        r#"{"$or":[{"k":1},{"$not":{"k":1}}]}"#,
        r#"{"$or":[{"k":1},{"k":{"$ne":1}}]}"#,
        r#"{"$not":{"k":1,"l":{"$ne":2}}}"#,
        r#"{"$or":[{"k":{"$exists":true}},{"k":{"$exists":false}}]}"#,
        r#"{"k":{"$exists":true}}"#,
        r#"{"k":{"$exists":false}}"#,
        r#"{"k":{"$gte":0}}"#,
        r#"{"k":{"$gt":0,"$lt":9}}"#,
        r#"{"$or":[{"k":{"$gte":0}},{"k":{"$lt":0}}]}"#,
    ] {
        let error = Filter::from_json(json).unwrap().narrow().unwrap_err();
        assert_eq!(error.problem(), &FilterProblem::NotNarrow, "{json}");
        assert!(error.to_string().contains("delete_all"), "{error}");
    }
}

#[test]
fn selectors_that_name_what_they_select_narrow() {
    for json in [
        r#"{"k":1}"#,
        r#"{"k":{"$eq":false}}"#,
        r#"{"k":{"$in":["a","b"]}}"#,
        r#"{"k":{"$all":["a"]}}"#,
        r#"{"k":1,"l":{"$ne":2}}"#,
        r#"{"l":{"$exists":false},"$and":[{},{"k":1}]}"#,
        r#"{"$or":[{"k":1},{"l":{"$in":[2]}}]}"#,
        r#"{"$or":[{"k":1,"l":{"$gt":1}},{"$or":[{"l":2},{"k":{"$all":[3]}}]}]}"#,
        r#"{"$or":[{},{"k":1}],"l":"x"}"#,
        r#"{"$not":{"k":{"$ne":1}}}"#,
        r#"{"$not":{"k":{"$nin":[1]}}}"#,
        r#"{"k":{"$not":{"$ne":1}}}"#,
        r#"{"$not":{"$not":{"k":1}}}"#,
        r#"{"$not":{"$or":[{"k":{"$ne":1}},{"l":2}]}}"#,
        r#"{"$not":{"$and":[{"k":{"$ne":1}},{"l":{"$ne":2}}]}}"#,
    ] {
        let filter = Filter::from_json(json).unwrap();
        assert!(!filter.matches(&Metadata::new()), "{json}");
        assert_eq!(filter.clone().narrow().unwrap().filter(), &filter, "{json}");
    }
}

// What a filter pins a key to.

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn every_matching_record_holds_a_pinned_value(
        filter in prop_oneof![
            filters(),
            (tests(), tests(), builders()).prop_map(|(a, b, rest)| built(a.or(b).and(rest))),
        ],
        k in keys(),
        records in vec(metadata(), 8),
    ) {
        let Some(pinned) = filter.pinned(k) else { return Ok(()) };
        for metadata in records.iter().filter(|metadata| filter.matches(metadata)) {
            let elements = metadata.get(k).map_or(&[][..], Value::elements);
            prop_assert!(
                elements.iter().any(|element| pinned.contains(element)),
                "{:?} matches {:?} but holds none of {:?}", metadata, filter, pinned
            );
        }
    }
}

#[test]
fn a_key_is_pinned_where_every_match_holds_one_of_its_values() {
    let cases: &[(&str, Option<&[i64]>)] = &[
        (r#"{"k":1}"#, Some(&[1])),
        (r#"{"k":{"$in":[1,2]}}"#, Some(&[1, 2])),
        (r#"{"k":{"$in":[]}}"#, Some(&[])),
        (r#"{"k":{"$all":[1,2]}}"#, Some(&[1])),
        (r#"{"k":{"$all":[]}}"#, None),
        (r#"{"k":{"$in":[1,2]},"$and":[{"k":3}]}"#, Some(&[3])),
        (r#"{"l":1}"#, None),
        (r#"{}"#, None),
        (r#"{"$or":[]}"#, Some(&[])),
        (r#"{"$or":[{"k":1},{"k":{"$in":[2,1]}}]}"#, Some(&[1, 2])),
        (r#"{"$or":[{"k":1},{"l":2}]}"#, None),
        (r#"{"$or":[{"k":1},{}]}"#, None),
        (r#"{"k":{"$ne":1}}"#, None),
        (r#"{"k":{"$gte":1,"$lte":1}}"#, None),
        (r#"{"k":{"$exists":true}}"#, None),
        (r#"{"$not":{"k":1}}"#, None),
        (r#"{"$not":{"$not":{"k":1}}}"#, None),
    ];
    for (json, expected) in cases {
        let expected = expected.map(|values| values.iter().copied().map(Scalar::from).collect());
        assert_eq!(
            Filter::from_json(json).unwrap().pinned("k"),
            expected,
            "{json}"
        );
    }
}

// Equality and order of scalars.

/// The sign of `integer − float`, by integer arithmetic alone.
fn exact_order(integer: i64, float: f64) -> Ordering {
    let bits = float.to_bits();
    let exponent = i64::try_from((bits >> 52) & 0x7ff).unwrap();
    let fraction = i128::from(bits & ((1 << 52) - 1));
    let (mantissa, exponent) = if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | (1 << 52), exponent - 1075)
    };
    let mantissa = if float.is_sign_negative() {
        -mantissa
    } else {
        mantissa
    };
    let integer = i128::from(integer);
    match exponent {
        // Beyond every i64, by its sign.
        12.. => 0.cmp(&mantissa),
        0..12 => integer.cmp(&(mantissa << exponent)),
        -62..0 => (integer << -exponent).cmp(&mantissa),
        // Between −1 and 1: only zero is decided by the float.
        _ if integer == 0 => 0.cmp(&mantissa),
        _ => integer.cmp(&0),
    }
}

fn hash(scalar: &Scalar) -> u64 {
    let mut hasher = DefaultHasher::new();
    scalar.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #![proptest_config(config(2048))]

    #[test]
    fn numbers_compare_as_exact_arithmetic_does(integer in integers(), float in floats()) {
        let (i, f) = (Scalar::from(integer), Scalar::float(float).unwrap());
        let expected = exact_order(integer, float);
        prop_assert_eq!(i.compare(&f), Some(expected));
        prop_assert_eq!(f.compare(&i), Some(expected.reverse()));
        prop_assert_eq!(i == f, expected == Ordering::Equal);
    }

    #[test]
    fn order_is_total_within_a_kind_and_absent_across(
        a in scalars(), b in scalars(), c in scalars(),
    ) {
        prop_assert_eq!(a.compare(&a), Some(Ordering::Equal));
        prop_assert_eq!(a.compare(&b), b.compare(&a).map(Ordering::reverse));
        prop_assert_eq!(a.compare(&b).is_some(), a.kind() == b.kind());
        prop_assert_eq!(a == b, a.compare(&b) == Some(Ordering::Equal));
        let (ab, bc, ac) = (a.compare(&b), b.compare(&c), a.compare(&c));
        if let (Some(ab), Some(bc)) = (ab, bc) && (ab == bc || ab.is_eq() || bc.is_eq()) {
            let expected = if ab.is_eq() { bc } else { ab };
            prop_assert_eq!(ac, Some(expected), "{:?} {:?} {:?}", a, b, c);
        }
    }

    #[test]
    fn equal_scalars_hash_alike(a in scalars(), b in scalars()) {
        if a == b {
            prop_assert_eq!(hash(&a), hash(&b));
        }
    }

    #[test]
    fn a_whole_number_is_equal_and_hashes_alike_as_integer_and_as_float(integer in integers()) {
        #[expect(clippy::cast_precision_loss, reason = "the rounding is what is tested")]
        let float = integer as f64;
        let (i, f) = (Scalar::from(integer), Scalar::float(float).unwrap());
        prop_assert_eq!(i == f, exact_order(integer, float) == Ordering::Equal);
        if i == f {
            prop_assert_eq!(hash(&i), hash(&f));
        }
    }
}

#[test]
fn equality_of_numbers_near_the_float_gap_is_transitive() {
    // Rounded to floats the three would be equal, and the outer two are not.
    let low = Scalar::from(FLOAT_GAP);
    let float = Scalar::float(9_007_199_254_740_992.0).unwrap();
    let high = Scalar::from(FLOAT_GAP + 1);
    assert_eq!(low, float);
    assert_ne!(float, high);
    assert_ne!(low, high);
    assert_eq!(float.compare(&high), Some(Ordering::Less));
}

#[test]
fn known_pairs_are_equal_or_not() {
    let text = |t: &str| Scalar::text(t).unwrap();
    let float = |f: f64| Scalar::float(f).unwrap();
    let cases = [
        (Scalar::from(5), float(5.0), true),
        (Scalar::from(0), float(-0.0), true),
        (float(0.0), float(-0.0), true),
        (
            Scalar::from(i64::MIN),
            float(-9_223_372_036_854_775_808.0),
            true,
        ),
        (
            Scalar::from(i64::MAX),
            float(9_223_372_036_854_775_808.0),
            false,
        ),
        (float(0.1 + 0.2), float(0.3), false),
        (Scalar::from(1), text("1"), false),
        (Scalar::from(true), text("true"), false),
        (Scalar::from(true), Scalar::from(1), false),
        (text("\u{e9}"), text("e\u{301}"), false),
        (text("a"), text("A"), false),
    ];
    for (a, b, equal) in cases {
        assert_eq!(a == b, equal, "{a:?} and {b:?}");
        assert_eq!(hash(&a) == hash(&b), equal, "{a:?} and {b:?}");
    }
}

#[test]
fn texts_are_ordered_by_unicode_scalar_value() {
    // UTF-16 would put U+10000 before U+FFFF.
    let ordered = [
        "",
        "A",
        "Z",
        "a",
        "ab",
        "b",
        "\u{e9}",
        "\u{ffff}",
        "\u{10000}",
        "\u{10ffff}",
    ];
    for (at, low) in ordered.iter().enumerate() {
        for high in &ordered[at + 1..] {
            let (low, high) = (Scalar::text(*low).unwrap(), Scalar::text(*high).unwrap());
            assert_eq!(low.compare(&high), Some(Ordering::Less), "{low:?} {high:?}");
        }
    }
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn a_matcher_answers_what_the_filter_does(filter in filters(), metadata in metadata()) {
        prop_assert_eq!(Matcher::new(&filter).matches(&metadata), filter.matches(&metadata));
    }

    #[test]
    fn a_matcher_of_long_lists_answers_what_the_filter_does(
        key in keys(),
        values in prop::collection::vec(scalars(), 5..40),
        metadata in metadata(),
    ) {
        for builder in [
            shelfward_core::filter::key(key).is_in(values.clone()),
            shelfward_core::filter::key(key).not_in(values.clone()),
            not(shelfward_core::filter::key(key).is_in(values.clone())),
            shelfward_core::filter::key(key).all(values.clone()),
        ] {
            let filter = built(builder);
            prop_assert_eq!(Matcher::new(&filter).matches(&metadata), filter.matches(&metadata));
        }
    }
}
