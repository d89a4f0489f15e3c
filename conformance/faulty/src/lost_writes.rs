//! What comes back wrong when a store is opened again.

use shelfward_core::{CollectionName, CollectionSpec, Filter, Record, Result};

use super::Fault;
use super::durable::DurableStore;

/// What was there before it was changed.
#[derive(Default)]
pub(super) struct Journal {
    /// A collection as it was before the last write, or before the first that was not saved.
    before: Option<(CollectionName, Vec<Record>)>,
    /// Records as they were before they were deleted or updated.
    pub(super) gone: Vec<(CollectionName, Vec<Record>)>,
    /// Collections that were dropped.
    pub(super) dropped: Vec<(CollectionSpec, Vec<Record>)>,
    /// Whether it was closed since it was written to.
    pub(super) closed: bool,
}

impl Journal {
    /// Whether something was written since it was closed.
    pub(super) fn unsaved(&self) -> bool {
        self.before.is_some() && !self.closed
    }

    pub(super) fn before(&mut self, name: CollectionName, all: Vec<Record>) {
        self.before = Some((name, all));
        self.closed = false;
    }

    /// Lets the store's fault happen to what it holds.
    pub(super) async fn come_back_wrong(self, kept: &DurableStore) -> Result<()> {
        let store = &kept.inner;
        match kept.fault {
            Some(Fault::LosesLastWrite) => self.undo(kept).await?,
            Some(Fault::WritesWhenClosed) if !self.closed => self.undo(kept).await?,
            Some(Fault::KeepsDeleted | Fault::UndoesPatches) => {
                for (name, records) in self.gone.into_iter().rev() {
                    let there = kept.all(&name, &Filter::everything()).await?;
                    let there = |record: &Record| there.iter().any(|r| r.key == record.key);
                    let patches = kept.fault == Some(Fault::UndoesPatches);
                    let back: Vec<_> = records
                        .into_iter()
                        .filter(|record| there(record) == patches)
                        .collect();
                    if let Some(collection) = store.open(&name).await? {
                        collection.upsert(&back).await?;
                    }
                }
            }
            Some(Fault::RevivesDropped) => {
                for (spec, records) in self.dropped {
                    if store.open(&spec.name).await?.is_none() {
                        make(kept, &spec, &records).await?;
                    }
                }
            }
            Some(Fault::ForgetsAll | Fault::RoundsVectors | Fault::ForgetsFields) => {
                for name in store.list().await? {
                    rewrite(kept, &name).await?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    async fn undo(self, kept: &DurableStore) -> Result<()> {
        let Some((name, records)) = self.before else {
            return Ok(());
        };
        if let Some(collection) = kept.inner.open(&name).await? {
            collection.delete_all().await?;
            collection.upsert(&records).await?;
        }
        Ok(())
    }
}

async fn rewrite(kept: &DurableStore, name: &CollectionName) -> Result<()> {
    let Some(collection) = kept.inner.open(name).await? else {
        return Ok(());
    };
    let mut spec = collection.spec().clone();
    let mut records = kept.all(name, &Filter::everything()).await?;
    match kept.fault {
        Some(Fault::ForgetsAll) => records.clear(),
        Some(Fault::ForgetsFields) => {
            spec.fields.pop();
        }
        _ => records.iter_mut().for_each(round),
    }
    kept.inner.drop_collection(name).await?;
    make(kept, &spec, &records).await
}

async fn make(kept: &DurableStore, spec: &CollectionSpec, records: &[Record]) -> Result<()> {
    kept.inner.create(spec).await?;
    if let Some(collection) = kept.inner.open(&spec.name).await? {
        collection.upsert(records).await?;
    }
    Ok(())
}

/// To the half of the bits that some engines keep.
fn round(record: &mut Record) {
    let rounded = record.vector.iter();
    record.vector = rounded
        .map(|x| f32::from_bits(x.to_bits() & 0xffff_0000))
        .collect();
}
