//! Widths, indexes, text search configurations, and what is too large.

use shelfward_core::capabilities::{Dense, Words};
use shelfward_core::{
    CollectionSpec, ErrorKind, Filter, Key, Leg, Match, Metadata, Metric, Record, query_words,
};

use crate::ground::{Ground, name, plain, record, spec, tests, text};

tests!(
    wide_vectors_are_indexed_by_halves_and_wider_ones_by_nothing,
    halves_are_scored_by_the_vectors,
    short_vectors_do_not_vanish_in_halves,
    more_fields_than_a_row_holds,
    a_configuration_stems,
    what_is_too_large_is_refused,
    metadata_comes_back_as_it_was,
);

fn wide(width: u32, collection: &str) -> CollectionSpec {
    CollectionSpec::new(name(collection), width, Metric::Euclidean, "test")
}

fn at(n: usize, width: usize) -> Record {
    let mut vector = vec![0.25_f32; width];
    vector[n % width] = 1.0 + n as f32;
    Record::new(Key::new(text(&format!("{n:03}"))), vector).with_text(format!("word{n}"))
}

async fn wide_vectors_are_indexed_by_halves_and_wider_ones_by_nothing(ground: Ground) {
    let store = ground.store().await;
    for (width, indexes, exact) in [(1_999, 1, false), (2_500, 1, false), (4_001, 0, true)] {
        let collection = store.ensure(&wide(width, "c")).await.unwrap();
        let is_exact = collection.capabilities().dense == Dense::Exact;
        assert_eq!(is_exact, exact, "{width}");
        let width = usize::try_from(width).unwrap();
        let records: Vec<_> = (0..20).map(|n| at(n, width)).collect();
        collection.upsert(&records).await.unwrap();
        let asked = records[7].vector.clone();
        let found = collection
            .search(&Leg::dense(asked.clone(), Filter::everything(), 3))
            .await
            .unwrap();
        assert_eq!(found.hits[0].key.id.as_str(), "007", "{width}");
        assert_eq!(found.hits[0].score, 0.0);
        let fetched = collection
            .fetch(
                &[records[7].key.clone()],
                &Filter::everything(),
                shelfward_core::Include::ALL,
            )
            .await
            .unwrap();
        assert_eq!(fetched[0].as_ref().unwrap().vector.as_ref(), Some(&asked));
        let graphs = format!(
            "SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = c.relam \
             WHERE a.amname = 'hnsw' AND c.relnamespace = '{}'::regnamespace",
            ground.schema()
        );
        assert_eq!(ground.number(&graphs).await, indexes, "{width}");
        store.drop_collection(&name("c")).await.unwrap();
    }
    let refused = store.ensure(&wide(16_001, "c")).await.unwrap_err();
    assert!(
        matches!(refused.kind(), ErrorKind::Limit { .. }),
        "{refused}"
    );
}

async fn halves_are_scored_by_the_vectors(ground: Ground) {
    let store = ground.store_with("index=hnsw_half").await;
    let collection = store.ensure(&wide(3, "c")).await.unwrap();
    // As 16-bit floats these are all alike.
    let records: Vec<_> = (0..40)
        .map(|n| {
            Record::new(
                Key::new(text(&format!("{n:03}"))),
                [1_000.0 + n as f32 / 100.0, 0.0, 0.0],
            )
        })
        .collect();
    collection.upsert(&records).await.unwrap();
    let found = collection
        .search(&Leg::dense([1_000.0, 0.0, 0.0], Filter::everything(), 40))
        .await
        .unwrap();
    let ids: Vec<_> = found
        .hits
        .iter()
        .map(|hit| hit.key.id.to_string())
        .collect();
    let expected: Vec<_> = (0..40).map(|n| format!("{n:03}")).collect();
    assert_eq!(ids, expected);
    let large = Record::new(Key::new(text("large")), [70_000.0, 0.0, 0.0]);
    let refused = collection.upsert(&[large]).await.unwrap_err();
    assert!(refused.to_string().contains("65504"), "{refused}");
    // A query may be as large as it likes.
    let found = collection
        .search(&Leg::dense([70_000.0, 0.0, 0.0], Filter::everything(), 1))
        .await
        .unwrap();
    assert_eq!(found.hits[0].key.id.as_str(), "039");
}

async fn a_configuration_stems(ground: Ground) {
    let store = ground.store_with("text_search=english").await;
    let collection = store.ensure(&plain("c")).await.unwrap();
    let lexical = collection.capabilities().lexical.unwrap();
    assert_eq!(lexical.words, Words::OwnAnalyser);
    let record = |id: &str, body: &str| {
        Record::new(Key::new(text(id)), [1.0, 0.0, 0.0, 0.0]).with_text(body)
    };
    collection
        .upsert(&[
            record("a", "The ships were waiting"),
            record("b", "A ship waits for nobody's budget"),
        ])
        .await
        .unwrap();
    let search = async |asked: &str, matching, prefix| {
        let words = query_words(asked, plain("c").word_rule, prefix).unwrap();
        let leg = Leg::lexical(words, matching, Filter::everything(), 5);
        let found = collection.search(&leg).await;
        found.map(|found| {
            let mut ids: Vec<_> = found
                .hits
                .iter()
                .map(|hit| hit.key.id.to_string())
                .collect();
            ids.sort();
            ids.concat()
        })
    };
    assert_eq!(search("waited", Match::Any, false).await.unwrap(), "ab");
    assert_eq!(
        search("ships budgets", Match::All, false).await.unwrap(),
        "b"
    );
    assert_eq!(search("budg", Match::Any, true).await.unwrap(), "b");
    // A stop word is no word.
    assert_eq!(search("the", Match::Any, false).await.unwrap(), "");
    let many: String = (0..40).map(|n| format!("w{n} ")).collect();
    let refused = search(&many, Match::All, false).await.unwrap_err();
    assert!(
        matches!(
            refused.kind(),
            ErrorKind::Limit {
                given: 40,
                max: 32,
                ..
            }
        ),
        "{refused}"
    );
    assert_eq!(
        search(&format!("ships {many}"), Match::Any, false)
            .await
            .unwrap(),
        "ab"
    );
    // One that the server does not have is named when the collection is made.
    let store = ground.store_with("text_search=klingon").await;
    let refused = store.ensure(&plain("d")).await.unwrap_err();
    assert!(
        refused.to_string().contains("text search configuration"),
        "{refused}"
    );
    assert!(store.open(&name("d")).await.is_err());
}

async fn what_is_too_large_is_refused(ground: Ground) {
    let store = ground.store().await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    let with = |name: &str, value: Vec<String>| {
        let mut record = record("t", "s", 1, 1);
        let metadata = (*record.metadata).clone().with(name, value).unwrap();
        record.metadata = metadata.into();
        record
    };
    let long = |bytes: usize| "x".repeat(bytes);
    let mut words = record("t", "s", 2, 1);
    let text: String = (0..60_000).map(|n| format!("word{n:016} ")).collect();
    words.text = Some(text.into());
    let mut unit = record("t", &long(1_025), 3, 1);
    unit.key = record("t", "s", 3, 1).key;
    for (too_large, what) in [
        (
            with("groups", vec![long(2_049)]),
            "member of a declared list",
        ),
        (words, "words of one record"),
        (unit, "a partition or a unit"),
    ] {
        let refused = collection.upsert(&[too_large]).await.unwrap_err();
        assert!(
            matches!(refused.kind(), ErrorKind::Limit { .. }),
            "{refused}"
        );
        assert!(refused.to_string().contains(what), "{refused}");
    }
    // Just within: as random as an index can be given, so that nothing is packed.
    let mut n = 1_u64;
    let mut random = |bytes: usize| -> String {
        (0..bytes)
            .map(|_| {
                n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(b'a' + u8::try_from(n >> 59).unwrap() % 26)
            })
            .collect()
    };
    let mut largest = record(&random(1_024), &random(1_024), 4, 1);
    largest.key = Key::within(
        largest.key.partition.unwrap(),
        crate::ground::text(&random(512)),
    );
    let metadata = (*largest.metadata).clone();
    let metadata = metadata
        .with("groups", vec![random(2_048), random(2_048)])
        .unwrap();
    largest.metadata = metadata.with("note", random(300_000)).unwrap().into();
    collection.upsert(&[largest.clone()]).await.unwrap();
    let fetched = collection
        .fetch(
            &[largest.key.clone()],
            &Filter::everything(),
            shelfward_core::Include::ALL,
        )
        .await
        .unwrap();
    assert_eq!(fetched[0].as_ref().unwrap().metadata, largest.metadata);
}

async fn metadata_comes_back_as_it_was(ground: Ground) {
    let store = ground.store().await;
    let collection = store
        .ensure(&plain("c").with_open_fields(true))
        .await
        .unwrap();
    let metadata = Metadata::new()
        .with("integers", [i64::MIN, 0, i64::MAX])
        .and_then(|m| {
            m.with(
                "floats",
                [0.1, 5.0, 1e16, 2f64.powi(60), 1e300, 5e-324, f64::MAX],
            )
        })
        .and_then(|m| m.with("text", "a \"b\" \\ \n \u{85} \u{1f600} e\u{301}"))
        .and_then(|m| m.with("none", Vec::<String>::new()))
        .and_then(|m| m.with("truth", true))
        .and_then(|m| m.with("ключ", "鍵"))
        .unwrap();
    let key = Key::new(text("k"));
    let record = Record::new(key.clone(), [1.0, 2.0, 3.0, 4.0]).with_metadata(metadata.clone());
    collection.upsert(&[record]).await.unwrap();
    let fetched = collection
        .fetch(
            &[key],
            &Filter::everything(),
            shelfward_core::Include::METADATA,
        )
        .await
        .unwrap();
    let there = &*fetched[0].as_ref().unwrap().metadata;
    assert_eq!(*there, metadata);
    // Equal numbers of another kind are equal; they must be of the same kind, too.
    assert_eq!(
        format!("{:?}", there.get("floats")),
        format!("{:?}", metadata.get("floats"))
    );
    let exact = shelfward_core::filter::key("floats").eq(1_152_921_504_606_846_976_i64);
    let count = collection.count(&exact.build().unwrap()).await.unwrap();
    assert_eq!(count.exact(), Some(1));
    let near = shelfward_core::filter::key("floats").eq(1_152_921_504_606_847_000_i64);
    let count = collection.count(&near.build().unwrap()).await.unwrap();
    assert_eq!(count.exact(), Some(0));
}

async fn short_vectors_do_not_vanish_in_halves(ground: Ground) {
    let store = ground.store_with("index=hnsw_half").await;
    let of = |metric| CollectionSpec::new(name("c"), 4, metric, "test");
    let direction = |n: usize, scale: f32| {
        let angle = n as f32 / 60.0;
        let numbers = [angle.cos(), angle.sin(), 0.3, 0.1];
        numbers.map(|number| number * scale)
    };
    for metric in [Metric::Cosine, Metric::Dot, Metric::Euclidean] {
        let collection = store.ensure(&of(metric)).await.unwrap();
        let records: Vec<_> = (0..80)
            .map(|n| {
                let scale = if metric == Metric::Cosine && n % 2 == 0 {
                    1e-9
                } else {
                    1.0
                };
                Record::new(Key::new(text(&format!("{n:03}"))), direction(n, scale))
            })
            .collect();
        collection.upsert(&records).await.unwrap();
        if metric != Metric::Cosine {
            let short = Record::new(Key::new(text("short")), direction(1, 1e-9));
            let refused = collection.upsert(&[short]).await.unwrap_err();
            assert!(refused.to_string().contains("0.000062"), "{refused}");
        }
        for scale in [1.0, 1e-9] {
            let asked = direction(20, scale);
            let leg = Leg::dense(asked, Filter::everything(), 10);
            let found = collection.search(&leg).await.unwrap();
            let score = |record: &Record| {
                let pairs = || asked.iter().zip(record.vector.iter());
                let dot: f64 = pairs().map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                let length =
                    |v: &[f32]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
                match metric {
                    Metric::Dot => dot,
                    Metric::Cosine => dot / length(&asked) / length(&record.vector),
                    _ => -pairs()
                        .map(|(a, b)| f64::from(a - b).powi(2))
                        .sum::<f64>()
                        .sqrt(),
                }
            };
            let mut best: Vec<f64> = records.iter().map(score).collect();
            best.sort_by(|a, b| b.total_cmp(a));
            for (hit, best) in found.hits.iter().zip(&best) {
                assert!(
                    (hit.score - best).abs() <= 1e-5 * best.abs().max(1e-9),
                    "{metric} {scale}"
                );
            }
            assert_eq!(found.hits.len(), 10);
        }
        store.drop_collection(&name("c")).await.unwrap();
    }
}

async fn more_fields_than_a_row_holds(ground: Ground) {
    use shelfward_core::{Field, FieldKind, MetadataKey};
    let store = ground.store().await;
    let with = |fields: usize, kind: FieldKind| {
        plain("c").with_fields((0..fields).map(|n| {
            let key = MetadataKey::new(&format!("k{n}")).unwrap();
            Field::new(key, kind)
        }))
    };
    for (kind, fields) in [(FieldKind::Integer, 960), (FieldKind::Text, 425)] {
        let collection = store.ensure(&with(fields, kind)).await.unwrap();
        let value = |n: i64| match kind {
            FieldKind::Integer => n.to_string(),
            _ => format!("\"{}\"", "x".repeat(200)),
        };
        let members: Vec<String> = (0..fields)
            .map(|n| format!("\"k{n}\":{}", value(i64::try_from(n).unwrap())))
            .collect();
        let metadata = Metadata::from_json(&format!("{{{}}}", members.join(","))).unwrap();
        let record = Record::new(Key::new(text("1")), [1.0, 0.0, 0.0, 0.0]).with_metadata(metadata);
        collection.upsert(&[record]).await.unwrap();
        store.drop_collection(&name("c")).await.unwrap();
        let refused = store.ensure(&with(fields + 60, kind)).await.unwrap_err();
        assert!(
            matches!(refused.kind(), ErrorKind::Limit { .. }),
            "{refused}"
        );
    }
}
