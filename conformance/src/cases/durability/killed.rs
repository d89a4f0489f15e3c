//! A process that is killed while it writes: what it said had returned is in force, and of what it
//! was about each unit is whole.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use shelfward_core::{Collection, Key, Record, StoredRecord};

use crate::cases::open_store::{ClosedStore, OpenStore};
use crate::cases::store_state::{Records, agrees, records, same_record, same_records};
use crate::check::atomic;
use crate::context::Context;
use crate::oracle::Random;
use crate::process::stream::{Stream, fields};
use crate::process::{Reply, Task};
use crate::verdict::{Checked, Finding};

/// How often a writer is killed in one case, unless `SHELFWARD_CONFORMANCE_KILLS` says otherwise.
const KILLS: u32 = 10;

/// So many records that the next writer begins with none.
const MANY: usize = 2_000;

/// How many units are there before a stream of deletes.
const TO_DELETE: u32 = 60;

pub(super) async fn case(context: Context, stream: Stream) -> Checked {
    let spec = context.spec()?.with_fields(fields()?);
    let mut open = OpenStore::new(&context, &spec).await?;
    let mut units = Units::new(stream);
    if matches!(stream, Stream::Replaces | Stream::Patches) {
        units.write(&open.collection, 0..3).await?;
    }

    let mut random = Random::new(context.seed());
    let kills = std::env::var("SHELFWARD_CONFORMANCE_KILLS");
    let kills = kills.ok().and_then(|kills| kills.parse().ok());
    let mut from = 3;
    for kill in 0..kills.unwrap_or(KILLS) {
        if stream == Stream::Deletes {
            let steps = from..from + TO_DELETE;
            units.write(&open.collection, steps).await?;
        } else if units.len() > MANY {
            units.clear(&open.collection).await?;
        }
        let closed = open.close().await?;
        let moment = Moment::draw(&mut random)?;
        let returned = killed(&closed, stream, from, moment).await?;
        open = closed.open().await?;
        for step in from..returned.map_or(from, |step| step + 1) {
            units.done(step)?;
        }
        from = returned.map_or(from, |step| step + 1);
        let what = format!("kill {kill}, during step {from}");
        let found = records(&open.collection, &units.keys(from)?).await?;
        let atomic = atomic(open.collection.capabilities());
        units.judge(&what, &found, from, atomic)?;
        agrees(&what, &open.collection, &found, "word").await?;
        from += 1;
    }
    open.end().await
}

/// When a writer is killed.
#[derive(Clone, Copy)]
struct Moment {
    /// After so many of its writes had returned.
    returned: u8,
    /// And so long after that.
    later: Duration,
}

impl Moment {
    fn draw(random: &mut Random) -> Checked<Self> {
        let (returned, micros) = random.draw(&(0_u8..6, 0_u64..6_000))?;
        Ok(Self {
            returned,
            later: Duration::from_micros(micros),
        })
    }
}

/// Lets a process write and kills it. Answers the last step that it said had returned.
async fn killed(
    store: &ClosedStore,
    stream: Stream,
    from: u32,
    moment: Moment,
) -> Checked<Option<u32>> {
    let mut peer = store.location.peer().await?;
    let collection = store.name.to_string();
    peer.tell(Task::Stream {
        collection,
        stream,
        from,
    })?;
    let mut said = Vec::new();
    for _ in 0..moment.returned {
        let reply = peer.reply().await?;
        let over = matches!(reply, Reply::Done(_) | Reply::Failed(_));
        said.push(reply);
        if over {
            break;
        }
    }
    tokio::time::sleep(moment.later).await;
    said.extend(peer.kill().await);
    let mut last = None;
    for reply in said {
        match reply {
            Reply::Returned(step) => last = Some(step),
            Reply::Done(_) => {}
            other => {
                return Err(Finding::errors(format!(
                    "the process that was to be killed says {other:?}"
                )));
            }
        }
    }
    Ok(last)
}

/// What must be there, by unit.
struct Units {
    stream: Stream,
    held: BTreeMap<u32, Vec<Record>>,
    ever: BTreeSet<Key>,
}

impl Units {
    fn new(stream: Stream) -> Self {
        Self {
            stream,
            held: BTreeMap::new(),
            ever: BTreeSet::new(),
        }
    }

    /// Writes the units of these steps that are not there.
    async fn write(&mut self, collection: &Collection, steps: Range<u32>) -> Checked {
        let mut new = Vec::new();
        for step in steps {
            let unit = self.stream.unit(step);
            if !self.held.contains_key(&unit) {
                let records = self.stream.records(step)?;
                new.extend(records.clone());
                self.set(unit, records);
            }
        }
        Ok(collection.upsert(&new).await?)
    }

    fn len(&self) -> usize {
        self.held.values().map(Vec::len).sum()
    }

    /// Deletes what is there.
    async fn clear(&mut self, collection: &Collection) -> Checked {
        let held = std::mem::take(&mut self.held);
        let keys: Vec<Key> = held.into_values().flatten().map(|r| r.key).collect();
        collection.delete(&keys).await?;
        Ok(())
    }

    fn set(&mut self, unit: u32, records: Vec<Record>) {
        self.ever.extend(records.iter().map(|r| r.key.clone()));
        self.held.insert(unit, records);
    }

    /// Takes note of a step that is in force.
    fn done(&mut self, step: u32) -> Checked {
        let unit = self.stream.unit(step);
        let after = self.stream.after(step, &self.before(unit))?;
        self.set(unit, after);
        Ok(())
    }

    fn before(&self, unit: u32) -> Vec<Record> {
        self.held.get(&unit).cloned().unwrap_or_default()
    }

    /// Every key that may be there, and those that must be gone.
    fn keys(&self, under_way: u32) -> Checked<Vec<Key>> {
        let mut keys = self.ever.clone();
        let before = self.before(self.stream.unit(under_way));
        let after = self.stream.after(under_way, &before)?;
        keys.extend(after.into_iter().map(|record| record.key));
        Ok(keys.into_iter().collect())
    }

    /// Each unit is as its last step left it, and that of the step that was under way is so or as
    /// this would leave it.
    fn judge(&mut self, what: &str, found: &Records, under_way: u32, atomic: bool) -> Checked {
        let mut there: BTreeMap<u32, Records> = BTreeMap::new();
        for (key, record) in found {
            let unit = record.metadata.text("u");
            let unit = unit.and_then(|unit| unit.get(1..)?.parse().ok());
            let unit = unit.ok_or_else(|| Finding::errors("a record of no unit"))?;
            let of_unit = there.entry(unit).or_default();
            of_unit.insert(key.clone(), record.clone());
        }
        let target = self.stream.unit(under_way);
        let units: BTreeSet<u32> = self.held.keys().chain(there.keys()).copied().collect();
        for unit in units {
            let held = there.remove(&unit).unwrap_or_default();
            let before = self.before(unit);
            if unit != target {
                same_records(&format!("{what}, unit {unit}"), &held, &before)?;
                continue;
            }
            let after = self.stream.after(under_way, &before)?;
            let whole = [&before, &after]
                .iter()
                .any(|expected| same_records(what, &held, expected).is_ok());
            // An upsert of many and a delete by keys are not declared to be whole, but each of
            // their records is.
            let in_parts = match self.stream {
                Stream::Bulk => true,
                Stream::Deletes => !atomic || !under_way.is_multiple_of(2),
                Stream::Patches => !atomic,
                Stream::Replaces => false,
            };
            if !(whole || in_parts && each_of(&held, &before, &after)) {
                let (now, before, after) = (held.len(), before.len(), after.len());
                return Err(Finding::errors(format!(
                    "{what}: of the unit that was written to, {now} records are there; it had \
                     {before} and was to have {after}, and it is neither"
                )));
            }
            self.set(unit, held.into_values().map(written).collect());
        }
        Ok(())
    }
}

/// Whether each record is one of those before or after, and no other is lost than by the write.
fn each_of(held: &Records, before: &[Record], after: &[Record]) -> bool {
    let is = |expected: &Record| {
        let stored = held.get(&expected.key);
        stored.is_some_and(|stored| same_record("", stored, expected).is_ok())
    };
    let known = |stored: &StoredRecord| {
        let all = before.iter().chain(after);
        all.into_iter()
            .any(|record| same_record("", stored, record).is_ok() && record.key == stored.key)
    };
    let in_both = |record: &&Record| after.iter().any(|other| other.key == record.key);
    let kept = |record: &Record| {
        is(record)
            || after
                .iter()
                .any(|other| other.key == record.key && is(other))
    };
    held.values().all(known) && before.iter().filter(in_both).all(kept)
}

fn written(stored: StoredRecord) -> Record {
    let vector = stored.vector.unwrap_or_else(|| Arc::from([]));
    let mut record = Record::new(stored.key, vector).with_metadata(stored.metadata);
    record.text = stored.text;
    record
}
