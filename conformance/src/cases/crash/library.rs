//! Sources that are replaced, narrowed and removed, and readers of some groups beside them.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfward_core::library::{
    FoundPassage, IndexSource, LibraryError, Passage, PassageId, Reading, ScopeChange,
    SearchRequest,
};
use shelfward_core::{Groups, LibraryIndex, Scope, SourceId, SourceKind, TenantId, async_trait};
use tokio::task::JoinSet;

use super::{Lane, WRITERS, Writer, again, crashed, store};
use crate::check::full;
use crate::context::Context;
use crate::library::{embedder, on, source_id};
use crate::oracle::Random;
use crate::verdict::{Checked, Finding};

const TENANT: &str = "org1";
const GROUPS: [&str; 4] = ["g0", "g1", "g2", "g3"];

/// The groups that readers are in.
const READ_BY: [&str; 2] = ["g0", "g1"];

/// A version is known by its passages, of which it has so many.
fn passages(version: u64) -> u32 {
    u32::try_from(version % 7).unwrap_or(0) + 1
}

const MOST: u32 = 8;

struct Source {
    index: LibraryIndex,
    id: SourceId,
}

#[derive(Clone, Debug)]
enum Change {
    Index(u64, usize),
    Narrow(usize),
    Remove,
}

/// The version and the group that may read it.
type Held = Option<(u64, usize)>;

#[async_trait]
impl Writer for Source {
    type State = Held;
    type Write = Change;

    fn draw(&self, random: &mut Random, step: u64) -> Checked<Change> {
        let (kind, group) = random.draw(&(0_u8..10, 0..GROUPS.len()))?;
        Ok(match kind {
            0 => Change::Remove,
            1..6 => Change::Narrow(group),
            _ => Change::Index(step, group),
        })
    }

    fn after(&self, write: &Change, state: &Held) -> Held {
        match write {
            Change::Index(version, group) => Some((*version, *group)),
            Change::Narrow(group) => state.map(|(version, _)| (version, *group)),
            Change::Remove => None,
        }
    }

    async fn write(&self, write: &Change) -> Result<(), LibraryError> {
        let group = |n: &usize| GROUPS.get(*n).copied().unwrap_or_default();
        let org = self.index.tenant(TenantId::new(TENANT)?);
        match write {
            Change::Index(version, n) => {
                let text = |n| Passage::new(format!("common {version} {n}"));
                let (id, kind) = (self.id.clone(), SourceKind::new("document")?);
                let source = IndexSource::new(id, kind, Groups::of([group(n)])?);
                let source = source.passages((0..passages(*version)).map(text));
                org.index_source(source).await.map(drop)
            }
            Change::Narrow(n) => {
                let change = ScopeChange::new().groups([group(n)])?;
                org.set_source_scope(&self.id, &change).await.map(drop)
            }
            Change::Remove => org.remove_source(&self.id).await.map(drop),
        }
    }

    async fn look(&self) -> Checked<Result<Held, LibraryError>> {
        let scope = Scope::of(TENANT, GROUPS)?;
        let ids = (0..MOST).map(|n| PassageId::new(self.id.clone(), n));
        let ids: Vec<_> = ids.collect();
        let fetched = match self.index.fetch(&scope, &Reading::new(), &ids).await {
            Ok(fetched) => fetched,
            Err(error) => return Ok(Err(error)),
        };
        let there: Vec<_> = fetched.into_iter().flatten().collect();
        Ok(Ok(whole(&there, true)?.into_values().next()))
    }

    fn late_writes(&self) -> bool {
        self.index.capabilities().late_writes
    }
}

/// What there is of each source: one version in one group, and all of it where `full`.
fn whole(there: &[FoundPassage], full: bool) -> Checked<BTreeMap<String, (u64, usize)>> {
    let mut sources: BTreeMap<String, Vec<(u64, usize)>> = BTreeMap::new();
    for passage in there {
        let version = passage.text.split(' ').nth(1).and_then(|v| v.parse().ok());
        let groups: Vec<&str> = passage.access_groups().collect();
        let group = GROUPS.iter().position(|group| groups == [*group]);
        let (Some(version), Some(group)) = (version, group) else {
            return Err(Finding::errors("a passage that was never written"));
        };
        let of_source = sources.entry(passage.source_id.to_string());
        of_source.or_default().push((version, group));
    }
    let mut found = BTreeMap::new();
    for (source, held) in sources {
        let Some(first) = held.first().copied() else {
            continue;
        };
        let short = full && held.len() != usize::try_from(passages(first.0)).unwrap_or(0);
        if short || held.iter().any(|other| *other != first) {
            let message = format!("{source} is a mix: of versions and groups {held:?}");
            return Err(Finding::widens(message));
        }
        found.insert(source, first);
    }
    Ok(found)
}

/// Readers see whole sources, of their own groups alone, whatever crashes.
async fn read(index: LibraryIndex) -> Checked {
    let scope = Scope::of(TENANT, READ_BY)?;
    let request = SearchRequest::new("common").top_k(100);
    let full = full(index.capabilities());
    loop {
        let search = || async { Ok(index.search(&scope, &request).await) };
        let answer = again("a search under crashes", search).await?;
        let found = whole(&answer.passages, full)?;
        if let Some((source, _)) = found.iter().find(|(_, (_, group))| *group >= READ_BY.len()) {
            let message = format!("a reader sees {source}, which is not for his groups");
            return Err(Finding::widens(message));
        }
        tokio::task::yield_now().await;
    }
}

pub(super) async fn case(context: Context) -> Checked {
    let index = on(&context, &store(&context).await?, Arc::new(embedder())).await?;
    let mut lanes = Vec::new();
    for n in 0..WRITERS {
        let (index, id) = (index.clone(), source_id(&format!("s{n}"))?);
        let source = Source { index, id };
        lanes.push(Lane::new(source, None, Random::new(context.seed() + n)));
    }
    let mut readers = JoinSet::new();
    for _ in 0..2 {
        readers.spawn(read(index.clone()));
    }
    crashed(&context, lanes, readers).await
}
