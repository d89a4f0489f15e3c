//! The library's writes, looked at again before they are reported.
//!
//! A store whose delete misses would leave passages to be read; one that does so in silence is the
//! commonest fault of this field. So where this process alone writes, each write of the library is
//! counted before its lock is released. Where other processes write too, what is there afterwards may be
//! theirs, and the adapter looks inside its own lock.
//!
//! A store of late writes may apply one that was given up after a later write returned. Where this
//! process alone writes, each write of the library scans what it was about before it answers, and is
//! repeated where something else is there: nobody else could have put it there. Where other processes
//! write too, it may be theirs, and repeating would undo a write that returned; there the adapter
//! orders the late write before the later one by the lock that both take.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Collection, Origin};
use crate::capabilities::Writers;
use crate::error::{ErrorKind, Operation, Result, StoreError};
use crate::filter::{Filter, Selector};
use crate::in_flight::Prepared;
use crate::metadata::Metadata;
use crate::record::{Include, Key, Record};
use crate::search::{Count, MetadataPatch, Precondition, Replaced, as_count};
use crate::write_locks::LockScope;

/// How often a unit is looked at before a replace gives way to writers of other processes.
const LOOKS: u32 = 16;

/// How often a write is done on a store of late writes before it is given up as not certain.
const TRIES: u32 = 4;

impl Collection {
    /// Refuses metadata and text that a write would refuse, before anything is paid for.
    pub(crate) fn check_before_embedding(&self, record: &Record) -> Result<(), ErrorKind> {
        self.check_record_but_vector(Origin::Library, record)
    }

    /// Registers a write of what the selector names, which takes long to prepare.
    pub(crate) fn begin(&self, selector: &Selector) -> Prepared {
        let scope = LockScope::of_selector(self.spec(), selector);
        self.lock.in_flight().begin(scope)
    }

    /// Replaces one unit and sees that nothing else of it is left. Before anything is deleted, and
    /// under the lock of the write, `still` is shown the unit's first record as it is now.
    pub(crate) async fn replace_unit(
        &self,
        selector: &Selector,
        with: &[Record],
        batch: usize,
        first: &Key,
        still: &(dyn Fn(Option<&Metadata>) -> Result<(), &'static str> + Send + Sync),
    ) -> Result<Replaced> {
        let operation = Operation::Replace;
        self.check_certain(operation)?;
        let (selector, records) = self.prepare_replace(Origin::Library, selector, with)?;
        let _guard = self.lock_of(&selector).await;
        let mut first_time = None;
        for _ in 0..self.tries() {
            let replaced = self
                .replace_while(&selector, &records, batch, first, still)
                .await
                .map_err(|e| self.of_a_repeat(first_time.is_some(), operation, e))?;
            let replaced = *first_time.get_or_insert(replaced);
            if self.late_writes() {
                if self.are_all(operation, &selector, &records).await? {
                    return Ok(replaced);
                }
                continue;
            }
            if let Some(there) = self.seen_after(operation, selector.filter()).await?
                && there != as_count(records.len())
            {
                let written = records.len();
                let contract = format!(
                    "{written} records were written in the place of a unit, {there} are there"
                );
                return Err(self.error(operation, ErrorKind::Contract(contract)));
            }
            return Ok(replaced);
        }
        Err(self.not_sure(operation))
    }

    /// Replaces a unit while its first record is as `still` wants it.
    async fn replace_while(
        &self,
        selector: &Selector,
        records: &[Record],
        batch: usize,
        first: &Key,
        still: &(dyn Fn(Option<&Metadata>) -> Result<(), &'static str> + Send + Sync),
    ) -> Result<Replaced> {
        let conflict = |what| self.error(Operation::Replace, ErrorKind::Conflict(what));
        for _ in 0..LOOKS {
            let now = self.metadata_of(first, selector.filter()).await?;
            still(now.as_deref()).map_err(conflict)?;
            let expected = Precondition::new(first.clone(), now);
            if let Some(replaced) = self
                .replace_expected(selector, records, batch, &expected)
                .await?
            {
                return Ok(replaced);
            }
        }
        Err(conflict(
            "the source was changed each time it was looked at",
        ))
    }

    /// The metadata of one record within a filter, as it is now.
    pub(crate) async fn metadata_of(
        &self,
        key: &Key,
        within: &Filter,
    ) -> Result<Option<Arc<Metadata>>> {
        let fetched = self
            .fetch(std::slice::from_ref(key), within, Include::METADATA)
            .await?;
        Ok(fetched
            .into_iter()
            .flatten()
            .next()
            .map(|record| record.metadata))
    }

    /// Deletes what the selector names and sees that none of it is left. Answers what was there
    /// where that can be counted, else the store's own number.
    pub(crate) async fn remove_units(&self, selector: &Selector) -> Result<Count> {
        let operation = Operation::DeleteMatching;
        self.check_certain(operation)?;
        let selector = self.checked_selector(operation, selector)?;
        let scope = LockScope::of_selector(self.spec(), &selector);
        let _guard = self.lock.acquire(scope.clone()).await;
        let before = self.seen(selector.filter()).await?;
        self.lock.in_flight().overtake(&scope);
        let mut first_time = None;
        for _ in 0..self.tries() {
            let answered = self
                .delete_locked(operation, &selector)
                .await
                .map_err(|e| self.of_a_repeat(first_time.is_some(), operation, e))?;
            let answered = *first_time.get_or_insert(answered);
            let left = if self.late_writes() {
                u64::from(self.is_any_left(operation, &selector).await?)
            } else {
                let left = self.seen_after(operation, selector.filter()).await?;
                left.unwrap_or(0)
            };
            if left == 0 {
                return Ok(before.map_or(answered, Count::Exact));
            }
            if !self.late_writes() {
                let contract =
                    format!("the delete answered {answered}, and {left} records are still there");
                return Err(self.error(operation, ErrorKind::Contract(contract)));
            }
        }
        Err(self.not_sure(operation))
    }

    /// Patches what the selector names and sees that all of it holds the new values.
    pub(crate) async fn patch_units(
        &self,
        selector: &Selector,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        let operation = Operation::UpdateMetadata;
        self.check_certain(operation)?;
        let selector = self.prepare_update(selector, patch)?;
        let _guard = self.lock_of(&selector).await;
        let mut first_time = None;
        for _ in 0..self.tries() {
            let answered = self
                .update_locked(&selector, patch)
                .await
                .map_err(|e| self.of_a_repeat(first_time.is_some(), operation, e))?;
            let answered = *first_time.get_or_insert(answered);
            if !self.writes_alone() || !self.capabilities().scan {
                return Ok(answered);
            }
            let (mut there, mut unchanged) = (0, 0_usize);
            self.scan_all(operation, selector.filter(), |record| {
                there += 1;
                unchanged += usize::from(!holds(patch, &record.metadata));
            })
            .await
            .map_err(|e| self.unverified(operation, e))?;
            if unchanged == 0 {
                return Ok(Count::Exact(there));
            }
            if !self.late_writes() {
                let contract = format!(
                    "the update answered {answered}, and {unchanged} records are unchanged"
                );
                return Err(self.error(operation, ErrorKind::Contract(contract)));
            }
        }
        Err(self.not_sure(operation))
    }

    /// Whether a write that was given up may land behind a later one, by nobody's lock but ours.
    fn late_writes(&self) -> bool {
        self.capabilities().late_writes && self.writes_alone()
    }

    fn tries(&self) -> u32 {
        if self.late_writes() { TRIES } else { 1 }
    }

    /// Refuses a write that could not be made sure of, before anything is sent.
    fn check_certain(&self, operation: Operation) -> Result<()> {
        if self.late_writes() && !self.capabilities().scan {
            return Err(self.unsupported(
                operation,
                "a write that is certain: late writes are possible, and there is no scan to look again by",
            ));
        }
        Ok(())
    }

    /// Whether the selector names these records and no others, by a scan after they were written.
    async fn are_all(
        &self,
        operation: Operation,
        selector: &Selector,
        records: &[Record],
    ) -> Result<bool> {
        let mut missing: HashMap<_, _> = records.iter().map(|r| (&r.key, &r.metadata)).collect();
        let mut others = false;
        self.scan_all(operation, selector.filter(), |record| {
            others |= missing.remove(&record.key) != Some(&record.metadata);
        })
        .await
        .map_err(|e| self.unverified(operation, e))?;
        Ok(missing.is_empty() && !others)
    }

    /// Whether the selector names anything after it was deleted.
    async fn is_any_left(&self, operation: Operation, selector: &Selector) -> Result<bool> {
        let mut left = false;
        self.scan_all(operation, selector.filter(), |_| left = true)
            .await
            .map_err(|e| self.unverified(operation, e))?;
        Ok(left)
    }

    /// The error of a repeated write: the store took it the first time, whatever it says now.
    fn of_a_repeat(&self, repeated: bool, operation: Operation, error: StoreError) -> StoreError {
        if repeated {
            self.unverified(operation, error)
        } else {
            error
        }
    }

    fn not_sure(&self, operation: Operation) -> StoreError {
        let why = format!("another write came behind it each of {TRIES} times it was done");
        self.error(operation, ErrorKind::Unverified)
            .with_source(why)
    }

    fn writes_alone(&self) -> bool {
        self.capabilities().writers == Writers::OneProcess
    }

    /// As [`Self::seen`], after a write: a failure to look is not a failure to write.
    async fn seen_after(&self, operation: Operation, filter: &Filter) -> Result<Option<u64>> {
        self.seen(filter)
            .await
            .map_err(|e| self.unverified(operation, e))
    }

    fn unverified(&self, operation: Operation, source: StoreError) -> StoreError {
        self.error(operation, ErrorKind::Unverified)
            .with_source(source)
    }

    /// How many records match, where nobody else writes and the store can say.
    async fn seen(&self, filter: &Filter) -> Result<Option<u64>> {
        if !self.writes_alone() || filter.never_matches() {
            return Ok(None);
        }
        if self.capabilities().count.is_none() && !self.capabilities().scan {
            return Ok(None);
        }
        Ok(self.count_exactly(filter).await?.exact())
    }
}

fn holds(patch: &MetadataPatch, metadata: &Metadata) -> bool {
    patch
        .iter()
        .all(|(key, value)| metadata.get(key.as_str()) == value)
}
