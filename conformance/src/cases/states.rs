//! Every answer tells of one state of the collection, whatever is replaced meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use shelfward_core::library::{
    FoundPassage, IndexSource, Mode, Passage, PassageId, Reading, SearchRequest,
};
use shelfward_core::{LibraryIndex, Scope, SourceId};

use crate::check::full;
use crate::context::{Context, spawned};
use crate::library::{self, file, source_of};
use crate::verdict::{Checked, Finding};

/// The sources that are replaced at the same time.
const SOURCES: [&str; 2] = ["s1", "s2"];

/// How many readers look.
const READERS: usize = 4;

/// So long they look, or until they have seen so many answers.
const A_WHILE: Duration = Duration::from_secs(4);
const ANSWERS: u64 = 4_000;

/// The fewest replaces of each source before they end.
const REPLACES: u64 = 40;

/// A version has as many passages as the next but one, and fewer than a leg asks for.
fn passages(version: u64) -> usize {
    if version.is_multiple_of(2) { 5 } else { 9 }
}

fn version_of(source: &str, version: u64) -> Checked<IndexSource> {
    let passage = |n| Passage::new(format!("common {version} {n}"));
    let passages = (0..passages(version)).map(passage);
    Ok(source_of("document", source, ["few"])?.passages(passages))
}

/// How often each source was replaced, and how many answers were looked at.
#[derive(Default)]
struct Progress {
    replaces: [AtomicU64; SOURCES.len()],
    answers: AtomicU64,
}

impl Progress {
    fn is_over(&self, begun: Instant) -> bool {
        let enough = |replaces: &AtomicU64| replaces.load(Ordering::Relaxed) >= REPLACES;
        self.replaces.iter().all(enough)
            && (begun.elapsed() >= A_WHILE || self.answers.load(Ordering::Relaxed) >= ANSWERS)
    }
}

pub(super) async fn one_state(context: Context) -> Checked {
    let index = library::new(&context).await?;
    for source in SOURCES {
        file(&index, "org1", version_of(source, 0)?).await?;
    }
    let (progress, begun) = (Arc::new(Progress::default()), Instant::now());
    let writers =
        (0..SOURCES.len()).map(|n| spawned(write(index.clone(), n, progress.clone(), begun)));
    let readers = (0..READERS).map(|_| spawned(read(index.clone(), progress.clone(), begun)));
    let writers = try_join_all(writers);
    let readers = try_join_all(readers);
    tokio::try_join!(writers, readers).map(drop)
}

async fn write(index: LibraryIndex, n: usize, progress: Arc<Progress>, begun: Instant) -> Checked {
    let (Some(source), Some(replaces)) = (SOURCES.get(n), progress.replaces.get(n)) else {
        return Ok(());
    };
    while !progress.is_over(begun) {
        let version = replaces.load(Ordering::Relaxed) + 1;
        file(&index, "org1", version_of(source, version)?).await?;
        replaces.store(version, Ordering::Relaxed);
        // A writer that never gives way would leave the readers of a store in memory no turn.
        tokio::task::yield_now().await;
    }
    Ok(())
}

async fn read(index: LibraryIndex, progress: Arc<Progress>, begun: Instant) -> Checked {
    let scope = Scope::of("org1", ["few"])?;
    let request = |mode| SearchRequest::new("common").mode(mode).top_k(50);
    let mut ids = Vec::new();
    for source in SOURCES {
        let source = SourceId::new(source)?;
        ids.extend((0..9).map(|n| PassageId::new(source.clone(), n)));
    }
    let can = index.capabilities();
    let in_one_call = can.max_batch.is_none_or(|most| most >= ids.len());
    while !progress.is_over(begun) {
        // Both legs together are what can be put together wrongly.
        for mode in [Mode::Hybrid, Mode::Dense, Mode::Hybrid, Mode::Lexical] {
            let answer = index.search(&scope, &request(mode)).await?;
            of_one_state(&format!("{mode:?}"), &answer.passages, full(can))?;
            progress.answers.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
        if in_one_call {
            let fetched = index.fetch(&scope, &Reading::new(), &ids).await?;
            let fetched: Vec<_> = fetched.into_iter().flatten().collect();
            of_one_state("fetch", &fetched, true)?;
        }
    }
    Ok(())
}

/// Of each source one version, and all of it where the answer must be full.
fn of_one_state(what: &str, answer: &[FoundPassage], full: bool) -> Checked {
    let mut seen: BTreeMap<&str, Vec<u64>> = SOURCES.iter().map(|s| (*s, Vec::new())).collect();
    for passage in answer {
        let version = passage.text.split(' ').nth(1).and_then(|v| v.parse().ok());
        let version = version.ok_or_else(|| Finding::errors("a text that was never written"))?;
        seen.entry(passage.source_id.as_str())
            .or_default()
            .push(version);
    }
    for (source, versions) in seen {
        let first = versions.first().copied();
        if versions.iter().any(|version| Some(*version) != first) {
            let message = format!(
                "{what}: one answer holds passages of several versions of {source}: {versions:?}"
            );
            return Err(Finding::widens(message));
        }
        let there = first.map_or(usize::MAX, passages);
        if full && versions.len() != there {
            let message = format!(
                "{what}: {} passages of the version {first:?} of {source}, which never had so many",
                versions.len()
            );
            return Err(Finding::narrows(message));
        }
    }
    Ok(())
}
