//! Libraries that cases make, fill and read.

use std::sync::Arc;

use shelfward_core::library::{
    IndexSource, LibrarySpec, Mode, Passage, SearchAnswer, SearchRequest,
};
use shelfward_core::{Groups, LibraryIndex, Scope, SourceId, SourceKind, Store, TenantId};

use crate::context::Context;
use crate::embedder::TableEmbedder;
use crate::verdict::Checked;

pub(crate) fn embedder() -> TableEmbedder {
    TableEmbedder::new("suite-library", 8)
}

pub(crate) async fn open(context: &Context, store: &Store) -> Checked<LibraryIndex> {
    Ok(LibraryIndex::ensure(
        store,
        LibrarySpec::new(context.name()?),
        Arc::new(embedder()),
    )
    .await?)
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
    let (id, kind) = (SourceId::new(id)?, SourceKind::new(kind)?);
    Ok(IndexSource::new(id, kind, Groups::of(groups)?))
}

pub(crate) async fn file(index: &LibraryIndex, tenant: &str, source: IndexSource) -> Checked {
    index
        .tenant(TenantId::new(tenant)?)
        .index_source(source)
        .await?;
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

pub(crate) async fn ask<'a>(
    index: &LibraryIndex,
    tenant: &str,
    groups: impl IntoIterator<Item = &'a str>,
    request: SearchRequest,
) -> Checked<SearchAnswer> {
    Ok(index.search(&Scope::of(tenant, groups)?, &request).await?)
}

pub(crate) fn ids(answer: &SearchAnswer) -> Vec<String> {
    answer
        .passages
        .iter()
        .map(|passage| passage.id.clone())
        .collect()
}

/// Every passage that a reader of `org1` can find.
pub(crate) async fn visible<'a>(
    index: &LibraryIndex,
    groups: impl IntoIterator<Item = &'a str>,
) -> Checked<Vec<String>> {
    Ok(ids(&ask(
        index,
        "org1",
        groups,
        SearchRequest::new("words").mode(Mode::Dense).top_k(500),
    )
    .await?))
}
