//! Making, opening, listing and dropping collections.

use shelfward_core::{
    Collection, CollectionSpec, ErrorKind, Field, FieldKind, Filter, Include, Metric, StoreError,
};

use crate::case::Case;
use crate::check::{found, holds, left, rows, same_ids};
use crate::context::{Context, key, name, record, refused};
use crate::fixture::records;
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("collections/create-and-list", create_and_list),
        Case::new("collections/create-twice-keeps-rows", create_twice),
        Case::new("collections/another-width", |context| {
            differing(context, |spec| spec.width += 1)
        }),
        Case::new("collections/another-metric", |context| {
            differing(context, |spec| spec.metric = Metric::Dot)
        }),
        Case::new("collections/another-embedder", |context| {
            differing(context, |spec| spec.embedder = "another".to_owned())
        }),
        Case::new("collections/zero-width", zero_width),
        Case::new("collections/adds-fields", adds_fields),
        Case::new("collections/open-missing", open_missing),
        Case::new("collections/drop", drop_one),
        Case::new("collections/drop-missing", drop_missing),
        Case::new("collections/stale-handle", stale_handle),
        Case::new("collections/apart", apart),
    ]
}

async fn create_and_list(context: Context) -> Checked {
    let spec = context.spec()?;
    let store = context.store().await?;
    holds(!store.list().await?.contains(&spec.name), || {
        "a name is listed before it is made".into()
    })?;
    let collection = store.ensure(&spec).await?;
    holds(*collection.spec() == spec, || {
        "the spec is not the one that was given".into()
    })?;
    holds(store.list().await?.contains(&spec.name), || {
        "a collection is not listed".into()
    })?;
    let again = context.again(&spec.name).await?;
    holds(*again.spec() == spec, || {
        "another handle reads another spec".into()
    })
}

/// A collection of one record.
async fn of_one(context: &Context, spec: &CollectionSpec) -> Checked<Collection> {
    let collection = context.make(spec).await?;
    collection.upsert(&[record("kept", 0, "{}")?]).await?;
    Ok(collection)
}

async fn create_twice(context: Context) -> Checked {
    let spec = context.spec()?;
    of_one(&context, &spec).await?;
    let again = context.make(&spec).await?;
    rows("rows after creating again", &again, 1).await
}

async fn differing(context: Context, change: fn(&mut CollectionSpec)) -> Checked {
    let spec = context.spec()?;
    of_one(&context, &spec).await?;
    let mut other = spec.clone();
    change(&mut other);
    let store = context.store().await?;
    let answer = store.ensure(&other).await;
    refused(answer, "an existing collection as another")?;
    let still = store.open(&spec.name).await?;
    holds(*still.spec() == spec, || {
        "the refused spec was taken".into()
    })?;
    rows("rows after a refused create", &still, 1).await
}

async fn zero_width(context: Context) -> Checked {
    let mut spec = context.spec()?;
    spec.width = 0;
    refused(context.store().await?.ensure(&spec).await, "a width of 0")
}

async fn adds_fields(context: Context) -> Checked {
    let spec = context.spec()?;
    let years = [("a", r#"{"year":2020}"#), ("b", r#"{"year":2021}"#)];
    let collection = context.make(&spec).await?;
    collection.upsert(&records(&years)?).await?;
    let more = spec.with_fields([Field::new(name("year")?, FieldKind::Integer)]);
    let collection = context.make(&more).await?;
    let found = found(&collection, Filter::from_json(r#"{"year":2021}"#)?).await?;
    same_ids("a field declared later", &found, &["b"])
}

async fn open_missing(context: Context) -> Checked {
    let (name, store) = (context.name()?, context.store().await?);
    match store.open(&name).await {
        Err(error) if matches!(error.kind(), ErrorKind::NoCollection) => {}
        Err(error) => return Err(error.into()),
        Ok(_) => {
            let message = "a collection that was never made was opened";
            return Err(Finding::errors(message));
        }
    }
    let made = store.list().await?.contains(&name);
    holds(!made, || "opening made a collection".into())
}

async fn drop_one(context: Context) -> Checked {
    let spec = context.spec()?;
    let store = context.store().await?;
    of_one(&context, &spec).await?;
    holds(store.drop_collection(&spec.name).await?, || {
        "a drop answered that there was nothing".into()
    })?;
    holds(!store.list().await?.contains(&spec.name), || {
        "a dropped collection is listed".into()
    })?;
    let anew = store.ensure(&spec).await?;
    rows("rows of a collection made anew", &anew, 0).await
}

async fn drop_missing(context: Context) -> Checked {
    let name = context.name()?;
    let dropped = context.store().await?.drop_collection(&name).await?;
    holds(!dropped, || {
        "a drop answered that there was a collection".into()
    })
}

async fn stale_handle(context: Context) -> Checked {
    let spec = context.spec()?;
    let store = context.store().await?;
    let old = store.ensure(&spec).await?;
    store.drop_collection(&spec.name).await?;
    let late = [record("late", 0, "{}")?];
    stale(old.upsert(&late).await, "a write to a dropped collection")?;
    let new = store.ensure(&spec).await?;
    stale(old.upsert(&late).await, "a write to a collection made anew")?;
    let (keys, everything) = ([key("late")?], Filter::everything());
    let fetched = old.fetch(&keys, &everything, Include::METADATA).await;
    stale(fetched, "a read of a collection made anew")?;
    rows("rows of the new collection", &new, 0).await
}

fn stale<T>(answer: Result<T, StoreError>, what: &str) -> Checked {
    match answer {
        Ok(_) => Err(Finding::errors(format!("{what} went through"))),
        Err(error) => match error.kind() {
            ErrorKind::StaleHandle | ErrorKind::NoCollection => Ok(()),
            _ => Err(error.into()),
        },
    }
}

async fn apart(context: Context) -> Checked {
    let here = context.holding(&[record("here", 0, "{}")?]).await?;
    let there = context.holding(&[record("there", 1, "{}")?]).await?;
    left("one collection", &here, &["here"]).await?;
    left("the other", &there, &["there"]).await
}
