//! The library's writes, looked at again before they are reported.
//!
//! A store whose delete misses would leave passages to be read; one that does so in silence is the
//! commonest fault of this field. So where this process alone writes, each write of the library is
//! counted before its turn ends. Where other processes write too, what is there afterwards may be
//! theirs, and the adapter looks inside its own lock.

use std::sync::Arc;

use super::{CheckedCollection, Origin};
use crate::capabilities::Writers;
use crate::error::{ErrorKind, Operation, Result, StoreError};
use crate::filter::{Filter, NarrowFilter};
use crate::metadata::Metadata;
use crate::port::Collection;
use crate::record::{Include, Key, Record};
use crate::search::{Count, Expected, MetadataPatch, Replaced, as_count};
use crate::write_order::Claim;

/// How often a unit is looked at before a replace gives way to writers of other processes.
const LOOKS: u32 = 16;

impl CheckedCollection {
    /// Refuses metadata and text that a write would refuse, before anything is paid for.
    pub(crate) fn check_before_embedding(&self, record: &Record) -> Result<()> {
        self.check_record_but_vector(Operation::Replace, Origin::Library, record)
    }

    /// Replaces one unit and sees that nothing else of it is left. Before anything is deleted, and in
    /// the turn of the write, `still` is shown the unit's first record as it is now.
    pub(crate) async fn replace_unit(
        &self,
        selector: &NarrowFilter,
        with: &[Record],
        batch: usize,
        first: &Key,
        still: &(dyn Fn(Option<&Metadata>) -> Result<(), &'static str> + Send + Sync),
    ) -> Result<Replaced> {
        let operation = Operation::Replace;
        let (selector, records) = self.prepare_replace(Origin::Library, selector, with)?;
        let _turn = self
            .order
            .turn(Claim::of_selector(self.spec(), &selector))
            .await;
        let conflict = |what| self.error(operation, ErrorKind::Conflict(what));
        let mut replaced = None;
        for _ in 0..LOOKS {
            let now = self.metadata_of(first, selector.filter()).await?;
            still(now.as_deref()).map_err(conflict)?;
            let expected = Expected::new(first.clone(), now);
            replaced = self
                .replace_expected(&selector, &records, batch, &expected)
                .await?;
            if replaced.is_some() {
                break;
            }
        }
        let replaced = replaced
            .ok_or_else(|| conflict("the source was changed each time it was looked at"))?;
        if let Some(there) = self.seen_after(operation, selector.filter()).await?
            && there != as_count(records.len())
        {
            let written = records.len();
            let contract =
                format!("{written} records were written in the place of a unit, {there} are there");
            return Err(self.error(operation, ErrorKind::Contract(contract)));
        }
        Ok(replaced)
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
    pub(crate) async fn remove_units(&self, selector: &NarrowFilter) -> Result<Count> {
        let operation = Operation::DeleteMatching;
        let selector = self.checked_selector(operation, selector)?;
        let _turn = self
            .order
            .turn(Claim::of_selector(self.spec(), &selector))
            .await;
        let before = self.seen(selector.filter()).await?;
        let answered = self.delete_in_turn(operation, &selector).await?;
        match self.seen_after(operation, selector.filter()).await? {
            Some(left) if left > 0 => {
                let contract =
                    format!("the delete answered {answered}, and {left} records are still there");
                Err(self.error(operation, ErrorKind::Contract(contract)))
            }
            _ => Ok(before.map_or(answered, Count::Exact)),
        }
    }

    /// Patches what the selector names and sees that all of it holds the new values.
    pub(crate) async fn patch_units(
        &self,
        selector: &NarrowFilter,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        let operation = Operation::UpdateMetadata;
        let selector = self.prepare_update(selector, patch)?;
        let _turn = self
            .order
            .turn(Claim::of_selector(self.spec(), &selector))
            .await;
        let answered = self.update_in_turn(&selector, patch).await?;
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
        if unchanged > 0 {
            let contract =
                format!("the update answered {answered}, and {unchanged} records are unchanged");
            return Err(self.error(operation, ErrorKind::Contract(contract)));
        }
        Ok(Count::Exact(there))
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
        self.error(operation, ErrorKind::Unverified).because(source)
    }

    /// How many records match, where nobody else writes and the store can say.
    async fn seen(&self, filter: &Filter) -> Result<Option<u64>> {
        if !self.writes_alone() || filter.never_matches() {
            return Ok(None);
        }
        if self.capabilities().count.is_none() && !self.capabilities().scan {
            return Ok(None);
        }
        Ok(self.count(filter).await?.exact())
    }
}

fn holds(patch: &MetadataPatch, metadata: &Metadata) -> bool {
    patch
        .iter()
        .all(|(key, value)| metadata.get(key.as_str()) == value)
}
