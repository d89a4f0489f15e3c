//! Changing metadata in place.

use shelfward_core::filter::key as field;
use shelfward_core::{
    Capabilities, Collection, Field, FieldKind, FieldRole, Filter, Include, Key, Leg, Metadata,
    MetadataKey, MetadataPatch, Record, Scalar, StoredRecord, Value,
};

use crate::case::Case;
use crate::check::{counts_updated, holds, ids, same_ids};
use crate::context::{Context, key, refused, text};
use crate::fixture::{DECLARED, fields, records};
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    let cases = vec![
        Case::new("update/counts", count),
        Case::new("update/merges", merges),
        Case::new("update/removes", removes),
        Case::new("update/keeps-vector-and-text", keeps),
        Case::new("update/filters-see-it", seen),
        Case::new("update/nothing-matches", none),
    ];
    let refusals = [
        Case::new("update/empty-patch", empty_patch),
        Case::new("update/wrong-kind", wrong_kind),
        Case::new("update/never-the-partition", partition),
    ];
    let cases = cases.into_iter().map(|case| case.needs(updates));
    let refusals = refusals
        .map(|case| case.only_where(updates, "it refuses every update of metadata in place"));
    cases.chain(refusals).collect()
}

fn updates(can: &Capabilities) -> bool {
    can.update_metadata.is_some()
}

async fn fixture(context: &Context) -> Checked<Collection> {
    let collection = context
        .make(&context.spec()?.with_fields(fields()?))
        .await?;
    collection.upsert(&records(&DECLARED)?).await?;
    Ok(collection)
}

async fn stored(collection: &Collection, id: &str) -> Checked<StoredRecord> {
    let fetched = collection
        .fetch(&[key(id)?], &Filter::everything(), Include::ALL)
        .await?;
    fetched
        .into_iter()
        .next()
        .flatten()
        .ok_or_else(|| Finding::errors(format!("{id} is gone")))
}

fn name(name: &str) -> Checked<MetadataKey> {
    Ok(MetadataKey::new(name)?)
}

fn value(value: &str) -> Checked<Value> {
    Ok(Value::Scalar(Scalar::text(value)?))
}

async fn count(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let selector = field("n").eq(5).build()?.narrow()?;
    let patch = MetadataPatch::new().set(name("t")?, value("new")?);
    counts_updated(
        "updated",
        collection.capabilities(),
        collection.update_metadata(&selector, &patch).await?,
        2,
    )?;
    let found = collection
        .search(&Leg::dense([1.0; 4], field("t").eq("new").build()?, 50))
        .await?;
    same_ids("the updated", &ids(&found), &["a", "h"])
}

async fn merges(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let selector = field("t").eq("red").build()?.narrow()?;
    let patch = MetadataPatch::new()
        .set(name("n")?, 7)
        .set(name("l")?, Value::texts(["z"])?);
    collection.update_metadata(&selector, &patch).await?;
    let expected = Metadata::from_json(r#"{"t":"red","l":["z"],"n":7,"x":2.5,"b":true}"#)?;
    let found = stored(&collection, "a").await?.metadata;
    holds(*found == expected, || {
        "an update does not leave the other keys as they are".into()
    })
}

async fn removes(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let selector = field("t").eq("red").build()?.narrow()?;
    let patch = MetadataPatch::new()
        .remove(name("x")?)
        .remove(name("b")?)
        .remove(name("missing")?);
    collection.update_metadata(&selector, &patch).await?;
    let expected = Metadata::from_json(r#"{"t":"red","l":["a","b"],"n":5}"#)?;
    let found = stored(&collection, "a").await?.metadata;
    holds(*found == expected, || {
        "a removed key is still there, or another is gone".into()
    })?;
    let found = collection
        .search(&Leg::dense([1.0; 4], field("b").exists(true).build()?, 50))
        .await?;
    same_ids("those that have it", &ids(&found), &["b", "h"])
}

async fn keeps(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let before = stored(&collection, "a").await?;
    let selector = field("t").eq("red").build()?.narrow()?;
    collection
        .update_metadata(&selector, &MetadataPatch::new().set(name("n")?, 7))
        .await?;
    let after = stored(&collection, "a").await?;
    holds(
        before.vector == after.vector && before.text == after.text,
        || "an update changes the vector or the text".into(),
    )
}

async fn seen(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let selector = field("t").eq("red").build()?.narrow()?;
    let patch = MetadataPatch::new().set(name("l")?, Value::texts(["only"])?);
    collection.update_metadata(&selector, &patch).await?;
    for (filter, expected) in [
        (field("l").is_in(["only"]), &["a"][..]),
        (field("l").is_in(["a"]), &["h"]),
    ] {
        let found = collection
            .search(&Leg::dense([1.0; 4], filter.build()?, 50))
            .await?;
        same_ids("by the new values", &ids(&found), expected)?;
    }
    Ok(())
}

async fn none(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let selector = field("t").eq("nobody").build()?.narrow()?;
    let patch = MetadataPatch::new().set(name("n")?, 7);
    counts_updated(
        "updated",
        collection.capabilities(),
        collection.update_metadata(&selector, &patch).await?,
        0,
    )
}

async fn empty_patch(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let selector = field("t").eq("red").build()?.narrow()?;
    refused(
        collection
            .update_metadata(&selector, &MetadataPatch::new())
            .await,
        "a patch of nothing",
    )
}

async fn wrong_kind(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let selector = field("t").eq("red").build()?.narrow()?;
    let patch = MetadataPatch::new().set(name("n")?, value("seven")?);
    refused(
        collection.update_metadata(&selector, &patch).await,
        "a text under an integer field",
    )
}

async fn partition(context: Context) -> Checked {
    let fields = [
        Field::new(name("tenant")?, FieldKind::Text).with_role(FieldRole::Partition),
        Field::new(name("unit")?, FieldKind::Text).with_role(FieldRole::Unit),
    ];
    let collection = context.make(&context.spec()?.with_fields(fields)).await?;
    let metadata = Metadata::new().with("tenant", "org")?.with("unit", "u")?;
    let record =
        Record::new(Key::within(text("org")?, text("a")?), [1.0; 4]).with_metadata(metadata);
    collection.upsert(&[record]).await?;
    let selector = field("tenant").eq("org").build()?.narrow()?;
    for fixed in ["tenant", "unit"] {
        let set = MetadataPatch::new().set(name(fixed)?, value("other")?);
        refused(
            collection.update_metadata(&selector, &set).await,
            "a patch of where a record belongs",
        )?;
        let remove = MetadataPatch::new().remove(name(fixed)?);
        refused(
            collection.update_metadata(&selector, &remove).await,
            "a patch of where a record belongs",
        )?;
    }
    Ok(())
}
