use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use shelfward_conformance::layer::CollectionLayer;
use shelfward_core::adapter::{CollectionAdapter, StoreAdapter};
use shelfward_core::{
    Capabilities, Count, Cursor, Filter, Include, Key, Leg, LegResult, MetadataPatch, Page,
    Precondition, Record, Replaced, Result, Selector, StoredRecord, async_trait,
};

use super::Fault;
use super::filter_semantics::{matches, misunderstands};
use super::legs::in_one_state;
use super::old_records::{Change, OldRecords};
use super::records::{but_the_last, rename, round, written};
use super::scans::Scanned;

/// More than any collection of the suite holds.
pub(super) const EVERYTHING: usize = 100_000;

pub(super) struct FaultyCollection {
    pub(super) inner: Arc<dyn CollectionAdapter>,
    pub(super) store: Arc<dyn StoreAdapter>,
    pub(super) fault: Fault,
    pub(super) can: Capabilities,
    pub(super) shared: Shared,
    pub(super) searches: AtomicUsize,
    /// What was answered before, where answers are cached.
    pub(super) answers: Mutex<Vec<(Leg, LegResult)>>,
    /// The same of scans.
    pub(super) scans: Mutex<Vec<Scanned>>,
}

/// What the collections of one store share. A clone is the same.
#[derive(Clone, Default)]
pub(super) struct Shared {
    pub(super) old_records: OldRecords,
    /// How many replaces the store has begun.
    writers: Arc<AtomicUsize>,
    /// How many of them it is doing.
    pub(super) writing: Arc<AtomicUsize>,
    /// Of its writers, where one keeps it.
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl FaultyCollection {
    async fn all(&self, filter: &Filter) -> Result<Vec<StoredRecord>> {
        let everything = Filter::everything();
        let page = self.inner.scan(&everything, None, EVERYTHING, Include::ALL);
        let mut all = page.await?.records;
        all.retain(|record| self.matches(filter, record));
        Ok(all)
    }

    pub(super) fn matches(&self, filter: &Filter, record: &StoredRecord) -> bool {
        matches(self.fault, filter, &record.metadata)
    }

    async fn remember(&self, change: Change, filter: &Filter) -> Result<()> {
        if OldRecords::matter(self.fault, change) {
            let page = self.inner.scan(filter, None, EVERYTHING, Include::TEXT);
            self.shared
                .old_records
                .add(&self.spec().name, page.await?.records);
        }
        Ok(())
    }

    async fn remember_keys(&self, change: Change, keys: &[Key]) -> Result<()> {
        if OldRecords::matter(self.fault, change) {
            let all = Filter::everything();
            let before = self.inner.fetch(keys, &all, Include::TEXT).await?;
            self.shared
                .old_records
                .add(&self.spec().name, before.into_iter().flatten());
        }
        Ok(())
    }

    fn answers(&self) -> MutexGuard<'_, Vec<(Leg, LegResult)>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn scans(&self) -> MutexGuard<'_, Vec<Scanned>> {
        self.scans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self, leg: &Leg) -> Option<LegResult> {
        let answers = self.answers();
        let answered = answers.iter().find(|(asked, _)| asked == leg);
        answered.map(|(_, found)| found.clone())
    }

    async fn one_leg(&self, leg: &Leg) -> Result<LegResult> {
        if self.fault != Fault::CachesAnswers {
            return self.leg(leg).await;
        }
        if let Some(found) = self.answered(leg) {
            return Ok(found);
        }
        let found = self.leg(leg).await?;
        self.answers().push((leg.clone(), found.clone()));
        Ok(found)
    }

    /// Its own writes a handle knows of.
    fn written(&self) {
        self.answers().clear();
    }

    /// Takes the writers' turn and keeps it, where that is the fault.
    async fn lock_for_ever(&self) {
        if self.fault == Fault::KeepsLockOfTheReturned {
            std::mem::forget(self.shared.turn.clone().lock_owned().await);
        }
    }

    /// Waits until a replace that began at the same time is half done, where nobody takes turns.
    async fn come_between(&self) {
        if self.fault == Fault::UnorderedWriters {
            tokio::time::sleep(A_MOMENT + A_MOMENT / 2).await;
        }
    }

    /// A replace in three steps, the halves of the new in another order each time, so that two at
    /// once leave a part of each.
    async fn replace_in_steps(&self, selector: &Selector, with: &[Record]) -> Result<Replaced> {
        let removed = self.inner.delete_matching(selector).await?;
        let (mut first, mut second) = with.split_at(with.len() / 2);
        if self.shared.writers.fetch_add(1, Ordering::SeqCst) % 2 == 1 {
            (first, second) = (second, first);
        }
        tokio::time::sleep(A_MOMENT).await;
        self.inner.upsert(first).await?;
        tokio::time::sleep(A_MOMENT).await;
        self.inner.upsert(second).await?;
        Ok(Replaced::new(removed, with.len()))
    }

    async fn delete_in_halves(&self, selector: &Selector) -> Result<Count> {
        let all = self.all(selector.filter()).await?;
        let keys: Vec<_> = all.into_iter().map(|record| record.key).collect();
        let (first, second) = keys.split_at(keys.len() / 2);
        let gone = self.inner.delete(first).await?;
        tokio::time::sleep(A_MOMENT).await;
        Ok(gone.plus(self.inner.delete(second).await?))
    }

    async fn update_in_halves(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
        let all = self.all(selector.filter()).await?.into_iter();
        let patched: Vec<_> = all
            .map(|mut record| {
                record.metadata = Arc::new(patch.apply(&record.metadata));
                written(record)
            })
            .collect();
        let (first, second) = patched.split_at(patched.len() / 2);
        self.inner.upsert(first).await?;
        tokio::time::sleep(A_MOMENT).await;
        self.inner.upsert(second).await?;
        Ok(u64::try_from(patched.len()).map_or(Count::Unknown, Count::Exact))
    }
}

/// Between two steps of what must be one.
pub(super) const A_MOMENT: Duration = Duration::from_millis(4);

fn one_more(count: Count) -> Count {
    count.plus(Count::Exact(1))
}

#[async_trait]
impl CollectionLayer for FaultyCollection {
    fn behind(&self) -> &Arc<dyn CollectionAdapter> {
        &self.inner
    }

    fn capabilities(&self) -> &Capabilities {
        &self.can
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        self.written();
        let keys: Vec<_> = records.iter().map(|record| record.key.clone()).collect();
        self.remember_keys(Change::WrittenOver, &keys).await?;
        match self.fault {
            Fault::LosesLastOfBatch => self.inner.upsert(but_the_last(records)).await,
            Fault::KeepsOldRecord => {
                let everything = Filter::everything();
                let there = self.inner.fetch(&keys, &everything, Include::METADATA);
                let pairs = records.iter().zip(there.await?);
                let new = pairs.filter(|(_, old)| old.is_none());
                let new: Vec<_> = new.map(|(record, _)| record.clone()).collect();
                self.inner.upsert(&new).await
            }
            _ => self.inner.upsert(records).await,
        }
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        self.written();
        self.remember_keys(Change::Deleted, keys).await?;
        match (self.fault, keys) {
            (Fault::DeletesFirstKeyOnly, [first, ..]) => {
                self.inner.delete(std::slice::from_ref(first)).await
            }
            (Fault::DeleteCountsKeys, _) => {
                self.inner.delete(keys).await?;
                Ok(u64::try_from(keys.len()).map_or(Count::Unknown, Count::Exact))
            }
            _ => self.inner.delete(keys).await,
        }
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        match legs {
            [leg] => Ok(vec![self.one_leg(leg).await?]),
            [dense, lexical] => self.both_legs(dense, lexical).await,
            _ => in_one_state(legs, |leg| self.leg(leg)).await,
        }
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        if !misunderstands(self.fault) {
            let mut fetched = self.inner.fetch(keys, within, include).await?;
            match self.fault {
                Fault::FetchSkipsMissing => {
                    let mut seen = HashSet::new();
                    fetched.retain(|record| {
                        record.as_ref().is_some_and(|r| seen.insert(r.key.clone()))
                    });
                }
                Fault::FetchBringsNoVector => fetched
                    .iter_mut()
                    .flatten()
                    .for_each(|record| record.vector = None),
                Fault::RoundsIntegers => fetched.iter_mut().flatten().for_each(round),
                Fault::RenamesOddKeys => fetched.iter_mut().flatten().for_each(rename),
                _ => {}
            }
            return Ok(fetched);
        }
        let everything = Filter::everything();
        let mut fetched = self.inner.fetch(keys, &everything, include).await?;
        for record in &mut fetched {
            record.take_if(|record| !self.matches(within, record));
        }
        Ok(fetched)
    }

    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        self.written();
        self.lock_for_ever().await;
        if precondition.is_none() {
            self.remember(Change::Deleted, selector.filter()).await?;
            self.remember(Change::WrittenOver, selector.filter())
                .await?;
        }
        let replaced = match self.fault {
            Fault::UnorderedWriters | Fault::TearsWrites => {
                self.replace_in_steps(selector, with).await?
            }
            Fault::ScanFailsBesideWriters => {
                self.shared.writing.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(A_MOMENT).await;
                let replaced = self.inner.replace(selector, with, precondition).await;
                self.shared.writing.fetch_sub(1, Ordering::SeqCst);
                return replaced;
            }
            Fault::LeavesStaleTail => {
                self.inner.upsert(with).await?;
                Replaced::new(Count::Exact(0), with.len())
            }
            Fault::ReplacesInTwoSteps => {
                let removed = self.inner.delete_matching(selector).await?;
                tokio::time::sleep(Duration::from_millis(2)).await;
                self.inner.upsert(with).await?;
                Replaced::new(removed, with.len())
            }
            Fault::LandsLate => {
                let (inner, selector, with) = (self.inner.clone(), selector.clone(), with.to_vec());
                let job = tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    inner.replace(&selector, &with, None).await
                });
                return job
                    .await
                    .unwrap_or_else(|_| Ok(Some(Replaced::new(Count::Unknown, 0))));
            }
            Fault::LosesLastOfBatch => {
                return self.inner.replace(selector, but_the_last(with), None).await;
            }
            _ => return self.inner.replace(selector, with, precondition).await,
        };
        Ok(Some(replaced))
    }

    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
        self.written();
        if self.fault == Fault::TearsWrites {
            return self.delete_in_halves(selector).await;
        }
        self.remember(Change::Deleted, selector.filter()).await?;
        self.come_between().await;
        match self.fault {
            Fault::DeleteByFilterDoesNothing => Ok(Count::Exact(0)),
            Fault::DeleteByFilterAnswersZero => {
                self.inner.delete_matching(selector).await?;
                Ok(Count::Exact(0))
            }
            Fault::DeleteByFilterAnswersUnknown => {
                self.inner.delete_matching(selector).await?;
                Ok(Count::Unknown)
            }
            Fault::CountsWrong => Ok(one_more(self.inner.delete_matching(selector).await?)),
            fault if misunderstands(fault) => {
                let all = self.all(selector.filter()).await?.into_iter();
                let keys: Vec<_> = all.map(|record| record.key).collect();
                self.inner.delete(&keys).await
            }
            _ => self.inner.delete_matching(selector).await,
        }
    }

    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
        self.written();
        self.remember(Change::Updated, selector.filter()).await?;
        self.come_between().await;
        match self.fault {
            Fault::TearsWrites => self.update_in_halves(selector, patch).await,
            Fault::UpdateDoesNothing => self.inner.count(selector.filter()).await,
            Fault::PatchKeepsRemovedKeys => {
                let set = patch
                    .iter()
                    .filter_map(|(key, value)| Some((key.clone(), value?.clone())));
                let patch = set.fold(MetadataPatch::new(), |patch, (key, value)| {
                    patch.set(key, value)
                });
                self.inner.update_metadata(selector, &patch).await
            }
            Fault::UpdateReplacesMetadata => {
                let fixed = [self.spec().partition_key(), self.spec().unit_key()];
                let mut whole = patch.clone();
                for record in self.all(selector.filter()).await? {
                    for (key, _) in record.metadata.iter() {
                        if !fixed.contains(&Some(key)) && !patch.touches(key.as_str()) {
                            whole = whole.remove(key.clone());
                        }
                    }
                }
                self.inner.update_metadata(selector, &whole).await
            }
            Fault::CountsWrong => Ok(one_more(self.inner.update_metadata(selector, patch).await?)),
            Fault::UpdateLosesText => {
                let updated = self.inner.update_metadata(selector, patch).await?;
                for mut record in self.all(&Filter::everything()).await? {
                    record.text = None;
                    self.inner.upsert(&[written(record)]).await?;
                }
                Ok(updated)
            }
            _ => self.inner.update_metadata(selector, patch).await,
        }
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        self.scanned(filter, after, limit, include).await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        match self.fault {
            Fault::CountsWrong => Ok(one_more(self.inner.count(filter).await?)),
            fault if misunderstands(fault) => {
                let found = self.all(filter).await?.len();
                Ok(u64::try_from(found).map_or(Count::Unknown, Count::Exact))
            }
            _ => self.inner.count(filter).await,
        }
    }
}
