//! Random writes, and every read beside a plain map of the same records.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use shelfward_core::{
    CollectionName, CollectionSpec, Field, FieldKind, Filter, Include, Key, Metadata, MetadataKey,
    Metric, Record, Text,
};
use shelfward_resident::{CancelFlag, MemTable, MemTableOptions};

/// `g`, `n`, `f` and `b` are declared; `o` is not, so it is read from the rows.
fn spec(fields: usize) -> Arc<CollectionSpec> {
    let field = |(name, kind)| Field::new(MetadataKey::new(name).unwrap(), kind);
    let declared = [
        ("g", FieldKind::TextList),
        ("n", FieldKind::Integer),
        ("f", FieldKind::Float),
        ("b", FieldKind::Bool),
    ];
    let name = CollectionName::new("rows").unwrap();
    let spec = CollectionSpec::new(name, 3, Metric::Dot, "test");
    Arc::new(
        spec.with_fields(
            declared
                .into_iter()
                .take(fields)
                .map(field)
                .collect::<Vec<_>>(),
        ),
    )
}

fn values() -> impl Strategy<Value = Metadata> {
    let g = prop::option::of(prop::sample::select(vec![
        r#"["a"]"#,
        r#"["a","b"]"#,
        "[]",
        r#""c""#,
    ]));
    let n = prop::option::of(prop::sample::select(vec![
        "1",
        "2",
        "-5",
        "9007199254740993",
        "-9223372036854775808",
        "9223372036854775807",
    ]));
    let f = prop::option::of(prop::sample::select(vec![
        "1.0",
        "2.5",
        "9007199254740992.0",
        "-0.0",
    ]));
    let b = prop::option::of(prop::sample::select(vec!["true", "false"]));
    let o = prop::option::of(prop::sample::select(vec![
        "1", "1.5", r#""a""#, "[1,2.5]", "[true]", "[]",
    ]));
    (g, n, f, b, o).prop_map(|(g, n, f, b, o)| {
        let given = [("g", g), ("n", n), ("f", f), ("b", b), ("o", o)];
        let members: Vec<String> = given
            .into_iter()
            .filter_map(|(key, value)| Some(format!(r#""{key}":{}"#, value?)))
            .collect();
        Metadata::from_json(&format!("{{{}}}", members.join(","))).unwrap()
    })
}

fn filters() -> impl Strategy<Value = Filter> {
    let key = prop::sample::select(vec!["g", "n", "f", "b", "o", "missing"]);
    let scalar = || {
        prop::sample::select(vec![
            r#""a""#,
            r#""b""#,
            r#""zz""#,
            "1",
            "1.0",
            "2.5",
            "0",
            "9007199254740992.0",
            "9007199254740993",
            "-9223372036854775808",
            "true",
            "false",
        ])
    };
    let list = || prop::collection::vec(scalar(), 0..12).prop_map(|l| format!("[{}]", l.join(",")));
    let range = prop::sample::select(vec![
        r#""a""#,
        r#""b""#,
        "1",
        "2.5",
        "9007199254740992.0",
        "-1e300",
    ]);
    let condition = prop_oneof![
        (prop::sample::select(vec!["$eq", "$ne"]), scalar())
            .prop_map(|(op, x)| format!(r#"{{"{op}":{x}}}"#)),
        (prop::sample::select(vec!["$in", "$nin", "$all"]), list())
            .prop_map(|(op, x)| format!(r#"{{"{op}":{x}}}"#)),
        (
            prop::sample::select(vec!["$gt", "$gte", "$lt", "$lte"]),
            range
        )
            .prop_map(|(op, x)| format!(r#"{{"{op}":{x}}}"#)),
        any::<bool>().prop_map(|x| format!(r#"{{"$exists":{x}}}"#)),
    ];
    let test = (key, condition).prop_map(|(key, condition)| format!(r#"{{"{key}":{condition}}}"#));
    let tree = test.prop_recursive(4, 24, 4, |inner| {
        let several = prop::collection::vec(inner.clone(), 0..4).prop_map(|f| f.join(","));
        prop_oneof![
            several.clone().prop_map(|f| format!(r#"{{"$and":[{f}]}}"#)),
            several.prop_map(|f| format!(r#"{{"$or":[{f}]}}"#)),
            inner.prop_map(|f| format!(r#"{{"$not":{f}}}"#)),
        ]
    });
    tree.prop_map(|json| Filter::from_json(&json).unwrap())
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, Metadata, Option<&'static str>),
    Remove(u8),
    Patch(u8, Metadata),
    Clear,
}

fn step() -> impl Strategy<Value = Step> {
    let text = prop::option::of(prop::sample::select(vec!["tea", "tea and milk", ""]));
    prop_oneof![
        12 => (0..24_u8, values(), text).prop_map(|(key, values, text)| Step::Put(key, values, text)),
        4 => (0..24_u8).prop_map(Step::Remove),
        4 => (0..24_u8, values()).prop_map(|(key, values)| Step::Patch(key, values)),
        1 => Just(Step::Clear),
    ]
}

fn key(n: u8) -> Key {
    // Neither in the order of the row ids nor in that of the numbers.
    Key::new(Text::new(format!("k{}", (u16::from(n) * 7) % 24)).unwrap())
}

fn record(n: u8, metadata: &Metadata, text: Option<&str>) -> Record {
    let mut record = Record::new(key(n), [f32::from(n % 5), 1.0, -f32::from(n % 3)]);
    record.metadata = Arc::new(metadata.clone());
    record.text = text.map(Arc::from);
    record.words = text
        .unwrap_or_default()
        .split_whitespace()
        .map(|w| Text::new(w).unwrap())
        .collect();
    record
}

fn check(
    rows: &MemTable,
    plain: &BTreeMap<Key, Record>,
    filter: &Filter,
) -> Result<(), TestCaseError> {
    let matching: Vec<&Record> = plain
        .values()
        .filter(|r| filter.matches(&r.metadata))
        .collect();
    let keys: Vec<&Key> = matching.iter().map(|r| &r.key).collect();
    let among = rows.matching(filter, CancelFlag::NEVER);
    let named = |row_ids: Vec<u32>| -> Vec<&Key> {
        row_ids
            .into_iter()
            .map(|row_id| &rows.row(row_id).unwrap().key)
            .collect()
    };
    let mut found = named(among.iter().collect());
    found.sort();
    prop_assert_eq!(&found, &keys, "{}", filter);
    prop_assert_eq!(
        named(rows.page(filter, None, 1_000, CancelFlag::NEVER)),
        keys.clone()
    );
    if let [first, .., last] = keys.as_slice() {
        prop_assert_eq!(
            named(rows.page(filter, Some(*first), keys.len() - 2, CancelFlag::NEVER)),
            &keys[1..keys.len() - 1]
        );
        prop_assert!(
            rows.page(filter, Some(*last), 5, CancelFlag::NEVER)
                .is_empty()
        );
    }
    let query = [1.0_f32, -0.5, 2.0];
    let dot = |r: &Record| -> f64 {
        r.vector
            .iter()
            .zip(query)
            .map(|(a, b)| f64::from(*a) * f64::from(b))
            .sum()
    };
    let mut near: Vec<(f64, &Key)> = matching.iter().map(|r| (dot(r), &r.key)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    near.truncate(5);
    let found = rows.nearest(&query, Some(&among), 5, CancelFlag::NEVER);
    let found: Vec<_> = found
        .iter()
        .map(|(row_id, score)| (*score, &rows.row(*row_id).unwrap().key))
        .collect();
    prop_assert_eq!(found, near);
    Ok(())
}

#[test]
fn what_is_given_up_finds_nothing_rather_than_too_much() {
    let mut rows = MemTable::new(spec(0), MemTableOptions::default());
    for n in 0..24 {
        let metadata = Metadata::new().with("undeclared", i64::from(n)).unwrap();
        rows.put(&record(n, &metadata, None));
    }
    let none_is = Filter::from_json(r#"{"$not":{"undeclared":99}}"#).unwrap();
    assert_eq!(rows.matching(&none_is, CancelFlag::NEVER).len(), 24);
    let flag = AtomicBool::new(true);
    let given_up = CancelFlag::of(&flag);
    assert!(rows.matching(&none_is, given_up).is_empty());
    assert!(rows.page(&none_is, None, 10, given_up).is_empty());
    assert!(rows.nearest(&[1.0; 3], None, 10, given_up).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_read_agrees_with_a_plain_map(
        steps in prop::collection::vec(step(), 0..80),
        filters in prop::collection::vec(filters(), 12),
        declared_at_first in 0..5_usize,
        declared_later in 0..80_usize,
    ) {
        let mut rows = MemTable::new(spec(declared_at_first), MemTableOptions::default());
        let mut plain = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            if at == declared_later {
                rows.set_spec(spec(4));
            }
            match step {
                Step::Put(n, values, text) => {
                    let record = record(*n, values, *text);
                    rows.put(&record);
                    plain.insert(record.key.clone(), record);
                }
                Step::Remove(n) => {
                    let was_there = plain.remove(&key(*n)).is_some();
                    prop_assert_eq!(rows.remove(&key(*n)).is_some(), was_there);
                }
                Step::Patch(n, values) => if let Some(row_id) = rows.row_id(&key(*n)) {
                    rows.set_metadata(row_id, Arc::new(values.clone()));
                    plain.get_mut(&key(*n)).unwrap().metadata = Arc::new(values.clone());
                }
                Step::Clear => {
                    prop_assert_eq!(rows.clear(), plain.len());
                    plain.clear();
                }
            }
        }
        prop_assert_eq!(rows.len(), plain.len());
        for (key, record) in &plain {
            let stored = rows.stored(rows.row_id(key).unwrap(), Include::ALL).unwrap();
            prop_assert_eq!(&stored.text, &record.text);
            prop_assert_eq!(stored.vector.as_ref().unwrap(), &record.vector);
            prop_assert_eq!(&stored.metadata, &record.metadata);
        }
        check(&rows, &plain, &Filter::everything())?;
        for filter in &filters {
            check(&rows, &plain, filter)?;
        }
    }
}
