//! Writing records.

use shelfward_core::{Collection, Filter, Leg, Metadata, MetadataKey, Record, Value};

use crate::case::Case;
use crate::check::{NONE, holds, ids, number, rows, same_ids, same_order, stored};
use crate::context::{Context, bare_records, key, record, refused};
use crate::fixture::{self, DECLARED, records};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("writes/insert", insert),
        Case::new("writes/overwrite", overwrite),
        Case::new("writes/overwrite-changes-the-vector", overwrite_vector),
        Case::new("writes/mixed-batch", mixed_batch),
        Case::new("writes/same-key-twice", same_key_twice),
        Case::new("writes/empty-batch", empty_batch),
        Case::new("writes/thousand", thousand),
        Case::new("writes/over-the-batch-limit", over_the_batch),
        Case::new("writes/no-metadata-no-text", bare),
        Case::new("writes/round-trip", round_trip),
        Case::new("writes/declared-kind", declared_kind),
        Case::new("writes/reserved-key", reserved_key),
        Case::new("writes/another-width", another_width),
        Case::new("writes/not-finite", not_finite),
        Case::new("writes/zero-vector", zero_vector),
        Case::new("writes/refused-batch-writes-nothing", refused_batch),
    ]
}

const EAST: [f32; 4] = [1.0, 0.0, 0.0, 0.0];

async fn expect_rows<S: AsRef<str>>(collection: &Collection, expected: &[S]) -> Checked {
    let leg = Leg::dense(EAST, Filter::everything(), 2_000);
    let found = ids(&collection.search(&leg).await?);
    same_ids("what is there", &found, expected)?;
    rows("how many are there", collection, number(expected.len())).await
}

async fn insert(context: Context) -> Checked {
    let collection = context
        .holding(&records(&[("a", "{}"), ("b", "{}")])?)
        .await?;
    expect_rows(&collection, &["a", "b"]).await
}

async fn overwrite(context: Context) -> Checked {
    let old = record("a", 0, r#"{"v":"old","gone":1}"#)?;
    let collection = context.holding(&[old]).await?;
    let new = record("a", 0, r#"{"v":"new"}"#)?.with_text("new text");
    collection.upsert(std::slice::from_ref(&new)).await?;
    expect_rows(&collection, &["a"]).await?;
    let found = stored(&collection, "a").await?;
    let whole = found.text == new.text && found.metadata == new.metadata;
    holds(whole, || "a record is not replaced whole".into())
}

async fn overwrite_vector(context: Context) -> Checked {
    let far = Record::new(key("a")?, [0.0, 0.0, 0.0, 1.0]);
    let near = Record::new(key("a")?, EAST);
    let between = Record::new(key("b")?, [1.0, 0.0, 0.0, 1.0]);
    let collection = context.holding(&[far, between]).await?;
    let leg = Leg::dense(EAST, Filter::everything(), 10);
    same_order("before", &ids(&collection.search(&leg).await?), &["b", "a"])?;
    collection.upsert(&[near]).await?;
    same_order("after", &ids(&collection.search(&leg).await?), &["a", "b"])
}

/// The version that `a` holds.
async fn is_of_version_2(collection: &Collection, otherwise: &str) -> Checked {
    let held = stored(collection, "a").await?.metadata;
    let version = held.get("v").and_then(Value::as_integer);
    holds(version == Some(2), || otherwise.to_owned())
}

async fn mixed_batch(context: Context) -> Checked {
    let collection = context.holding(&[record("a", 0, r#"{"v":1}"#)?]).await?;
    let both = records(&[("a", r#"{"v":2}"#), ("b", r#"{"v":2}"#)])?;
    collection.upsert(&both).await?;
    expect_rows(&collection, &["a", "b"]).await?;
    is_of_version_2(&collection, "the record that was there is not the new one").await
}

async fn same_key_twice(context: Context) -> Checked {
    let both = records(&[("a", r#"{"v":1}"#), ("a", r#"{"v":2}"#)])?;
    let collection = context.holding(&both).await?;
    expect_rows(&collection, &["a"]).await?;
    is_of_version_2(
        &collection,
        "of two records of one key the last does not win",
    )
    .await
}

async fn empty_batch(context: Context) -> Checked {
    let collection = context.holding(&[record("a", 0, "{}")?]).await?;
    collection.upsert(&[]).await?;
    expect_rows(&collection, &["a"]).await
}

fn many(n: usize) -> Checked<(Vec<String>, Vec<Record>)> {
    let names: Vec<String> = (0..n).map(|n| format!("r{n}")).collect();
    let records: Checked<_> = names.iter().map(|name| record(name, 1, "{}")).collect();
    Ok((names, records?))
}

async fn thousand(context: Context) -> Checked {
    let (names, all) = many(1_000)?;
    expect_rows(&context.holding(&all).await?, &names).await
}

async fn over_the_batch(context: Context) -> Checked {
    let spec = context.spec()?;
    let most = context.adapter().await?.capabilities(&spec).max_batch;
    // Without a limit there is none to pass; two records then show that the call is whole.
    let (_, all) = many(most.unwrap_or(1).saturating_add(1).min(20_000))?;
    let collection = context.make(&spec).await?;
    collection.upsert(&all).await?;
    rows(
        "records over the batch limit",
        &collection,
        number(all.len()),
    )
    .await
}

async fn bare(context: Context) -> Checked {
    let collection = context.holding(&bare_records(&["a"])?).await?;
    expect_rows(&collection, &["a"]).await?;
    let a = stored(&collection, "a").await?;
    holds(a.text.is_none() && a.metadata.is_empty(), || {
        "a record without text and metadata came back with some".into()
    })
}

async fn round_trip(context: Context) -> Checked {
    let texts = ["", "a\nb\tc", "😀 👩‍👩‍👧 é", "O'Hara \"x\" \\ %_ $1 {} []"];
    let documents = records(&DECLARED)?.into_iter().zip(texts.iter().cycle());
    let written: Vec<Record> = documents
        .map(|(record, text)| record.with_text(*text))
        .collect();
    let collection = fixture::holding(&context, &written).await?;
    for record in &written {
        let id = record.key.id.as_str();
        let found = stored(&collection, id).await?;
        let same = found.key == record.key
            && found.text == record.text
            && found.metadata == record.metadata
            && found.vector.as_deref() == Some(&*record.vector);
        holds(same, || format!("{id} is not read as it was written"))?;
    }
    Ok(())
}

async fn declared_kind(context: Context) -> Checked {
    let collection = fixture::holding(&context, &[]).await?;
    for metadata in [
        r#"{"t":5}"#,
        r#"{"l":[5]}"#,
        r#"{"n":"5"}"#,
        r#"{"n":5.5}"#,
        r#"{"x":true}"#,
        r#"{"b":"true"}"#,
        r#"{"t":["a"]}"#,
    ] {
        let answer = collection.upsert(&[record("a", 0, metadata)?]).await;
        refused(answer, metadata)?;
    }
    let taken = record("a", 0, r#"{"l":"alone","x":5,"n":5.0}"#)?;
    collection.upsert(&[taken]).await?;
    expect_rows(&collection, &["a"]).await
}

async fn reserved_key(context: Context) -> Checked {
    let mut metadata = Metadata::new();
    metadata.insert(MetadataKey::stored("_shelfward_revision")?, true);
    let collection = context.make(&context.spec()?).await?;
    let forged = record("a", 0, "{}")?.with_metadata(metadata);
    let answer = collection.upsert(&[forged]).await;
    refused(answer, "a key of the library's own")
}

/// Vectors that no collection under cosine takes.
async fn refuses(context: &Context, vectors: &[&[f32]], what: &str) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    for vector in vectors {
        let record = Record::new(key("a")?, *vector);
        refused(collection.upsert(&[record]).await, what)?;
    }
    expect_rows(&collection, NONE).await
}

async fn another_width(context: Context) -> Checked {
    let vectors: [&[f32]; 3] = [&[1.0, 0.0, 0.0], &[1.0, 0.0, 0.0, 0.0, 0.0], &[]];
    refuses(&context, &vectors, "a vector of another width").await
}

async fn not_finite(context: Context) -> Checked {
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(|odd| [1.0, odd, 0.0, 0.0]);
    let odd = odd.each_ref().map(|vector| &vector[..]);
    refuses(&context, &odd, "a number that is not finite").await
}

async fn zero_vector(context: Context) -> Checked {
    refuses(&context, &[&[0.0; 4]], "a zero vector under cosine").await
}

async fn refused_batch(context: Context) -> Checked {
    let collection = context.holding(&[record("old", 0, "{}")?]).await?;
    let odd = Record::new(key("odd")?, [f32::NAN, 0.0, 0.0, 0.0]);
    let answer = collection.upsert(&[record("new", 1, "{}")?, odd]).await;
    refused(answer, "a batch with a record that cannot be held")?;
    expect_rows(&collection, &["old"]).await
}
