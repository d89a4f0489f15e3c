//! Attempts to break the store.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::Connection;
use shelfward_core::filter::key;
use shelfward_core::{
    Collection, CollectionName, CollectionSpec, Field, FieldKind, FieldRole, Filter, Include, Key,
    Leg, Metadata, MetadataKey, Metric, Record, Scalar, Store, Text, Value, VectorStore,
};
use shelfward_sqlite::{SqliteOptions, SqliteStore};
use support::*;

/// Fields added to a collection that holds no rows.
#[tokio::test]
async fn fields_are_added_to_an_empty_collection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path);
    let c = collection(&store).await;
    let mut other = spec();
    other.name = CollectionName::new("other").unwrap();
    let other = store.ensure(&other).await.unwrap();
    other.upsert(&source("t", "precious", 3, 0)).await.unwrap();
    let more = spec().with_fields([Field::new(
        MetadataKey::new("more").unwrap(),
        FieldKind::Text,
    )]);
    eprintln!("ensured: {:?}", store.ensure(&more).await.map(drop));
    eprintln!("upsert: {:?}", c.upsert(&source("t", "s", 3, 0)).await);
    drop((c, other, store));
    eprintln!(
        "opened again: {:?}",
        SqliteStore::open(&path, SqliteOptions::default()).map(drop)
    );
    let store = open(&path);
    let c = store.open(&name()).await.unwrap();
    assert_eq!(rows(&*c).await, 3);
}

/// A backup that is brought back into the open file, and then as many changes as there were.
#[tokio::test]
async fn a_backup_brought_back_is_what_is_searched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let backup = folder.path().join("backup.db");
    let store = open(&path);
    let c = collection(&store).await;
    c.upsert(&source("t", "a", 2, 0)).await.unwrap();
    Connection::open(&path)
        .unwrap()
        .execute("VACUUM INTO ?", [backup.to_str().unwrap()])
        .unwrap();
    c.upsert(&source("t", "gone", 2, 0)).await.unwrap();
    let found = c.search(&dense(of_tenant("t"), 10)).await.unwrap();
    assert_eq!(found.hits.len(), 4);
    // `.restore` of the engine's shell: the online backup into the live file.
    let restored = {
        let from = Connection::open(&backup).unwrap();
        let mut to = Connection::open(&path).unwrap();
        let backup = rusqlite_backup(&from, &mut to);
        backup
    };
    eprintln!("restored {restored}");
    assert_eq!(rows(&*c).await, 2);
    // One change, as before.
    c.upsert(&source("t", "new", 3, 0)).await.unwrap();
    let found = c.search(&dense(of_tenant("t"), 10)).await;
    match found {
        Ok(found) => assert_eq!(found.hits.len(), 5, "{:?}", ids(&found)),
        Err(e) => panic!("{e}"),
    }
}

/// Copies all pages by hand, as a tool that writes through the engine would.
fn rusqlite_backup(from: &Connection, to: &mut Connection) -> bool {
    let path: String = from
        .query_row("SELECT file FROM pragma_database_list", [], |r| r.get(0))
        .unwrap();
    to.execute("ATTACH ? AS old", [path]).unwrap();
    let tables = ["collections", "rows_1", "elements_1", "gone_1"];
    to.execute_batch("BEGIN IMMEDIATE").unwrap();
    for table in tables {
        to.execute_batch(&format!(
            "DELETE FROM main.{table}; INSERT INTO main.{table} SELECT * FROM old.{table};"
        ))
        .unwrap();
    }
    to.execute_batch("COMMIT").unwrap();
    true
}

fn open_spec(metric: Metric) -> CollectionSpec {
    let field = |name: &str, kind| Field::new(MetadataKey::new(name).unwrap(), kind);
    let mut spec = CollectionSpec::new(CollectionName::new("odd").unwrap(), 2, metric, "none")
        .with_fields([
            field("t", FieldKind::Text),
            field("l", FieldKind::TextList),
            field("i", FieldKind::Integer),
            field("f", FieldKind::Float),
            field("b", FieldKind::Bool),
        ]);
    spec.open_fields = true;
    spec
}

/// Numbers at the edges, written and read back, and filtered as the algebra says.
#[tokio::test]
async fn odd_numbers_and_texts_filter_as_the_algebra_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path);
    let c = store.ensure(&open_spec(Metric::Dot)).await.unwrap();
    let ints = [
        0_i64,
        1,
        -1,
        i64::MAX,
        i64::MIN,
        i64::MAX - 1,
        1 << 53,
        (1 << 53) + 1,
        -(1 << 53) - 1,
        1 << 62,
    ];
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        5e-324,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        9_007_199_254_740_992.0,
        9_007_199_254_740_994.0,
        9.223_372_036_854_775_8e18,
        -9.223_372_036_854_775_8e18,
        9.223_372_036_854_774e18,
        1.5,
        1e18,
        1e300,
        4.611_686_018_427_388e18,
    ];
    let texts = [
        "",
        " ",
        "a",
        "A",
        "é",
        "e\u{301}",
        "\u{10ffff}",
        "\u{fffd}",
        "\u{e000}",
        "😀",
        "1",
        "1.0",
        "true",
        "ß",
        "\u{1}",
        "a\u{7f}",
        "ab",
        "a b",
        "'",
        "%",
        "null",
    ];
    let mut all: Vec<Scalar> = Vec::new();
    all.extend(ints.map(Scalar::from));
    all.extend(floats.map(|f| Scalar::try_from(f).unwrap()));
    all.extend(texts.map(|t| Scalar::text(t).unwrap()));
    all.push(Scalar::from(true));
    all.push(Scalar::from(false));
    let mut records = Vec::new();
    let mut lot = Lot::new(7);
    for (n, value) in all.iter().enumerate() {
        let mut m = Metadata::new();
        let put = |m: &mut Metadata, k: &str, v: Value| {
            m.insert(MetadataKey::new(k).unwrap(), v);
        };
        put(&mut m, "open", Value::Scalar(value.clone()));
        match value {
            Scalar::Text(t) => {
                put(&mut m, "t", Value::Scalar(value.clone()));
                let other = texts[lot.below(texts.len())];
                put(
                    &mut m,
                    "l",
                    Value::from_iter_texts(&[t.as_str(), other, t.as_str()]),
                );
            }
            Scalar::Integer(_) => {
                put(&mut m, "i", Value::Scalar(value.clone()));
                if open_spec(Metric::Dot)
                    .check_value(
                        &MetadataKey::new("f").unwrap(),
                        &Value::Scalar(value.clone()),
                    )
                    .is_ok()
                {
                    put(&mut m, "f", Value::Scalar(value.clone()));
                }
            }
            Scalar::Float(_) => {
                put(&mut m, "f", Value::Scalar(value.clone()));
                if open_spec(Metric::Dot)
                    .check_value(
                        &MetadataKey::new("i").unwrap(),
                        &Value::Scalar(value.clone()),
                    )
                    .is_ok()
                {
                    put(&mut m, "i", Value::Scalar(value.clone()));
                }
            }
            Scalar::Bool(_) => {
                put(&mut m, "b", Value::Scalar(value.clone()));
            }
        }
        records.push(
            Record::new(
                Key::new(Text::new(format!("{n:03}")).unwrap()),
                [1.0, n as f32],
            )
            .with_text("x")
            .with_metadata(m),
        );
    }
    c.upsert(&records).await.unwrap();
    let back = c
        .scan(&Filter::everything(), None, 1_000, Include::ALL)
        .await
        .unwrap();
    for (record, back) in records.iter().zip(&back.records) {
        assert_eq!(
            format!("{:?}", record.metadata),
            format!("{:?}", back.metadata)
        );
    }
    let mut wrong = Vec::new();
    for field in ["open", "t", "l", "i", "f", "b"] {
        for (n, value) in all.iter().enumerate() {
            let k = || key(field);
            let next = all[(n + 5) % all.len()].clone();
            let many: Vec<Scalar> = all.iter().skip(n).take(20).cloned().collect();
            let filters = [
                k().eq(value.clone()),
                k().ne(value.clone()),
                k().gt(value.clone()),
                k().gte(value.clone()),
                k().lt(value.clone()),
                k().lte(value.clone()),
                k().is_in([value.clone(), next.clone()]),
                k().not_in([value.clone(), next.clone()]),
                k().all([value.clone(), next.clone()]),
                k().is_in(many.clone()),
                k().not_in(many.clone()),
                k().all(many.clone()),
            ];
            for filter in filters {
                let Ok(filter) = filter.build() else { continue };
                let Ok(page) = c.scan(&filter, None, 1_000, Include::ALL).await else {
                    continue;
                };
                let got: BTreeSet<String> =
                    page.records.iter().map(|r| r.key.id.to_string()).collect();
                let want: BTreeSet<String> = records
                    .iter()
                    .filter(|r| filter.matches(&r.metadata))
                    .map(|r| r.key.id.to_string())
                    .collect();
                let searched = c
                    .search(&Leg::dense([1.0, 1.0], filter.clone(), 1_000))
                    .await
                    .map(|f| {
                        f.hits
                            .iter()
                            .map(|h| h.key.id.to_string())
                            .collect::<BTreeSet<_>>()
                    });
                if got != want || searched.as_ref().ok() != Some(&want) {
                    wrong.push(format!(
                        "{filter:?}: scan {got:?} want {want:?} search {searched:?}"
                    ));
                }
                let count = c.count(&filter).await.unwrap().exact().unwrap();
                if count != want.len() as u64 {
                    wrong.push(format!("count {filter:?}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(5)]
    );
}

trait FromTexts {
    fn from_iter_texts(t: &[&str]) -> Self;
}
impl FromTexts for Value {
    fn from_iter_texts(t: &[&str]) -> Self {
        Value::from_json_texts(t)
    }
}
trait J {
    fn from_json_texts(t: &[&str]) -> Value;
}
impl J for Value {
    fn from_json_texts(t: &[&str]) -> Value {
        Metadata::new()
            .with(
                "x",
                t.iter().map(|s| (*s).to_owned()).collect::<Vec<String>>(),
            )
            .unwrap()
            .get("x")
            .unwrap()
            .clone()
    }
}

/// Filters at the limits of depth and of numbers.
#[tokio::test]
async fn deep_and_wide_filters_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("a.db"));
    let c = collection(&store).await;
    c.upsert(&source("t", "s", 40, 0)).await.unwrap();
    // Depth.
    for depth in [8, 30, 62, 63, 64] {
        let mut json = r#"{"index":{"$gte":3}}"#.to_owned();
        for n in 0..depth - 1 {
            json = match n % 3 {
                0 => format!(r#"{{"$not":{json}}}"#),
                1 => format!(r#"{{"$or":[{json},{{"groups":"team:{n}"}}]}}"#),
                _ => {
                    format!(r#"{{"$and":[{json},{{"groups":"all"}},{{"weight":{{"$ne":{n}}}}}]}}"#)
                }
            };
        }
        match Filter::from_json(&json) {
            Ok(filter) => {
                let want = source("t", "s", 40, 0)
                    .iter()
                    .filter(|r| filter.matches(&r.metadata))
                    .count();
                let got = c.count(&filter).await;
                assert!(
                    got.as_ref().is_ok_and(|g| g.exact() == Some(want as u64)),
                    "depth {depth}: {got:?} {want}"
                );
                let found = c.search(&dense(filter, 100)).await.unwrap();
                assert_eq!(found.hits.len(), want);
            }
            Err(e) => eprintln!("depth {depth}: {e}"),
        }
    }
    // Width.
    for n in [9_000, 9_999, 10_000] {
        let values: Vec<String> = (0..n).map(|n| format!("team:{}", n + 2)).collect();
        let filter = key("tenant")
            .eq("t")
            .and(key("groups").is_in(values))
            .build();
        match filter {
            Ok(filter) => {
                let found = c.search(&dense(filter.clone(), 100)).await.unwrap();
                assert_eq!(found.hits.len(), 13);
                assert_eq!(c.count(&filter).await.unwrap().exact(), Some(13));
                let page = c.scan(&filter, None, 5, Include::ALL).await.unwrap();
                assert_eq!(page.records.len(), 5);
            }
            Err(e) => eprintln!("{n}: {e}"),
        }
    }
    // Many tests.
    for n in [500, 1_000, 4_000, 9_000] {
        let parts: Vec<String> = (0..n)
            .map(|n| format!(r#"{{"groups":"team:{}"}}"#, n + 2))
            .collect();
        let json = format!(r#"{{"$or":[{}]}}"#, parts.join(","));
        match Filter::from_json(&json) {
            Ok(filter) => {
                let got = c.count(&filter).await;
                eprintln!("{n}: {got:?}");
                let found = c.search(&dense(filter, 100)).await;
                eprintln!("{n}: {:?}", found.map(|f| f.hits.len()));
            }
            Err(e) => eprintln!("or of {n}: {e}"),
        }
    }
}

/// Long and odd keys, page by page.
#[tokio::test]
async fn odd_keys_are_paged_and_fetched() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("a.db"));
    let c = collection(&store).await;
    let texts: Vec<String> = [
        "",
        "1:",
        "-:",
        "1:a",
        "a",
        "aa",
        "é",
        "e\u{301}",
        "😀",
        "3:abc",
        "\u{10ffff}",
        "\u{fffd}",
    ]
    .iter()
    .map(|s| (*s).to_owned())
    .chain([
        "x".repeat(512),
        "é".repeat(256),
        format!("{}b", "x".repeat(511)),
    ])
    .collect();
    let mut records = Vec::new();
    for tenant in &texts {
        for id in &texts {
            let (Ok(p), Ok(i)) = (Text::new(tenant.as_str()), Text::new(id.as_str())) else {
                continue;
            };
            let m = Metadata::new()
                .with("tenant", tenant.as_str())
                .and_then(|m| m.with("source", "s"))
                .unwrap();
            records.push(
                Record::new(Key::within(p, i), [1.0, 0.0, 0.0, records.len() as f32])
                    .with_text("w")
                    .with_metadata(m),
            );
        }
    }
    let mut kept = Vec::new();
    for r in records {
        match c.upsert(std::slice::from_ref(&r)).await {
            Ok(()) => kept.push(r.key.clone()),
            Err(e) => eprintln!(
                "{:?}: {e}",
                (
                    r.key.partition.as_ref().map(|p| p.as_str().len()),
                    r.key.id.as_str().len()
                )
            ),
        }
    }
    kept.sort();
    for filter in [Filter::everything(), key("source").eq("s").build().unwrap()] {
        for limit in [1, 7] {
            let mut seen = Vec::new();
            let mut after = None;
            loop {
                let page = c
                    .scan(&filter, after.as_ref(), limit, Include::ALL)
                    .await
                    .unwrap();
                seen.extend(page.records.iter().map(|r| r.key.clone()));
                after = page.next.clone();
                if after.is_none() {
                    break;
                }
            }
            assert!(seen == kept, "limit {limit}: {} {}", seen.len(), kept.len());
        }
    }
    let got = c
        .fetch(&kept, &Filter::everything(), Include::ALL)
        .await
        .unwrap();
    assert!(
        got.iter()
            .zip(&kept)
            .all(|(g, k)| g.as_ref().is_some_and(|g| g.key == *k))
    );
    let found = c
        .search(&dense(Filter::everything(), 10_000))
        .await
        .unwrap();
    assert_eq!(found.hits.len(), kept.len());
}

/// Collections dropped and made anew, by another store object, with the number of their tables reused.
#[tokio::test]
async fn a_collection_made_anew_by_another_store_is_not_mixed_with_the_old() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (a, b) = (open(&path), open(&path));
    let old = collection(&a).await;
    old.upsert(&source("t", "s", 5, 0)).await.unwrap();
    assert_eq!(
        old.search(&dense(of_tenant("t"), 10))
            .await
            .unwrap()
            .hits
            .len(),
        5
    );
    b.drop_collection(&name()).await.unwrap();
    let new = collection(&b).await;
    new.upsert(&source("t", "s", 2, 1)).await.unwrap();
    assert!(old.search(&dense(of_tenant("t"), 10)).await.is_err());
    assert!(old.upsert(&source("t", "s", 2, 1)).await.is_err());
    assert_eq!(
        new.search(&dense(of_tenant("t"), 10))
            .await
            .unwrap()
            .hits
            .len(),
        2
    );
    let again = a.open(&name()).await.unwrap();
    assert_eq!(
        again
            .search(&dense(of_tenant("t"), 10))
            .await
            .unwrap()
            .hits
            .len(),
        2
    );
    let more = spec().with_fields([Field::new(
        MetadataKey::new("more").unwrap(),
        FieldKind::Text,
    )]);
    let wide = b.ensure(&more).await.unwrap();
    wide.upsert(&source("t", "z", 2, 1)).await.unwrap();
    assert_eq!(
        again
            .search(&dense(of_tenant("t"), 10))
            .await
            .unwrap()
            .hits
            .len(),
        4
    );
    assert_eq!(
        new.search(&dense(of_tenant("t"), 10))
            .await
            .unwrap()
            .hits
            .len(),
        4
    );
    let filter = key("more").exists(false).build().unwrap();
    assert_eq!(
        wide.search(&dense(filter.clone(), 10))
            .await
            .unwrap()
            .hits
            .len(),
        4
    );
    let _ = Arc::strong_count(&wide);
    let _: Option<CollectionSpec> = None;
    let _ = (FieldRole::Unit, SqliteOptions::default());
    let _: Option<(Store, SqliteStore, Box<dyn VectorStore>)> = None;
}

/// As before, but the record is the same one: what is found by the old words must not be answered with
/// the new ones.
#[tokio::test]
async fn after_a_backup_is_brought_back_old_words_do_not_find_new_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let backup = folder.path().join("backup.db");
    let store = open(&path);
    let c = collection(&store).await;
    c.upsert(&source("t", "a", 2, 0)).await.unwrap();
    Connection::open(&path)
        .unwrap()
        .execute("VACUUM INTO ?", [backup.to_str().unwrap()])
        .unwrap();
    c.upsert(&[record("t", "a", 0, 1)]).await.unwrap();
    let by = |v: &str| lexical(v, of_tenant("t"), 10);
    assert_eq!(c.search(&by("v1")).await.unwrap().hits.len(), 1);
    rusqlite_backup(
        &Connection::open(&backup).unwrap(),
        &mut Connection::open(&path).unwrap(),
    );
    c.upsert(&[record("t", "a", 0, 2)]).await.unwrap();
    let old = c.search(&by("v1")).await.unwrap();
    let new = c.search(&by("v2")).await.unwrap();
    let texts = |f: &shelfward_core::Found| {
        f.hits
            .iter()
            .map(|h| h.text.clone().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    assert!(
        old.hits.is_empty() && new.hits.len() == 1,
        "v1 finds {:?}, v2 finds {:?}",
        texts(&old),
        texts(&new)
    );
}

/// Two stores on one file, one record that goes back and forth, and what must always hold of a hit.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_hit_is_torn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (a, b) = (open(&path), open(&path));
    let (ca, cb) = (collection(&a).await, collection(&b).await);
    ca.upsert(&source("t", "still", 300, 9)).await.unwrap();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(12);
    let side = |n: usize, odd: bool| {
        let mut r = record("t", "flip", n, usize::from(odd));
        let (word, group) = if odd {
            ("oddword", "g1")
        } else {
            ("evenword", "g0")
        };
        r.text = Some(Arc::from(word));
        let m = Arc::make_mut(&mut r.metadata);
        m.insert(
            MetadataKey::new("groups").unwrap(),
            Metadata::new()
                .with("x", [group])
                .unwrap()
                .get("x")
                .unwrap()
                .clone(),
        );
        r.vector = if odd {
            [0.0, 1.0, 0.0, 0.0]
        } else {
            [1.0, 0.0, 0.0, 0.0]
        }
        .into();
        r
    };
    let mut tasks = Vec::new();
    for (w, c) in [ca.clone(), cb.clone()].into_iter().enumerate() {
        tasks.push(tokio::spawn(async move {
            let mut n = 0_usize;
            while std::time::Instant::now() < end {
                n += 1;
                let records: Vec<_> = (0..3).map(|i| side(i, n % 2 == w)).collect();
                match n % 5 {
                    0 => {
                        c.delete_matching(&of_source("t", "flip")).await.unwrap();
                    }
                    1 => c.upsert(&records).await.unwrap(),
                    _ => {
                        c.replace(&of_source("t", "flip"), &records).await.unwrap();
                    }
                }
            }
            n
        }));
    }
    for c in [ca.clone(), cb.clone(), ca, cb] {
        tasks.push(tokio::spawn(async move {
            let mut n = 0;
            while std::time::Instant::now() < end {
                n += 1;
                for (group, word, text, q) in [
                    ("g1", "oddword", "oddword", [0.0, 1.0, 0.0, 0.0]),
                    ("g0", "evenword", "evenword", [1.0, 0.0, 0.0, 0.0]),
                ] {
                    let filter = key("tenant")
                        .eq("t")
                        .and(key("groups").eq(group))
                        .build()
                        .unwrap();
                    let words = shelfward_core::query_words(word, spec().word_rule, false).unwrap();
                    let (d, l) = c
                        .search_both(
                            &Leg::dense(q, filter.clone(), 10),
                            &Leg::lexical(words, shelfward_core::Match::All, filter.clone(), 10),
                        )
                        .await
                        .unwrap();
                    assert_eq!(
                        ids(&d).into_iter().collect::<BTreeSet<_>>(),
                        ids(&l).into_iter().collect::<BTreeSet<_>>()
                    );
                    for h in d.hits.iter().chain(&l.hits) {
                        assert!(filter.matches(&h.metadata) && h.text.as_deref() == Some(text));
                    }
                    for h in &d.hits {
                        assert!(h.score > 0.999);
                    }
                }
            }
            n
        }));
    }
    for t in tasks {
        eprintln!("{}", t.await.unwrap());
    }
}

/// Everything that every error shows.
fn shown(e: &dyn std::error::Error) -> String {
    let mut all = format!("{e} {e:?}");
    let mut next = e.source();
    while let Some(e) = next {
        all.push_str(&format!(" {e} {e:?}"));
        next = e.source();
    }
    all
}

#[tokio::test]
async fn no_error_shows_a_path_or_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("sesame");
    std::fs::create_dir(&secret).unwrap();
    let p = |name: &str| secret.join(name);
    std::fs::write(p("text.db"), "sesame ".repeat(1_000)).unwrap();
    std::fs::write(p("empty.db"), "").unwrap();
    Connection::open(p("other.db"))
        .unwrap()
        .execute_batch("CREATE TABLE sesame (x)")
        .unwrap();
    let mut errors = Vec::new();
    for path in [
        p(""),
        p("text.db"),
        p("other.db"),
        p("text.db/x"),
        p("no/such/x"),
        p("nul\0sesame"),
        p(&"sesame".repeat(60)),
    ] {
        if let Err(e) = SqliteStore::open(&path, SqliteOptions::default()) {
            errors.push(shown(&e));
        } else {
            eprintln!("opened {path:?}");
        }
    }
    if let Err(e) = SqliteStore::open(p("empty.db"), SqliteOptions::default().with_create(false)) {
        errors.push(shown(&e));
    }
    for url in [
        "/sesame/x?password=sesame",
        "/sesame/x?create=sesame",
        "?sesame",
        "/sesame/sesame/x",
        "/sesame?readers=sesame",
    ] {
        if let Err(e) = shelfward_sqlite::connect(url) {
            errors.push(shown(&e));
        }
    }
    let store = open(&p("a.db"));
    let c = collection(&store).await;
    c.upsert(&source("t", "sesame", 3, 0)).await.unwrap();
    let raw = Connection::open(p("a.db")).unwrap();
    for sql in [
        "UPDATE rows_1 SET meta = 'sesame'",
        "UPDATE rows_1 SET vec = x'00'",
        "UPDATE rows_1 SET body = 'sesame'",
        "UPDATE collections SET spec = 'sesame'",
        "DROP TABLE rows_1",
    ] {
        raw.execute_batch(sql).unwrap();
        for r in [
            c.search(&dense(of_tenant("t"), 3)).await.map(drop),
            c.count(&of_tenant("t")).await.map(drop),
            everything(&*c).await.map(drop),
            c.upsert(&source("t", "sesame", 3, 1)).await,
            store.open(&name()).await.map(drop),
            store.list().await.map(drop),
            store.health().await,
        ] {
            if let Err(e) = r {
                errors.push(shown(&e));
            }
        }
    }
    errors.push(format!("{store:?} {c:?}"));
    assert!(errors.len() > 20);
    for e in &errors {
        assert!(!e.contains("sesame"), "{e}");
    }
}

/// A row of the table of elements that somebody else added: a group that the record does not have.
#[tokio::test]
async fn an_element_that_the_record_does_not_hold_releases_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path);
    let c = collection(&store).await;
    c.upsert(&source("t", "s", 5, 0)).await.unwrap();
    let raw = Connection::open(&path).unwrap();
    raw.execute(
        "INSERT INTO elements_1 SELECT k, 'team:intruder', n FROM elements_1 WHERE v = 'all'",
        [],
    )
    .unwrap();
    let filter = key("tenant")
        .eq("t")
        .and(key("groups").is_in(["team:intruder"]))
        .build()
        .unwrap();
    drop((c, store));
    let store = open(&path);
    let c = collection(&store).await;
    let scanned = c.scan(&filter, None, 10, Include::ALL).await;
    let keys: Vec<Key> = source("t", "s", 5, 0)
        .iter()
        .map(|r| r.key.clone())
        .collect();
    let fetched = c.fetch(&keys, &filter, Include::ALL).await;
    let counted = c.count(&filter).await;
    let found = c.search(&dense(filter.clone(), 10)).await;
    eprintln!("search {:?} count {counted:?}", found.map(|f| f.hits.len()));
    let scanned = scanned.map(|p| p.records.len());
    let fetched = fetched.map(|f| f.iter().flatten().count());
    assert!(
        !matches!(scanned, Ok(n) if n > 0) && !matches!(fetched, Ok(n) if n > 0),
        "scan {scanned:?} fetch {fetched:?}"
    );
}

/// A backup moved over the open file: writes must not go where no reader sees them.
#[tokio::test]
async fn a_file_that_was_replaced_is_not_read_and_written_in_two_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let backup = folder.path().join("b.db");
    let store = open(&path);
    let c = collection(&store).await;
    c.upsert(&source("t", "s", 2, 0)).await.unwrap();
    Connection::open(&path)
        .unwrap()
        .execute("VACUUM INTO ?", [backup.to_str().unwrap()])
        .unwrap();
    std::fs::rename(&backup, &path).unwrap();
    let wrote = c.upsert(&source("t", "new", 3, 0)).await;
    let filter = Filter::everything();
    let (a, b, d) = tokio::join!(c.count(&filter), c.count(&filter), c.count(&filter));
    let reopened = SqliteStore::open(&path, SqliteOptions::default()).map(Store::new);
    let seen = match &reopened {
        Ok(s) => rows(&*s.open(&name()).await.unwrap()).await,
        Err(e) => {
            eprintln!("{e}");
            0
        }
    };
    assert!(
        wrote.is_err() || seen == 5,
        "wrote {wrote:?}, counts {a:?} {b:?} {d:?}, opened again {seen}"
    );
}

/// Tables of another shape under the number of ones that were dropped, on connections that know the old.
#[tokio::test]
async fn a_collection_of_another_shape_takes_the_number_of_a_dropped_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (store, other) = (open(&path), open(&path));
    for round in 0..4_usize {
        let f = |n: usize| {
            Field::new(
                MetadataKey::new(&format!("f{n}")).unwrap(),
                [
                    FieldKind::Text,
                    FieldKind::Integer,
                    FieldKind::TextList,
                    FieldKind::Float,
                ][(n + round) % 4],
            )
        };
        let spec = CollectionSpec::new(
            CollectionName::new("shape").unwrap(),
            1 + round as u32,
            Metric::Dot,
            "none",
        )
        .with_fields((0..round * 3).map(f));
        let by = if round % 2 == 0 { &store } else { &other };
        let c = by.ensure(&spec).await.unwrap();
        let records: Vec<Record> = (0..3)
            .map(|n| {
                let mut m = Metadata::new();
                for field in &spec.fields {
                    m = match field.kind {
                        FieldKind::Text => m.with(field.key.as_str(), "x").unwrap(),
                        FieldKind::Integer => m.with(field.key.as_str(), 3_i64).unwrap(),
                        FieldKind::Float => m.with(field.key.as_str(), 0.5).unwrap(),
                        _ => m.with(field.key.as_str(), ["x"]).unwrap(),
                    };
                }
                Record::new(
                    Key::new(Text::new(format!("{n}")).unwrap()),
                    vec![1.0; 1 + round],
                )
                .with_text("rain")
                .with_metadata(m)
            })
            .collect();
        c.upsert(&records).await.unwrap();
        for s in [&store, &other] {
            let c = s
                .open(&CollectionName::new("shape").unwrap())
                .await
                .unwrap();
            let page = c
                .scan(&Filter::everything(), None, 10, Include::ALL)
                .await
                .unwrap();
            assert!(
                page.records
                    .iter()
                    .zip(&records)
                    .all(|(a, b)| *a.metadata == *b.metadata)
                    && page.records.len() == 3
            );
            assert_eq!(
                c.search(&Leg::dense(vec![1.0; 1 + round], Filter::everything(), 10))
                    .await
                    .unwrap()
                    .hits
                    .len(),
                3
            );
            c.upsert(&records).await.unwrap();
        }
        assert!(
            by.drop_collection(&CollectionName::new("shape").unwrap())
                .await
                .unwrap()
        );
    }
}
