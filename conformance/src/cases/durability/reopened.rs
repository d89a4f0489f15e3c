//! Stores that are let go of and opened again.

use std::sync::Arc;

use shelfward_core::filter::key as field;
use shelfward_core::{Field, FieldKind, Metadata, MetadataPatch, Record, Scalar, Value, WordRule};

use crate::cases::open_store::OpenStore;
use crate::check::{holds, same_ids};
use crate::context::{Context, key, name, record};
use crate::fixture::{self, DECLARED};
use crate::verdict::Checked;

/// Records of every kind of value, and vectors whose every bit counts.
fn odd_records() -> Checked<Vec<Record>> {
    let vectors = [
        [0.1, -0.0, 1.0e-30, 16_777_217.0],
        [1.0 / 3.0, -2.0 / 3.0, f32::MIN_POSITIVE, 0.0],
        [-1.000_000_1, 0.999_999_9, 123_456.79, 1.0e12],
    ];
    let texts = [
        Some("text of a berth"),
        None,
        Some(""),
        Some("Zwei\nZeilen\tund \u{1f6a2}\u{200d} \"'\\ e\u{301} é"),
    ];
    let odd = [
        r#"{"t":"\u0001\n\u2028","l":["","é","e\u0301"],"n":-9223372036854775808}"#,
        r#"{"n":9223372036854775807,"x":-0.0,"b":false}"#,
        r#"{"x":5e-324,"n":1}"#,
        r#"{"x":1.7976931348623157e308,"l":["b","a","b"]}"#,
    ];
    let metadata = DECLARED.iter().map(|(_, json)| *json).chain(odd);
    let all = (0..).zip(metadata).zip(vectors.iter().cycle());
    let record = |(((n, json), vector), text): (((u32, &str), &[f32; 4]), &Option<&str>)| {
        let key = key(&format!("id {n} \"'#é"))?;
        let mut record = Record::new(key, *vector).with_metadata(Metadata::from_json(json)?);
        record.text = text.map(Arc::from);
        Ok(record)
    };
    all.zip(texts.iter().cycle()).map(record).collect()
}

pub(super) async fn whole(context: Context) -> Checked {
    let opened = OpenStore::new(&context, &fixture::spec(&context)?).await?;
    let mut odd = odd_records()?;
    opened.upsert(&odd).await?;
    let last = record("the last one", 3, r#"{"n":4}"#)?;
    opened.upsert(std::slice::from_ref(&last)).await?;
    odd.push(last);
    opened.holds("before", &odd).await?;
    let opened = opened.again().await?;
    opened.holds("opened again", &odd).await?;
    let opened = opened.again().await?;
    opened.holds("opened a third time", &odd).await?;
    opened.end().await
}

/// Everything that a spec says, and the fields that were added to it later.
pub(super) async fn spec(context: Context) -> Checked {
    let mut first = fixture::spec(&context)?;
    first.embedder = "of \"another\" suite".to_owned();
    first = first.with_word_rule(WordRule::UnicodeBigrams);
    let opened = OpenStore::new(&context, &first).await?;
    opened.upsert(&fixture::records(&DECLARED)?).await?;
    let opened = opened.again().await?;
    holds(*opened.collection.spec() == first, || {
        "a spec comes back as another".into()
    })?;
    let mut wider = first.clone();
    let added = Field::new(name("added")?, FieldKind::Integer);
    wider.fields.push(added);
    opened.store.ensure(&wider).await?;
    let opened = opened.again().await?;
    holds(*opened.collection.spec() == wider, || {
        "a field that was added is not there again".into()
    })?;
    let new = record("new", 9, r#"{"added":7}"#)?;
    opened.upsert(&[new]).await?;
    let opened = opened.again().await?;
    let added = field("added").eq(7).build()?;
    same_ids("by the added field", &opened.finds(added).await?, &["new"])?;
    let mut other = wider;
    other.width += 1;
    holds(opened.store.ensure(&other).await.is_err(), || {
        "a spec of another width is taken for the one that is there".into()
    })?;
    opened.end().await
}

/// Fields that are added before anything is written, by a collection beside one that holds something.
pub(super) async fn fields_where_nothing_is(context: Context) -> Checked {
    let beside = OpenStore::new(&context, &context.spec()?).await?;
    let kept = record("kept", 1, "{}")?;
    beside.upsert(std::slice::from_ref(&kept)).await?;
    let spec = context.spec()?;
    beside.store.ensure(&spec).await?;
    let wider = spec.with_fields([
        Field::new(name("added")?, FieldKind::Integer),
        Field::new(name("tags")?, FieldKind::TextList),
    ]);
    let collection = beside.store.ensure(&wider).await?;
    let new = record("new", 9, r#"{"added":7,"tags":["x"]}"#)?;
    collection.upsert(std::slice::from_ref(&new)).await?;
    let name = beside.name().clone();
    let opened = beside.with(collection).again().await?;
    holds(*opened.collection.spec() == wider, || {
        "a field that was added is not there again".into()
    })?;
    opened.holds("under the added fields", &[new]).await?;
    let both = field("added").eq(7).and(field("tags").eq("x")).build()?;
    same_ids("by the added fields", &opened.finds(both).await?, &["new"])?;
    opened.store.drop_collection(&wider.name).await?;
    let collection = opened.store.open(&name).await?;
    let beside = opened.with(collection);
    beside.holds("the collection beside it", &[kept]).await?;
    beside.end().await
}

/// Six records of two units.
fn two_units() -> Checked<Vec<Record>> {
    (0_u8..6)
        .map(|n| {
            let unit = if n < 4 { "red" } else { "blue" };
            record(&format!("r{n}"), n, &format!(r#"{{"t":"{unit}","n":{n}}}"#))
        })
        .collect()
}

pub(super) async fn units(context: &Context) -> Checked<(OpenStore, Vec<Record>)> {
    let opened = OpenStore::new(context, &fixture::spec(context)?).await?;
    let records = two_units()?;
    opened.upsert(&records).await?;
    Ok((opened, records))
}

pub(super) async fn deletes(context: Context) -> Checked {
    let (opened, mut records) = units(&context).await?;
    opened.collection.delete(&[key("r5")?]).await?;
    records.retain(|record| record.key.id.as_str() != "r5");
    let opened = opened.again().await?;
    opened.agrees("a delete by key", &records).await?;

    let can = opened.collection.capabilities();
    if can.scan || can.delete_matching.is_some() {
        let red = field("t").eq("red").build()?.narrow()?;
        opened.collection.delete_matching(&red).await?;
        records.retain(|record| record.metadata.text("t") != Some("red"));
        let opened = opened.again().await?;
        opened.agrees("a delete by filter", &records).await?;
        return opened.end().await;
    }
    opened.end().await
}

pub(super) async fn replaces(context: Context) -> Checked {
    let (opened, mut records) = units(&context).await?;
    let red = field("t").eq("red").build()?.narrow()?;
    let new = [record("r1", 7, r#"{"t":"red","n":70}"#)?];
    opened.collection.replace(&red, &new).await?;
    records.retain(|record| record.metadata.text("t") != Some("red"));
    records.extend(new);
    let opened = opened.again().await?;
    opened.agrees("a replace", &records).await?;

    // Written over, under a key that stays.
    let over = record("r4", 1, r#"{"t":"green","n":4}"#)?;
    opened.upsert(std::slice::from_ref(&over)).await?;
    records.retain(|record| record.key != over.key);
    records.push(over);
    let opened = opened.again().await?;
    opened.agrees("an upsert over another", &records).await?;
    opened.end().await
}

pub(super) async fn patches(context: Context) -> Checked {
    let (opened, mut records) = units(&context).await?;
    let red = field("t").eq("red").build()?.narrow()?;
    let patch = MetadataPatch::new()
        .set(name("x")?, Value::Scalar(Scalar::float(2.5)?))
        .remove(name("n")?);
    opened.collection.update_metadata(&red, &patch).await?;
    for record in &mut records {
        if record.metadata.text("t") == Some("red") {
            record.metadata = Arc::new(patch.apply(&record.metadata));
        }
    }
    let opened = opened.again().await?;
    opened.agrees("a patch", &records).await?;
    let set = opened.finds(field("x").eq(2.5).build()?).await?;
    same_ids("what was set", &set, &["r0", "r1", "r2", "r3"])?;
    opened.end().await
}

pub(super) async fn drops(context: Context) -> Checked {
    let (opened, _) = units(&context).await?;
    let kept = opened.store.ensure(&context.spec()?).await?;
    let stays = record("stays", 0, "{}")?;
    kept.upsert(std::slice::from_ref(&stays)).await?;
    let (dropped, name) = (opened.collection.spec().clone(), kept.spec().name.clone());
    opened.store.drop_collection(&dropped.name).await?;
    let opened = opened.with(kept);
    let opened = opened.again().await?;
    let there = opened.store.list().await?;
    holds(
        !there.contains(&dropped.name) && there.contains(&name),
        || "a collection that was dropped is there again, or another is not".into(),
    )?;
    opened.holds("the other collection", &[stays]).await?;
    // Made anew under the same name, it is empty.
    let mut anew = dropped;
    anew.width = 2;
    let anew = opened.store.ensure(&anew).await?;
    let records = [Record::new(key("r0")?, [1.0, 0.5])];
    anew.upsert(&records).await?;
    let opened = opened.with(anew).again().await?;
    opened.holds("made anew", &records).await?;
    opened.store.drop_collection(&name).await?;
    opened.end().await
}

pub(super) async fn without_a_close(context: Context) -> Checked {
    let (opened, mut records) = units(&context).await?;
    let opened = opened.drop_handles().open().await?;
    opened.agrees("handles were dropped", &records).await?;
    let last = record("last", 5, r#"{"t":"red"}"#)?;
    opened.upsert(std::slice::from_ref(&last)).await?;
    opened.collection.delete(&[key("r0")?]).await?;
    records.push(last);
    records.retain(|record| record.key.id.as_str() != "r0");
    let opened = opened.drop_handles().open().await?;
    opened.agrees("dropped again", &records).await?;
    opened.end().await
}

/// A close lets go of the store, though a handle on a collection is left somewhere.
pub(super) async fn close_lets_go(context: Context) -> Checked {
    let (opened, records) = units(&context).await?;
    let left = opened.collection.clone();
    let opened = opened.again().await?;
    opened
        .agrees("beside a handle that is left", &records)
        .await?;
    let refused = left.upsert(&[record("late", 0, "{}")?]).await;
    holds(refused.is_err(), || {
        "a handle of a closed store writes".into()
    })?;
    opened.holds("after that", &records).await?;
    opened.end().await
}

/// Each time some are added, some written over, some deleted.
pub(super) async fn many_times(context: Context) -> Checked {
    let (mut opened, mut records) = units(&context).await?;
    for round in 0_u8..8 {
        let new = record(&format!("new{round}"), round, r#"{"t":"new"}"#)?;
        let over = record("r3", round, &format!(r#"{{"n":{round}}}"#))?;
        opened.upsert(&[new.clone(), over.clone()]).await?;
        let gone = match round.checked_sub(2) {
            Some(earlier) => key(&format!("new{earlier}"))?,
            None => key(&format!("r{round}"))?,
        };
        opened
            .collection
            .delete(std::slice::from_ref(&gone))
            .await?;
        records.retain(|record| record.key != over.key && record.key != gone);
        records.extend([new, over]);
        opened = opened.again().await?;
        opened.agrees(&format!("round {round}"), &records).await?;
    }
    opened.end().await
}
