//! Many rows changed at once, beside the same rows changed one by one and rows that never were others.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use proptest::prelude::*;
use shelfward_core::{
    CollectionName, CollectionSpec, Field, FieldKind, FieldRole, Filter, Include, Key, Match,
    Metadata, MetadataKey, Metric, QueryWord, Record, Text,
};
use shelfward_resident::{CancelFlag, MemTable, MemTableOptions, WriteBatch};

fn spec() -> Arc<CollectionSpec> {
    let field = |name| Field::new(MetadataKey::new(name).unwrap(), FieldKind::Text);
    let name = CollectionName::new("rows").unwrap();
    Arc::new(
        CollectionSpec::new(name, 2, Metric::Dot, "test").with_fields([
            field("tenant").with_role(FieldRole::Partition),
            field("group"),
        ]),
    )
}

fn key((tenant, n): (bool, u16)) -> Key {
    // Not in the order in which they are put.
    let id = Text::new(format!("{:03}", n * 7 % 500)).unwrap();
    Key::within(Text::new(format!("t{}", u8::from(tenant))).unwrap(), id)
}

fn metadata((tenant, _): (bool, u16), group: u8) -> Arc<Metadata> {
    let metadata = Metadata::new().with("tenant", format!("t{}", u8::from(tenant)).as_str());
    let group = format!("g{}", group % 3);
    Arc::new(metadata.unwrap().with("group", group.as_str()).unwrap())
}

/// Words that many share, few, and none; some records have no text.
fn record(at: (bool, u16), seed: u8) -> Record {
    let mut record = Record::new(key(at), [f32::from(seed % 5), f32::from(at.1 % 7)]);
    record.metadata = metadata(at, seed);
    if !seed.is_multiple_of(11) {
        let text = format!(
            "all w{} v{} n{} {}",
            seed % 9,
            at.1 % 40,
            at.1,
            "all ".repeat(usize::from(seed % 4))
        );
        record.words = text
            .split_whitespace()
            .map(|w| Text::new(w).unwrap())
            .collect();
        record.text = Some(text.into());
    }
    record
}

/// What one write changes: as much as is cleared away at once, and less.
#[derive(Clone, Debug)]
struct Write {
    removed: Vec<(bool, u16)>,
    put: Vec<((bool, u16), u8)>,
    patched: Vec<((bool, u16), u8)>,
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let at = || (any::<bool>(), 0..250_u16);
    let size = || prop_oneof![0..4_usize, 0..400_usize];
    let write = (size(), size(), size()).prop_flat_map(move |(removed, put, patched)| {
        (
            prop::collection::vec(at(), removed),
            prop::collection::vec((at(), any::<u8>()), put),
            prop::collection::vec((at(), any::<u8>()), patched),
        )
    });
    let write = write.prop_map(|(removed, put, patched)| Write {
        removed,
        put,
        patched,
    });
    prop::collection::vec(write, 1..5)
}

fn answers(rows: &MemTable) -> Vec<String> {
    let mut answers = vec![format!("{}", rows.len())];
    for (key, row_id) in rows.in_key_order(None) {
        answers.push(format!("{key:?} {:?}", rows.stored(row_id, Include::ALL)));
    }
    let named = |row_id| &rows.row(row_id).unwrap().key;
    for tenant in ["t0", "t1"] {
        for filter in [
            format!(r#"{{"tenant":"{tenant}"}}"#),
            format!(r#"{{"tenant":"{tenant}","group":"g1"}}"#),
        ] {
            let filter = Filter::from_json(&filter).unwrap();
            let among = rows.matching(&filter, CancelFlag::NEVER);
            for words in [&["all"][..], &["w1", "v3", "n17"], &["n"], &["v", "all"]] {
                for matching in [Match::Any, Match::All] {
                    for prefix in [false, true] {
                        let words: Vec<QueryWord> = (words.iter())
                            .map(|word| QueryWord::new(Text::new(*word).unwrap(), prefix))
                            .collect();
                        let best = rows
                            .best(&filter, &words, matching, Some(&among), 7)
                            .unwrap();
                        // Scores to the last bit: the statistics are the same.
                        let best: Vec<_> =
                            (best.iter()).map(|(s, score)| (named(*s), score)).collect();
                        answers.push(format!("{best:?}"));
                    }
                }
            }
            let near = rows.nearest(&[1.0, -0.5], Some(&among), 9, CancelFlag::NEVER);
            let near: Vec<_> = near.iter().map(|(s, score)| (named(*s), score)).collect();
            answers.push(format!("{near:?}"));
        }
    }
    answers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_bulk_change_is_that_of_its_rows_one_by_one(writes in writes()) {
        let new = || MemTable::new(spec(), MemTableOptions::default());
        let (mut bulk, mut single) = (new(), new());
        for write in &writes {
            let patch = |(at, group): &((bool, u16), u8)| (key(*at), metadata(*at, *group));
            let changes = WriteBatch {
                removed: write.removed.iter().copied().map(key).collect(),
                put: write.put.iter().map(|(at, seed)| record(*at, *seed)).collect(),
                patched: write.patched.iter().map(patch).collect(),
            };
            // A clone shares what the change does not touch.
            let before = bulk.clone();
            let was = answers(&before);
            bulk.apply(&changes);
            prop_assert_eq!(was, answers(&before));
            for key in &changes.removed {
                single.remove(key);
            }
            for record in &changes.put {
                single.put(record);
            }
            for patched in &changes.patched {
                single.patch_all(std::slice::from_ref(patched));
            }
            prop_assert_eq!(answers(&bulk), answers(&single));
        }
        let mut fresh = new();
        for (key, row_id) in bulk.in_key_order(None) {
            let stored = bulk.stored(row_id, Include::ALL).unwrap();
            let mut record = Record::new(key.clone(), stored.vector.unwrap());
            record.metadata = stored.metadata;
            let words = stored.text.as_deref().unwrap_or_default().split_whitespace();
            record.words = words.map(|w| Text::new(w).unwrap()).collect();
            record.text = stored.text;
            fresh.put(&record);
        }
        prop_assert_eq!(answers(&bulk), answers(&fresh));
    }
}

#[test]
fn a_few_rows_change_in_place_and_many_on_a_clone() {
    let mut rows = MemTable::new(spec(), MemTableOptions::default());
    assert!(!rows.is_bulk(2_048) && rows.is_bulk(2_049));
    rows.put(&record((true, 1), 1));
    assert!(!rows.is_bulk(1) && rows.is_bulk(100_000));
}
