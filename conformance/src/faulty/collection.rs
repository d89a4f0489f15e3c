use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use shelfward_core::filter::key;
use shelfward_core::{
    Ask, Capabilities, Collection, CollectionSpec, Count, Cursor, End, Filter, Found, Hit, Include,
    Key, Leg, Match, MetadataKey, MetadataPatch, NarrowFilter, Operation, Page, Record, Replaced,
    Result, Scalar, StoreError, StoredRecord, Value, VectorStore, WriteOrder, async_trait,
    query_words,
};

use super::Fault;
use super::ghosts::{Change, Ghosts};
use super::meaning::{matches, misunderstands};
use super::words::{Shelf, of_words};

/// More than any collection of the suite holds.
const EVERYTHING: usize = 100_000;

pub(super) struct FaultyCollection {
    inner: Arc<dyn Collection>,
    store: Arc<dyn VectorStore>,
    fault: Fault,
    can: Capabilities,
    ghosts: Ghosts,
    searches: AtomicUsize,
    /// How many replaces the store has begun.
    writers: Arc<AtomicUsize>,
}

impl FaultyCollection {
    pub(super) fn new(
        inner: Arc<dyn Collection>,
        store: Arc<dyn VectorStore>,
        fault: Fault,
        can: Capabilities,
        ghosts: Ghosts,
        writers: Arc<AtomicUsize>,
    ) -> Self {
        Self {
            inner,
            store,
            fault,
            can,
            ghosts,
            searches: AtomicUsize::new(0),
            writers,
        }
    }

    /// The filter with nothing of it but the partition, without which no lexical leg runs.
    fn partition_only(&self, filter: &Filter) -> Filter {
        let pinned = self.spec().partition_key().and_then(|partition| {
            let value = filter.pinned(partition.as_str())?.into_iter().next()?;
            key(partition.as_str()).eq(value).build().ok()
        });
        pinned.unwrap_or_else(Filter::everything)
    }

    /// Everything that the leg could find, unfiltered.
    async fn unfiltered(&self, leg: &Leg, top_k: usize) -> Result<Found> {
        let partition = self.partition_only(&leg.filter);
        self.inner
            .search(&leg.with_filter(partition).with_top_k(top_k))
            .await
    }

    async fn all(&self, filter: &Filter) -> Result<Vec<StoredRecord>> {
        let mut all = self
            .inner
            .scan(&Filter::everything(), None, EVERYTHING, Include::ALL)
            .await?
            .records;
        all.retain(|record| self.matches(filter, record));
        Ok(all)
    }

    fn matches(&self, filter: &Filter, record: &StoredRecord) -> bool {
        matches(self.fault, filter, &record.metadata)
    }

    /// Hits of the other collections of the store, as if they were of this one.
    async fn elsewhere(&self, leg: &Leg) -> Result<Vec<Hit>> {
        let mut hits = Vec::new();
        for name in self.store.list().await? {
            if name == self.spec().name {
                continue;
            }
            if let Some(other) = self.store.open(&name).await?
                && other.spec().width == self.spec().width
                && let Ok(found) = other.search(leg).await
            {
                hits.extend(found.hits);
            }
        }
        Ok(hits)
    }

    async fn remember(&self, change: Change, filter: &Filter) -> Result<()> {
        if Ghosts::matter(self.fault, change) {
            let page = self.inner.scan(filter, None, EVERYTHING, Include::TEXT);
            self.ghosts.add(&self.spec().name, page.await?.records);
        }
        Ok(())
    }

    async fn remember_keys(&self, change: Change, keys: &[Key]) -> Result<()> {
        if Ghosts::matter(self.fault, change) {
            let all = Filter::everything();
            let before = self.inner.fetch(keys, &all, Include::TEXT).await?;
            self.ghosts
                .add(&self.spec().name, before.into_iter().flatten());
        }
        Ok(())
    }

    /// What is found, or no longer found, by words that a record had before it was changed.
    async fn haunt(&self, leg: &Leg, found: &mut Found) -> Result<()> {
        let Ask::Lexical { words, .. } = &leg.ask else {
            return Ok(());
        };
        for ghost in self.ghosts.of(&self.spec().name) {
            let text = ghost.text.as_deref().unwrap_or_default();
            let held = query_words(text, self.spec().word_rule, false).unwrap_or_default();
            let by_word = held.iter().any(|h| words.iter().any(|w| w.text == h.text));
            let there = found.hits.iter().any(|hit| hit.key == ghost.key);
            match self.fault {
                Fault::UpdateForgetsWords => found.hits.retain(|hit| hit.key != ghost.key),
                Fault::ForgetsLexicalOnDelete if by_word && leg.filter.matches(&ghost.metadata) => {
                    let (text, metadata) = (ghost.text, ghost.metadata);
                    found.hits.push(Hit::new(ghost.key, 0.1, text, metadata));
                }
                Fault::KeepsOldWords if by_word && !there => {
                    let keys = std::slice::from_ref(&ghost.key);
                    let now = self.inner.fetch(keys, &leg.filter, Include::TEXT).await?;
                    let now = now.into_iter().flatten();
                    found
                        .hits
                        .extend(now.map(|r| Hit::new(r.key, 0.1, r.text, r.metadata)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What the leg of this crate's own finds, with its fault.
    async fn by_own_words(&self, leg: &Leg) -> Result<Option<Found>> {
        let Ask::Lexical { words, matching } = &leg.ask else {
            return Ok(None);
        };
        if !of_words(self.fault) {
            return Ok(None);
        }
        let all = Filter::everything();
        let all = self.inner.scan(&all, None, EVERYTHING, Include::TEXT).await;
        let shelf = Shelf {
            fault: self.fault,
            spec: self.spec(),
            all: &all?.records,
            gone: &self.ghosts.of(&self.spec().name),
        };
        let hits = shelf
            .search(words, *matching, &leg.filter)
            .map_err(|kind| StoreError::new(Operation::Search, kind).on(&self.spec().name))?;
        Ok(Some(Found::new(hits, End::Complete)))
    }

    /// Waits until a replace that began at the same time is half done, where nobody takes turns.
    async fn come_between(&self) {
        if self.fault == Fault::UnorderedWriters {
            tokio::time::sleep(A_MOMENT + A_MOMENT / 2).await;
        }
    }

    /// A replace in three steps, the halves of the new in another order each time, so that two at
    /// once leave a part of each.
    async fn replace_in_steps(&self, selector: &NarrowFilter, with: &[Record]) -> Result<Replaced> {
        let removed = self.inner.delete_matching(selector).await?;
        let (mut first, mut second) = with.split_at(with.len() / 2);
        if self.writers.fetch_add(1, Ordering::SeqCst) % 2 == 1 {
            (first, second) = (second, first);
        }
        tokio::time::sleep(A_MOMENT).await;
        self.inner.upsert(first).await?;
        tokio::time::sleep(A_MOMENT).await;
        self.inner.upsert(second).await?;
        Ok(Replaced::new(removed, with.len()))
    }
}

/// Between two steps of a writer that takes no turn.
const A_MOMENT: Duration = Duration::from_millis(4);

fn one_more(count: Count) -> Count {
    count.plus(Count::Exact(1))
}

/// The leg, for every word where any was asked for.
fn every_word(leg: &Leg) -> Leg {
    match &leg.ask {
        Ask::Lexical { words, .. } => {
            Leg::lexical(words.clone(), Match::All, leg.filter.clone(), leg.top_k)
        }
        Ask::Dense(_) => leg.clone(),
    }
}

/// Integers as a store that knows only floats gives them back.
fn round(record: &mut StoredRecord) {
    let rounded = record.metadata.iter().map(|(key, value)| {
        let float = value.as_integer().and_then(|integer| {
            #[expect(clippy::cast_precision_loss, reason = "that is the fault")]
            let float = integer as f64;
            Scalar::float(float).ok()
        });
        (
            key.clone(),
            float.map_or_else(|| value.clone(), Value::Scalar),
        )
    });
    record.metadata = Arc::new(rounded.collect());
}

/// Keys as a store that makes column names of them gives them back.
fn rename(record: &mut StoredRecord) {
    let renamed = record.metadata.iter().map(|(key, value)| {
        let plain = key
            .as_str()
            .replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_");
        let plain = MetadataKey::stored(&plain).unwrap_or_else(|_| key.clone());
        (plain, value.clone())
    });
    record.metadata = Arc::new(renamed.collect());
}

fn but_the_last(records: &[Record]) -> &[Record] {
    records.split_last().map_or(records, |(_, before)| before)
}

#[async_trait]
impl Collection for FaultyCollection {
    fn spec(&self) -> &CollectionSpec {
        self.inner.spec()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.can
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        let keys: Vec<_> = records.iter().map(|record| record.key.clone()).collect();
        self.remember_keys(Change::WrittenOver, &keys).await?;
        match self.fault {
            Fault::LosesLastOfBatch => self.inner.upsert(but_the_last(records)).await,
            Fault::KeepsOldRecord => {
                let there = self
                    .inner
                    .fetch(&keys, &Filter::everything(), Include::METADATA)
                    .await?;
                let new = records.iter().zip(there).filter(|(_, old)| old.is_none());
                self.inner
                    .upsert(&new.map(|(record, _)| record.clone()).collect::<Vec<_>>())
                    .await
            }
            _ => self.inner.upsert(records).await,
        }
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
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

    async fn search(&self, leg: &Leg) -> Result<Found> {
        let dense = matches!(leg.ask, Ask::Dense(_));
        let mut found = match self.fault {
            fault if of_words(fault) => match self.by_own_words(leg).await? {
                Some(found) => found,
                None => self.inner.search(leg).await?,
            },
            fault if misunderstands(fault) => {
                let mut found = self.unfiltered(leg, EVERYTHING).await?;
                found
                    .hits
                    .retain(|hit| matches(fault, &leg.filter, &hit.metadata));
                found
            }
            Fault::FiltersDenseOnly if !dense => self.unfiltered(leg, leg.top_k).await?,
            Fault::FiltersAfterTopK | Fault::ShortAndComplete => {
                let mut found = self.unfiltered(leg, leg.top_k).await?;
                found.hits.retain(|hit| leg.filter.matches(&hit.metadata));
                found
            }
            Fault::InvertsScores | Fault::UnstableTies => {
                self.inner.search(&leg.with_top_k(EVERYTHING)).await?
            }
            Fault::AnyMeansAll => self.inner.search(&every_word(leg)).await?,
            _ => self.inner.search(leg).await?,
        };
        match self.fault {
            Fault::OffByOneTopK if found.hits.len() == leg.top_k || found.hits.len() > 1 => {
                found.hits.pop();
            }
            Fault::InvertsScores if dense => {
                found.hits.reverse();
                found.hits.iter_mut().for_each(|hit| hit.score = -hit.score);
            }
            Fault::DistanceAsScore if dense => found
                .hits
                .iter_mut()
                .for_each(|hit| hit.score = 1.0 - hit.score),
            Fault::UnstableTies if self.searches.fetch_add(1, Ordering::SeqCst) % 2 == 1 => {
                // Reversed first, so that the sort, which is stable, leaves equal scores reversed.
                found.hits.reverse();
                found.hits.sort_by(|a, b| b.score.total_cmp(&a.score));
            }
            Fault::LeaksAcrossCollections => {
                found.hits.extend(self.elsewhere(leg).await?);
                found.hits.sort_by(|a, b| b.score.total_cmp(&a.score));
            }
            Fault::ForgetsLexicalOnDelete | Fault::KeepsOldWords | Fault::UpdateForgetsWords => {
                self.haunt(leg, &mut found).await?;
            }
            Fault::NeverSaysHowItEnded => found.end = End::Unknown,
            Fault::FlatLexicalScores if !dense => {
                found.hits.iter_mut().for_each(|hit| hit.score = 1.0);
                found.hits.sort_by(|a, b| a.key.cmp(&b.key));
            }
            _ => {}
        }
        found.hits.truncate(leg.top_k);
        Ok(found)
    }

    async fn search_both(&self, dense: &Leg, lexical: &Leg) -> Result<(Found, Found)> {
        let mut legs = (dense.clone(), lexical.clone());
        if self.fault == Fault::FiltersOneOfBoth {
            legs.1 = lexical.with_filter(self.partition_only(&lexical.filter));
        }
        let (mut a, mut b) = (self.search(&legs.0).await?, self.search(&legs.1).await?);
        match self.fault {
            Fault::SwapsLegs => std::mem::swap(&mut a, &mut b),
            Fault::FusesLegs => {
                a.hits.extend(b.hits.iter().cloned());
                let mut seen = HashSet::new();
                a.hits.retain(|hit| seen.insert(hit.key.clone()));
                b.hits.clone_from(&a.hits);
                a.hits.truncate(dense.top_k);
                b.hits.truncate(lexical.top_k);
            }
            _ => {}
        }
        Ok((a, b))
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
        let mut fetched = self
            .inner
            .fetch(keys, &Filter::everything(), include)
            .await?;
        for record in &mut fetched {
            record.take_if(|record| !self.matches(within, record));
        }
        Ok(fetched)
    }

    async fn replace(&self, selector: &NarrowFilter, with: &[Record]) -> Result<Replaced> {
        self.remember(Change::Deleted, selector.filter()).await?;
        self.remember(Change::WrittenOver, selector.filter())
            .await?;
        match self.fault {
            Fault::UnorderedWriters => self.replace_in_steps(selector, with).await,
            Fault::LeavesStaleTail => {
                self.inner.upsert(with).await?;
                Ok(Replaced::new(Count::Exact(0), with.len()))
            }
            Fault::ReplacesInTwoSteps => {
                let removed = self.inner.delete_matching(selector).await?;
                tokio::time::sleep(Duration::from_millis(2)).await;
                self.inner.upsert(with).await?;
                Ok(Replaced::new(removed, with.len()))
            }
            Fault::LandsLate => {
                let (inner, selector, with) = (self.inner.clone(), selector.clone(), with.to_vec());
                let job = tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    inner.replace(&selector, &with).await
                });
                job.await
                    .unwrap_or_else(|_| Ok(Replaced::new(Count::Unknown, 0)))
            }
            Fault::LosesLastOfBatch => self.inner.replace(selector, but_the_last(with)).await,
            _ => self.inner.replace(selector, with).await,
        }
    }

    async fn delete_matching(&self, selector: &NarrowFilter) -> Result<Count> {
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
                let keys: Vec<_> = self
                    .all(selector.filter())
                    .await?
                    .into_iter()
                    .map(|r| r.key)
                    .collect();
                self.inner.delete(&keys).await
            }
            _ => self.inner.delete_matching(selector).await,
        }
    }

    async fn delete_all(&self) -> Result<Count> {
        self.inner.delete_all().await
    }

    async fn update_metadata(
        &self,
        selector: &NarrowFilter,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        self.remember(Change::Updated, selector.filter()).await?;
        self.come_between().await;
        match self.fault {
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
                for record in self.all(&Filter::everything()).await? {
                    let vector = record.vector.unwrap_or_else(|| Arc::from([]));
                    let bare = Record::new(record.key, vector).with_metadata(record.metadata);
                    self.inner.upsert(&[bare]).await?;
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
        if self.fault == Fault::ScanFails {
            return Err(self.unsupported(Operation::Scan, "scan"));
        }
        if self.fault == Fault::ShufflesScans
            && self.searches.fetch_add(1, Ordering::SeqCst) % 2 == 1
        {
            let mut page = self.inner.scan(filter, None, EVERYTHING, include).await?;
            page.records.reverse();
            return Ok(page);
        }
        if !misunderstands(self.fault) {
            return self.inner.scan(filter, after, limit, include).await;
        }
        let mut page = self
            .inner
            .scan(&Filter::everything(), after, limit, include)
            .await?;
        page.records.retain(|record| self.matches(filter, record));
        Ok(page)
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

    fn write_order(&self) -> Option<WriteOrder> {
        if self.fault == Fault::UnorderedWriters {
            // One for each handle, which orders nobody.
            return Some(WriteOrder::new());
        }
        self.inner.write_order()
    }
}
