//! After a write nothing is found by words that are no longer there, and everything by those that are.

use std::sync::Arc;

use shelfward_core::filter::key as field;
use shelfward_core::{Key, Leg, Match, Metadata, MetadataKey, MetadataPatch, Scalar, Value};

use super::documents::{bare, document, empty, faq, finds, leg, of_kind, org, put, with_our_words};
use crate::case::Case;
use crate::check::{counts_deleted, ids, same_ids};
use crate::context::{Context, text};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = [
        Case::new("lexical/after-delete", after_delete),
        Case::new("lexical/after-delete-by-filter", after_delete_by_filter),
        Case::new("lexical/after-delete-all", after_delete_all),
        Case::new("lexical/after-replace", after_replace),
        Case::new("lexical/overwritten-text", overwritten),
        Case::new("lexical/overwritten-without-text", overwritten_bare),
        Case::new("lexical/last-of-a-batch-wins", last_wins),
    ]
    .map(with_our_words)
    .into();
    cases.push(
        with_our_words(Case::new("lexical/after-an-update", after_update))
            .needs(|can| can.lexical.is_some() && can.update_metadata.is_some()),
    );
    cases
}

async fn after_delete(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let keys = [
        Key::within(text("org")?, text("faq-2")?),
        Key::within(text("org")?, text("faq-1")?),
    ];
    let deleted = collection.delete(&keys).await?;
    finds(&collection, "password passwords", &[]).await?;
    finds(&collection, "ninety", &["faq-4"]).await?;
    let found = collection.search(&Leg::dense([1.0; 4], org()?, 20)).await?;
    same_ids("by vector", &ids(&found), &["faq-3", "faq-4"])?;
    counts_deleted("deleted", collection.capabilities(), deleted, 2)
}

async fn after_delete_by_filter(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let selector = field("tenant")
        .eq("org")
        .and(field("unit").is_in(["faq-1", "faq-2"]));
    let selector = selector.build()?.narrow()?;
    collection.delete_matching(&selector).await?;
    finds(&collection, "password passwords", &[]).await?;
    finds(&collection, "ninety reset", &["faq-4"]).await?;
    // Written again, it is found again, once.
    put(&collection, &[("faq-1", "a new password")]).await?;
    finds(&collection, "password", &["faq-1"]).await
}

async fn after_delete_all(context: Context) -> Checked {
    let collection = faq(&context).await?;
    collection.delete_all().await?;
    finds(&collection, "password reset codes", &[]).await?;
    put(&collection, &[("b", "codes"), ("a", "reset")]).await?;
    finds(&collection, "password reset codes", &["a", "b"]).await
}

async fn after_replace(context: Context) -> Checked {
    let collection = empty(&context).await?;
    let mut parts = Vec::new();
    for n in 0..3 {
        let mut part = document("org", &format!("part{n}"), "old words", "faq")?;
        part.metadata = Arc::new(Metadata::clone(&part.metadata).with("unit", "source")?);
        parts.push(part);
    }
    collection.upsert(&parts).await?;
    put(&collection, &[("another", "old news")]).await?;
    let selector = field("tenant").eq("org").and(field("unit").eq("source"));
    let selector = selector.build()?.narrow()?;
    let mut new = parts.into_iter().take(1).collect::<Vec<_>>();
    new.iter_mut()
        .for_each(|part| part.text = Some("new words".into()));
    collection.replace(&selector, &new).await?;
    finds(&collection, "old", &["another"]).await?;
    finds(&collection, "new", &["part0"]).await?;
    finds(&collection, "words", &["part0"]).await
}

async fn overwritten(context: Context) -> Checked {
    let collection = faq(&context).await?;
    put(&collection, &[("faq-1", "something else")]).await?;
    finds(&collection, "password", &[]).await?;
    finds(&collection, "something", &["faq-1"]).await?;
    // A word that both texts hold finds it once.
    put(&collection, &[("faq-1", "something new")]).await?;
    finds(&collection, "something", &["faq-1"]).await?;
    finds(&collection, "else", &[]).await
}

async fn overwritten_bare(context: Context) -> Checked {
    let collection = faq(&context).await?;
    collection.upsert(&[bare("org", "faq-1", "faq")?]).await?;
    finds(&collection, "password", &[]).await?;
    finds(&collection, "reset", &["faq-4"]).await
}

async fn last_wins(context: Context) -> Checked {
    let collection = empty(&context).await?;
    put(
        &collection,
        &[("a", "first"), ("b", "other"), ("a", "last")],
    )
    .await?;
    finds(&collection, "first", &[]).await?;
    finds(&collection, "last other", &["a", "b"]).await
}

async fn after_update(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let selector = field("tenant").eq("org").and(field("unit").eq("faq-1"));
    let selector = selector.build()?.narrow()?;
    let moved = Value::Scalar(Scalar::text("moved")?);
    let patch = MetadataPatch::new().set(MetadataKey::new("kind")?, moved);
    collection.update_metadata(&selector, &patch).await?;
    finds(&collection, "password", &["faq-1"]).await?;
    for (kind, expected) in [("moved", &["faq-1"][..]), ("faq", &["faq-4"])] {
        let asked = leg(&collection, "reset", Match::Any, false, of_kind(kind)?)?;
        same_ids(kind, &ids(&collection.search(&asked).await?), expected)?;
    }
    Ok(())
}
