//! Deleting, by key and by filter.

use shelfward_core::filter::{any_of, key as field, not};
use shelfward_core::{Collection, Filter, Key, Leg};

use crate::case::Case;
use crate::check::{counts_deleted, holds, ids, same_ids};
use crate::context::{Context, key, record, refused};
use crate::fixture::{DECLARED, fields, records};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("delete/by-key", by_key),
        Case::new("delete/missing-key", missing_key),
        Case::new("delete/no-keys", no_keys),
        Case::new("delete/same-key-twice", same_key_twice),
        Case::new("delete/by-filter", by_filter),
        Case::new("delete/by-list-member", by_member),
        Case::new("delete/nothing-matches", nothing_matches),
        Case::new("delete/exactly-what-matches", exactly),
        Case::new("delete/tautologies", tautologies),
        Case::new("delete/all", all),
        Case::new("delete/and-write-again", write_again),
        Case::new("delete/replace", replace),
        Case::new("delete/replace-with-nothing", replace_with_nothing),
    ]
}

async fn fixture(context: &Context) -> Checked<Collection> {
    let collection = context
        .make(&context.spec()?.with_fields(fields()?))
        .await?;
    collection.upsert(&records(&DECLARED)?).await?;
    Ok(collection)
}

async fn left(collection: &Collection, expected: &[&str]) -> Checked {
    let found = collection
        .search(&Leg::dense([1.0; 4], Filter::everything(), 100))
        .await?;
    same_ids("what is left", &ids(&found), expected)
}

async fn by_key(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let keys: Vec<Key> = ["a", "c", "e"]
        .iter()
        .map(|id| key(id))
        .collect::<Checked<_>>()?;
    counts_deleted(
        "deleted",
        collection.capabilities(),
        collection.delete(&keys).await?,
        3,
    )?;
    left(&collection, &["b", "d", "f", "g", "h", "i", "j"]).await
}

async fn missing_key(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    counts_deleted(
        "one of two",
        collection.capabilities(),
        collection.delete(&[key("a")?, key("nobody")?]).await?,
        1,
    )?;
    counts_deleted(
        "none",
        collection.capabilities(),
        collection.delete(&[key("nobody")?]).await?,
        0,
    )
}

async fn no_keys(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    refused(collection.delete(&[]).await, "a delete of no keys")?;
    left(
        &collection,
        &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"],
    )
    .await
}

async fn same_key_twice(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    counts_deleted(
        "one key twice",
        collection.capabilities(),
        collection.delete(&[key("a")?, key("a")?]).await?,
        1,
    )
}

async fn by_filter(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let selector = field("n").eq(5).build()?.narrow()?;
    let deleted = collection.delete_matching(&selector).await?;
    left(&collection, &["b", "c", "d", "e", "f", "g", "i", "j"]).await?;
    counts_deleted("deleted", collection.capabilities(), deleted, 2)
}

async fn by_member(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let selector = field("l").is_in(["c", "b'c"]).build()?.narrow()?;
    let deleted = collection.delete_matching(&selector).await?;
    left(&collection, &["a", "d", "e", "f", "g", "h", "j"]).await?;
    counts_deleted("deleted", collection.capabilities(), deleted, 3)
}

async fn nothing_matches(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let selector = field("t").eq("nobody").build()?.narrow()?;
    counts_deleted(
        "deleted",
        collection.capabilities(),
        collection.delete_matching(&selector).await?,
        0,
    )?;
    left(
        &collection,
        &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"],
    )
    .await
}

/// Each condition of the selector alone names more, so that one that is dropped deletes too much.
async fn exactly(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let both = field("l").all(["a", "zz"]).build()?.narrow()?;
    counts_deleted(
        "two members of which one is nowhere",
        collection.capabilities(),
        collection.delete_matching(&both).await?,
        0,
    )?;
    let selector = field("l")
        .all(["b"])
        .and(field("t").eq("red"))
        .and(field("x").gt(0))
        .build()?
        .narrow()?;
    counts_deleted(
        "deleted",
        collection.capabilities(),
        collection.delete_matching(&selector).await?,
        1,
    )?;
    left(&collection, &["b", "c", "d", "e", "f", "g", "h", "i", "j"]).await?;
    let whole = field("t").eq("red hot").build()?.narrow()?;
    let begins = field("t").eq("red").build()?.narrow()?;
    let of_another_case = field("t").eq("RED").build()?.narrow()?;
    counts_deleted(
        "a text that another begins with",
        collection.capabilities(),
        collection.delete_matching(&begins).await?,
        0,
    )?;
    counts_deleted(
        "a text in another case",
        collection.capabilities(),
        collection.delete_matching(&of_another_case).await?,
        0,
    )?;
    counts_deleted(
        "the whole text",
        collection.capabilities(),
        collection.delete_matching(&whole).await?,
        1,
    )?;
    left(&collection, &["b", "d", "e", "f", "g", "h", "i", "j"]).await
}

async fn tautologies(_: Context) -> Checked {
    let none: [&str; 0] = [];
    let exists = || field("t").exists(true);
    let wide = [
        Filter::everything(),
        Filter::from_json(r#"{"$and":[]}"#)?,
        field("t").all(none).build()?,
        field("t").not_in(none).build()?,
        not(field("t").is_in(none)).build()?,
        any_of([field("t").eq("a"), Filter::everything().into()]).build()?,
        any_of([field("t").eq("a"), not(field("t").eq("a"))]).build()?,
        any_of([exists(), not(exists())]).build()?,
    ];
    wide.into_iter().try_for_each(|filter| {
        let shown = filter.to_string();
        holds(filter.narrow().is_err(), || {
            format!("{shown} is taken as a selector")
        })
    })
}

async fn all(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    counts_deleted(
        "deleted",
        collection.capabilities(),
        collection.delete_all().await?,
        10,
    )?;
    left(&collection, &[]).await?;
    collection.upsert(&[record("new", 0, "{}")?]).await?;
    left(&collection, &["new"]).await
}

async fn write_again(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let selector = field("t").eq("red").build()?.narrow()?;
    collection.delete_matching(&selector).await?;
    left(&collection, &["b", "c", "d", "e", "f", "g", "h", "i", "j"]).await?;
    collection.upsert(&records(&DECLARED[..1])?).await?;
    left(
        &collection,
        &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"],
    )
    .await
}

async fn replace(context: Context) -> Checked {
    let collection = context
        .make(&context.spec()?.with_fields(fields()?))
        .await?;
    let part = |id, n, unit: &str| record(id, n, &format!(r#"{{"t":"{unit}"}}"#));
    collection
        .upsert(&[
            part("a", 0, "one")?,
            part("b", 1, "one")?,
            part("c", 2, "one")?,
            part("d", 3, "two")?,
        ])
        .await?;
    let selector = field("t").eq("one").build()?.narrow()?;
    let replaced = collection
        .replace(&selector, &[part("a", 4, "one")?, part("e", 5, "one")?])
        .await?;
    left(&collection, &["a", "d", "e"]).await?;
    counts_deleted("removed", collection.capabilities(), replaced.removed, 3)?;
    holds(replaced.written == 2, || {
        format!("2 were written, {} answered", replaced.written)
    })
}

async fn replace_with_nothing(context: Context) -> Checked {
    let collection = fixture(&context).await?;
    let selector = field("t").eq("red").build()?.narrow()?;
    counts_deleted(
        "removed",
        collection.capabilities(),
        collection.replace(&selector, &[]).await?.removed,
        1,
    )?;
    left(&collection, &["b", "c", "d", "e", "f", "g", "h", "i", "j"]).await
}
