//! Changing metadata in place.

use shelfward_core::filter::key as field;
use shelfward_core::{
    Collection, Field, FieldKind, FieldRole, Key, Metadata, MetadataPatch, Record, Selector, Value,
};

use crate::case::Case;
use crate::check::{counts_updated, found, holds, same_ids, stored, updates};
use crate::context::{Context, name, refused, text, text_value};
use crate::fixture;
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    let cases = [
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
    let cases = cases.map(|case| case.needs(updates)).into_iter();
    let refusals = refusals
        .map(|case| case.only_where(updates, "it refuses every update of metadata in place"));
    cases.chain(refusals).collect()
}

fn red() -> Checked<Selector> {
    Ok(field("t").eq("red").build()?.narrow()?)
}

/// The documents, of which the red one was patched.
async fn patched(context: &Context, patch: MetadataPatch) -> Checked<Collection> {
    let collection = fixture::own(context).await?;
    collection.update_metadata(&red()?, &patch).await?;
    Ok(collection)
}

/// What the red one, `a`, holds.
async fn is_now(collection: &Collection, expected: &str, otherwise: &str) -> Checked {
    let held = stored(collection, "a").await?.metadata;
    let expected = Metadata::from_json(expected)?;
    holds(*held == expected, || otherwise.to_owned())
}

async fn count(context: Context) -> Checked {
    let collection = fixture::own(&context).await?;
    let five = field("n").eq(5).build()?.narrow()?;
    let patch = MetadataPatch::new().set(name("t")?, text_value("new")?);
    let updated = collection.update_metadata(&five, &patch).await?;
    counts_updated("updated", collection.capabilities(), updated, 2)?;
    let new = found(&collection, field("t").eq("new").build()?).await?;
    same_ids("the updated", &new, &["a", "h"])
}

async fn merges(context: Context) -> Checked {
    let patch = MetadataPatch::new().set(name("n")?, 7);
    let patch = patch.set(name("l")?, Value::texts(["z"])?);
    let collection = patched(&context, patch).await?;
    let expected = r#"{"t":"red","l":["z"],"n":7,"x":2.5,"b":true}"#;
    let otherwise = "an update does not leave the other keys as they are";
    is_now(&collection, expected, otherwise).await
}

async fn removes(context: Context) -> Checked {
    let keys = ["x", "b", "missing"].into_iter().map(name);
    let patch = keys.collect::<Checked<Vec<_>>>()?.into_iter();
    let patch = patch.fold(MetadataPatch::new(), MetadataPatch::remove);
    let collection = patched(&context, patch).await?;
    let expected = r#"{"t":"red","l":["a","b"],"n":5}"#;
    let otherwise = "a removed key is still there, or another is gone";
    is_now(&collection, expected, otherwise).await?;
    let have = found(&collection, field("b").exists(true).build()?).await?;
    same_ids("those that have it", &have, &["b", "h"])
}

async fn keeps(context: Context) -> Checked {
    let collection = fixture::own(&context).await?;
    let before = stored(&collection, "a").await?;
    let patch = MetadataPatch::new().set(name("n")?, 7);
    collection.update_metadata(&red()?, &patch).await?;
    let after = stored(&collection, "a").await?;
    let same = before.vector == after.vector && before.text == after.text;
    holds(same, || "an update changes the vector or the text".into())
}

async fn seen(context: Context) -> Checked {
    let patch = MetadataPatch::new().set(name("l")?, Value::texts(["only"])?);
    let collection = patched(&context, patch).await?;
    for (member, expected) in [("only", "a"), ("a", "h")] {
        let found = found(&collection, field("l").is_in([member]).build()?).await?;
        same_ids("by the new values", &found, &[expected])?;
    }
    Ok(())
}

async fn none(context: Context) -> Checked {
    let collection = fixture::own(&context).await?;
    let nobody = field("t").eq("nobody").build()?.narrow()?;
    let patch = MetadataPatch::new().set(name("n")?, 7);
    let updated = collection.update_metadata(&nobody, &patch).await?;
    counts_updated("updated", collection.capabilities(), updated, 0)
}

async fn is_refused(context: &Context, patch: MetadataPatch, what: &str) -> Checked {
    let collection = fixture::own(context).await?;
    refused(collection.update_metadata(&red()?, &patch).await, what)
}

async fn empty_patch(context: Context) -> Checked {
    is_refused(&context, MetadataPatch::new(), "a patch of nothing").await
}

async fn wrong_kind(context: Context) -> Checked {
    let patch = MetadataPatch::new().set(name("n")?, text_value("seven")?);
    is_refused(&context, patch, "a text under an integer field").await
}

async fn partition(context: Context) -> Checked {
    let fields = [
        Field::new(name("tenant")?, FieldKind::Text).with_role(FieldRole::Partition),
        Field::new(name("unit")?, FieldKind::Text).with_role(FieldRole::Unit),
    ];
    let collection = context.make(&context.spec()?.with_fields(fields)).await?;
    let metadata = Metadata::new().with("tenant", "org")?.with("unit", "u")?;
    let key = Key::within(text("org")?, text("a")?);
    let record = Record::new(key, [1.0; 4]).with_metadata(metadata);
    collection.upsert(&[record]).await?;
    let selector = field("tenant").eq("org").build()?.narrow()?;
    for fixed in ["tenant", "unit"] {
        let set = MetadataPatch::new().set(name(fixed)?, text_value("other")?);
        let remove = MetadataPatch::new().remove(name(fixed)?);
        for patch in [set, remove] {
            let answer = collection.update_metadata(&selector, &patch).await;
            refused(answer, "a patch of where a record belongs")?;
        }
    }
    Ok(())
}
