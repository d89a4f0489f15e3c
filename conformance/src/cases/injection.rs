//! Values, keys, names and ids that would be code if anybody formatted them into a query.

use shelfward_core::filter::key as field;
use shelfward_core::{
    CollectionName, Cursor, Filter, Include, Leg, LegResult, Match, Metadata, MetadataKey, Record,
    query_words,
};

use crate::case::Case;
use crate::check::{counts_deleted, finds, holds, ids, left, number, rows, same_ids, stored};
use crate::context::{Context, bare_records, key};
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
        Case::new("injection/value", |context| {
            each_finds_itself(context, false)
        }),
        Case::new("injection/list-value", |context| {
            each_finds_itself(context, true)
        }),
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
    let record = |(n, payload): (i64, &&str)| {
        let metadata = Metadata::new().with("n", n)?;
        let metadata = match list {
            true => metadata.with("l", vec![*payload])?,
            false => metadata.with("t", *payload)?,
        };
        let record = Record::new(key(&format!("r{n}"))?, [1.0; 4]).with_text(*payload);
        Ok(record.with_metadata(metadata))
    };
    (0..).zip(&PAYLOADS).map(record).collect()
}

async fn each_finds_itself(context: Context, list: bool) -> Checked {
    let records = payload_records(list)?;
    let collection = fixture::holding(&context, &records).await?;
    let keys: Vec<_> = records.iter().map(|record| record.key.clone()).collect();
    for (n, payload) in PAYLOADS.iter().enumerate() {
        let filter = match list {
            true => field("l").is_in([*payload]),
            false => field("t").eq(*payload),
        };
        finds(&collection, &keys, filter.build()?, &[format!("r{n}")]).await?;
    }
    rows("afterwards", &collection, number(PAYLOADS.len())).await
}

async fn id(context: Context) -> Checked {
    let records = bare_records(&PAYLOADS)?;
    let collection = context.holding(&records).await?;
    left("ids", &collection, &PAYLOADS).await?;
    let two = records.into_iter().take(2).map(|record| record.key);
    let deleted = collection.delete(&two.collect::<Vec<_>>()).await?;
    counts_deleted("deleted", collection.capabilities(), deleted, 2)?;
    rows("left", &collection, number(PAYLOADS.len() - 2)).await
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
    let held = stored(&collection, "a").await?.metadata;
    holds(*held == metadata, || "a key is not kept as it is".into())
}

async fn metadata_key(context: Context) -> Checked {
    let metadata = odd_keys();
    let spec = context.spec()?.with_open_fields(true);
    let collection = context.make(&spec).await?;
    let record = Record::new(key("a")?, [1.0; 4]).with_metadata(metadata.clone());
    collection.upsert(&[record]).await?;
    collection.upsert(&bare_records(&["b"])?).await?;
    let keys = [key("a")?, key("b")?];
    for (name, _) in metadata.iter() {
        let filter = field(name.as_str()).eq(true).build()?;
        finds(&collection, &keys, filter, &["a"]).await?;
    }
    Ok(())
}

async fn name(_: Context) -> Checked {
    let mut names = PAYLOADS.iter().chain(&["a-b", "A", "", "1a", "a b", "é"]);
    names.try_for_each(|payload| {
        holds(CollectionName::new(payload).is_err(), || {
            format!("a collection may be named {payload:?}")
        })
    })
}

async fn words(context: Context) -> Checked {
    let collection = fixture::holding(&context, &payload_records(false)?).await?;
    let search = async |payload: &str| -> Checked<(bool, LegResult)> {
        let words = query_words(payload, collection.spec().word_rule, false)?;
        let no_words = words.is_empty();
        let leg = Leg::lexical(words, Match::Any, Filter::everything(), 50);
        Ok((no_words, collection.search(&leg).await?))
    };
    let more = [
        "\"",
        "title:x",
        "NEAR(",
        "*",
        "-only",
        "don't",
        "AND OR NOT",
    ];
    for payload in PAYLOADS.iter().chain(&more) {
        let (no_words, found) = search(payload).await?;
        holds(!no_words || found.hits.is_empty(), || {
            format!("{payload:?} has no word and finds something")
        })?;
    }
    for (word, expected) in [("drop", "r1"), ("jndi", "r11")] {
        let (_, found) = search(word).await?;
        same_ids("a word of a payload", &ids(&found), &[expected])?;
    }
    Ok(())
}

async fn cursor(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let everything = Filter::everything();
    for payload in PAYLOADS {
        let cursor = Cursor::new(payload);
        let page = collection.scan(&everything, Some(&cursor), 5, Include::METADATA);
        let records = page.await.map_or(0, |page| page.records.len());
        holds(records <= 5, || "a forged cursor widens a page".into())?;
    }
    rows("afterwards", &collection, number(fixture::DECLARED.len())).await
}
