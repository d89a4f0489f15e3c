use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use shelfward_core::adapter::{LockScope, WriteLock};
use shelfward_core::{CollectionSpec, ErrorKind, Operation, Result, StoreError};
use shelfward_resident::{MemTable, MemTableOptions};

use crate::config::MemoryOptions;

/// One collection, shared by all its handles.
pub(crate) struct CollectionState {
    contents: RwLock<Contents>,
    /// The lock of a writer, from the moment it looks at the rows until it has changed them. Readers do
    /// not wait for it.
    pub(crate) writer: WriteLock,
}

/// What readers see.
pub(crate) struct Contents {
    /// Shared only while a bulk write is made on a clone.
    pub(crate) rows: Arc<MemTable>,
    /// Set when the collection is dropped, for handles that outlive it.
    pub(crate) discarded: bool,
}

pub(crate) type ContentsGuard<'a> = RwLockReadGuard<'a, Contents>;

impl CollectionState {
    pub(crate) fn new(spec: CollectionSpec, options: MemoryOptions) -> Self {
        let mut table = MemTableOptions::default();
        table.lexical = options.lexical;
        table.quantized = options.quantized;
        Self {
            contents: RwLock::new(Contents {
                rows: Arc::new(MemTable::new(Arc::new(spec), table)),
                discarded: false,
            }),
            writer: WriteLock::new(),
        }
    }

    // Whether the lock is poisoned is asked by `check_whole`.
    pub(crate) fn read(&self) -> ContentsGuard<'_> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Contents> {
        let contents = self.contents.write();
        contents.unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses rows that a panic left in the middle of a write.
    pub(crate) fn check_whole(&self) -> Result<(), ErrorKind> {
        if self.contents.is_poisoned() {
            let invalid = "an earlier write panicked in the middle of its change, so what is here is not \
                 what was written; drop the collection and create it again";
            return Err(ErrorKind::Invalid(invalid.to_owned()));
        }
        Ok(())
    }

    /// Adds the fields that an equal spec declares and this one lacks, if the rows conform to them.
    pub(crate) async fn add_fields(&self, asked: &CollectionSpec) -> Result<()> {
        let refuse = |kind: ErrorKind| StoreError::new(Operation::Create, kind).on(&asked.name);
        if self.read().rows.spec().covers(asked) {
            return self.check_whole().map_err(refuse);
        }
        let _guard = self.writer.acquire(LockScope::Collection).await;
        self.check_whole().map_err(refuse)?;
        let rows = self.read().rows.clone();
        let Some(spec) = rows.plan_fields(asked).map_err(refuse)? else {
            return Ok(());
        };
        let mut next = MemTable::clone(&rows);
        next.set_spec(spec);
        // One that was dropped meanwhile stays empty.
        let mut contents = self.write();
        if !contents.discarded {
            contents.rows = Arc::new(next);
        }
        Ok(())
    }

    /// Empties the collection and marks it as dropped for the handles that are still there.
    pub(crate) fn discard(&self) {
        let old = {
            let mut contents = self.write();
            contents.discarded = true;
            let empty = Arc::new(contents.rows.emptied());
            std::mem::replace(&mut contents.rows, empty)
        };
        drop(old);
    }
}
