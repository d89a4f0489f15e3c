//! What must hold when things end early: closed handles, given up calls, capability claims.

use std::time::Duration;

use shelfward_core::{Filter, Include, Leg, MetadataKey, MetadataPatch, Operation, StoreError};

use crate::case::Case;
use crate::check::{holds, ids, rows, same_ids};
use crate::context::{Context, record};
use crate::fixture;
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("faults/closed-handle", closed),
        Case::new("faults/health", health),
        Case::new("faults/given-up-search", given_up),
        Case::new("faults/claims-are-served", claims),
        Case::new("faults/another-handle-sees-writes", another_handle),
        Case::new("faults/errors-name-the-operation", errors),
    ]
}

async fn closed(context: Context) -> Checked {
    let spec = context.spec()?;
    let store = context.another_store().await?;
    let collection = store.ensure(&spec).await?;
    collection.upsert(&[record("a", 0, "{}")?]).await?;
    store.close().await?;
    holds(store.list().await.is_err(), || {
        "a closed handle lists".into()
    })?;
    holds(
        collection.upsert(&[record("b", 1, "{}")?]).await.is_err(),
        || "a closed handle writes".into(),
    )?;
    let again = context.again(&spec.name).await;
    let can = context.adapter().await?.capabilities(&spec);
    match again {
        Ok(again) => rows("rows after a close", &again, 1).await,
        Err(finding) if can.durable => Err(finding),
        Err(_) => Ok(()),
    }
}

async fn health(context: Context) -> Checked {
    Ok(context.store().await?.health().await?)
}

async fn given_up(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let leg = Leg::dense([1.0; 4], Filter::everything(), 10);
    for _ in 0..20 {
        let _ = tokio::time::timeout(Duration::from_nanos(1), collection.search(&leg)).await;
    }
    holds(collection.search(&leg).await?.hits.len() == 10, || {
        "a search after given up ones is not whole".into()
    })
}

/// Whatever is declared is served by the bare adapter; whatever is not is refused by it.
async fn claims(context: Context) -> Checked {
    let spec = context.spec()?.with_fields(fixture::fields()?);
    context
        .make(&spec)
        .await?
        .upsert(&[record("a", 0, r#"{"t":"x"}"#)?])
        .await?;
    let adapter = context.adapter().await?;
    let bare = adapter
        .open(&spec.name)
        .await?
        .ok_or_else(|| Finding::errors("no collection"))?;
    let can = bare.capabilities().clone();
    let selector = || -> Checked<_> {
        Ok(shelfward_core::filter::key("t")
            .eq("nobody")
            .build()?
            .narrow()?)
    };
    let patch = MetadataPatch::new().set(MetadataKey::new("n")?, 1);
    claim(
        "scan",
        can.scan,
        bare.scan(&Filter::everything(), None, 5, Include::METADATA)
            .await,
    )?;
    claim(
        "count",
        can.count.is_some(),
        bare.count(&Filter::everything()).await,
    )?;
    claim(
        "update_metadata",
        can.update_metadata.is_some(),
        bare.update_metadata(&selector()?, &patch).await,
    )?;
    claim(
        "delete_matching",
        can.delete_matching.is_some(),
        bare.delete_matching(&selector()?).await,
    )?;
    let atomic = can.replace == shelfward_core::capabilities::Replace::Atomic;
    if atomic {
        claim("replace", true, bare.replace(&selector()?, &[], None).await)?;
    }
    holds(can == adapter.capabilities(&spec), || {
        "the store promises other capabilities than the collection has".into()
    })
}

fn claim<T>(what: &str, declared: bool, answer: Result<T, StoreError>) -> Checked {
    match (declared, answer) {
        (true, Ok(_)) => Ok(()),
        (true, Err(error)) => Err(Finding::errors(format!(
            "{what} is declared and fails: {error}"
        ))),
        (false, Err(error)) if error.is_refusal() => Ok(()),
        (false, Err(error)) => Err(error.into()),
        (false, Ok(_)) => Err(Finding::errors(format!(
            "{what} is not declared and answers"
        ))),
    }
}

async fn another_handle(context: Context) -> Checked {
    let collection = context.holding(&[record("a", 0, "{}")?]).await?;
    let other = context.again(&collection.spec().name).await?;
    collection.upsert(&[record("b", 1, "{}")?]).await?;
    let found = other
        .search(&Leg::dense([1.0; 4], Filter::everything(), 10))
        .await?;
    same_ids("through another handle", &ids(&found), &["a", "b"])
}

async fn errors(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let Err(error) = collection
        .search(&Leg::dense([1.0; 3], Filter::everything(), 10))
        .await
    else {
        return Err(Finding::errors("a vector of another width is taken"));
    };
    let shown = error.to_string();
    let named = error.operation() == Operation::Search
        && error.collection() == Some(&collection.spec().name);
    holds(named && !shown.contains('\n'), || {
        format!("the error does not say what failed and where: {shown}")
    })
}
