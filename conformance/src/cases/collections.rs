//! Making, opening, listing and dropping collections.

use shelfward_core::{
    CollectionSpec, ErrorKind, Field, FieldKind, Filter, Include, Leg, MetadataKey, Metric,
    StoreError,
};

use crate::case::Case;
use crate::check::{holds, ids, rows, same_ids};
use crate::context::{Context, key, record, refused};
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

async fn create_twice(context: Context) -> Checked {
    let spec = context.spec()?;
    context
        .make(&spec)
        .await?
        .upsert(&[record("kept", 0, "{}")?])
        .await?;
    let again = context.make(&spec).await?;
    rows("rows after creating again", &again, 1).await
}

async fn differing(context: Context, change: fn(&mut CollectionSpec)) -> Checked {
    let spec = context.spec()?;
    context
        .make(&spec)
        .await?
        .upsert(&[record("kept", 0, "{}")?])
        .await?;
    let mut other = spec.clone();
    change(&mut other);
    refused(
        context.store().await?.ensure(&other).await,
        "an existing collection as another",
    )?;
    let still = context.store().await?.open(&spec.name).await?;
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
    context
        .make(&spec)
        .await?
        .upsert(&records(&[
            ("a", r#"{"year":2020}"#),
            ("b", r#"{"year":2021}"#),
        ])?)
        .await?;
    let more = spec.with_fields([Field::new(MetadataKey::new("year")?, FieldKind::Integer)]);
    let collection = context.make(&more).await?;
    let leg = Leg::dense(
        [1.0, 0.0, 0.0, 0.0],
        Filter::from_json(r#"{"year":2021}"#)?,
        10,
    );
    same_ids(
        "a field declared later",
        &ids(&collection.search(&leg).await?),
        &["b"],
    )
}

async fn open_missing(context: Context) -> Checked {
    let name = context.name()?;
    match context.store().await?.open(&name).await {
        Err(error) if matches!(error.kind(), ErrorKind::NoCollection) => {}
        Err(error) => return Err(error.into()),
        Ok(_) => {
            return Err(Finding::errors(
                "a collection that was never made was opened",
            ));
        }
    }
    holds(
        !context.store().await?.list().await?.contains(&name),
        || "opening made a collection".into(),
    )
}

async fn drop_one(context: Context) -> Checked {
    let spec = context.spec()?;
    let store = context.store().await?;
    store
        .ensure(&spec)
        .await?
        .upsert(&[record("a", 0, "{}")?])
        .await?;
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
    stale(
        old.upsert(&[record("late", 0, "{}")?]).await,
        "a write to a dropped collection",
    )?;
    let new = store.ensure(&spec).await?;
    stale(
        old.upsert(&[record("late", 0, "{}")?]).await,
        "a write to a collection made anew",
    )?;
    stale(
        old.fetch(&[key("late")?], &Filter::everything(), Include::METADATA)
            .await,
        "a read of a collection made anew",
    )?;
    rows("rows of the new collection", &new, 0).await
}

fn stale<T>(answer: Result<T, StoreError>, what: &str) -> Checked {
    match answer {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::StaleHandle | ErrorKind::NoCollection
            ) =>
        {
            Ok(())
        }
        Err(error) => Err(error.into()),
        Ok(_) => Err(Finding::errors(format!("{what} went through"))),
    }
}

async fn apart(context: Context) -> Checked {
    let here = context.holding(&[record("here", 0, "{}")?]).await?;
    let there = context.holding(&[record("there", 1, "{}")?]).await?;
    let leg = Leg::dense([1.0, 0.0, 0.0, 0.0], Filter::everything(), 10);
    same_ids("one collection", &ids(&here.search(&leg).await?), &["here"])?;
    same_ids("the other", &ids(&there.search(&leg).await?), &["there"])
}
