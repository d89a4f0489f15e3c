//! Values, keys, names and ids that would be code if anybody formatted them into a query.

use shelfward_core::filter::key as field;
use shelfward_core::{
    CollectionName, Filter, Include, Leg, Match, Metadata, MetadataKey, Record, query_words,
};

use crate::case::Case;
use crate::check::{counts_deleted, finds, holds, ids, rows, same_ids};
use crate::context::{Context, key};
use crate::fixture;
use crate::verdict::Checked;

const PAYLOADS: [&str; 12] = [
    "' OR '1'='1",
    "'; DROP TABLE records; --",
    "\" OR \"\"=\"",
    "\\' OR 1=1 --",
    "x') RETURN n //",
    "}) DETACH DELETE n //",
    "$.a ? (@ > 0)",
    "{\"$ne\":1}",
    "title:x OR NEAR(a b)",
    "* -only +all \"",
    "%_%",
    "${jndi:ldap://x}",
];

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("injection/value", value),
        Case::new("injection/list-value", list_value),
        Case::new("injection/id", id),
        Case::new("injection/key-is-kept", key_is_kept),
        Case::new("injection/key", metadata_key).only_where(
            |can| can.open_fields,
            "its filters use declared fields alone, whose names are checked",
        ),
        Case::new("injection/collection-name", name),
        Case::new("injection/query-words", words).needs(|can| can.lexical.is_some()),
        Case::new("injection/scan-cursor", cursor)
            .only_where(|can| can.scan, "it has no scan, so it gives out no cursor"),
    ]
}

fn payload_records(list: bool) -> Checked<Vec<Record>> {
    PAYLOADS
        .iter()
        .enumerate()
        .map(|(n, payload)| {
            let metadata = Metadata::new().with("n", i64::try_from(n).unwrap_or(0))?;
            let metadata = if list {
                metadata.with("l", vec![*payload])?
            } else {
                metadata.with("t", *payload)?
            };
            Ok(Record::new(key(&format!("r{n}"))?, [1.0; 4])
                .with_text(*payload)
                .with_metadata(metadata))
        })
        .collect()
}

async fn each_finds_itself(context: Context, list: bool) -> Checked {
    let collection = context
        .make(&context.spec()?.with_fields(fixture::fields()?))
        .await?;
    let records = payload_records(list)?;
    collection.upsert(&records).await?;
    let keys: Vec<_> = records.iter().map(|record| record.key.clone()).collect();
    for (n, payload) in PAYLOADS.iter().enumerate() {
        let filter = if list {
            field("l").is_in([*payload])
        } else {
            field("t").eq(*payload)
        };
        finds(&collection, &keys, filter.build()?, &[format!("r{n}")]).await?;
    }
    let total = u64::try_from(PAYLOADS.len()).unwrap_or(0);
    rows("afterwards", &collection, total).await
}

async fn value(context: Context) -> Checked {
    each_finds_itself(context, false).await
}

async fn list_value(context: Context) -> Checked {
    each_finds_itself(context, true).await
}

async fn id(context: Context) -> Checked {
    let records = PAYLOADS
        .iter()
        .map(|id| Ok(Record::new(key(id)?, [1.0; 4])))
        .collect::<Checked<Vec<_>>>()?;
    let collection = context.holding(&records).await?;
    let found = collection
        .search(&Leg::dense([1.0; 4], Filter::everything(), 50))
        .await?;
    same_ids("ids", &ids(&found), &PAYLOADS)?;
    let two: Vec<_> = records
        .iter()
        .take(2)
        .map(|record| record.key.clone())
        .collect();
    counts_deleted(
        "deleted",
        collection.capabilities(),
        collection.delete(&two).await?,
        2,
    )?;
    let left = u64::try_from(PAYLOADS.len() - 2).unwrap_or(0);
    rows("left", &collection, left).await
}

/// Keys that would be code, as far as the rule takes them: a store must hold each as a plain name.
fn odd_keys() -> Metadata {
    let names = PAYLOADS.iter().chain(&[
        "a.b", "a b", "a-b", "SELECT", "index", "a:b", "a;b", "a--b", "a/*b", "a\\b",
    ]);
    let taken = names.filter_map(|name| MetadataKey::new(name).ok());
    taken.map(|key| (key, true.into())).collect()
}

async fn key_is_kept(context: Context) -> Checked {
    let metadata = odd_keys();
    let record = Record::new(key("a")?, [1.0; 4]).with_metadata(metadata.clone());
    let collection = context.holding(&[record]).await?;
    let fetched = collection
        .fetch(&[key("a")?], &Filter::everything(), Include::METADATA)
        .await?;
    holds(
        fetched.iter().flatten().any(|r| *r.metadata == metadata),
        || "a key is not kept as it is".into(),
    )
}

async fn metadata_key(context: Context) -> Checked {
    let metadata = odd_keys();
    let collection = context
        .make(&context.spec()?.with_open_fields(true))
        .await?;
    collection
        .upsert(&[
            Record::new(key("a")?, [1.0; 4]).with_metadata(metadata.clone()),
            Record::new(key("b")?, [1.0; 4]),
        ])
        .await?;
    let keys = [key("a")?, key("b")?];
    for (name, _) in metadata.iter() {
        let filter = field(name.as_str()).eq(true).build()?;
        finds(&collection, &keys, filter, &["a"]).await?;
    }
    Ok(())
}

async fn name(_: Context) -> Checked {
    PAYLOADS
        .iter()
        .chain(&["a-b", "A", "", "1a", "a b", "é"])
        .try_for_each(|payload| {
            holds(CollectionName::new(payload).is_err(), || {
                format!("a collection may be named {payload:?}")
            })
        })
}

async fn words(context: Context) -> Checked {
    let records = payload_records(false)?;
    let collection = context
        .make(&context.spec()?.with_fields(fixture::fields()?))
        .await?;
    collection.upsert(&records).await?;
    for payload in PAYLOADS.iter().chain(&[
        "\"",
        "title:x",
        "NEAR(",
        "*",
        "-only",
        "don't",
        "AND OR NOT",
    ]) {
        let words = query_words(payload, collection.spec().word_rule, false)?;
        let no_words = words.is_empty();
        let found = collection
            .search(&Leg::lexical(words, Match::Any, Filter::everything(), 50))
            .await?;
        holds(!no_words || found.hits.is_empty(), || {
            format!("{payload:?} has no word and finds something")
        })?;
    }
    for (word, expected) in [("drop", "r1"), ("jndi", "r11")] {
        let words = query_words(word, collection.spec().word_rule, false)?;
        let leg = Leg::lexical(words, Match::Any, Filter::everything(), 50);
        same_ids(
            "a word of a payload",
            &ids(&collection.search(&leg).await?),
            &[expected],
        )?;
    }
    Ok(())
}

async fn cursor(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    for payload in PAYLOADS {
        let cursor = shelfward_core::Cursor::new(payload);
        match collection
            .scan(&Filter::everything(), Some(&cursor), 5, Include::METADATA)
            .await
        {
            Err(_) => {}
            Ok(page) => holds(page.records.len() <= 5, || {
                "a forged cursor widens a page".into()
            })?,
        }
    }
    let everything = u64::try_from(fixture::DECLARED.len()).unwrap_or(0);
    rows("afterwards", &collection, everything).await
}
