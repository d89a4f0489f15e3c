//! What a write changes: planned on the rows there are, and applied to them.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use shelfward_core::{
    CollectionSpec, Count, ErrorKind, Key, Metadata, MetadataPatch, Precondition, Record, Replaced,
    Selector, VectorProblem,
};
use shelfward_dense::CancelFlag;

use crate::mem_table::MemTable;

/// So many rows are changed in place while readers wait: for some milliseconds.
const MAX_IN_PLACE: usize = 2_048;

/// What a write changes, in this order.
#[derive(Clone, Debug, Default)]
pub struct WriteBatch {
    /// The keys of what is removed.
    pub removed: Vec<Key>,
    /// Records, each put in the place of what is under its key; of equal keys the last stays.
    pub put: Vec<Record>,
    /// The whole new metadata of rows that stay.
    pub patched: Vec<(Key, Arc<Metadata>)>,
}

impl WriteBatch {
    /// How many rows change at most.
    pub fn len(&self) -> usize {
        self.removed.len() + self.put.len() + self.patched.len()
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl MemTable {
    /// Refuses records that there is no room for, vectors of another width, and values that a field
    /// does not hold which was declared since the records were `checked` against a spec.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`], [`ErrorKind::Vector`], [`ErrorKind::Metadata`].
    pub fn check_records(
        &self,
        records: &[Record],
        checked: &Arc<CollectionSpec>,
    ) -> Result<(), ErrorKind> {
        self.check_room_for(records)?;
        let width = self.spec().width;
        let mut given = records.iter().map(|record| record.vector.len());
        if let Some(given) = given.find(|given| u32::try_from(*given) != Ok(width)) {
            return Err(VectorProblem::Width { given, width }.into());
        }
        if !Arc::ptr_eq(self.spec(), checked) {
            for record in records {
                self.spec().check_metadata(&record.metadata)?;
            }
        }
        Ok(())
    }

    /// Whether a change of so many rows is to be made on a clone that takes the place of these, rather
    /// than on these while their readers wait. A clone costs each row a small part of what a change
    /// costs it, and is not worth it for a few of very many.
    pub fn is_bulk(&self, changed: usize) -> bool {
        changed > MAX_IN_PLACE.max(self.len() / 64)
    }

    /// Applies all of a write. There must be room for what is put; see
    /// [`has_room_for`](Self::has_room_for).
    pub fn apply(&mut self, batch: &WriteBatch) {
        self.remove_all(&batch.removed);
        self.put_all(&batch.put);
        self.patch_all(&batch.patched);
    }

    /// A write that puts records which were `checked` against a spec.
    ///
    /// # Errors
    /// Those of [`check_records`](Self::check_records).
    pub fn plan_upsert(
        &self,
        records: Vec<Record>,
        checked: &Arc<CollectionSpec>,
    ) -> Result<WriteBatch, ErrorKind> {
        self.check_records(&records, checked)?;
        Ok(WriteBatch {
            put: records,
            ..WriteBatch::default()
        })
    }

    /// A write that removes the rows of keys, and how many of them there are.
    pub fn plan_delete(&self, keys: &[Key]) -> (WriteBatch, Count) {
        let keys = keys.iter().filter(|key| self.row_id(key).is_some());
        let keys: BTreeSet<&Key> = keys.collect();
        removing(keys.into_iter().cloned().collect())
    }

    /// A write that removes what a selector matches, and how many rows that is.
    pub fn plan_delete_matching(
        &self,
        selector: &Selector,
        cancel: CancelFlag<'_>,
    ) -> (WriteBatch, Count) {
        removing(self.keys_matching(selector, cancel))
    }

    /// A write that puts records in the place of what a selector matches; it changes nothing where a
    /// precondition is not met. A row whose key comes back is overwritten and not removed.
    ///
    /// # Errors
    /// Those of [`check_records`](Self::check_records).
    pub fn plan_replace(
        &self,
        selector: &Selector,
        with: Vec<Record>,
        precondition: Option<&Precondition>,
        checked: &Arc<CollectionSpec>,
        cancel: CancelFlag<'_>,
    ) -> Result<(WriteBatch, Option<Replaced>), ErrorKind> {
        self.check_records(&with, checked)?;
        if precondition.is_some_and(|precondition| !self.meets(precondition, selector)) {
            return Ok((WriteBatch::default(), None));
        }
        let (mut batch, removed) = self.plan_delete_matching(selector, cancel);
        let back: HashSet<&Key> = with.iter().map(|record| &record.key).collect();
        batch.removed.retain(|key| !back.contains(key));
        let replaced = Replaced::new(removed, with.len());
        batch.put = with;
        Ok((batch, Some(replaced)))
    }

    /// Whether a record, looked for within the selector, is as the precondition says.
    fn meets(&self, precondition: &Precondition, selector: &Selector) -> bool {
        let row = (self.row_id(&precondition.key)).and_then(|row_id| self.row(row_id));
        let metadata = row.map(|row| &*row.metadata);
        precondition.is_met_by(metadata.filter(|metadata| selector.filter().matches(metadata)))
    }

    /// A write that patches the metadata of what a selector matches, and how many rows that is.
    ///
    /// # Errors
    /// [`ErrorKind::Metadata`] for a value that a field does not hold.
    pub fn plan_update(
        &self,
        selector: &Selector,
        patch: &MetadataPatch,
        cancel: CancelFlag<'_>,
    ) -> Result<(WriteBatch, Count), ErrorKind> {
        for (key, value) in patch.iter() {
            if let Some(value) = value {
                self.spec().check_value(key, value)?;
            }
        }
        let matching = self.matching(selector.filter(), cancel);
        let rows = matching.iter().filter_map(|row_id| self.row(row_id));
        let patched = rows.map(|row| (row.key.clone(), Arc::new(patch.apply(&row.metadata))));
        let batch = WriteBatch {
            patched: patched.collect(),
            ..WriteBatch::default()
        };
        Ok((batch, Count::Exact(matching.len())))
    }

    /// The spec with the fields that an equal one declares and this one lacks; `None` where it lacks
    /// none.
    ///
    /// # Errors
    /// [`ErrorKind::Spec`] for a spec that is not equal otherwise, [`ErrorKind::Metadata`] where a row
    /// holds what a new field does not.
    pub fn plan_fields(
        &self,
        asked: &CollectionSpec,
    ) -> Result<Option<Arc<CollectionSpec>>, ErrorKind> {
        let spec = self.spec();
        spec.check_compatible(asked)?;
        let lacking: Vec<_> = spec.missing_fields(asked).into_iter().cloned().collect();
        if lacking.is_empty() {
            return Ok(None);
        }
        let spec = CollectionSpec::clone(spec).with_fields(lacking);
        spec.check()?;
        for row in self.row_ids().iter().filter_map(|row_id| self.row(row_id)) {
            spec.check_metadata(&row.metadata)?;
        }
        Ok(Some(Arc::new(spec)))
    }

    fn keys_matching(&self, selector: &Selector, cancel: CancelFlag<'_>) -> Vec<Key> {
        let matching = self.matching(selector.filter(), cancel);
        let rows = matching.iter().filter_map(|row_id| self.row(row_id));
        rows.map(|row| row.key.clone()).collect()
    }
}

fn removing(removed: Vec<Key>) -> (WriteBatch, Count) {
    let count = u64::try_from(removed.len()).map_or(Count::Unknown, Count::Exact);
    let batch = WriteBatch {
        removed,
        ..WriteBatch::default()
    };
    (batch, count)
}
