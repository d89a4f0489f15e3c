//! What faulty collections remember of what was changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use shelfward_core::{CollectionName, StoredRecord};

use super::Fault;

/// Why a record is no longer what it was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Deleted,
    WrittenOver,
    Updated,
}

/// Records of collections as they were before a change. A clone is the same memory.
#[derive(Clone, Default)]
pub(super) struct OldRecords(Arc<Mutex<HashMap<CollectionName, Vec<StoredRecord>>>>);

impl OldRecords {
    /// Whether a fault lives on what was there before such a change.
    pub(super) fn matter(fault: Fault, change: Change) -> bool {
        match fault {
            Fault::ForgetsLexicalOnDelete | Fault::CountsDeletedTexts => change == Change::Deleted,
            Fault::KeepsOldWords => change == Change::WrittenOver,
            Fault::UpdateForgetsWords => change == Change::Updated,
            _ => false,
        }
    }

    pub(super) fn add(
        &self,
        name: &CollectionName,
        records: impl IntoIterator<Item = StoredRecord>,
    ) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(name.clone()).or_default().extend(records);
    }

    pub(super) fn of(&self, name: &CollectionName) -> Vec<StoredRecord> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(name).cloned().unwrap_or_default()
    }

    pub(super) fn forget(&self, name: &CollectionName) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(name);
    }
}
