//! A record that is damaged while nobody has the store open.

use shelfward_core::{ErrorKind, Filter, Include, Leg, Record, StoreError, StoredRecord};

use super::reopened::units;
use crate::cases::store_state::same_record;
use crate::check::holds;
use crate::context::Context;
use crate::verdict::{Checked, Finding};

/// Whoever meets the damage says so by its kind, when the store is opened or when the record is read.
/// What is answered all the same is what was written.
pub(super) async fn case(context: Context) -> Checked {
    let (opened, records) = units(&context).await?;
    let closed = opened.close().await?;
    closed.location.damage(&closed.name, "text of r1").await?;
    let store = match closed.location.open().await {
        Ok(store) => store,
        Err(error) => return is_called_so("opening the store", &error),
    };
    let collection = match store.open(&closed.name).await {
        Ok(collection) => collection,
        Err(error) => return is_called_so("opening the collection", &error),
    };
    let keys: Vec<_> = records.iter().map(|record| record.key.clone()).collect();
    let everything = Filter::everything();
    let fetched = collection.fetch(&keys, &everything, Include::ALL).await;
    let fetched = fetched.map(|found| found.into_iter().flatten().collect());
    is_called_so_or_whole("a fetch", fetched, &records)?;
    if collection.capabilities().scan {
        let scanned = collection.scan(&everything, None, 20, Include::ALL).await;
        is_called_so_or_whole("a scan", scanned.map(|page| page.records), &records)?;
    }
    match collection
        .search(&Leg::dense([1.0; 4], everything, 20))
        .await
    {
        Err(error) => is_called_so("a search", &error)?,
        Ok(found) => {
            let whole = |record: &Record| {
                let mut hits = found.hits.iter();
                hits.any(|hit| hit.text == record.text && hit.metadata == record.metadata)
            };
            holds(records.iter().all(whole), || SERVED.to_owned())?;
        }
    }
    Ok(store.close().await?)
}

const SERVED: &str = "a damaged record is answered as if it were whole, or left out";

fn is_called_so_or_whole(
    what: &str,
    answer: Result<Vec<StoredRecord>, StoreError>,
    records: &[Record],
) -> Checked {
    let found = match answer {
        Ok(found) => found,
        Err(error) => return is_called_so(what, &error),
    };
    let whole = |record: &Record| {
        let mut found = found.iter();
        found.any(|found| found.key == record.key && same_record(what, found, record).is_ok())
    };
    holds(records.iter().all(whole), || format!("{what}: {SERVED}"))
}

fn is_called_so(what: &str, error: &StoreError) -> Checked {
    match error.kind() {
        ErrorKind::Corrupt(_) => Ok(()),
        other => Err(Finding::errors(format!(
            "{what}: a damaged record is reported as {other:?}, not as ErrorKind::Corrupt"
        ))),
    }
}
