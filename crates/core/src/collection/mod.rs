//! What users hold: a collection of which every call is checked, and what every adapter would
//! otherwise have to get right by itself.
//!
//! It checks requests before anything is sent, splits filters and evaluates what is left, asks
//! again while hits are missing, cuts batches, locks what a writer changes, and composes what an
//! engine lacks. It never sleeps, retries or polls: those are the adapter's, which knows its engine.

mod leg;
mod records;
mod verify;
mod writes;

use std::fmt;
use std::sync::Arc;

use crate::adapter::{CollectionAdapter, WriteLock};
use crate::capabilities::{Capabilities, Counting};
use crate::error::{ErrorKind, Operation, Result, StoreError};
use crate::filter::{Filter, FilterError, Pushdown, Selector};
use crate::limits::Limits;
use crate::record::{Include, Key, Record, StoredRecord};
use crate::search::{
    Count, Cursor, Leg, LegResult, MetadataPatch, Page, Precondition, Replaced, as_count,
};
use crate::spec::CollectionSpec;

use leg::FilterPlan;
pub(crate) use leg::{CheckedHits, Verdict};
pub(crate) use records::Origin;

/// An open collection, as it was when it was opened: its spec and capabilities do not change under a
/// handle. A clone is the same handle.
#[derive(Clone)]
pub struct Collection {
    adapter: Arc<dyn CollectionAdapter>,
    lock: WriteLock,
    limits: Limits,
}

impl Collection {
    pub(crate) fn new(
        adapter: Arc<dyn CollectionAdapter>,
        lock: WriteLock,
        limits: Limits,
    ) -> Self {
        Self {
            adapter,
            lock,
            limits,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    fn error(&self, operation: Operation, kind: impl Into<ErrorKind>) -> StoreError {
        StoreError::new(operation, kind).on(&self.spec().name)
    }

    /// Checks a filter against the limits and the declared fields, and folds it by their kinds.
    fn fold(&self, filter: &Filter) -> Result<Filter, FilterError> {
        self.limits.filter_limits().check(filter)?;
        filter.check_fields(self.spec())?;
        Ok(filter.fold(self.spec()))
    }

    fn checked_filter(&self, operation: Operation, filter: &Filter) -> Result<Filter> {
        self.fold(filter).map_err(|e| self.error(operation, e))
    }

    fn unsupported(&self, operation: Operation, what: &'static str) -> StoreError {
        self.error(operation, ErrorKind::Unsupported(what))
    }

    /// Splits a folded filter between the engine and this handle.
    fn split(&self, filter: &Filter) -> Pushdown {
        self.capabilities().filter.split(filter)
    }

    fn checked_selector(&self, operation: Operation, selector: &Selector) -> Result<Selector> {
        let folded = self.checked_filter(operation, selector.filter())?;
        Ok(selector.folded(|_| folded))
    }

    async fn scan_page(
        &self,
        split: &Pushdown,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        let mut page = self
            .adapter
            .scan(&split.native, after, limit, include)
            .await?;
        if let Some(residual) = &split.residual {
            page.records
                .retain(|record| residual.matches(&record.metadata));
        }
        Ok(page)
    }

    /// Every record that a folded filter matches, a page at a time.
    async fn scan_all(
        &self,
        operation: Operation,
        filter: &Filter,
        mut each: impl FnMut(StoredRecord) + Send,
    ) -> Result<()> {
        const PAGE: usize = 1_000;
        if !self.capabilities().scan {
            return Err(self.error(
                operation,
                ErrorKind::Unsupported("by this filter, without a scan"),
            ));
        }
        let split = self.split(filter);
        let mut after = None;
        loop {
            let page = self
                .scan_page(&split, after.as_ref(), PAGE, Include::METADATA)
                .await?;
            page.records.into_iter().for_each(&mut each);
            match page.next {
                Some(next) if after.as_ref() != Some(&next) => after = Some(next),
                Some(_) => {
                    let contract = "a scan that does not go on".to_owned();
                    return Err(self.error(operation, ErrorKind::Contract(contract)));
                }
                None => return Ok(()),
            }
        }
    }
}

impl Collection {
    /// What the collection is.
    pub fn spec(&self) -> &CollectionSpec {
        self.adapter.spec()
    }

    /// What it can do.
    pub fn capabilities(&self) -> &Capabilities {
        self.adapter.capabilities()
    }

    /// Writes records; one under a key that is taken replaces it whole, vector and text included.
    ///
    /// # Errors
    /// A record that is refused, before anything is sent; [`ErrorKind::PartialWrite`] names each
    /// record that was not written; or those of the engine.
    pub async fn upsert(&self, records: &[Record]) -> Result<()> {
        self.upsert_from(Origin::Caller, records).await
    }

    /// Deletes by key; answers how many there were.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for no keys, or those of the engine.
    pub async fn delete(&self, keys: &[Key]) -> Result<Count> {
        self.delete_keys(keys).await
    }

    /// The best hits of one leg among the records that its filter matches.
    ///
    /// # Errors
    /// A leg that is refused, before anything is sent, or those of the engine.
    pub async fn search(&self, leg: &Leg) -> Result<LegResult> {
        let plan = self.plan(leg)?;
        let hits = self.search_planned([plan], &|_| Verdict::Keep).await?;
        let [hits] = hits;
        Ok(hits.into())
    }

    /// Two legs, in one round trip and one snapshot where the engine has that.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub async fn search_both(&self, dense: &Leg, lexical: &Leg) -> Result<(LegResult, LegResult)> {
        let plans = [self.plan(dense)?, self.plan(lexical)?];
        let [dense, lexical] = self.search_planned(plans, &|_| Verdict::Keep).await?;
        Ok((dense.into(), lexical.into()))
    }

    /// The records under keys, in the order of the keys, each `None` where there is none within
    /// the filter.
    ///
    /// # Errors
    /// A key or a filter that is refused, or those of the engine.
    pub async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let filter = self.checked_filter(Operation::Fetch, within)?;
        self.fetch_planned(keys, &self.plan_folded(filter), include)
            .await
    }

    pub(crate) async fn fetch_planned(
        &self,
        keys: &[Key],
        within: &FilterPlan,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        keys.iter()
            .try_for_each(|key| self.check_key(Operation::Fetch, key))?;
        let mut records = Vec::with_capacity(keys.len());
        for batch in keys.chunks(self.capabilities().max_batch.unwrap_or(keys.len()).max(1)) {
            let fetched = self.adapter.fetch(batch, within.native(), include).await?;
            let answers = fetched.len() == batch.len()
                && fetched
                    .iter()
                    .zip(batch)
                    .all(|(r, key)| r.as_ref().is_none_or(|r| r.key == *key));
            if !answers {
                let contract = "a fetch that does not answer the keys in their order".to_owned();
                return Err(self.error(Operation::Fetch, ErrorKind::Contract(contract)));
            }
            records.extend(fetched);
        }
        for record in &mut records {
            record.take_if(|record| !within.residual_matches(&record.metadata));
        }
        Ok(records)
    }

    /// Puts these records in the place of those that the selector matches: whole or not at all where
    /// the store declares an atomic replace, else the old is deleted first.
    ///
    /// # Errors
    /// Records or a selector that are refused, or those of the engine.
    pub async fn replace(&self, selector: &Selector, with: &[Record]) -> Result<Replaced> {
        self.replace_from(Origin::Caller, selector, with).await
    }

    /// As [`replace`](Self::replace), but only while one record is as the precondition says: `None`
    /// when it is not, and nothing was changed then.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub async fn compare_and_replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: &Precondition,
    ) -> Result<Option<Replaced>> {
        self.replace_while_met(Origin::Caller, selector, with, precondition)
            .await
    }

    /// Deletes what the selector matches.
    ///
    /// # Errors
    /// A selector that is refused, or those of the engine.
    pub async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
        self.delete_selected(selector).await
    }

    /// Deletes everything in the collection and keeps the collection.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn delete_all(&self) -> Result<Count> {
        self.delete_everything().await
    }

    /// Changes metadata in place, and nothing else, of what the selector matches; answers how many
    /// records matched.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] where the store cannot, a patch that is refused, or those of the
    /// engine.
    pub async fn update_metadata(
        &self,
        selector: &Selector,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        self.update_selected(selector, patch).await
    }

    /// Records that the filter matches, in a stable order, `limit` at a time. A page may be shorter
    /// where the engine does not evaluate the whole filter; the last one has no cursor.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] where the store cannot, a limit of 0, or those of the engine.
    pub async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        if limit == 0 {
            let invalid = "a page of 0 records never ends; ask for at least 1".to_owned();
            return Err(self.error(Operation::Scan, ErrorKind::Invalid(invalid)));
        }
        let filter = self.checked_filter(Operation::Scan, filter)?;
        if !self.capabilities().scan {
            return Err(self.unsupported(Operation::Scan, "scan"));
        }
        self.scan_page(&self.split(&filter), after, limit, include)
            .await
    }

    /// How many records the filter matches: as exact as the store counts, exact where they are
    /// counted by a scan. A scan takes many pages and no snapshot: a record that is written or deleted
    /// meanwhile may or may not be among those counted.
    ///
    /// # Errors
    /// A filter that is refused, or those of the engine.
    pub async fn count(&self, filter: &Filter) -> Result<Count> {
        let filter = self.checked_filter(Operation::Count, filter)?;
        self.count_folded(&filter, self.capabilities().count.is_some())
            .await
    }

    /// As [`count`](Self::count), but by a scan where the store's own count is not exact.
    async fn count_exactly(&self, filter: &Filter) -> Result<Count> {
        let can = self.capabilities();
        let natively = can.count == Some(Counting::Exact) || (can.count.is_some() && !can.scan);
        let filter = self.checked_filter(Operation::Count, filter)?;
        self.count_folded(&filter, natively).await
    }

    async fn count_folded(&self, filter: &Filter, natively: bool) -> Result<Count> {
        if natively && self.split(filter).residual.is_none() {
            return self.adapter.count(filter).await;
        }
        let mut found = 0;
        self.scan_all(Operation::Count, filter, |_| found += 1)
            .await?;
        Ok(Count::Exact(as_count(found)))
    }
}

/// Shows the collection's name and what it is, never its contents.
impl fmt::Debug for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collection")
            .field("name", &self.spec().name)
            .field("width", &self.spec().width)
            .field("embedder", &self.spec().embedder)
            .finish_non_exhaustive()
    }
}
