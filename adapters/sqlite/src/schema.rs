//! The tables of a store, and what is recorded of each collection.

use rusqlite::{Connection, OptionalExtension, Row, named_params};
use shelfward_adapter::catalog::{decode_spec, encode_spec};
use shelfward_core::{CollectionName, CollectionSpec, FieldKind, FieldRole};

use crate::error::{Result, corrupt};

/// `sfld` in the header of a file that is ours.
pub(crate) const APPLICATION_ID: i32 = 0x7366_6c64;

/// The version of the tables.
pub(crate) const VERSION: i32 = 1;

const COLLECTIONS: &str = "CREATE TABLE collections (\
    name TEXT NOT NULL PRIMARY KEY, number INTEGER NOT NULL UNIQUE, spec TEXT NOT NULL, \
    generation INTEGER NOT NULL, changes INTEGER NOT NULL, stamp INTEGER NOT NULL, row_count INTEGER NOT NULL, \
    row_sum INTEGER NOT NULL, next_row INTEGER NOT NULL, gone INTEGER NOT NULL, \
    pruned INTEGER NOT NULL, crc INTEGER NOT NULL) STRICT, WITHOUT ROWID";

/// Makes the tables of an empty store.
pub(crate) fn initialise(connection: &Connection) -> Result<()> {
    connection.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {COLLECTIONS};"
    ))?;
    Ok(())
}

/// What is recorded of a collection.
#[derive(Clone, Debug)]
pub(crate) struct CatalogRow {
    pub(crate) name: String,
    /// The number of its tables, which changes when they are made anew.
    pub(crate) number: i64,
    /// Its spec, as JSON.
    pub(crate) spec: String,
    /// Drawn by lot when it is created, so that a handle knows whether it is still the same one.
    pub(crate) generation: i64,
    /// How often it was changed.
    pub(crate) changes: i64,
    /// Drawn by lot by the last change, so that as many changes of another history are told apart.
    pub(crate) stamp: i64,
    /// How many rows it has.
    pub(crate) row_count: i64,
    /// The sum of the rows' checksums, without its overflow.
    pub(crate) row_sum: i64,
    /// The number of the next row.
    pub(crate) next_row: i64,
    /// How many keys are in the table of what is gone.
    pub(crate) gone: i64,
    /// Up to which change the table of what is gone was pruned.
    pub(crate) pruned: i64,
}

impl CatalogRow {
    /// A new collection.
    pub(crate) fn new(spec: &CollectionSpec, number: i64, generation: i64) -> Result<Self> {
        Ok(Self {
            name: spec.name.as_str().to_owned(),
            number,
            spec: encode_spec(spec)?,
            generation,
            changes: 0,
            stamp: 0,
            row_count: 0,
            row_sum: 0,
            next_row: 1,
            gone: 0,
            pruned: 0,
        })
    }

    /// The entry of a name, if there is one.
    pub(crate) fn read(connection: &Connection, name: &CollectionName) -> Result<Option<Self>> {
        let sql = "SELECT name, number, spec, generation, changes, stamp, row_count, row_sum, \
                   next_row, gone, pruned, crc FROM collections WHERE name = ?";
        let mut statement = connection.prepare_cached(sql)?;
        let read = statement.query_row([name.as_str()], Self::of).optional()?;
        read.map(Self::checked).transpose()
    }

    /// Every entry, in the order of the names.
    pub(crate) fn all(connection: &Connection) -> Result<Vec<Self>> {
        let sql = "SELECT name, number, spec, generation, changes, stamp, row_count, row_sum, \
                   next_row, gone, pruned, crc FROM collections ORDER BY name";
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map([], Self::of)?;
        rows.map(|row| Self::checked(row?)).collect()
    }

    fn of(row: &Row<'_>) -> rusqlite::Result<(Self, i64)> {
        let entry = Self {
            name: row.get(0)?,
            number: row.get(1)?,
            spec: row.get(2)?,
            generation: row.get(3)?,
            changes: row.get(4)?,
            stamp: row.get(5)?,
            row_count: row.get(6)?,
            row_sum: row.get(7)?,
            next_row: row.get(8)?,
            gone: row.get(9)?,
            pruned: row.get(10)?,
        };
        Ok((entry, row.get(11)?))
    }

    fn checked((entry, crc): (Self, i64)) -> Result<Self> {
        if i64::from(entry.checksum()) == crc {
            Ok(entry)
        } else {
            Err(corrupt(
                "the record of a collection does not match its checksum",
            ))
        }
    }

    fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for text in [&self.name, &self.spec] {
            hasher.update(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        for number in [
            self.number,
            self.generation,
            self.changes,
            self.stamp,
            self.row_count,
            self.row_sum,
            self.next_row,
            self.gone,
            self.pruned,
        ] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.finalize()
    }

    /// Writes the entry, new or in the place of what is recorded.
    pub(crate) fn write(&self, connection: &Connection) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO collections VALUES (:name, :number, :spec, :generation, \
                   :changes, :stamp, :row_count, :row_sum, :next_row, :gone, :pruned, :crc)";
        connection.prepare_cached(sql)?.execute(named_params! {
            ":name": self.name,
            ":number": self.number,
            ":spec": self.spec,
            ":generation": self.generation,
            ":changes": self.changes,
            ":stamp": self.stamp,
            ":row_count": self.row_count,
            ":row_sum": self.row_sum,
            ":next_row": self.next_row,
            ":gone": self.gone,
            ":pruned": self.pruned,
            ":crc": i64::from(self.checksum()),
        })?;
        Ok(())
    }

    /// The spec that is recorded.
    pub(crate) fn read_spec(&self) -> Result<CollectionSpec> {
        Ok(decode_spec(&self.name, &self.spec)?)
    }

    pub(crate) fn set_spec(&mut self, spec: &CollectionSpec) -> Result<()> {
        self.spec = encode_spec(spec)?;
        Ok(())
    }

    /// Takes the row's checksum into the count and the sum.
    pub(crate) fn add_row(&mut self, crc: i64) {
        self.row_count += 1;
        self.row_sum = self.row_sum.wrapping_add(crc);
    }

    /// Takes the row's checksum out of the count and the sum.
    pub(crate) fn drop_row(&mut self, crc: i64) {
        self.row_count -= 1;
        self.row_sum = self.row_sum.wrapping_sub(crc);
    }
}

/// A number that no tables have.
pub(crate) fn free_number(connection: &Connection) -> Result<i64> {
    let sql = "SELECT ifnull(max(number), 0) + 1 FROM collections";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// The statements that make a collection's tables.
pub(crate) fn tables(spec: &CollectionSpec, number: i64) -> Vec<String> {
    let columns: String = (spec.fields.iter().enumerate())
        .filter_map(|(at, field)| Some(format!("f{at} {}, ", column_type(field.kind)?)))
        .collect();
    let mut statements = vec![
        // What filters read stands before what is large, so that they need not read over it.
        format!(
            "CREATE TABLE rows_{number} (n INTEGER PRIMARY KEY, part ANY NOT NULL, \
             id TEXT NOT NULL, changed INTEGER NOT NULL, crc INTEGER NOT NULL, {columns}\
             meta TEXT NOT NULL, body TEXT, vec BLOB NOT NULL) STRICT"
        ),
        format!("CREATE UNIQUE INDEX rows_{number}_key ON rows_{number} (part, id)"),
        format!("CREATE INDEX rows_{number}_changed ON rows_{number} (changed)"),
        format!(
            "CREATE TABLE elements_{number} (k ANY NOT NULL, v ANY NOT NULL, n INTEGER NOT NULL, \
             PRIMARY KEY (k, v, n)) STRICT, WITHOUT ROWID"
        ),
        format!("CREATE INDEX elements_{number}_row ON elements_{number} (n, k)"),
        format!(
            "CREATE TABLE gone_{number} (change INTEGER NOT NULL, part ANY NOT NULL, \
             id TEXT NOT NULL, PRIMARY KEY (change, part, id)) STRICT, WITHOUT ROWID"
        ),
        format!(
            "CREATE TABLE stamps_{number} (change INTEGER PRIMARY KEY, \
             stamp INTEGER NOT NULL) STRICT"
        ),
    ];
    // Selectors of writes name the partition and the unit; other filters are served by the rows
    // held in memory, where they search, and look at the rows, where they scan.
    let roles = [FieldRole::Partition, FieldRole::Unit];
    let places = roles.map(|role| spec.fields.iter().position(|field| field.role == role));
    let places: Vec<_> = (places.into_iter().flatten())
        .map(|at| format!("f{at}"))
        .collect();
    if !places.is_empty() {
        statements.push(format!(
            "CREATE INDEX rows_{number}_unit ON rows_{number} ({})",
            places.join(", ")
        ));
    }
    statements
}

/// The type of a declared field's column; lists have none.
pub(crate) fn column_type(kind: FieldKind) -> Option<&'static str> {
    match kind {
        FieldKind::Text => Some("TEXT"),
        FieldKind::Integer | FieldKind::Bool => Some("INTEGER"),
        FieldKind::Float => Some("REAL"),
        _ => None,
    }
}

pub(crate) fn make_tables(
    connection: &Connection,
    spec: &CollectionSpec,
    number: i64,
) -> Result<()> {
    for statement in tables(spec, number) {
        connection.execute_batch(&statement)?;
    }
    Ok(())
}

pub(crate) fn drop_tables(connection: &Connection, number: i64) -> Result<()> {
    connection.execute_batch(&format!(
        "DROP TABLE rows_{number}; DROP TABLE elements_{number}; DROP TABLE gone_{number}; \
         DROP TABLE stamps_{number};"
    ))?;
    Ok(())
}

/// Refuses a file whose tables are not exactly those that its collections should have.
pub(crate) fn check_tables(connection: &Connection) -> Result<()> {
    let foreign = || corrupt("its tables are not those of a store");
    let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL";
    let mut there: Vec<String> = connection
        .prepare(sql)?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if !there.iter().any(|sql| sql == COLLECTIONS) {
        return Err(foreign());
    }
    let mut expected = vec![COLLECTIONS.to_owned()];
    for entry in CatalogRow::all(connection)? {
        expected.extend(tables(&entry.read_spec()?, entry.number));
    }
    expected.sort();
    there.sort();
    if expected == there {
        Ok(())
    } else {
        Err(foreign())
    }
}
