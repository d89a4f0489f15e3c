//! Records, wrongly kept, and what is asked of them.

use std::sync::Arc;

use shelfward_core::adapter::CollectionAdapter;
use shelfward_core::{
    Include, MetadataKey, Precondition, Record, Result, Scalar, Selector, StoredRecord, Value,
};

/// Whether a record, looked for within the selector, is as the precondition says.
pub(super) async fn is_met(
    collection: &dyn CollectionAdapter,
    precondition: &Precondition,
    selector: &Selector,
) -> Result<bool> {
    let keys = std::slice::from_ref(&precondition.key);
    let now = collection
        .fetch(keys, selector.filter(), Include::METADATA)
        .await?;
    let now = now.into_iter().flatten().next();
    Ok(precondition.is_met_by(now.as_ref().map(|record| &*record.metadata)))
}

/// Integers as a store that knows only floats gives them back.
pub(super) fn round(record: &mut StoredRecord) {
    let rounded = record.metadata.iter().map(|(key, value)| {
        let float = value.as_integer().and_then(|integer| {
            #[expect(clippy::cast_precision_loss, reason = "that is the fault")]
            let float = integer as f64;
            Scalar::float(float).ok()
        });
        (
            key.clone(),
            float.map_or_else(|| value.clone(), Value::Scalar),
        )
    });
    record.metadata = Arc::new(rounded.collect());
}

/// Keys as a store that makes column names of them gives them back.
pub(super) fn rename(record: &mut StoredRecord) {
    let renamed = record.metadata.iter().map(|(key, value)| {
        let plain = key
            .as_str()
            .replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_");
        let plain = MetadataKey::stored(&plain).unwrap_or_else(|_| key.clone());
        (plain, value.clone())
    });
    record.metadata = Arc::new(renamed.collect());
}

pub(super) fn but_the_last(records: &[Record]) -> &[Record] {
    records.split_last().map_or(records, |(_, before)| before)
}

/// A record as it was written.
pub(super) fn written(stored: StoredRecord) -> Record {
    let vector = stored.vector.unwrap_or_else(|| Arc::from([]));
    let mut record = Record::new(stored.key, vector).with_metadata(stored.metadata);
    record.text = stored.text;
    record
}
