//! The checked handle: what every adapter would otherwise have to get right by itself.
//!
//! It checks requests before anything is sent, splits filters and evaluates what is left, asks
//! again while hits are missing, cuts batches, orders writers, and composes what an engine lacks.
//! It never sleeps, retries or polls: those are the adapter's, which knows its engine.

mod leg;
mod records;
mod verify;
mod writes;

use std::sync::Arc;

use async_trait::async_trait;

use crate::capabilities::Capabilities;
use crate::ceilings::Ceilings;
use crate::error::{ErrorKind, Operation, Result, StoreError};
use crate::filter::{Filter, NarrowFilter, Pushdown};
use crate::port::Collection;
use crate::record::{Include, Key, Record, StoredRecord};
use crate::search::{Count, Cursor, Found, Leg, MetadataPatch, Page, Replaced, as_count};
use crate::spec::CollectionSpec;
use crate::write_order::WriteOrder;

pub(crate) use leg::{Kept, Verdict};
pub(crate) use records::Origin;

/// A collection behind all checks. A clone is the same handle.
#[derive(Clone)]
pub struct CheckedCollection {
    inner: Arc<dyn Collection>,
    order: WriteOrder,
    ceilings: Ceilings,
}

/// Only this crate can make one, so no adapter can claim to be checked.
#[doc(hidden)]
pub struct Sealed(());

impl CheckedCollection {
    pub(crate) fn over(inner: Arc<dyn Collection>, order: WriteOrder, ceilings: Ceilings) -> Self {
        match inner.as_checked(&Sealed(())) {
            Some(checked) => Self {
                ceilings,
                ..checked
            },
            None => Self {
                inner,
                order,
                ceilings,
            },
        }
    }

    pub(crate) fn ceilings(&self) -> &Ceilings {
        &self.ceilings
    }

    fn error(&self, operation: Operation, kind: impl Into<ErrorKind>) -> StoreError {
        StoreError::new(operation, kind).on(&self.spec().name)
    }

    /// Checks a filter against the ceilings and the declared fields, and folds it by their kinds.
    fn checked_filter(&self, operation: Operation, filter: &Filter) -> Result<Filter> {
        let limits = self.ceilings.filter_limits();
        limits
            .check(filter)
            .and_then(|()| filter.check_fields(self.spec()))
            .map_err(|e| self.error(operation, e))?;
        Ok(filter.fold(self.spec()))
    }

    fn checked_selector(
        &self,
        operation: Operation,
        selector: &NarrowFilter,
    ) -> Result<NarrowFilter> {
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
            .inner
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
        let split = self.inner.pushdown(filter);
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

#[async_trait]
impl Collection for CheckedCollection {
    fn spec(&self) -> &CollectionSpec {
        self.inner.spec()
    }

    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    /// The handle evaluates what the engine does not, so nothing is left to its caller.
    fn pushdown(&self, filter: &Filter) -> Pushdown {
        Pushdown::whole(filter.clone())
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        self.upsert_from(Origin::Caller, records).await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        self.delete_keys(keys).await
    }

    async fn search(&self, leg: &Leg) -> Result<Found> {
        let kept = self.search_kept(leg, &|_| Verdict::Keep).await?;
        Ok(Found::new(kept.hits, kept.end))
    }

    async fn search_both(&self, dense: &Leg, lexical: &Leg) -> Result<(Found, Found)> {
        let (dense, lexical) = self
            .search_both_kept(dense, lexical, &|_| Verdict::Keep)
            .await?;
        Ok((
            Found::new(dense.hits, dense.end),
            Found::new(lexical.hits, lexical.end),
        ))
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let filter = self.checked_filter(Operation::Fetch, within)?;
        keys.iter()
            .try_for_each(|key| self.check_key(Operation::Fetch, key))?;
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let split = self.inner.pushdown(&filter);
        let mut records = Vec::with_capacity(keys.len());
        for batch in keys.chunks(self.capabilities().max_batch.unwrap_or(keys.len()).max(1)) {
            let fetched = self.inner.fetch(batch, &split.native, include).await?;
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
        if let Some(residual) = &split.residual {
            for record in &mut records {
                record.take_if(|record| !residual.matches(&record.metadata));
            }
        }
        Ok(records)
    }

    async fn replace(&self, selector: &NarrowFilter, with: &[Record]) -> Result<Replaced> {
        self.replace_from(Origin::Caller, selector, with).await
    }

    async fn delete_matching(&self, selector: &NarrowFilter) -> Result<Count> {
        self.delete_selected(selector).await
    }

    async fn delete_all(&self) -> Result<Count> {
        self.delete_everything().await
    }

    async fn update_metadata(
        &self,
        selector: &NarrowFilter,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        self.update_selected(selector, patch).await
    }

    async fn scan(
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
        self.scan_page(&self.inner.pushdown(&filter), after, limit, include)
            .await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let filter = self.checked_filter(Operation::Count, filter)?;
        if self.capabilities().count.is_some() && self.inner.pushdown(&filter).residual.is_none() {
            return self.inner.count(&filter).await;
        }
        let mut found = 0;
        self.scan_all(Operation::Count, &filter, |_| found += 1)
            .await?;
        Ok(Count::Exact(as_count(found)))
    }

    fn write_order(&self) -> Option<WriteOrder> {
        Some(self.order.clone())
    }

    fn as_checked(&self, _: &Sealed) -> Option<CheckedCollection> {
        Some(self.clone())
    }
}

/// The proof that the caller is this crate.
pub(crate) fn sealed() -> Sealed {
    Sealed(())
}
