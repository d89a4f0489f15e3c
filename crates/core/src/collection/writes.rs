//! Writes, each under the lock of what it changes.

use std::collections::HashSet;

use super::{Collection, Origin};
use crate::capabilities::{Replace, Writers};
use crate::error::{ErrorKind, FailedRecord, Operation, Result, StoreError};
use crate::filter::{Filter, Selector};
use crate::record::{Key, Record};
use crate::search::{Count, MetadataPatch, Precondition, Replaced, as_count};
use crate::write_locks::{LockScope, WriteGuard};

impl Collection {
    pub(crate) async fn upsert_from(&self, origin: Origin, records: &[Record]) -> Result<()> {
        let records = self.prepare(Operation::Upsert, origin, records)?;
        if records.is_empty() {
            return Ok(());
        }
        let _guard = self
            .lock
            .acquire(LockScope::of_keys(records.iter().map(|r| &r.key)))
            .await;
        self.write_batches(Operation::Upsert, &records, usize::MAX, false)
            .await
    }

    /// Writes in batches of at most `batch` and of what the store takes. What a failure left
    /// unwritten is named, later batches included; also where the call has `changed` something
    /// before, since the store's error speaks of its last step alone.
    pub(super) async fn write_batches(
        &self,
        operation: Operation,
        records: &[Record],
        batch: usize,
        changed: bool,
    ) -> Result<()> {
        let size = self
            .capabilities()
            .max_batch
            .unwrap_or(usize::MAX)
            .min(batch)
            .max(1);
        let mut written = 0;
        for batch in records.chunks(size) {
            if let Err(error) = self.adapter.upsert(batch).await {
                let later = records.get(written + batch.len()..).unwrap_or_default();
                return Err(self.name_unwritten(
                    operation,
                    error,
                    changed || written > 0,
                    batch,
                    later,
                ));
            }
            written += batch.len();
        }
        Ok(())
    }

    fn name_unwritten(
        &self,
        operation: Operation,
        error: StoreError,
        changed: bool,
        batch: &[Record],
        later: &[Record],
    ) -> StoreError {
        let not_sent = later
            .iter()
            .map(|r| FailedRecord::new(r.key.clone(), "not sent after the failure"));
        let failed: Vec<_> = match error.kind() {
            ErrorKind::PartialWrite(failed) => failed.iter().cloned().chain(not_sent).collect(),
            // Nothing was written, or nothing is known of this only batch: the error says it best.
            _ if !changed && later.is_empty() => return error,
            _ => {
                let reason = "the call that carried it failed";
                let carried = batch
                    .iter()
                    .map(|r| FailedRecord::new(r.key.clone(), reason));
                carried.chain(not_sent).collect()
            }
        };
        self.error(operation, ErrorKind::PartialWrite(failed))
            .with_source(error)
    }

    pub(super) async fn delete_keys(&self, keys: &[Key]) -> Result<Count> {
        if keys.is_empty() {
            let invalid = "no keys are given; a delete names what it deletes".to_owned();
            return Err(self.error(Operation::Delete, ErrorKind::Invalid(invalid)));
        }
        keys.iter()
            .try_for_each(|key| self.check_key(Operation::Delete, key))?;
        let mut seen = HashSet::new();
        let distinct: Vec<Key> = keys
            .iter()
            .filter(|key| seen.insert(*key))
            .cloned()
            .collect();
        let _guard = self.lock.acquire(LockScope::of_keys(&distinct)).await;
        self.delete_batches(&distinct).await
    }

    async fn delete_batches(&self, keys: &[Key]) -> Result<Count> {
        let mut deleted = Count::Exact(0);
        let mut sent = 0;
        for batch in keys.chunks(self.capabilities().max_batch.unwrap_or(usize::MAX).max(1)) {
            match self.adapter.delete(batch).await {
                Ok(count) => deleted = deleted.plus(count),
                // The store's error speaks of its last step alone.
                Err(error) if sent > 0 => {
                    let (sent, of) = (as_count(sent), as_count(keys.len()));
                    let half = ErrorKind::PartialDelete { sent, of };
                    return Err(self.error(error.operation(), half).with_source(error));
                }
                Err(error) => return Err(error),
            }
            sent += batch.len();
        }
        Ok(deleted)
    }

    pub(crate) async fn replace_from(
        &self,
        origin: Origin,
        selector: &Selector,
        with: &[Record],
    ) -> Result<Replaced> {
        let (selector, records) = self.prepare_replace(origin, selector, with)?;
        let _guard = self.lock_of(&selector).await;
        self.replace_prepared(&selector, &records, usize::MAX).await
    }

    pub(super) async fn replace_while_met(
        &self,
        origin: Origin,
        selector: &Selector,
        with: &[Record],
        precondition: &Precondition,
    ) -> Result<Option<Replaced>> {
        let (selector, records) = self.prepare_replace(origin, selector, with)?;
        let _guard = self.lock_of(&selector).await;
        if self.capabilities().writers == Writers::OneProcess {
            let now = self
                .metadata_of(&precondition.key, selector.filter())
                .await?;
            if !precondition.is_met_by(now.as_deref()) {
                return Ok(None);
            }
        }
        self.replace_expected(&selector, &records, usize::MAX, precondition)
            .await
    }

    /// Locks what a selector names, against the writers of this process.
    pub(super) async fn lock_of(&self, selector: &Selector) -> WriteGuard {
        let scope = LockScope::of_selector(self.spec(), selector);
        self.lock.acquire(scope).await
    }

    pub(super) fn prepare_replace(
        &self,
        origin: Origin,
        selector: &Selector,
        with: &[Record],
    ) -> Result<(Selector, Vec<Record>)> {
        let selector = self.checked_selector(Operation::Replace, selector)?;
        let records = self.prepare(Operation::Replace, origin, with)?;
        if let Some(stray) = records
            .iter()
            .find(|r| !selector.filter().matches(&r.metadata))
        {
            let invalid = format!(
                "the record {} is not among what the selector names",
                stray.key
            );
            return Err(self.error(Operation::Replace, ErrorKind::Invalid(invalid)));
        }
        Ok((selector, records))
    }

    /// Replaces under the lock that the caller holds.
    pub(super) async fn replace_prepared(
        &self,
        selector: &Selector,
        records: &[Record],
        batch: usize,
    ) -> Result<Replaced> {
        let native = self.serves_whole(selector.filter());
        match self.capabilities().replace {
            Replace::Atomic if native => {
                let replaced = self.adapter.replace(selector, records, None).await?;
                let contract = "a replace that looked at a precondition without one".to_owned();
                replaced
                    .ok_or_else(|| self.error(Operation::Replace, ErrorKind::Contract(contract)))
            }
            Replace::Atomic => {
                Err(self.unsupported(Operation::Replace, "an atomic replace by this selector"))
            }
            // Delete first: a narrowed scope must not leave old passages to be seen.
            Replace::DeleteThenWrite => {
                let removed = self.delete_locked(Operation::Replace, selector).await?;
                self.write_batches(Operation::Replace, records, batch, true)
                    .await?;
                Ok(Replaced::new(removed, records.len()))
            }
        }
    }

    /// As [`Self::replace_prepared`], while one record is as expected: asked of stores that others
    /// write to as well. Elsewhere the caller has looked under the lock that it holds.
    pub(super) async fn replace_expected(
        &self,
        selector: &Selector,
        records: &[Record],
        batch: usize,
        precondition: &Precondition,
    ) -> Result<Option<Replaced>> {
        if self.capabilities().writers == Writers::OneProcess {
            let replaced = self.replace_prepared(selector, records, batch).await?;
            return Ok(Some(replaced));
        }
        // Such a store replaces atomically, or it would not have been opened.
        if !self.serves_whole(selector.filter()) {
            return Err(self.unsupported(Operation::Replace, "an atomic replace by this selector"));
        }
        self.adapter
            .replace(selector, records, Some(precondition))
            .await
    }

    pub(super) async fn delete_selected(&self, selector: &Selector) -> Result<Count> {
        let selector = self.checked_selector(Operation::DeleteMatching, selector)?;
        let scope = LockScope::of_selector(self.spec(), &selector);
        let _guard = self.lock.acquire(scope.clone()).await;
        self.lock.in_flight().overtake(&scope);
        self.delete_locked(Operation::DeleteMatching, &selector)
            .await
    }

    /// Deletes under the lock that the caller holds: natively where the engine serves the selector
    /// whole, else by the keys of a scan. A selector is never widened.
    pub(super) async fn delete_locked(
        &self,
        operation: Operation,
        selector: &Selector,
    ) -> Result<Count> {
        if selector.filter().never_matches() {
            return Ok(Count::Exact(0));
        }
        if self.capabilities().delete_matching.is_some() && self.serves_whole(selector.filter()) {
            return self.adapter.delete_matching(selector).await;
        }
        let mut keys = Vec::new();
        self.scan_all(operation, selector.filter(), |record| keys.push(record.key))
            .await?;
        self.delete_batches(&keys).await
    }

    pub(super) async fn delete_everything(&self) -> Result<Count> {
        let _guard = self.lock.acquire(LockScope::Collection).await;
        self.lock.in_flight().overtake(&LockScope::Collection);
        self.adapter.delete_all().await
    }

    pub(super) async fn update_selected(
        &self,
        selector: &Selector,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        let selector = self.prepare_update(selector, patch)?;
        let _guard = self.lock_of(&selector).await;
        self.update_locked(&selector, patch).await
    }

    pub(super) fn prepare_update(
        &self,
        selector: &Selector,
        patch: &MetadataPatch,
    ) -> Result<Selector> {
        let selector = self.checked_selector(Operation::UpdateMetadata, selector)?;
        self.check_patch(Operation::UpdateMetadata, patch)?;
        if self.capabilities().update_metadata.is_none() {
            return Err(self.unsupported(Operation::UpdateMetadata, "metadata updates in place"));
        }
        if !self.serves_whole(selector.filter()) {
            return Err(self.unsupported(
                Operation::UpdateMetadata,
                "metadata updates by this selector",
            ));
        }
        Ok(selector)
    }

    pub(super) async fn update_locked(
        &self,
        selector: &Selector,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        if selector.filter().never_matches() {
            return Ok(Count::Exact(0));
        }
        self.check_patched(selector, patch).await?;
        self.adapter.update_metadata(selector, patch).await
    }

    fn serves_whole(&self, filter: &Filter) -> bool {
        self.split(filter).residual.is_none()
    }
}
