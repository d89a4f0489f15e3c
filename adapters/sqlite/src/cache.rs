//! The rows of a collection in this process's memory, as of one change of it.
//!
//! Searches find candidates here. What they release comes from the file, in the same snapshot.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rusqlite::OptionalExtension;
use shelfward_adapter::sync::lock;
use shelfward_core::adapter::text_words;
use shelfward_core::{CollectionSpec, Filter, Key, Record, Text};
use shelfward_resident::{MemTable, MemTableOptions, WriteBatch};

use crate::error::{Result, corrupt};
use crate::reads::View;
use crate::record_mapping::{decode_row, key_of};
use crate::schema::CatalogRow;

/// Rows, and the change that they are as of.
#[derive(Clone)]
pub(crate) struct Resident {
    /// Held by others, too, only while a bulk change is made on a clone.
    pub(crate) rows: Arc<MemTable>,
    /// The keys of rows that do not match their checksums.
    damaged: HashSet<Key>,
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
    fn last(entry: &CatalogRow) -> Self {
        Self {
            number: entry.changes,
            stamp: entry.stamp,
        }
    }

    /// Whether what the transaction sees came from this change by the changes that it records.
    fn led_to(self, view: &View<'_>) -> Result<bool> {
        let entry = &view.entry;
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
    held: RwLock<Held>,
    /// Held by whoever brings the rows up to date, so that one does it for all.
    catching_up: Mutex<()>,
}

/// What is held of the rows.
#[derive(Default)]
pub(crate) struct Held {
    current: Option<Resident>,
    /// What a bulk write that is about to commit makes of them. No transaction sees that change before
    /// it is committed, and from then on all do that begin.
    next: Option<Resident>,
}

impl Held {
    /// The rows as of a change.
    fn as_of(&self, change: Change) -> Option<&Resident> {
        let held = [&self.current, &self.next];
        let mut held = held.into_iter().flatten();
        held.find(|resident| resident.as_of == change)
    }
}

/// Rows that are what a transaction sees; they do not change as long as this is held.
pub(crate) struct CurrentRows<'a> {
    held: RwLockReadGuard<'a, Held>,
    as_of: Change,
}

impl CurrentRows<'_> {
    pub(crate) fn resident(&self) -> Option<&Resident> {
        self.held.as_of(self.as_of)
    }
}

/// How the cached rows compare with what a transaction sees.
pub(crate) enum CacheState<'a> {
    /// They are what it sees.
    Current(CurrentRows<'a>),
    /// They are newer, so the transaction must be begun anew.
    Newer,
    /// They are older or of another history, or there are none.
    Stale,
}

/// What happened since the rows were brought up to date. A key that is gone and came back is put.
type Delta = WriteBatch;

impl Cache {
    // A panic in the middle of a change leaves no rows, so a poisoned lock guards whole ones.
    fn read(&self) -> RwLockReadGuard<'_, Held> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Held> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn state(&self, view: &View<'_>) -> CacheState<'_> {
        let (held, as_of) = (self.read(), Change::last(&view.entry));
        if held.as_of(as_of).is_some() {
            return CacheState::Current(CurrentRows { held, as_of });
        }
        match &held.current {
            Some(resident) if resident.as_of.number > as_of.number => CacheState::Newer,
            _ => CacheState::Stale,
        }
    }

    /// The turn of bringing the rows up to date. While it is held nobody else does; a bulk write may
    /// still [publish](Prepared::publish) those that it made.
    pub(crate) fn turn(&self) -> impl Drop + '_ {
        lock(&self.catching_up)
    }

    /// Brings the rows to what the transaction sees, in the turn that the caller holds. Readers of
    /// older rows go on but for a small change, which is made in place.
    pub(crate) fn catch_up(&self, view: &View<'_>) -> Result<CurrentRows<'_>> {
        let base = self.read().current.clone();
        let delta = base.as_ref().map(|base| base.delta(view)).transpose()?;
        if let Some((base, delta)) = base.zip(delta.flatten()) {
            if base.rows.is_bulk(delta.len()) {
                if let Some(next) = base.with(&delta, view) {
                    return Ok(self.take_over(next));
                }
            } else {
                let since = base.as_of;
                // Or they would be cloned.
                drop(base);
                if let Some(current_rows) = self.change_in_place(since, &delta, view) {
                    return Ok(current_rows);
                }
            }
        }
        // Whatever does not fit together is read anew, and every checksum is looked at.
        Ok(self.take_over(load(view)?))
    }

    /// Lays a delta on the rows that it was read for; `None` where others are held by now, or it does
    /// not make them what the transaction sees.
    fn change_in_place(
        &self,
        since: Change,
        delta: &Delta,
        view: &View<'_>,
    ) -> Option<CurrentRows<'_>> {
        let mut held = self.write();
        // Taken out meanwhile, so that a panic leaves none rather than half.
        let taken = held.current.take_if(|current| current.as_of == since)?;
        let next = taken.with(delta, view)?;
        let as_of = next.as_of;
        held.current = Some(next);
        let held = RwLockWriteGuard::downgrade(held);
        Some(CurrentRows { held, as_of })
    }

    fn take_over(&self, next: Resident) -> CurrentRows<'_> {
        let as_of = next.as_of;
        let mut held = self.write();
        let old = held.current.replace(next);
        let held = RwLockWriteGuard::downgrade(held);
        // Where others may read already.
        drop(old);
        CurrentRows { held, as_of }
    }

    /// Makes ready what a write of so many rows, seen by its own transaction, makes of the rows that are
    /// held: searches that begin once it is committed need not wait for that. Not for a few rows, nor
    /// where none are held.
    pub(crate) fn prepare(
        self: &Arc<Self>,
        view: &View<'_>,
        changed: usize,
    ) -> Result<Option<Prepared>> {
        let base = self.read().current.clone();
        let Some(base) = base.filter(|base| base.rows.is_bulk(changed)) else {
            return Ok(None);
        };
        let delta = base.delta(view)?;
        let next = match delta.and_then(|delta| base.with(&delta, view)) {
            Some(next) => next,
            None => load(view)?,
        };
        let as_of = next.as_of;
        self.write().next = Some(next);
        Ok(Some(Prepared {
            cache: self.clone(),
            as_of,
        }))
    }
}

/// Rows as a write that is about to commit makes them. Forgotten when this is dropped, unless they were
/// [published](Self::publish).
pub(crate) struct Prepared {
    cache: Arc<Cache>,
    as_of: Change,
}

impl Prepared {
    /// Makes them those that are held: the write is committed. Rows of a later change stay.
    pub(crate) fn publish(self) {
        let mut held = self.cache.write();
        let number = self.as_of.number;
        if (held.current.as_ref()).is_some_and(|current| current.as_of.number > number) {
            return;
        }
        if let Some(next) = held.next.take_if(|next| next.as_of == self.as_of) {
            let old = held.current.replace(next);
            drop(held);
            drop(old);
        }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        let mut held = self.cache.write();
        let dropped = held.next.take_if(|next| next.as_of == self.as_of);
        drop(held);
        drop(dropped);
    }
}

impl Resident {
    /// What happened since; `None` where that is not known, or is so much that reading all rows anew
    /// takes less.
    fn delta(&self, view: &View<'_>) -> Result<Option<Delta>> {
        if !self.as_of.led_to(view)? {
            return Ok(None);
        }
        let rows = usize::try_from(view.entry.row_count).unwrap_or(0);
        delta(view, self.as_of.number, MIN_RELOADED.max(rows / 2))
    }

    /// These rows with a delta on them; `None` where that is not what the transaction sees.
    fn with(mut self, delta: &Delta, view: &View<'_>) -> Option<Self> {
        if !self.rows.has_room_for(&delta.put) {
            return None;
        }
        let rows = Arc::make_mut(&mut self.rows);
        rows.apply(delta);
        let put = delta.put.iter().map(|record| &record.key);
        for key in delta.removed.iter().chain(put) {
            self.damaged.remove(key);
        }
        self.as_of = Change::last(&view.entry);
        self.has_all(view).then_some(self)
    }

    fn has_all(&self, view: &View<'_>) -> bool {
        i64::try_from(self.rows.len() + self.damaged.len()) == Ok(view.entry.row_count)
    }

    /// Refuses a search that may have to find a row which cannot be read.
    pub(crate) fn check_whole(&self, filter: &Filter) -> Result<()> {
        let partitions =
            (self.rows.spec().partition_key()).and_then(|key| filter.pinned(key.as_str()));
        let is_read = |key: &Key| match &partitions {
            Some(partitions) => (partitions.iter())
                .any(|pinned| pinned.as_text() == key.partition.as_ref().map(Text::as_str)),
            None => true,
        };
        if self.damaged.iter().any(is_read) {
            return Err(corrupt("a row does not match its checksum"));
        }
        Ok(())
    }
}

/// So many changes are never too many to be read by themselves.
const MIN_RELOADED: usize = 1_024;

/// What happened since a change; `None` where it is more than `most`, or cannot be read.
fn delta(view: &View<'_>, since: i64, most: usize) -> Result<Option<Delta>> {
    let number = view.entry.number;
    let sql = format!("SELECT part, id FROM gone_{number} WHERE change > ?");
    let mut statement = view.connection.prepare_cached(&sql)?;
    let mut rows = statement.query([since])?;
    let mut delta = Delta::default();
    while let Some(row) = rows.next()? {
        let key = key_of(row.get_ref(0)?, row.get_ref(1)?);
        let damaged = || corrupt("a key that is gone cannot be read");
        delta.removed.push(key.ok_or_else(damaged)?);
        if delta.len() > most {
            return Ok(None);
        }
    }
    let sql = format!("SELECT * FROM rows_{number} WHERE changed > ?");
    let mut statement = view.connection.prepare_cached(&sql)?;
    let mut rows = statement.query([since])?;
    while let Some(row) = rows.next()? {
        let Ok(record) = decode_row(&view.spec, row) else {
            return Ok(None);
        };
        delta.put.push(with_words(&view.spec, record));
        if delta.len() > most {
            return Ok(None);
        }
    }
    Ok(Some(delta))
}

fn load(view: &View<'_>) -> Result<Resident> {
    let mut options = MemTableOptions::default();
    options.texts = false;
    let mut loaded = MemTable::new(view.spec.clone(), options);
    let mut damaged = HashSet::new();
    let sql = format!("SELECT * FROM rows_{} ORDER BY n", view.entry.number);
    let mut statement = view.connection.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        match decode_row(&view.spec, row) {
            Ok(record) => {
                let record = with_words(&view.spec, record);
                loaded.check_room_for(std::slice::from_ref(&record))?;
                loaded.put(&record);
            }
            Err(error) => drop(damaged.insert(view.key_of_damaged(row)?.ok_or(error)?)),
        }
    }
    let loaded = Resident {
        rows: Arc::new(loaded),
        damaged,
        as_of: Change::last(&view.entry),
    };
    if !loaded.has_all(view) {
        return Err(corrupt("rows of a collection are missing"));
    }
    Ok(loaded)
}

/// The record with the words of its text, made again by the rule that made them at write.
fn with_words(spec: &CollectionSpec, mut record: Record) -> Record {
    let text = record.text.as_deref().unwrap_or_default();
    record.words = text_words(text, spec.word_rule);
    record
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeMap;

    use rusqlite::Connection;
    use shelfward_adapter::cancel::CancelToken;
    use shelfward_core::{CollectionName, Metric};

    use super::*;
    use crate::schema;
    use crate::writes::Writing;

    fn spec() -> Arc<CollectionSpec> {
        let name = CollectionName::new("c").unwrap();
        Arc::new(CollectionSpec::new(name, 1, Metric::Dot, "none"))
    }

    fn store() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        schema::initialise(&connection).unwrap();
        schema::make_tables(&connection, 1).unwrap();
        CatalogRow::new(&spec(), 1, 7)
            .unwrap()
            .write(&connection)
            .unwrap();
        connection
    }

    fn entry(connection: &Connection) -> CatalogRow {
        CatalogRow::read(connection, &spec().name).unwrap().unwrap()
    }

    fn change(connection: &Connection, change: impl FnOnce(&mut Writing<'_>) -> Result<()>) {
        let stop = CancelToken::default();
        let mut writing = Writing::of(view(connection), &stop);
        writing.max_gone = 40;
        change(&mut writing).unwrap();
        writing.finish().unwrap();
    }

    fn record(n: usize, text: &str) -> Record {
        Record::new(key(n), [1.0]).with_text(text)
    }

    fn key(n: usize) -> Key {
        Key::new(Text::new(format!("{n}")).unwrap())
    }

    fn view(connection: &Connection) -> View<'_> {
        View {
            connection,
            entry: entry(connection),
            spec: spec(),
        }
    }

    fn with_view<T>(connection: &Connection, asked: impl FnOnce(&View<'_>) -> T) -> T {
        asked(&view(connection))
    }

    fn held(rows: &MemTable) -> BTreeMap<Key, String> {
        let held = rows.in_key_order(None);
        held.map(|(key, slot)| (key.clone(), format!("{:?}", rows.vector(slot))))
            .collect()
    }

    #[test]
    fn a_delta_is_laid_on_no_other_rows_than_those_it_was_read_for() {
        let connection = store();
        let version = |text: &str| (0..10).map(|n| record(n, text)).collect::<Vec<_>>();
        change(&connection, |w| w.upsert(&version("one")));
        let cache = Cache::default();
        with_view(&connection, |view| cache.catch_up(view).map(drop)).unwrap();
        let first = Change::last(&entry(&connection));
        change(&connection, |w| w.upsert(&version("two")[..3]));
        let second = entry(&connection);
        let of_second = with_view(&connection, |view| delta(view, 1, 100))
            .unwrap()
            .unwrap();
        // A later change is published between the delta that was read and its being laid on the rows.
        change(&connection, |w| w.upsert(&version("three")));
        with_view(&connection, |view| cache.catch_up(view).map(drop)).unwrap();
        let third = Change::last(&entry(&connection));
        let view = View {
            entry: second,
            ..view(&connection)
        };
        assert!(cache.change_in_place(first, &of_second, &view).is_none());
        assert!(cache.read().as_of(third).is_some(), "the later rows stay");
        assert!(matches!(cache.state(&view), CacheState::Newer));
    }

    #[test]
    fn rows_that_are_published_late_replace_no_later_ones() {
        let connection = store();
        change(&connection, |w| w.upsert(&[record(0, "one")]));
        let cache = Arc::new(Cache::default());
        with_view(&connection, |view| cache.catch_up(view).map(drop)).unwrap();
        let many: Vec<_> = (0..3_000).map(|n| record(n, "two")).collect();
        change(&connection, |w| w.upsert(&many));
        let prepared = with_view(&connection, |view| cache.prepare(view, 3_000))
            .unwrap()
            .unwrap();
        let committed = Change::last(&entry(&connection));
        assert!(cache.read().as_of(committed).is_some());
        // A write of another process, and a search that sees it, come before it is published.
        change(&connection, |w| w.upsert(&[record(1, "three")]));
        with_view(&connection, |view| cache.catch_up(view).map(drop)).unwrap();
        let later = Change::last(&entry(&connection));
        prepared.publish();
        let held = cache.read();
        assert!(held.as_of(later).is_some() && held.as_of(committed).is_none());
    }

    #[test]
    fn whoever_is_behind_what_was_forgotten_reads_all_rows_again() {
        let connection = store();
        let all: Vec<_> = (0..200).map(|n| record(n, "one")).collect();
        change(&connection, |w| w.upsert(&all));
        let cache = Cache::default();
        with_view(&connection, |view| cache.catch_up(view).map(drop)).unwrap();
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
                .catch_up(view)
                .map(|held| held.resident().unwrap().rows.len())
        });
        assert_eq!(rows.unwrap(), 100);
        change(&connection, |w| w.delete_all().map(drop));
        let rows = with_view(&connection, |view| {
            cache
                .catch_up(view)
                .map(|held| held.resident().unwrap().rows.len())
        });
        assert_eq!(rows.unwrap(), 0);
    }

    fn many(text: &str) -> Vec<Record> {
        (0..3_000).map(|n| record(n, text)).collect()
    }

    /// Begins a write of many rows, and makes ready what it makes of the rows that are held.
    fn begin(connection: &Connection, cache: &Arc<Cache>, put: &[Record]) -> Prepared {
        connection.execute_batch("BEGIN").unwrap();
        change(connection, |w| w.upsert(put));
        let prepared = |view: &View<'_>| cache.prepare(view, put.len());
        with_view(connection, prepared).unwrap().unwrap()
    }

    fn stands(connection: &Connection, cache: &Cache) -> Option<usize> {
        with_view(connection, |view| match cache.state(view) {
            CacheState::Current(rows) => Some(rows.resident().unwrap().rows.len()),
            _ => None,
        })
    }

    #[test]
    fn what_a_write_makes_ready_is_there_for_whoever_sees_it_and_forgotten_where_nobody_will() {
        let connection = store();
        let cache = Arc::new(Cache::default());
        let few = |view: &View<'_>| cache.prepare(view, 3_000);
        assert!(
            with_view(&connection, few).unwrap().is_none(),
            "none are held"
        );
        with_view(&connection, |view| cache.catch_up(view).map(drop)).unwrap();
        let few = |view: &View<'_>| cache.prepare(view, 10);
        assert!(with_view(&connection, few).unwrap().is_none(), "few change");

        let given_up = begin(&connection, &cache, &many("one"));
        assert_eq!(stands(&connection, &cache), Some(3_000));
        connection.execute_batch("ROLLBACK").unwrap();
        assert_eq!(stands(&connection, &cache), Some(0));
        drop(given_up);
        assert!(cache.read().next.is_none());

        let committed = begin(&connection, &cache, &many("two"));
        connection.execute_batch("COMMIT").unwrap();
        // Committed, and not told yet.
        assert_eq!(stands(&connection, &cache), Some(3_000));
        committed.publish();
        assert!(cache.read().next.is_none());
        assert_eq!(stands(&connection, &cache), Some(3_000));

        // By what changed alone, where that is not most of them.
        let mut some = many("three");
        some.truncate(1_000);
        some.extend((9_000..10_200).map(|n| record(n, "three")));
        let prepared = begin(&connection, &cache, &some);
        connection.execute_batch("COMMIT").unwrap();
        prepared.publish();
        assert_eq!(stands(&connection, &cache), Some(4_200));
        let loaded = with_view(&connection, load).unwrap();
        let kept = cache.read();
        assert_eq!(
            held(&kept.current.as_ref().unwrap().rows),
            held(&loaded.rows)
        );
    }
}
