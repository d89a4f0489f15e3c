//! A small collection and its records, shared by the tests of this folder.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use shelfward_core::filter::key;
use shelfward_core::{
    Collection, CollectionName, CollectionSpec, Count, Field, FieldKind, FieldRole, Filter,
    Include, Key, Leg, LegResult, Match, Metadata, MetadataKey, Metric, Record, Selector, Store,
    StoredRecord, Text, query_words,
};
use shelfward_sqlite::{SqliteOptions, SqliteStore};

pub(crate) fn name() -> CollectionName {
    CollectionName::new("library").unwrap()
}

pub(crate) fn spec() -> CollectionSpec {
    let field = |name: &str, kind| Field::new(MetadataKey::new(name).unwrap(), kind);
    CollectionSpec::new(name(), 4, Metric::Cosine, "none").with_fields([
        field("tenant", FieldKind::Text).with_role(FieldRole::Partition),
        field("source", FieldKind::Text).with_role(FieldRole::Unit),
        field("groups", FieldKind::TextList),
        field("index", FieldKind::Integer),
        field("weight", FieldKind::Float),
        field("draft", FieldKind::Bool),
    ])
}

pub(crate) fn key_of(tenant: &str, source: &str, index: usize) -> Key {
    let id = Text::new(format!("{source}#{index:04}")).unwrap();
    Key::within(Text::new(tenant).unwrap(), id)
}

/// The record of a passage. `version` shows in its text, its vector and its metadata.
pub(crate) fn record(tenant: &str, source: &str, index: usize, version: usize) -> Record {
    let at = index as f32;
    let metadata = Metadata::new()
        .with("tenant", tenant)
        .and_then(|m| m.with("source", source))
        .and_then(|m| m.with("groups", ["all".to_owned(), format!("team:{}", index % 3)]))
        .and_then(|m| m.with("index", i64::try_from(index).unwrap()))
        .and_then(|m| m.with("weight", index as f64 + 0.1))
        .and_then(|m| m.with("draft", index.is_multiple_of(2)))
        .and_then(|m| m.with("version", i64::try_from(version).unwrap()))
        .unwrap();
    Record::new(
        key_of(tenant, source, index),
        [1.0, at / 100.0, version as f32 / 10.0, 0.5],
    )
    .with_text(format!(
        "berth {index} of {source} stays closed, version v{version}"
    ))
    .with_metadata(metadata)
}

pub(crate) fn source(tenant: &str, source: &str, passages: usize, version: usize) -> Vec<Record> {
    (0..passages)
        .map(|index| record(tenant, source, index, version))
        .collect()
}

pub(crate) fn of_source(tenant: &str, source: &str) -> Selector {
    let filter = key("tenant").eq(tenant).and(key("source").eq(source));
    filter.build().unwrap().narrow().unwrap()
}

pub(crate) fn of_tenant(tenant: &str) -> Filter {
    key("tenant").eq(tenant).build().unwrap()
}

pub(crate) fn open(path: &Path) -> Store {
    open_with(path, SqliteOptions::default())
}

pub(crate) fn open_with(path: &Path, options: SqliteOptions) -> Store {
    Store::new(SqliteStore::open(path, options).unwrap())
}

pub(crate) async fn collection(store: &Store) -> Collection {
    store.ensure(&spec()).await.unwrap()
}

pub(crate) fn dense(filter: Filter, top_k: usize) -> Leg {
    Leg::dense([1.0, 0.0, 0.0, 0.5], filter, top_k)
}

pub(crate) fn lexical(text: &str, filter: Filter, top_k: usize) -> Leg {
    let words = query_words(text, spec().word_rule, false).unwrap();
    Leg::lexical(words, Match::All, filter, top_k)
}

pub(crate) fn ids(found: &LegResult) -> Vec<String> {
    found
        .hits
        .iter()
        .map(|hit| hit.key.id.to_string())
        .collect()
}

pub(crate) async fn rows(collection: &Collection) -> u64 {
    match collection.count(&Filter::everything()).await.unwrap() {
        Count::Exact(n) => n,
        other => unreachable!("{other}"),
    }
}

/// Everything that a collection holds, whole.
pub(crate) async fn everything(
    collection: &Collection,
) -> shelfward_core::Result<Vec<StoredRecord>> {
    let all = Filter::everything();
    let page = collection.scan(&all, None, 100_000, Include::ALL).await?;
    Ok(page.records)
}

/// The versions of a source's passages as a search by words finds them.
pub(crate) async fn versions(collection: &Collection, tenant: &str, source: &str) -> Vec<i64> {
    let filter = of_source(tenant, source).filter().clone();
    let found = collection.search(&dense(filter, 1_000)).await.unwrap();
    let mut versions: Vec<i64> = (found.hits.iter())
        .map(|hit| hit.metadata.get("version").unwrap().as_integer().unwrap())
        .collect();
    versions.sort_unstable();
    versions
}

/// A seed that is printed, so that a failure can be seen again.
pub(crate) fn seed(variable: &str) -> u64 {
    let given = std::env::var(variable).ok();
    let seed = given.map_or(20_240_611, |seed| seed.parse().unwrap());
    #[allow(clippy::print_stderr, reason = "seen when the test fails")]
    {
        eprintln!("seed: {variable}={seed}");
    }
    seed
}
