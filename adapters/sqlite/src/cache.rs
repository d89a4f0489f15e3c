//! The rows of a collection in this process's memory, as of one change of it.
//!
//! Searches find candidates here. What they release comes from the file, in the same snapshot.

use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rusqlite::OptionalExtension;
use rusqlite::types::ValueRef;
use shelfward_core::{CollectionSpec, Key, Record, Text, query_words};
use shelfward_resident::{Rows, RowsOptions};

use crate::database::held;
use crate::error::{Job, corrupt};
use crate::reads::View;
use crate::record_mapping::{partition_of, parts};
use crate::schema::Entry;

/// Rows, and the change that they are as of.
pub(crate) struct Resident {
    pub(crate) rows: Rows,
    as_of: Change,
}

/// One change of a collection. The number alone names none: a backup that is brought back into the
/// file makes other changes of the same numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Change {
    number: i64,
    stamp: i64,
}

impl Change {
    fn last(entry: &Entry) -> Self {
        Self {
            number: entry.changes,
            stamp: entry.stamp,
        }
    }

    /// Whether what the transaction sees came from this change by the changes that it records.
    fn led_to(self, view: &View<'_>) -> Job<bool> {
        let entry = view.entry;
        if self == Self::last(entry) {
            return Ok(true);
        }
        if self.number < entry.pruned || self.number >= entry.changes {
            return Ok(false);
        }
        let sql = format!("SELECT stamp FROM stamps_{} WHERE change = ?", entry.number);
        let mut statement = view.connection.prepare_cached(&sql)?;
        let stamp = statement.query_row([self.number], |row| row.get::<_, i64>(0));
        Ok(stamp.optional()? == Some(self.stamp))
    }
}

/// The rows of one collection, loaded by the first search and kept in step by later ones.
#[derive(Default)]
pub(crate) struct Cache {
    resident: RwLock<Option<Resident>>,
    /// Held by whoever brings the rows up to date, so that one does it for all.
    catching_up: Mutex<()>,
}

/// How the held rows stand to what a transaction sees.
pub(crate) enum Standing<'a> {
    /// They are what it sees.
    InStep(RwLockReadGuard<'a, Option<Resident>>),
    /// They are newer, so the transaction must be begun anew.
    Ahead,
    /// They are older or of another history, or there are none.
    Behind,
}

/// What happened since the rows were brought up to date.
struct Delta {
    gone: Vec<Key>,
    changed: Vec<Record>,
}

impl Cache {
    // A panic in the middle of a change leaves no rows, so a poisoned lock guards whole ones.
    fn read(&self) -> RwLockReadGuard<'_, Option<Resident>> {
        self.resident.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<Resident>> {
        self.resident
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn standing(&self, view: &View<'_>) -> Standing<'_> {
        let resident = self.read();
        let Some(as_of) = resident.as_ref().map(|resident| resident.as_of) else {
            return Standing::Behind;
        };
        if as_of == Change::last(view.entry) {
            Standing::InStep(resident)
        } else if as_of.number > view.entry.changes {
            Standing::Ahead
        } else {
            Standing::Behind
        }
    }

    /// The turn of bringing the rows up to date. While it is held they do not change.
    pub(crate) fn turn(&self) -> impl Drop + '_ {
        held(&self.catching_up)
    }

    /// Brings the rows to what the transaction sees, in the turn that the caller holds. Readers of
    /// older rows go on while the file is read.
    pub(crate) fn catch_up(
        &self,
        view: &View<'_>,
        spec: &Arc<CollectionSpec>,
    ) -> Job<RwLockReadGuard<'_, Option<Resident>>> {
        let as_of = self.read().as_ref().map(|resident| resident.as_of);
        if let Some(as_of) = as_of
            && as_of.led_to(view)?
        {
            let delta = delta(view, as_of.number)?;
            let mut resident = self.write();
            // Taken out meanwhile, so that a panic leaves none rather than half.
            if let Some(mut taken) = resident.take()
                && taken.rows.has_room_for(&delta.changed)
            {
                taken.apply(&delta);
                taken.as_of = Change::last(view.entry);
                if i64::try_from(taken.rows.len()) == Ok(view.entry.row_count) {
                    *resident = Some(taken);
                    return Ok(RwLockWriteGuard::downgrade(resident));
                }
            }
        }
        // Whatever does not fit together is read anew, and every checksum is looked at.
        let loaded = load(view, spec)?;
        let mut resident = self.write();
        *resident = Some(loaded);
        Ok(RwLockWriteGuard::downgrade(resident))
    }
}

impl Resident {
    fn apply(&mut self, delta: &Delta) {
        for key in &delta.gone {
            self.rows.remove(key);
        }
        // A key that is gone and came back is among these.
        for record in &delta.changed {
            self.rows.put(record);
        }
    }
}

fn delta(view: &View<'_>, since: i64) -> Job<Delta> {
    let number = view.entry.number;
    let sql = format!("SELECT part, id FROM gone_{number} WHERE change > ?");
    let mut statement = view.connection.prepare_cached(&sql)?;
    let mut rows = statement.query([since])?;
    let mut gone = Vec::new();
    while let Some(row) = rows.next()? {
        let damaged = || corrupt("a key that is gone cannot be read");
        let id: ValueRef<'_> = row.get_ref(1)?;
        let id = id.as_str().ok().and_then(|id| Text::new(id).ok());
        let mut key = Key::new(id.ok_or_else(damaged)?);
        key.partition = partition_of(row.get_ref(0)?).ok_or_else(damaged)?;
        gone.push(key);
    }
    let sql = format!("SELECT * FROM rows_{number} WHERE changed > ?");
    let mut statement = view.connection.prepare_cached(&sql)?;
    let mut rows = statement.query([since])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        changed.push(with_words(view.spec, parts(view.spec, row)?.record()));
    }
    Ok(Delta { gone, changed })
}

fn load(view: &View<'_>, spec: &Arc<CollectionSpec>) -> Job<Resident> {
    let mut options = RowsOptions::default();
    options.texts = false;
    let mut loaded = Rows::new(spec.clone(), options);
    let sql = format!("SELECT * FROM rows_{} ORDER BY n", view.entry.number);
    let mut statement = view.connection.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let mut sum = 0_i64;
    while let Some(row) = rows.next()? {
        let parts = parts(view.spec, row)?;
        sum = sum.wrapping_add(parts.crc);
        let record = with_words(view.spec, parts.record());
        loaded.check_room_for(std::slice::from_ref(&record))?;
        loaded.put(&record);
    }
    let entry = view.entry;
    if i64::try_from(loaded.len()) != Ok(entry.row_count) || sum != entry.row_sum {
        return Err(corrupt("rows of a collection are missing"));
    }
    Ok(Resident {
        rows: loaded,
        as_of: Change::last(entry),
    })
}

/// The record with the words of its text, made again by the rule that made them at write.
fn with_words(spec: &CollectionSpec, mut record: Record) -> Record {
    let text = record.text.as_deref().unwrap_or_default();
    let words = query_words(text, spec.word_rule, false).unwrap_or_default();
    record.words = words.into_iter().map(|word| word.text).collect();
    record
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeMap;

    use rusqlite::Connection;
    use shelfward_core::{CollectionName, Metric};

    use super::*;
    use crate::database::Stop;
    use crate::schema;
    use crate::writes::Writing;

    fn spec() -> Arc<CollectionSpec> {
        let name = CollectionName::new("c").unwrap();
        Arc::new(CollectionSpec::new(name, 1, Metric::Dot, "none"))
    }

    fn store() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        schema::initialise(&connection).unwrap();
        schema::make_tables(&connection, &spec(), 1).unwrap();
        Entry::new(&spec(), 1, 7)
            .unwrap()
            .write(&connection)
            .unwrap();
        connection
    }

    fn entry(connection: &Connection) -> Entry {
        Entry::read(connection, &spec().name).unwrap().unwrap()
    }

    fn change(connection: &Connection, change: impl FnOnce(&mut Writing<'_>) -> Job<()>) {
        let stop = Stop::default();
        let mut writing = Writing::of(connection, entry(connection), spec(), &stop);
        change(&mut writing).unwrap();
        writing.finish().unwrap();
    }

    fn record(n: usize, text: &str) -> Record {
        Record::new(key(n), [1.0]).with_text(text)
    }

    fn key(n: usize) -> Key {
        Key::new(Text::new(format!("{n}")).unwrap())
    }

    fn with_view<T>(connection: &Connection, asked: impl FnOnce(&View<'_>) -> T) -> T {
        let (entry, spec) = (entry(connection), spec());
        asked(&View {
            connection,
            entry: &entry,
            spec: &spec,
        })
    }

    fn held(rows: &Rows) -> BTreeMap<Key, String> {
        let held = rows.in_key_order(None);
        held.map(|(key, slot)| (key.clone(), format!("{:?}", rows.vector(slot))))
            .collect()
    }

    #[test]
    fn rows_are_brought_up_to_date_by_what_changed_alone() {
        let connection = store();
        let all: Vec<_> = (0..10).map(|n| record(n, "one")).collect();
        change(&connection, |w| w.upsert(&all));
        let mut resident = with_view(&connection, |view| load(view, &spec())).unwrap();
        assert_eq!(resident.rows.len(), 10);
        change(&connection, |w| w.delete(&[key(1), key(2)]).map(drop));
        change(&connection, |w| {
            w.upsert(&[record(2, "two"), record(3, "three"), record(20, "new")])
        });
        let delta = with_view(&connection, |view| delta(view, 1)).unwrap();
        assert_eq!((delta.gone.len(), delta.changed.len()), (2, 3));
        resident.apply(&delta);
        let loaded = with_view(&connection, |view| load(view, &spec())).unwrap();
        assert_eq!(held(&resident.rows), held(&loaded.rows));
        assert_eq!(resident.rows.len(), 10);
        let since = with_view(&connection, |view| super::delta(view, 3)).unwrap();
        assert_eq!((since.gone.len(), since.changed.len()), (0, 0));
    }

    #[test]
    fn whoever_is_behind_what_was_forgotten_reads_all_rows_again() {
        let connection = store();
        let all: Vec<_> = (0..200).map(|n| record(n, "one")).collect();
        change(&connection, |w| w.upsert(&all));
        let cache = Cache::default();
        with_view(&connection, |view| cache.catch_up(view, &spec()).map(drop)).unwrap();
        for n in 0..100 {
            change(&connection, |w| w.delete(&[key(n)]).map(drop));
        }
        let entry = entry(&connection);
        assert!(entry.pruned > 2 && entry.gone <= 41, "{entry:?}");
        let sql = "SELECT count(*) FROM gone_1";
        let kept: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(kept, entry.gone);
        let rows = with_view(&connection, |view| {
            cache
                .catch_up(view, &spec())
                .map(|held| held.as_ref().unwrap().rows.len())
        });
        assert_eq!(rows.unwrap(), 100);
        change(&connection, |w| w.delete_all().map(drop));
        let rows = with_view(&connection, |view| {
            cache
                .catch_up(view, &spec())
                .map(|held| held.as_ref().unwrap().rows.len())
        });
        assert_eq!(rows.unwrap(), 0);
    }

    #[test]
    fn a_change_leads_to_later_ones_of_its_history_alone() {
        let connection = store();
        change(&connection, |w| w.upsert(&[record(0, "one")]));
        let first = Change::last(&entry(&connection));
        let led_to = |change: Change| with_view(&connection, |view| change.led_to(view)).unwrap();
        change(&connection, |w| w.upsert(&[record(1, "one")]));
        assert!(led_to(first) && led_to(Change::last(&entry(&connection))));
        for (number, stamp) in [(1, first.stamp ^ 1), (2, first.stamp), (3, first.stamp)] {
            assert!(!led_to(Change { number, stamp }));
        }
        // What is too long ago is not known any more.
        for n in 0..150 {
            change(&connection, |w| w.upsert(&[record(n, "two")]));
        }
        assert!(!led_to(first));
        let sql = "SELECT count(*) FROM stamps_1";
        let kept: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 150);
    }

    #[test]
    fn rows_of_a_file_that_went_back_are_read_again() {
        let connection = store();
        change(&connection, |w| w.upsert(&[record(1, "one")]));
        connection.execute_batch("BEGIN").unwrap();
        change(&connection, |w| w.upsert(&[record(2, "two")]));
        let cache = Cache::default();
        with_view(&connection, |view| cache.catch_up(view, &spec()).map(drop)).unwrap();
        connection.execute_batch("ROLLBACK").unwrap();
        with_view(&connection, |view| {
            assert!(matches!(cache.standing(view), Standing::Ahead));
            let held = cache.catch_up(view, &spec()).unwrap();
            assert_eq!(held.as_ref().unwrap().rows.len(), 1);
        });
    }
}
