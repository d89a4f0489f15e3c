//! Libraries that cases make, fill and read.

use std::sync::Arc;

use shelfward_core::library::{
    IndexSource, LibrarySpec, Mode, Passage, ScopeChange, SearchAnswer, SearchRequest,
    TenantLibrary,
};
use shelfward_core::{
    Count, Embedder, Groups, LibraryIndex, Scope, SourceId, SourceKind, Store, TenantId,
};

use crate::check::same_ids;
use crate::context::Context;
use crate::embedder::TableEmbedder;
use crate::verdict::Checked;

pub(crate) fn embedder() -> TableEmbedder {
    TableEmbedder::new("suite-library", 8)
}

/// A library of one's own on a store.
pub(crate) async fn on(
    context: &Context,
    store: &Store,
    embedder: Arc<dyn Embedder>,
) -> Checked<LibraryIndex> {
    let spec = LibrarySpec::new(context.name()?);
    Ok(LibraryIndex::ensure(store, spec, embedder).await?)
}

pub(crate) async fn new(context: &Context) -> Checked<LibraryIndex> {
    on(context, &context.store().await?, Arc::new(embedder())).await
}

pub(crate) fn source<'a>(
    id: &str,
    groups: impl IntoIterator<Item = &'a str>,
    texts: &[&str],
) -> Checked<IndexSource> {
    let passages = texts.iter().map(|text| Passage::new(*text));
    Ok(source_of("document", id, groups)?.passages(passages))
}

/// A source without passages.
pub(crate) fn source_of<G: AsRef<str>>(
    kind: &str,
    id: &str,
    groups: impl IntoIterator<Item = G>,
) -> Checked<IndexSource> {
    let kind = SourceKind::new(kind)?;
    Ok(IndexSource::new(source_id(id)?, kind, Groups::of(groups)?))
}

pub(crate) fn source_id(id: &str) -> Checked<SourceId> {
    Ok(SourceId::new(id)?)
}

pub(crate) fn tenant(index: &LibraryIndex, tenant: &str) -> Checked<TenantLibrary> {
    Ok(index.tenant(TenantId::new(tenant)?))
}

pub(crate) async fn file(index: &LibraryIndex, of: &str, source: IndexSource) -> Checked {
    tenant(index, of)?.index_source(source).await?;
    Ok(())
}

/// Files a source of `org1` whose passages are these texts.
pub(crate) async fn file_texts<'a>(
    index: &LibraryIndex,
    id: &str,
    groups: impl IntoIterator<Item = &'a str>,
    texts: &[&str],
) -> Checked {
    file(index, "org1", source(id, groups, texts)?).await
}

/// How many passages of a source were removed.
pub(crate) async fn remove(index: &LibraryIndex, of: &str, id: &str) -> Checked<Count> {
    let removed = tenant(index, of)?.remove_source(&source_id(id)?).await?;
    Ok(removed.count())
}

/// How many passages of a source were changed.
pub(crate) async fn rescope(
    index: &LibraryIndex,
    of: &str,
    id: &str,
    change: ScopeChange,
) -> Checked<Count> {
    let org = tenant(index, of)?;
    let changed = org.set_source_scope(&source_id(id)?, &change).await?;
    Ok(changed.count())
}

/// The same, to one group.
pub(crate) async fn narrow(index: &LibraryIndex, of: &str, id: &str, to: &str) -> Checked<Count> {
    rescope(index, of, id, ScopeChange::new().groups([to])?).await
}

pub(crate) async fn ask<'a>(
    index: &LibraryIndex,
    tenant: &str,
    groups: impl IntoIterator<Item = &'a str>,
    request: SearchRequest,
) -> Checked<SearchAnswer> {
    Ok(index.search(&Scope::of(tenant, groups)?, &request).await?)
}

pub(crate) fn ids(answer: &SearchAnswer) -> Vec<String> {
    let passages = answer.passages.iter();
    passages.map(|passage| passage.id.to_string()).collect()
}

/// What a reader of group `g` finds of what a tenant has.
pub(crate) async fn finds(
    index: &LibraryIndex,
    tenant: &str,
    request: SearchRequest,
    expected: &[&str],
) -> Checked {
    let what = format!("{tenant}, {request:?}");
    let answer = ask(index, tenant, ["g"], request).await?;
    same_ids(&what, &ids(&answer), expected)
}

/// A request of everything, by vectors.
pub(crate) fn everything() -> SearchRequest {
    SearchRequest::new("words").mode(Mode::Dense).top_k(500)
}

/// Every passage that a reader of `org1` can find.
pub(crate) async fn visible<'a>(
    index: &LibraryIndex,
    groups: impl IntoIterator<Item = &'a str>,
) -> Checked<Vec<String>> {
    Ok(ids(&ask(index, "org1", groups, everything()).await?))
}

/// A reader of this group of `org1` can find these and no others.
pub(crate) async fn sees(index: &LibraryIndex, group: &str, expected: &[&str]) -> Checked {
    let found = visible(index, [group]).await?;
    same_ids(&format!("what {group} sees"), &found, expected)
}
