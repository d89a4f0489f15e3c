//! Records that somebody wrote into the collection without the library.

use serde_json::{Value, json};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{CollectionName, Key, Record, Text};
use shelfward_memory::MemoryStore;

use super::embedder::singles;
use super::read;
use super::steps::{Failure, metadata};

/// Writes documents past the index and past its checks, as another program would that shares the
/// collection; what metadata cannot hold is counted as failed. Answers what the original does.
pub(super) async fn upsert(
    store: &MemoryStore,
    name: &CollectionName,
    step: &Value,
) -> Result<Value, Failure> {
    let collection = store.open(name).await?.ok_or("there is no collection")?;
    let documents: Vec<Value> = read(step, "documents")?;
    let mut written = Vec::new();
    for document in &documents {
        if let Ok(record) = record(document) {
            collection.upsert(&[record]).await?;
            written.push(read::<String>(document, "id")?);
        }
    }
    let failed = documents.len() - written.len();
    Ok(json!({ "upsertedCount": written.len(), "upsertedIds": written, "failedCount": failed }))
}

fn record(document: &Value) -> Result<Record, Failure> {
    let metadata = metadata(document)?;
    let id = Text::new(read::<String>(document, "id")?)?;
    let key = match metadata.text("tenantId") {
        Some(tenant) => Key::within(Text::new(tenant)?, id),
        None => Key::new(id),
    };
    let embedding: Vec<f64> = read(document, "embedding")?;
    let record = Record::new(key, singles(&embedding)).with_metadata(metadata);
    Ok(match read::<Option<String>>(document, "textContent")? {
        Some(text) => record.with_text(text),
        None => record,
    })
}
