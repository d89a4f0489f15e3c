//! What a store that translates filters must select: exactly what the algebra's reference meaning
//! selects, over declared and open fields, by a scan, by a count and by key.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use shelfward_core::adapter::CollectionAdapter;
use shelfward_core::filter::{all_of, any_of, key, not};
use shelfward_core::{
    CollectionName, CollectionSpec, Field, FieldKind, Filter, Include, Key, List, Metadata,
    MetadataKey, Metric, Record, Scalar, Text, Value,
};

use crate::common::{self, KEYS, filters, integers, numbers, scalars, texts, values};

/// What a key is declared to hold; `None` is open to anything.
pub(crate) type Kinds = [Option<FieldKind>; 4];

/// A collection that declares so, and is open for other keys.
pub(crate) fn spec(name: CollectionName, kinds: &Kinds) -> CollectionSpec {
    let declared = KEYS.iter().zip(kinds);
    let declared = declared
        .filter_map(|(key, kind)| Some(Field::new(MetadataKey::new(key).unwrap(), (*kind)?)));
    CollectionSpec::new(name, 1, Metric::Dot, "none")
        .with_fields(declared)
        .with_open_fields(true)
}

fn id(n: usize) -> Key {
    Key::new(Text::new(format!("{n:03}")).unwrap())
}

fn record(n: usize, metadata: &Metadata) -> Record {
    Record::new(id(n), [1.0]).with_metadata(metadata.clone())
}

/// Those of the documents that a filter selects: by a scan, by a count and by key.
async fn selected(
    collection: &dyn CollectionAdapter,
    filter: &Filter,
    documents: usize,
) -> Vec<usize> {
    let page = collection
        .scan(filter, None, documents + 1, Include::METADATA)
        .await
        .unwrap();
    let ids: Vec<usize> = page
        .records
        .iter()
        .map(|record| record.key.id.as_str().parse().unwrap())
        .collect();
    let count = collection.count(filter).await.unwrap();
    assert_eq!(
        count.exact(),
        Some(ids.len() as u64),
        "the count of {filter}"
    );
    let keys: Vec<Key> = (0..documents).map(id).collect();
    let fetched = collection
        .fetch(&keys, filter, Include::METADATA)
        .await
        .unwrap();
    let by_key: Vec<usize> = (0..documents).filter(|n| fetched[*n].is_some()).collect();
    assert_eq!(by_key, ids, "by key, {filter}");
    ids
}

/// Writes the documents, and compares what each filter selects of them with what it matches.
pub(crate) async fn check(
    collection: &dyn CollectionAdapter,
    documents: &[Metadata],
    filters: &[Filter],
) {
    let records: Vec<_> = (documents.iter().enumerate())
        .map(|(n, metadata)| record(n, metadata))
        .collect();
    collection.upsert(&records).await.unwrap();
    for filter in filters {
        let expected: Vec<usize> = (0..documents.len())
            .filter(|n| filter.matches(&documents[*n]))
            .collect();
        let found = selected(collection, filter, documents.len()).await;
        let fields = &collection.spec().fields;
        assert_eq!(
            found, expected,
            "{filter} under {fields:?} among {documents:?}"
        );
    }
}

fn kinds() -> BoxedStrategy<Kinds> {
    let kind = prop_oneof![
        Just(None),
        Just(Some(FieldKind::Text)),
        Just(Some(FieldKind::TextList)),
        Just(Some(FieldKind::Integer)),
        Just(Some(FieldKind::Float)),
        Just(Some(FieldKind::Bool)),
    ];
    [kind.clone(), kind.clone(), kind.clone(), kind].boxed()
}

/// A value that a kind accepts.
fn value_of(kind: Option<FieldKind>) -> BoxedStrategy<Value> {
    match kind {
        None => values(),
        Some(FieldKind::Text) => texts().prop_map(Value::Scalar).boxed(),
        Some(FieldKind::TextList) => prop_oneof![
            1 => texts().prop_map(Value::Scalar),
            3 => vec(texts(), 0..5).prop_map(|texts| Value::List(List::new(texts).unwrap())),
        ]
        .boxed(),
        Some(FieldKind::Integer) => prop_oneof![
            4 => integers().prop_map(Value::from),
            1 => (-3_i8..3).prop_map(|n| Value::from(Scalar::float(f64::from(n)).unwrap())),
        ]
        .boxed(),
        Some(FieldKind::Float) => numbers()
            .prop_filter("held exactly", |number| match number {
                Scalar::Integer(integer) => {
                    // Exact as a float if it comes back as itself.
                    Scalar::float(*integer as f64).is_ok_and(|float| float == *number)
                }
                _ => true,
            })
            .prop_map(Value::Scalar)
            .boxed(),
        _ => any::<bool>().prop_map(Value::from).boxed(),
    }
}

fn documents(kinds: &Kinds) -> BoxedStrategy<Vec<Metadata>> {
    let values: Vec<_> = kinds
        .iter()
        .map(|kind| option::weighted(0.75, value_of(*kind)))
        .collect();
    let document = values.prop_map(|values| {
        KEYS.iter()
            .zip(values)
            .filter_map(|(key, value)| Some((MetadataKey::new(key).unwrap(), value?)))
            .collect()
    });
    vec(document, 1..12).boxed()
}

/// Lists that are bound as tables.
fn long_lists() -> BoxedStrategy<Filter> {
    (common::keys(), vec(scalars(), 17..60), 0..4_u8)
        .prop_map(|(name, values, operator)| {
            let few: Vec<_> = values.iter().take(2).cloned().collect();
            let repeated: Vec<_> = few.iter().cycle().take(values.len()).cloned().collect();
            let filter = match operator {
                0 => key(name).is_in(values),
                1 => key(name).not_in(values),
                2 => key(name).all(repeated),
                _ => not(key(name).all(values)),
            };
            filter.build().unwrap()
        })
        .boxed()
}

/// Kinds, documents that keep to them, and filters.
pub(crate) fn cases() -> BoxedStrategy<(Kinds, Vec<Metadata>, Vec<Filter>)> {
    let filters = prop_oneof![5 => filters(), 1 => long_lists()];
    kinds()
        .prop_flat_map(move |kinds| (Just(kinds), documents(&kinds), vec(filters.clone(), 1..12)))
        .boxed()
}

/// A table of truth, on a collection that declares nothing.
pub(crate) async fn table_of_truth(collection: &dyn CollectionAdapter) {
    // Field, operator and operand; then what of it holds for 1, 2.5, "x", ["x","y"], [], true and
    // a missing field.
    let held = [
        Some(r#"1"#),
        Some(r#"2.5"#),
        Some(r#""x""#),
        Some(r#"["x","y"]"#),
        Some(r#"[]"#),
        Some(r#"true"#),
        None,
    ];
    let table: &[(&str, [u8; 7])] = &[
        (r#"1"#, [1, 0, 0, 0, 0, 0, 0]),
        (r#"{"$eq":1.0}"#, [1, 0, 0, 0, 0, 0, 0]),
        (r#"{"$eq":"1"}"#, [0, 0, 0, 0, 0, 0, 0]),
        (r#"{"$eq":true}"#, [0, 0, 0, 0, 0, 1, 0]),
        (r#"{"$ne":true}"#, [1, 1, 1, 1, 1, 0, 1]),
        (r#"{"$ne":"x"}"#, [1, 1, 0, 0, 1, 1, 1]),
        (r#"{"$in":["x",2.5]}"#, [0, 1, 1, 1, 0, 0, 0]),
        (r#"{"$in":[]}"#, [0, 0, 0, 0, 0, 0, 0]),
        (r#"{"$nin":["y",1]}"#, [0, 1, 1, 0, 1, 1, 1]),
        (r#"{"$nin":[]}"#, [1, 1, 1, 1, 1, 1, 1]),
        (r#"{"$all":["x","y"]}"#, [0, 0, 0, 1, 0, 0, 0]),
        (r#"{"$all":["x","x"]}"#, [0, 0, 1, 1, 0, 0, 0]),
        (r#"{"$all":[]}"#, [1, 1, 1, 1, 1, 1, 1]),
        (r#"{"$gt":1}"#, [0, 1, 0, 0, 0, 0, 0]),
        (r#"{"$gte":1}"#, [1, 1, 0, 0, 0, 0, 0]),
        (r#"{"$lt":2.5}"#, [1, 0, 0, 0, 0, 0, 0]),
        (r#"{"$lte":2.5}"#, [1, 1, 0, 0, 0, 0, 0]),
        (r#"{"$gt":"x"}"#, [0, 0, 0, 1, 0, 0, 0]),
        (r#"{"$lte":"x"}"#, [0, 0, 1, 1, 0, 0, 0]),
        (r#"{"$exists":true}"#, [1, 1, 1, 1, 0, 1, 0]),
        (r#"{"$exists":false}"#, [0, 0, 0, 0, 1, 0, 1]),
        (r#"{"$not":{"$gt":0}}"#, [0, 0, 1, 1, 1, 1, 1]),
        (r#"{"$not":{"$all":[]}}"#, [0, 0, 0, 0, 0, 0, 0]),
        (r#"{"$gt":0,"$lt":2}"#, [1, 0, 0, 0, 0, 0, 0]),
    ];
    let documents: Vec<Metadata> = held
        .iter()
        .map(|value| match value {
            Some(value) => Metadata::from_json(&format!(r#"{{"f":{value}}}"#)).unwrap(),
            None => Metadata::new(),
        })
        .collect();
    let records: Vec<_> = (documents.iter().enumerate())
        .map(|(n, metadata)| record(n, metadata))
        .collect();
    collection.upsert(&records).await.unwrap();
    for (condition, holds) in table {
        let filter = Filter::from_json(&format!(r#"{{"f":{condition}}}"#)).unwrap();
        let expected: Vec<usize> = (0..7).filter(|n| holds[*n] == 1).collect();
        let found = selected(collection, &filter, 7).await;
        assert_eq!(found, expected, "{filter}");
    }
    for (filter, holds) in [
        ("{}", 7),
        (r#"{"$and":[]}"#, 7),
        (r#"{"$or":[]}"#, 0),
        (r#"{"$not":{"$or":[]}}"#, 7),
        (r#"{"$not":{}}"#, 0),
        (r#"{"$or":[{},{"f":1}]}"#, 7),
    ] {
        let filter = Filter::from_json(filter).unwrap();
        let found = selected(collection, &filter, 7).await;
        assert_eq!(found.len(), holds, "{filter}");
    }
}

/// Kinds, documents, and filters as large as they may be.
pub(crate) fn largest() -> (Kinds, Vec<Metadata>, Vec<Filter>) {
    let kinds = [
        Some(FieldKind::Integer),
        Some(FieldKind::TextList),
        Some(FieldKind::Float),
        None,
    ];
    let documents: Vec<Metadata> = (0..40_i64)
        .map(|n| {
            let list = vec![format!("team:{n}"), format!("team:{}", n / 2)];
            let metadata = Metadata::new().with(KEYS[0], n).unwrap();
            let metadata = metadata.with(KEYS[1], list).unwrap();
            let metadata = metadata.with(KEYS[2], n as f64 / 2.0).unwrap();
            metadata.with(KEYS[3], format!("{n}")).unwrap()
        })
        .collect();
    let mut deep = key(KEYS[0]).gt(7);
    for level in 0..30 {
        let other = key(KEYS[3]).eq(format!("{level}"));
        deep = not(any_of([deep, other]));
    }
    let wide = any_of((0..1_000).map(|n| key(KEYS[0]).eq(n * 7)));
    let narrow = all_of((0..1_000).map(|n| key(KEYS[0]).ne(n * 7)));
    let many = key(KEYS[1]).is_in((0..9_000).map(|n| format!("team:{}", n * 3)));
    let floats = key(KEYS[2]).is_in((0..9_000).map(f64::from));
    let open = key(KEYS[3]).not_in((0..9_000).map(|n| format!("{}", n * 2)));
    let filters = [deep, wide, narrow, many, floats, open];
    let filters = filters.map(|filter| filter.build().unwrap());
    (kinds, documents, filters.to_vec())
}
