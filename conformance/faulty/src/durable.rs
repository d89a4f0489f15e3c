//! A store that is kept while nobody has it open, as one in a file is: what the suite's cases of
//! durable stores are tested on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::capabilities::Writers;
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, Completeness, Count, Cursor, ErrorKind, Filter,
    Include, Key, Leg, LegQuery, LegResult, MetadataPatch, Operation, Page, Precondition, Record,
    Replaced, Result, Selector, StoreError, StoredRecord, async_trait,
};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::Fault;
use super::collection::EVERYTHING;
use super::legs::{in_one_state, search_one};
use super::lost_writes::Journal;
use super::records::{is_met, written};
use shelfward_conformance::layer::{CollectionLayer, LayeredCollection};
use shelfward_conformance::this_process;

/// Where a store lies. Its fault shows when it is opened again, or from another process.
pub struct DurableStore {
    pub(super) inner: Arc<dyn StoreAdapter>,
    pub(super) fault: Option<Fault>,
    one_process: bool,
    /// One writer at a time, from whatever process.
    turn: Arc<AsyncMutex<()>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    opened_before: bool,
    /// The handles that are open.
    open: usize,
    /// The handles of which something is left, closed or not.
    left: usize,
    /// The process that has them, where one may.
    holder: u32,
    /// Whether it was opened again after all had let go of it.
    again: bool,
    journal: Journal,
    /// What is damaged, which whoever reads it notices.
    damaged: Vec<(CollectionName, Key)>,
}

impl DurableStore {
    /// Nothing yet, kept in a store that stays open. Where it is of one process, no other may have it open
    /// at the same time.
    pub fn new(inner: Arc<dyn StoreAdapter>, fault: Option<Fault>, one_process: bool) -> Arc<Self> {
        Arc::new(Self {
            inner,
            fault,
            one_process,
            turn: Arc::default(),
            state: Mutex::default(),
        })
    }

    /// A handle, opened by itself.
    ///
    /// # Errors
    /// Where another process has the store and only one may.
    pub async fn open(self: &Arc<Self>) -> Result<Arc<dyn StoreAdapter>> {
        let process = this_process();
        let journal = {
            let mut state = self.state();
            let taken = self.one_process && state.open > 0 && state.holder != process;
            if taken && self.fault != Some(Fault::LetsAnotherProcessIn) {
                let why = "another process has the store open".to_owned();
                return Err(StoreError::new(Operation::Connect, ErrorKind::Invalid(why)));
            }
            let holds_on = self.fault == Some(Fault::HoldsOnAfterClose);
            if holds_on && state.open == 0 && state.left > 0 {
                return Err(StoreError::new(Operation::Connect, ErrorKind::Unavailable));
            }
            let again = state.opened_before && state.open == 0;
            state.again |= again;
            state.opened_before = true;
            state.open += 1;
            state.left += 1;
            state.holder = process;
            again.then(|| std::mem::take(&mut state.journal))
        };
        if let Some(journal) = journal {
            journal.come_back_wrong(self).await?;
        }
        Ok(Arc::new(Handle(Arc::new(Session {
            kept: self.clone(),
            closed: AtomicBool::new(false),
            locks: if self.one_process {
                self.inner.write_locks()
            } else {
                WriteLocks::new()
            },
        }))))
    }

    /// Damages the record of a collection whose text this is.
    ///
    /// # Errors
    /// Those of the store behind.
    pub async fn damage(&self, name: &CollectionName, text: &str) -> Result<()> {
        let mut all = self.all(name, &Filter::everything()).await?;
        all.retain(|record| record.text.as_deref() == Some(text));
        if self.fault != Some(Fault::ServesDamaged) {
            let damaged = all.into_iter().map(|record| (name.clone(), record.key));
            self.state().damaged.extend(damaged);
        } else if let Some(collection) = self.inner.open(name).await? {
            let damaged: Vec<_> = all.into_iter().map(|r| r.with_text("damaged")).collect();
            collection.upsert(&damaged).await?;
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn declare(&self, mut can: Capabilities) -> Capabilities {
        can.durable = true;
        if !self.one_process {
            can.writers = Writers::AllProcesses;
        }
        can
    }

    pub(super) async fn all(&self, name: &CollectionName, filter: &Filter) -> Result<Vec<Record>> {
        let Some(collection) = self.inner.open(name).await? else {
            return Ok(Vec::new());
        };
        let page = collection.scan(filter, None, EVERYTHING, Include::ALL);
        Ok(page.await?.records.into_iter().map(written).collect())
    }
}

/// What was opened once, until it is closed or all that came from it is dropped.
struct Session {
    kept: Arc<DurableStore>,
    closed: AtomicBool,
    /// Of this handle alone where all processes write: those of the store behind would order handles
    /// that stand for those of two processes.
    locks: WriteLocks,
}

impl Session {
    fn open(&self, operation: Operation) -> Result<()> {
        if self.closed.load(Ordering::SeqCst) {
            let why = "this handle of the store was closed".to_owned();
            return Err(StoreError::new(operation, ErrorKind::Invalid(why)));
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.kept.state().left -= 1;
        let dead_but_holding = self.kept.fault == Some(Fault::KeepsLockOfTheDead);
        if !self.closed.load(Ordering::SeqCst) && !dead_but_holding {
            self.kept.state().open -= 1;
        }
    }
}

struct Handle(Arc<Session>);

#[async_trait]
impl StoreAdapter for Handle {
    fn kind(&self) -> &'static str {
        "kept"
    }

    fn capabilities(&self, spec: &CollectionSpec) -> Capabilities {
        self.0.kept.declare(self.0.kept.inner.capabilities(spec))
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        self.0.open(Operation::Create)?;
        self.0.kept.inner.create(spec).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        self.0.open(Operation::Open)?;
        let Some(behind) = self.0.kept.inner.open(name).await? else {
            return Ok(None);
        };
        let can = self.0.kept.declare(behind.capabilities().clone());
        Ok(Some(Arc::new(LayeredCollection(DurableCollection {
            behind,
            can,
            session: self.0.clone(),
        }))))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        self.0.open(Operation::List)?;
        self.0.kept.inner.list().await
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        self.0.open(Operation::DropCollection)?;
        let kept = &self.0.kept;
        if kept.fault == Some(Fault::RevivesDropped)
            && let Some(collection) = kept.inner.open(name).await?
        {
            let records = kept.all(name, &Filter::everything()).await?;
            let dropped = (collection.spec().clone(), records);
            kept.state().journal.dropped.push(dropped);
        }
        kept.inner.drop_collection(name).await
    }

    fn write_locks(&self) -> WriteLocks {
        self.0.locks.clone()
    }

    async fn health(&self) -> Result<()> {
        self.0.open(Operation::Health)
    }

    async fn close(&self) -> Result<()> {
        if !self.0.closed.swap(true, Ordering::SeqCst) {
            let mut state = self.0.kept.state();
            if self.0.kept.fault != Some(Fault::KeepsLockWhenClosed) {
                state.open -= 1;
            }
            state.journal.closed = true;
        }
        Ok(())
    }
}

struct DurableCollection {
    behind: Arc<dyn CollectionAdapter>,
    can: Capabilities,
    session: Arc<Session>,
}

impl DurableCollection {
    /// The writer's turn, and a note of what is there before it writes, for a fault to bring back.
    async fn turn(&self, operation: Operation, about: About<'_>) -> Result<OwnedMutexGuard<()>> {
        self.session.open(operation)?;
        let kept = &self.session.kept;
        let turn = kept.turn.clone().lock_owned().await;
        let name = &self.spec().name;
        let everything = Filter::everything();
        match kept.fault {
            Some(Fault::LosesLastWrite | Fault::WritesWhenClosed) => {
                let unsaved = kept.state().journal.unsaved();
                if kept.fault == Some(Fault::LosesLastWrite) || !unsaved {
                    let all = kept.all(name, &everything).await?;
                    kept.state().journal.before(name.clone(), all);
                }
            }
            Some(Fault::KeepsDeleted | Fault::UndoesPatches) => {
                let patches = operation == Operation::UpdateMetadata;
                if patches == (kept.fault == Some(Fault::UndoesPatches)) {
                    let mut gone = match about {
                        About::Keys(_) => kept.all(name, &everything).await?,
                        About::Filter(filter) => kept.all(name, filter).await?,
                    };
                    if let About::Keys(keys) = about {
                        gone.retain(|record| keys.contains(&record.key));
                    }
                    kept.state().journal.gone.push((name.clone(), gone));
                }
            }
            _ => {}
        }
        Ok(turn)
    }

    async fn search_leg(&self, leg: &Leg) -> Result<LegResult> {
        self.session.open(Operation::Search)?;
        let kept = &self.session.kept;
        let again = kept.state().again;
        let lexical = matches!(leg.ask, LegQuery::Lexical { .. });
        let found = match kept.fault {
            Some(Fault::ForgetsWords) if again && lexical => {
                Ok(LegResult::new(Vec::new(), Completeness::Complete))
            }
            Some(Fault::TurnsTies) if again => {
                let mut found = search_one(&*self.behind, &leg.with_top_k(EVERYTHING)).await?;
                found.hits.reverse();
                found.hits.sort_by(|a, b| b.score.total_cmp(&a.score));
                found.hits.truncate(leg.top_k);
                Ok(found)
            }
            _ => search_one(&*self.behind, leg).await,
        }?;
        self.undamaged(Operation::Search, found.hits.iter().map(|hit| &hit.key))?;
        Ok(found)
    }

    /// Reads that brought these keys fail where one of them is damaged.
    fn undamaged<'a>(
        &self,
        operation: Operation,
        mut keys: impl Iterator<Item = &'a Key>,
    ) -> Result<()> {
        let state = self.session.kept.state();
        let here =
            |(name, key): &(CollectionName, Key), read| name == &self.spec().name && key == read;
        if !keys.any(|read| state.damaged.iter().any(|damaged| here(damaged, read))) {
            return Ok(());
        }
        let kind = match self.session.kept.fault {
            Some(Fault::CallsDamageAFailure) => ErrorKind::Engine,
            _ => ErrorKind::Corrupt("a record does not match its checksum"),
        };
        Err(StoreError::new(operation, kind).on(&self.spec().name))
    }
}

/// What a write is about.
#[derive(Clone, Copy)]
enum About<'a> {
    Keys(&'a [Key]),
    Filter(&'a Filter),
}

#[async_trait]
impl CollectionLayer for DurableCollection {
    fn behind(&self) -> &Arc<dyn CollectionAdapter> {
        &self.behind
    }

    fn capabilities(&self) -> &Capabilities {
        &self.can
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        let _turn = self.turn(Operation::Upsert, About::Keys(&[])).await?;
        self.behind.upsert(records).await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        let _turn = self.turn(Operation::Delete, About::Keys(keys)).await?;
        self.behind.delete(keys).await
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        in_one_state(legs, |leg| self.search_leg(leg)).await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        self.session.open(Operation::Fetch)?;
        let fetched = self.behind.fetch(keys, within, include).await?;
        let brought = fetched.iter().flatten().map(|record| &record.key);
        self.undamaged(Operation::Fetch, brought)?;
        Ok(fetched)
    }

    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        let about = About::Filter(selector.filter());
        let _turn = self.turn(Operation::Replace, about).await?;
        if let Some(expected) = precondition
            && self.session.kept.fault != Some(Fault::IgnoresExpected)
            && !is_met(&*self.behind, expected, selector).await?
        {
            return Ok(None);
        }
        self.behind.replace(selector, with, None).await
    }

    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
        let about = About::Filter(selector.filter());
        let _turn = self.turn(Operation::DeleteMatching, about).await?;
        self.behind.delete_matching(selector).await
    }

    async fn delete_all(&self) -> Result<Count> {
        let everything = Filter::everything();
        let about = About::Filter(&everything);
        let _turn = self.turn(Operation::DeleteAll, about).await?;
        self.behind.delete_all().await
    }

    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
        let about = About::Filter(selector.filter());
        let _turn = self.turn(Operation::UpdateMetadata, about).await?;
        self.behind.update_metadata(selector, patch).await
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        self.session.open(Operation::Scan)?;
        let page = self.behind.scan(filter, after, limit, include).await?;
        self.undamaged(Operation::Scan, page.records.iter().map(|r| &r.key))?;
        Ok(page)
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        self.session.open(Operation::Count)?;
        self.behind.count(filter).await
    }
}
