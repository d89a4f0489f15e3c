//! After a write nothing is found by words that are no longer there, and everything by those that are.

use std::sync::Arc;

use shelfward_core::{Leg, Metadata, MetadataPatch};

use super::documents::{
    bare, documents, empty, faq, finds, finds_within, keys, of_kind, org, put, units,
    with_our_words, with_updates,
};
use crate::case::Case;
use crate::check::{NONE, counts_deleted, ids, same_ids};
use crate::context::{Context, name, text_value};
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
    cases.push(with_updates(Case::new(
        "lexical/after-an-update",
        after_update,
    )));
    cases
}

async fn after_delete(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let deleted = collection.delete(&keys(&["faq-2", "faq-1"])?).await?;
    finds(&collection, "password passwords", NONE).await?;
    finds(&collection, "ninety", &["faq-4"]).await?;
    let found = collection.search(&Leg::dense([1.0; 4], org()?, 20)).await?;
    same_ids("by vector", &ids(&found), &["faq-3", "faq-4"])?;
    counts_deleted("deleted", collection.capabilities(), deleted, 2)
}

async fn after_delete_by_filter(context: Context) -> Checked {
    let collection = faq(&context).await?;
    collection
        .delete_matching(&units(&["faq-1", "faq-2"])?)
        .await?;
    finds(&collection, "password passwords", NONE).await?;
    finds(&collection, "ninety reset", &["faq-4"]).await?;
    // Written again, it is found again, once.
    put(&collection, &[("faq-1", "a new password")]).await?;
    finds(&collection, "password", &["faq-1"]).await
}

async fn after_delete_all(context: Context) -> Checked {
    let collection = faq(&context).await?;
    collection.delete_all().await?;
    finds(&collection, "password reset codes", NONE).await?;
    put(&collection, &[("b", "codes"), ("a", "reset")]).await?;
    finds(&collection, "password reset codes", &["a", "b"]).await
}

async fn after_replace(context: Context) -> Checked {
    let collection = empty(&context).await?;
    let mut parts = documents(&["part0", "part1", "part2"].map(|id| (id, "old words")))?;
    for part in &mut parts {
        part.metadata = Arc::new(Metadata::clone(&part.metadata).with("unit", "source")?);
    }
    collection.upsert(&parts).await?;
    put(&collection, &[("another", "old news")]).await?;
    parts.truncate(1);
    let new: Vec<_> = parts
        .into_iter()
        .map(|part| part.with_text("new words"))
        .collect();
    collection.replace(&units(&["source"])?, &new).await?;
    finds(&collection, "old", &["another"]).await?;
    finds(&collection, "new", &["part0"]).await?;
    finds(&collection, "words", &["part0"]).await
}

async fn overwritten(context: Context) -> Checked {
    let collection = faq(&context).await?;
    put(&collection, &[("faq-1", "something else")]).await?;
    finds(&collection, "password", NONE).await?;
    finds(&collection, "something", &["faq-1"]).await?;
    // A word that both texts hold finds it once.
    put(&collection, &[("faq-1", "something new")]).await?;
    finds(&collection, "something", &["faq-1"]).await?;
    finds(&collection, "else", NONE).await
}

async fn overwritten_bare(context: Context) -> Checked {
    let collection = faq(&context).await?;
    collection.upsert(&[bare("org", "faq-1", "faq")?]).await?;
    finds(&collection, "password", NONE).await?;
    finds(&collection, "reset", &["faq-4"]).await
}

async fn last_wins(context: Context) -> Checked {
    let collection = empty(&context).await?;
    let texts = [("a", "first"), ("b", "other"), ("a", "last")];
    put(&collection, &texts).await?;
    finds(&collection, "first", NONE).await?;
    finds(&collection, "last other", &["a", "b"]).await
}

async fn after_update(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let patch = MetadataPatch::new().set(name("kind")?, text_value("moved")?);
    collection
        .update_metadata(&units(&["faq-1"])?, &patch)
        .await?;
    finds(&collection, "password", &["faq-1"]).await?;
    finds_within(&collection, "reset", of_kind("moved")?, &["faq-1"]).await?;
    finds_within(&collection, "reset", of_kind("faq")?, &["faq-4"]).await
}
