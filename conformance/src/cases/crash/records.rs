//! Records that are written and deleted by their keys and by filters; and handles that only look on.

use std::collections::BTreeMap;

use shelfward_core::filter::key as field;
use shelfward_core::library::LibraryError;
use shelfward_core::{
    Collection, Field, FieldKind, Filter, Include, Key, Leg, MetadataKey, MetadataPatch, Record,
    Selector, async_trait,
};
use tokio::task::JoinSet;

use super::{Lane, WRITERS, Writer, crashable, crashed, store, works};
use crate::check::{ids, same_ids};
use crate::context::{Context, key, record};
use crate::oracle::Random;
use crate::verdict::{Checked, Finding};

/// How many records a unit may have.
const RECORDS: u8 = 4;

struct Unit {
    collection: Collection,
    name: String,
    keys: Vec<Key>,
    selector: Selector,
}

#[derive(Clone, Debug)]
enum Change {
    Upsert(u8, i64),
    Delete(u8),
    Replace(i64),
    Patch(i64),
    DeleteAll,
}

/// What each record says, and whether it was patched.
type Held = BTreeMap<u8, (i64, i64)>;

impl Unit {
    fn record(&self, n: u8, version: i64) -> Checked<Record> {
        let metadata = format!(r#"{{"u":"{}","v":{version},"p":{version}}}"#, self.name);
        record(&format!("{}-{n}", self.name), n, &metadata)
    }

    fn records(&self, numbers: impl Iterator<Item = u8>, version: i64) -> Vec<Record> {
        numbers
            .filter_map(|n| self.record(n, version).ok())
            .collect()
    }
}

#[async_trait]
impl Writer for Unit {
    type State = Held;
    type Write = Change;

    fn draw(&self, random: &mut Random, step: u64) -> Checked<Change> {
        let (kind, n) = random.draw(&(0_u8..10, 0..RECORDS))?;
        let version = i64::try_from(step).unwrap_or(0);
        let updates = self.collection.capabilities().update_metadata.is_some();
        Ok(match kind {
            0..3 => Change::Upsert(n, version),
            3 => Change::Delete(n),
            4 => Change::DeleteAll,
            5..8 if updates => Change::Patch(version),
            _ => Change::Replace(version),
        })
    }

    fn after(&self, write: &Change, state: &Held) -> Held {
        let mut after = state.clone();
        match write {
            Change::Upsert(n, version) => drop(after.insert(*n, (*version, *version))),
            Change::Delete(n) => drop(after.remove(n)),
            Change::Replace(version) => {
                after = (0..RECORDS - 1)
                    .map(|n| (n, (*version, *version)))
                    .collect();
            }
            Change::Patch(version) => after.values_mut().for_each(|held| held.1 = *version),
            Change::DeleteAll => after.clear(),
        }
        after
    }

    async fn write(&self, write: &Change) -> Result<(), LibraryError> {
        let collection = &self.collection;
        match write {
            Change::Upsert(n, version) => {
                let records = self.records(*n..*n + 1, *version);
                collection.upsert(&records).await?;
            }
            Change::Delete(n) => {
                let key = self.keys.iter().skip(usize::from(*n)).take(1);
                collection.delete(&key.cloned().collect::<Vec<_>>()).await?;
            }
            Change::Replace(version) => {
                let records = self.records(0..RECORDS - 1, *version);
                collection.replace(&self.selector, &records).await?;
            }
            Change::Patch(version) => {
                let patch = MetadataPatch::new().set(MetadataKey::new("p")?, *version);
                collection.update_metadata(&self.selector, &patch).await?;
            }
            Change::DeleteAll => drop(collection.delete_matching(&self.selector).await?),
        }
        Ok(())
    }

    async fn look(&self) -> Checked<Result<Held, LibraryError>> {
        let within = self.selector.filter();
        let fetched = self.collection.fetch(&self.keys, within, Include::METADATA);
        let fetched = match fetched.await {
            Ok(fetched) => fetched,
            Err(error) => return Ok(Err(error.into())),
        };
        let mut held = Held::new();
        for (n, there) in (0..RECORDS).zip(fetched) {
            let Some(there) = there else { continue };
            let number = |name| there.metadata.get(name).and_then(|v| v.as_integer());
            match (number("v"), number("p")) {
                (Some(version), Some(patched)) => drop(held.insert(n, (version, patched))),
                _ => return Err(Finding::errors("a record that was never written")),
            }
        }
        Ok(Ok(held))
    }

    fn late_writes(&self) -> bool {
        self.collection.capabilities().late_writes
    }
}

async fn collection(context: &Context) -> Checked<Collection> {
    let unit = Field::new(MetadataKey::new("u")?, FieldKind::Text);
    let spec = context.spec()?.with_fields([unit]);
    Ok(store(context).await?.ensure(&spec).await?)
}

pub(super) async fn case(context: Context) -> Checked {
    let collection = collection(&context).await?;
    let mut lanes = Vec::new();
    for n in 0..WRITERS {
        let name = format!("u{n}");
        let keys: Checked<Vec<_>> = (0..RECORDS).map(|n| key(&format!("{name}-{n}"))).collect();
        let unit = Unit {
            collection: collection.clone(),
            selector: field("u").eq(name.as_str()).build()?.narrow()?,
            keys: keys?,
            name,
        };
        let random = Random::new(context.seed() + n);
        lanes.push(Lane::new(unit, Held::new(), random));
    }
    crashed(&context, lanes, JoinSet::new()).await
}

/// Handles that were opened before a crash and asked nothing meanwhile.
pub(super) async fn handles(context: Context) -> Checked {
    let store = store(&context).await?;
    let collection = collection(&context).await?;
    let leg = Leg::dense([1.0, 0.5, 0.5, 0.25], Filter::everything(), 10);
    let mut expected = Vec::new();
    for nth in 0..2_u8 {
        crashable(&context)?.crash(u32::from(nth)).await?;
        let found = works("a search", || collection.search(&leg)).await?;
        same_ids("after a crash", &ids(&found), &expected)?;
        let new = [record(&format!("r{nth}"), nth, "{}")?];
        works("an upsert", || collection.upsert(&new)).await?;
        expected.push(format!("r{nth}"));
        let found = works("a search", || collection.search(&leg)).await?;
        same_ids("what was written", &ids(&found), &expected)?;
        works("a list", || store.list()).await?;
        works("a health check", || store.health()).await?;
    }
    Ok(())
}
