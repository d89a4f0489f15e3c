//! Writes one after another by a process that is killed, and what must be there afterwards.

use serde::{Deserialize, Serialize};
use shelfward_core::filter::key as field;
use shelfward_core::{
    Collection, Field, FieldKind, Key, Metadata, MetadataKey, MetadataPatch, Record, Selector,
};

use crate::context::key;
use crate::verdict::Checked;

/// Writes of one kind, until the writer is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stream {
    /// One of three units is replaced, by another number of records each time.
    Replaces,
    /// The metadata of one of three units is changed.
    Patches,
    /// A unit of many records is written in one call.
    Bulk,
    /// A unit is deleted, by filter and by keys in turn.
    Deletes,
}

impl Stream {
    /// The unit that a step changes.
    pub(crate) fn unit(self, step: u32) -> u32 {
        match self {
            Self::Replaces | Self::Patches => step % 3,
            Self::Bulk | Self::Deletes => step,
        }
    }

    /// How many records a unit has after a step wrote it.
    fn size(self, step: u32) -> u32 {
        match self {
            Self::Replaces => 3 + step * 7 % 11,
            Self::Patches => 8,
            Self::Bulk => 200,
            Self::Deletes => 5,
        }
    }

    /// What a unit holds after a step wrote it.
    pub(crate) fn records(self, step: u32) -> Checked<Vec<Record>> {
        let unit = self.unit(step);
        (0..self.size(step))
            .map(|n| {
                let vector = [1, step % 97, n, unit % 89].map(float);
                let metadata = format!(r#"{{"u":"u{unit}","v":{step},"n":{n}}}"#);
                Ok(Record::new(record_key(unit, n)?, vector)
                    .with_text(format!("word of step{step}"))
                    .with_metadata(Metadata::from_json(&metadata)?))
            })
            .collect()
    }

    /// What a unit holds after a step, if it held this before.
    pub(crate) fn after(self, step: u32, before: &[Record]) -> Checked<Vec<Record>> {
        match self {
            Self::Replaces | Self::Bulk => self.records(step),
            Self::Deletes => Ok(Vec::new()),
            Self::Patches => {
                let patch = patch(step)?;
                let patched = before.iter().map(|record| {
                    let metadata = patch.apply(&record.metadata);
                    record.clone().with_metadata(metadata)
                });
                Ok(patched.collect())
            }
        }
    }

    /// One step.
    pub(crate) async fn step(self, collection: &Collection, step: u32) -> Checked {
        let unit = self.unit(step);
        match self {
            Self::Replaces => {
                let records = self.records(step)?;
                collection.replace(&selector(unit)?, &records).await?;
            }
            Self::Patches => {
                let (selector, patch) = (selector(unit)?, patch(step)?);
                collection.update_metadata(&selector, &patch).await?;
            }
            Self::Bulk => collection.upsert(&self.records(step)?).await?,
            Self::Deletes if step.is_multiple_of(2) => {
                collection.delete_matching(&selector(unit)?).await?;
            }
            Self::Deletes => {
                let keys: Vec<Key> = (0..self.size(step))
                    .map(|n| record_key(unit, n))
                    .collect::<Checked<_>>()?;
                collection.delete(&keys).await?;
            }
        }
        Ok(())
    }
}

/// What the units are told apart by.
pub(crate) fn fields() -> Checked<Vec<Field>> {
    Ok(vec![
        Field::new(MetadataKey::new("u")?, FieldKind::Text),
        Field::new(MetadataKey::new("v")?, FieldKind::Integer),
        Field::new(MetadataKey::new("n")?, FieldKind::Integer),
    ])
}

fn selector(unit: u32) -> Checked<Selector> {
    Ok(field("u").eq(format!("u{unit}")).build()?.narrow()?)
}

fn patch(step: u32) -> Checked<MetadataPatch> {
    Ok(MetadataPatch::new().set(MetadataKey::new("v")?, i64::from(step)))
}

fn record_key(unit: u32, n: u32) -> Checked<Key> {
    key(&format!("u{unit}-{n}"))
}

fn float(n: u32) -> f32 {
    // Small numbers, which a float holds exactly.
    u16::try_from(n).map_or(f32::MAX, f32::from)
}
