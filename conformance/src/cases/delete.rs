//! Deleting, by key and by filter.

use shelfward_core::filter::{any_of, key as field, not};
use shelfward_core::{Collection, Count, Filter, FilterError, Selector, StoreError};

use crate::case::Case;
use crate::check::{NONE, counts_deleted, holds, left};
use crate::context::{Context, key, record, refused};
use crate::fixture::{self, DECLARED, records};
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

/// The documents but for these are left.
async fn all_but(collection: &Collection, gone: &[&str]) -> Checked {
    let mut ids = DECLARED.map(|(id, _)| id).to_vec();
    ids.retain(|id| !gone.contains(id));
    left("what is left", collection, &ids).await
}

fn deleted(collection: &Collection, got: Result<Count, StoreError>, expected: u64) -> Checked {
    counts_deleted("deleted", collection.capabilities(), got?, expected)
}

/// Deletes by keys so many.
async fn deletes(collection: &Collection, ids: &[&str], expected: u64) -> Checked {
    let keys: Checked<Vec<_>> = ids.iter().map(|id| key(id)).collect();
    deleted(collection, collection.delete(&keys?).await, expected)
}

/// Deletes by a filter so many.
async fn deletes_matching(
    collection: &Collection,
    filter: Result<Filter, FilterError>,
    expected: u64,
) -> Checked {
    let selector = filter?.narrow()?;
    deleted(
        collection,
        collection.delete_matching(&selector).await,
        expected,
    )
}

async fn by_key(context: Context) -> Checked {
    let collection = fixture::own(&context).await?;
    deletes(&collection, &["a", "c", "e"], 3).await?;
    all_but(&collection, &["a", "c", "e"]).await
}

async fn missing_key(context: Context) -> Checked {
    let collection = fixture::own(&context).await?;
    deletes(&collection, &["a", "nobody"], 1).await?;
    deletes(&collection, &["nobody"], 0).await
}

async fn no_keys(context: Context) -> Checked {
    let collection = fixture::own(&context).await?;
    refused(collection.delete(&[]).await, "a delete of no keys")?;
    all_but(&collection, NONE).await
}

async fn same_key_twice(context: Context) -> Checked {
    deletes(&fixture::own(&context).await?, &["a", "a"], 1).await
}

/// What is left is looked at before the number, which may be all that is wrong.
async fn leaves(context: &Context, selector: Selector, gone: &[&str]) -> Checked {
    let collection = fixture::own(context).await?;
    let answer = collection.delete_matching(&selector).await;
    all_but(&collection, gone).await?;
    deleted(&collection, answer, crate::check::number(gone.len()))
}

async fn by_filter(context: Context) -> Checked {
    let five = field("n").eq(5).build()?.narrow()?;
    leaves(&context, five, &["a", "h"]).await
}

async fn by_member(context: Context) -> Checked {
    let members = field("l").is_in(["c", "b'c"]).build()?.narrow()?;
    leaves(&context, members, &["b", "c", "i"]).await
}

async fn nothing_matches(context: Context) -> Checked {
    let collection = fixture::own(&context).await?;
    deletes_matching(&collection, field("t").eq("nobody").build(), 0).await?;
    all_but(&collection, NONE).await
}

/// Each condition of the selector alone names more, so that one that is dropped deletes too much.
async fn exactly(context: Context) -> Checked {
    let collection = fixture::own(&context).await?;
    // Two members of which one is nowhere.
    let both = field("l").all(["a", "zz"]);
    deletes_matching(&collection, both.build(), 0).await?;
    let three = field("l").all(["b"]).and(field("t").eq("red"));
    let three = three.and(field("x").gt(0));
    deletes_matching(&collection, three.build(), 1).await?;
    all_but(&collection, &["a"]).await?;
    // A text that another begins with, one in another case, and the whole.
    for (text, expected) in [("red", 0), ("RED", 0), ("red hot", 1)] {
        deletes_matching(&collection, field("t").eq(text).build(), expected).await?;
    }
    all_but(&collection, &["a", "c"]).await
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
    let collection = fixture::own(&context).await?;
    deleted(&collection, collection.delete_all().await, 10)?;
    left("what is left", &collection, NONE).await?;
    collection.upsert(&[record("new", 0, "{}")?]).await?;
    left("what was written", &collection, &["new"]).await
}

async fn write_again(context: Context) -> Checked {
    let collection = fixture::own(&context).await?;
    let red = field("t").eq("red").build()?.narrow()?;
    collection.delete_matching(&red).await?;
    all_but(&collection, &["a"]).await?;
    collection.upsert(&records(&DECLARED[..1])?).await?;
    all_but(&collection, NONE).await
}

async fn replace(context: Context) -> Checked {
    let part = |id, n, unit: &str| record(id, n, &format!(r#"{{"t":"{unit}"}}"#));
    let before = [
        part("a", 0, "one")?,
        part("b", 1, "one")?,
        part("c", 2, "one")?,
        part("d", 3, "two")?,
    ];
    let collection = fixture::holding(&context, &before).await?;
    let one = field("t").eq("one").build()?.narrow()?;
    let new = [part("a", 4, "one")?, part("e", 5, "one")?];
    let replaced = collection.replace(&one, &new).await?;
    left("what is left", &collection, &["a", "d", "e"]).await?;
    deleted(&collection, Ok(replaced.removed), 3)?;
    holds(replaced.written == 2, || {
        format!("2 were written, {} answered", replaced.written)
    })
}

async fn replace_with_nothing(context: Context) -> Checked {
    let collection = fixture::own(&context).await?;
    let red = field("t").eq("red").build()?.narrow()?;
    let replaced = collection.replace(&red, &[]).await?;
    deleted(&collection, Ok(replaced.removed), 1)?;
    all_but(&collection, &["a"]).await
}
