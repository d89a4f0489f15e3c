//! Writing records.

use shelfward_core::{Collection, Filter, Include, Leg, Metadata, Record};

use crate::case::Case;
use crate::check::{holds, ids, rows, same_ids, same_order};
use crate::context::{Context, key, record, refused};
use crate::fixture::{DECLARED, fields, records};
use crate::verdict::{Checked, Finding};

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

async fn stored(
    collection: &Collection,
    id: &str,
) -> Checked<Option<shelfward_core::StoredRecord>> {
    let fetched = collection
        .fetch(&[key(id)?], &Filter::everything(), Include::ALL)
        .await?;
    Ok(fetched.into_iter().next().flatten())
}

async fn expect_rows(collection: &Collection, expected: &[&str]) -> Checked {
    let leg = Leg::dense([1.0, 0.0, 0.0, 0.0], Filter::everything(), 2_000);
    same_ids(
        "what is there",
        &ids(&collection.search(&leg).await?),
        expected,
    )?;
    let expected = u64::try_from(expected.len()).unwrap_or(u64::MAX);
    rows("how many are there", collection, expected).await
}

async fn insert(context: Context) -> Checked {
    let collection = context
        .holding(&[record("a", 0, "{}")?, record("b", 1, "{}")?])
        .await?;
    expect_rows(&collection, &["a", "b"]).await
}

async fn overwrite(context: Context) -> Checked {
    let collection = context
        .holding(&[record("a", 0, r#"{"v":"old","gone":1}"#)?])
        .await?;
    let new = record("a", 0, r#"{"v":"new"}"#)?.with_text("new text");
    collection.upsert(std::slice::from_ref(&new)).await?;
    expect_rows(&collection, &["a"]).await?;
    let found = stored(&collection, "a").await?;
    let is = |f: &shelfward_core::StoredRecord| f.text == new.text && *f.metadata == *new.metadata;
    holds(found.as_ref().is_some_and(is), || {
        "a record is not replaced whole".into()
    })
}

async fn overwrite_vector(context: Context) -> Checked {
    let far = Record::new(key("a")?, [0.0, 0.0, 0.0, 1.0]);
    let near = Record::new(key("a")?, [1.0, 0.0, 0.0, 0.0]);
    let between = Record::new(key("b")?, [1.0, 0.0, 0.0, 1.0]);
    let collection = context.holding(&[far, between]).await?;
    let leg = Leg::dense([1.0, 0.0, 0.0, 0.0], Filter::everything(), 10);
    same_order("before", &ids(&collection.search(&leg).await?), &["b", "a"])?;
    collection.upsert(&[near]).await?;
    same_order("after", &ids(&collection.search(&leg).await?), &["a", "b"])
}

async fn mixed_batch(context: Context) -> Checked {
    let collection = context.holding(&[record("a", 0, r#"{"v":1}"#)?]).await?;
    collection
        .upsert(&[record("a", 0, r#"{"v":2}"#)?, record("b", 1, r#"{"v":2}"#)?])
        .await?;
    expect_rows(&collection, &["a", "b"]).await?;
    let a = stored(&collection, "a").await?;
    let two = a.and_then(|a| {
        a.metadata
            .get("v")
            .and_then(shelfward_core::Value::as_integer)
    });
    holds(two == Some(2), || {
        "the record that was there is not the new one".into()
    })
}

async fn same_key_twice(context: Context) -> Checked {
    let collection = context
        .holding(&[record("a", 0, r#"{"v":1}"#)?, record("a", 1, r#"{"v":2}"#)?])
        .await?;
    expect_rows(&collection, &["a"]).await?;
    let a = stored(&collection, "a").await?;
    let last = a.and_then(|a| {
        a.metadata
            .get("v")
            .and_then(shelfward_core::Value::as_integer)
    });
    holds(last == Some(2), || {
        "of two records of one key the last does not win".into()
    })
}

async fn empty_batch(context: Context) -> Checked {
    let collection = context.holding(&[record("a", 0, "{}")?]).await?;
    collection.upsert(&[]).await?;
    expect_rows(&collection, &["a"]).await
}

async fn thousand(context: Context) -> Checked {
    let names: Vec<String> = (0..1_000).map(|n| format!("r{n}")).collect();
    let all = names
        .iter()
        .map(|name| record(name, 1, "{}"))
        .collect::<Checked<Vec<_>>>()?;
    let collection = context.holding(&all).await?;
    expect_rows(
        &collection,
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
    )
    .await
}

async fn over_the_batch(context: Context) -> Checked {
    let spec = context.spec()?;
    let most = context.adapter().await?.capabilities(&spec).max_batch;
    // Without a limit there is none to pass; two records then show that the call is whole.
    let number = most.unwrap_or(1).saturating_add(1).min(20_000);
    let names: Vec<String> = (0..number).map(|n| format!("r{n}")).collect();
    let all = names
        .iter()
        .map(|name| record(name, 1, "{}"))
        .collect::<Checked<Vec<_>>>()?;
    let collection = context.make(&spec).await?;
    collection.upsert(&all).await?;
    let number = u64::try_from(number).unwrap_or(u64::MAX);
    rows("records over the batch limit", &collection, number).await
}

async fn bare(context: Context) -> Checked {
    let collection = context
        .holding(&[Record::new(key("a")?, [1.0, 0.0, 0.0, 0.0])])
        .await?;
    expect_rows(&collection, &["a"]).await?;
    let a = stored(&collection, "a").await?;
    let empty = a.is_some_and(|a| a.text.is_none() && a.metadata.is_empty());
    holds(empty, || {
        "a record without text and metadata came back with some".into()
    })
}

async fn round_trip(context: Context) -> Checked {
    let documents = records(&DECLARED)?;
    let collection = context
        .make(&context.spec()?.with_fields(fields()?))
        .await?;
    let texts = ["", "a\nb\tc", "😀 👩‍👩‍👧 é", "O'Hara \"x\" \\ %_ $1 {} []"];
    let written: Vec<Record> = documents
        .into_iter()
        .zip(texts.iter().cycle())
        .map(|(record, text)| record.with_text(*text))
        .collect();
    collection.upsert(&written).await?;
    for record in &written {
        let id = record.key.id.as_str();
        let found = stored(&collection, id)
            .await?
            .ok_or_else(|| Finding::errors(format!("{id} is not there")))?;
        let same = found.key == record.key
            && found.text == record.text
            && found.metadata == record.metadata
            && found.vector.as_deref() == Some(&*record.vector);
        holds(same, || format!("{id} is not read as it was written"))?;
    }
    Ok(())
}

async fn declared_kind(context: Context) -> Checked {
    let collection = context
        .make(&context.spec()?.with_fields(fields()?))
        .await?;
    let wrong = [
        r#"{"t":5}"#,
        r#"{"l":[5]}"#,
        r#"{"n":"5"}"#,
        r#"{"n":5.5}"#,
        r#"{"x":true}"#,
        r#"{"b":"true"}"#,
        r#"{"t":["a"]}"#,
    ];
    for metadata in wrong {
        refused(
            collection.upsert(&[record("a", 0, metadata)?]).await,
            metadata,
        )?;
    }
    collection
        .upsert(&[record("a", 0, r#"{"l":"alone","x":5,"n":5.0}"#)?])
        .await?;
    expect_rows(&collection, &["a"]).await
}

async fn reserved_key(context: Context) -> Checked {
    let reserved = shelfward_core::MetadataKey::stored("_shelfward_revision")?;
    let mut metadata = Metadata::new();
    metadata.insert(reserved, true);
    let collection = context.make(&context.spec()?).await?;
    let forged = record("a", 0, "{}")?.with_metadata(metadata);
    refused(
        collection.upsert(&[forged]).await,
        "a key of the library's own",
    )
}

async fn another_width(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    for vector in [&[1.0_f32, 0.0, 0.0][..], &[1.0, 0.0, 0.0, 0.0, 0.0], &[]] {
        refused(
            collection.upsert(&[Record::new(key("a")?, vector)]).await,
            "a vector of another width",
        )?;
    }
    expect_rows(&collection, &[]).await
}

async fn not_finite(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        refused(
            collection
                .upsert(&[Record::new(key("a")?, [1.0, odd, 0.0, 0.0])])
                .await,
            "a number that is not finite",
        )?;
    }
    expect_rows(&collection, &[]).await
}

async fn zero_vector(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    refused(
        collection.upsert(&[Record::new(key("a")?, [0.0; 4])]).await,
        "a zero vector under cosine",
    )?;
    expect_rows(&collection, &[]).await
}

async fn refused_batch(context: Context) -> Checked {
    let collection = context.holding(&[record("old", 0, "{}")?]).await?;
    let batch = [
        record("new", 1, "{}")?,
        Record::new(key("odd")?, [f32::NAN, 0.0, 0.0, 0.0]),
    ];
    refused(
        collection.upsert(&batch).await,
        "a batch with a record that cannot be held",
    )?;
    expect_rows(&collection, &["old"]).await
}
