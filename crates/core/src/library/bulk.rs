//! Many sources in one call.

use std::collections::HashSet;

use futures_util::future::{BoxFuture, FutureExt as _, join_all};
use futures_util::stream::{self, StreamExt as _};

use super::source::IndexSource;
use super::write::{IndexReport, Prepared, TenantLibrary};
use super::{LibraryError, Refusal};
use crate::names::SourceId;

/// So many sources are written side by side, for a store that takes more than one writer.
const WRITERS: usize = 8;

/// What became of one source of many.
#[derive(Debug)]
#[must_use = "a source that was refused is not filed"]
#[non_exhaustive]
pub struct IndexOutcome {
    /// The source.
    pub id: SourceId,
    /// What indexing it did, or why it was not.
    pub report: Result<IndexReport, LibraryError>,
}

impl TenantLibrary {
    /// Indexes many sources, each as [`index_source`](Self::index_source) does by itself, and faster: texts of
    /// several are embedded together, and several are written at once. Answers what became of each, in the
    /// order in which they were given.
    ///
    /// Sources stand alone: one that is refused or fails stops no other, and each is replaced whole or not
    /// at all as the store can. They are taken from the iterator while others are written, so it may make
    /// them as it goes. Of an id that is given twice, the second is refused.
    ///
    /// A call that is given up, or whose process ends, leaves the sources filed that were by then. The
    /// observer is told of each when it is.
    ///
    /// ```
    /// # async fn example(org: shelfward_core::library::TenantLibrary, sources: Vec<shelfward_core::library::IndexSource>) {
    /// for outcome in org.index_sources(sources).await {
    ///     match outcome.report {
    ///         Ok(report) => println!("{}: {} passages", outcome.id, report.passages),
    ///         Err(why) => eprintln!("{}: {why}", outcome.id),
    ///     }
    /// }
    /// # }
    /// ```
    pub async fn index_sources<S>(&self, sources: S) -> Vec<IndexOutcome>
    where
        S: IntoIterator<Item = IndexSource>,
        S::IntoIter: Send,
    {
        let mut given = HashSet::new();
        let sources = sources.into_iter().map(move |source| {
            let is_new = given.insert(source.id().clone());
            (source, is_new)
        });
        let batches = stream::iter(batches(sources.enumerate(), self.index().batch_size));
        // Each future has a handle of its own: the compiler cannot tell that one which borrows can be sent.
        let prepare = |batch| -> BoxFuture<'static, _> { self.clone().prepare_all(batch).boxed() };
        let prepared = batches.then(prepare);
        let prepared = prepared.flat_map(stream::iter).boxed();
        let write = |each| -> BoxFuture<'static, _> { self.clone().write_each(each).boxed() };
        let mut outcomes: Vec<_> = prepared
            .map(write)
            .buffer_unordered(WRITERS)
            .collect()
            .await;
        outcomes.sort_unstable_by_key(|(at, _)| *at);
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }

    async fn write_each(self, (at, id, prepared): Each) -> (usize, IndexOutcome) {
        let report = match prepared {
            Ok(prepared) => self.write_prepared(prepared).await,
            Err(why) => Err(why),
        };
        (at, IndexOutcome { id, report })
    }

    /// Checks and embeds sources together.
    async fn prepare_all(self, batch: Vec<Given>) -> Vec<Each> {
        let check = async |(at, (source, is_new)): Given| {
            let id = source.id().clone();
            let prepared = match is_new {
                true => self.prepare(source).await,
                false => Err(Refusal::GivenTwice(id.clone()).into()),
            };
            (at, id, prepared)
        };
        let mut all: Vec<Each> = join_all(batch.into_iter().map(check)).await;
        let sound = all.iter_mut().filter_map(|(.., each)| each.as_mut().ok());
        let mut sound: Vec<&mut Prepared> = sound.collect();
        if self.embed_all(&mut sound).await.is_ok() {
            return all;
        }
        // One text, or the embedder: each source is told by itself whether it was its own.
        for (.., each) in &mut all {
            if let Ok(prepared) = each
                && let Err(why) = self.embed_all(&mut [prepared]).await
            {
                *each = Err(why);
            }
        }
        all
    }
}

/// A source with its place, and whether its id was not given before.
type Given = (usize, (IndexSource, bool));

/// A source with its place, ready to be written.
type Each = (usize, SourceId, Result<Prepared, LibraryError>);

/// Sources that have about as many passages together as the embedder is given at once.
fn batches(
    mut sources: impl Iterator<Item = Given>,
    passages: usize,
) -> impl Iterator<Item = Vec<Given>> {
    std::iter::from_fn(move || {
        let mut batch = Vec::new();
        let mut room = passages;
        while room > 0 {
            let Some(given) = sources.next() else { break };
            room = room.saturating_sub(given.1.0.passages.len().max(1));
            batch.push(given);
        }
        Some(batch).filter(|batch| !batch.is_empty())
    })
}
