//! What must hold when things end early: closed handles, given up calls, capability claims.

use std::time::Duration;

use shelfward_core::filter::key as field;
use shelfward_core::{Filter, Include, Leg, MetadataPatch, Operation, StoreError};

use crate::case::Case;
use crate::check::{atomic, holds, left, rows};
use crate::context::{Context, name, record};
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
    let listed = store.list().await;
    holds(listed.is_err(), || "a closed handle lists".into())?;
    let written = collection.upsert(&[record("b", 1, "{}")?]).await;
    holds(written.is_err(), || "a closed handle writes".into())?;
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
    let record = record("a", 0, r#"{"t":"x"}"#)?;
    let spec = fixture::holding(&context, &[record]).await?.spec().clone();
    let bare = context.bare(&spec.name).await?;
    let can = bare.capabilities();
    let everything = Filter::everything();
    let selector = field("t").eq("nobody").build()?.narrow()?;
    let patch = MetadataPatch::new().set(name("n")?, 1);
    let page = bare.scan(&everything, None, 5, Include::METADATA).await;
    claim("scan", can.scan, page)?;
    let count = bare.count(&everything).await;
    claim("count", can.count.is_some(), count)?;
    let updated = bare.update_metadata(&selector, &patch).await;
    claim("update_metadata", can.update_metadata.is_some(), updated)?;
    let deleted = bare.delete_matching(&selector).await;
    claim("delete_matching", can.delete_matching.is_some(), deleted)?;
    if atomic(can) {
        claim("replace", true, bare.replace(&selector, &[], None).await)?;
    }
    let promised = context.adapter().await?.capabilities(&spec);
    holds(*can == promised, || {
        "the store promises other capabilities than the collection has".into()
    })
}

fn claim<T>(what: &str, declared: bool, answer: Result<T, StoreError>) -> Checked {
    let message = match (declared, answer) {
        (true, Ok(_)) => return Ok(()),
        (true, Err(error)) => {
            let finding = Finding::errors(format!("{what} is declared and fails: {error}"));
            return Err(finding.because(&error));
        }
        (false, Err(error)) if error.is_refusal() => return Ok(()),
        (false, Err(error)) => return Err(error.into()),
        (false, Ok(_)) => format!("{what} is not declared and answers"),
    };
    Err(Finding::errors(message))
}

async fn another_handle(context: Context) -> Checked {
    let collection = context.holding(&[record("a", 0, "{}")?]).await?;
    let other = context.again(&collection.spec().name).await?;
    collection.upsert(&[record("b", 1, "{}")?]).await?;
    left("through another handle", &other, &["a", "b"]).await
}

async fn errors(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let leg = Leg::dense([1.0; 3], Filter::everything(), 10);
    let Err(error) = collection.search(&leg).await else {
        return Err(Finding::errors("a vector of another width is taken"));
    };
    let shown = error.to_string();
    let named = error.operation() == Operation::Search
        && error.collection() == Some(&collection.spec().name);
    holds(named && !shown.contains('\n'), || {
        format!("the error does not say what failed and where: {shown}")
    })
}
