//! The tables of a store, and what is recorded of each collection.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use shelfward_adapter::catalog::{decode_spec, encode_spec};
use shelfward_core::{CollectionName, CollectionSpec, ErrorKind};

use crate::error::{Result, corrupt};

/// `sfld` in the header of a file that is ours.
pub(crate) const APPLICATION_ID: i32 = 0x7366_6c64;

/// The version of the tables.
pub(crate) const VERSION: i32 = 1;

const COLLECTIONS: &str = "CREATE TABLE collections (name TEXT NOT NULL PRIMARY KEY, \
    entry TEXT NOT NULL, crc INTEGER NOT NULL) STRICT, WITHOUT ROWID";

/// Makes the tables of an empty store.
pub(crate) fn initialise(connection: &Connection) -> Result<()> {
    connection.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {COLLECTIONS};"
    ))?;
    Ok(())
}

/// What is recorded of a collection.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
            gone: 0,
            pruned: 0,
        })
    }

    /// The entry of a name, if there is one.
    pub(crate) fn read(connection: &Connection, name: &CollectionName) -> Result<Option<Self>> {
        let sql = "SELECT name, entry, crc FROM collections WHERE name = ?";
        let mut statement = connection.prepare_cached(sql)?;
        let read = |row: &Row<'_>| Ok(Self::decode(row));
        let read = statement.query_row([name.as_str()], read).optional()?;
        read.transpose()
    }

    /// Every entry, in the order of the names.
    pub(crate) fn all(connection: &Connection) -> Result<Vec<Self>> {
        let sql = "SELECT name, entry, crc FROM collections ORDER BY name";
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| Ok(Self::decode(row)))?;
        rows.map(|row| row?).collect()
    }

    fn decode(row: &Row<'_>) -> Result<Self> {
        let (name, json): (String, String) = (row.get(0)?, row.get(1)?);
        let entry: Option<Self> = serde_json::from_str(&json).ok();
        let entry = entry.filter(|entry| entry.name == name);
        match entry.filter(|_| row.get(2) == Ok(checksum(&json))) {
            Some(entry) => Ok(entry),
            None => Err(corrupt(
                "the record of a collection does not match its checksum",
            )),
        }
    }

    /// Writes the entry, new or in the place of what is recorded.
    pub(crate) fn write(&self, connection: &Connection) -> Result<()> {
        let json = serde_json::to_string(self).map_err(|_| ErrorKind::Engine)?;
        connection
            .prepare_cached("INSERT OR REPLACE INTO collections VALUES (?, ?, ?)")?
            .execute(params![self.name, json, checksum(&json)])?;
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
}

fn checksum(entry: &str) -> i64 {
    i64::from(crc32fast::hash(entry.as_bytes()))
}

/// A number that no tables have.
pub(crate) fn free_number(connection: &Connection) -> Result<i64> {
    let numbers = CatalogRow::all(connection)?.into_iter();
    let last = numbers.map(|entry| entry.number).max();
    Ok(last.unwrap_or(0) + 1)
}

/// The statements that make a collection's tables.
fn tables(number: i64) -> [String; 6] {
    [
        // What filters read stands before what is large, so that they need not read over it.
        format!(
            "CREATE TABLE rows_{number} (n INTEGER PRIMARY KEY, part ANY NOT NULL, \
             id TEXT NOT NULL, unit TEXT, changed INTEGER NOT NULL, crc INTEGER NOT NULL, \
             meta TEXT NOT NULL, body TEXT, vec BLOB NOT NULL) STRICT"
        ),
        format!("CREATE UNIQUE INDEX rows_{number}_key ON rows_{number} (part, id)"),
        format!("CREATE INDEX rows_{number}_changed ON rows_{number} (changed)"),
        // Selectors of writes name the partition and the unit; other filters are served by the rows
        // held in memory, where they search, and look at the rows, where they scan.
        format!("CREATE INDEX rows_{number}_unit ON rows_{number} (part, unit)"),
        format!(
            "CREATE TABLE gone_{number} (change INTEGER NOT NULL, part ANY NOT NULL, \
             id TEXT NOT NULL, PRIMARY KEY (change, part, id)) STRICT, WITHOUT ROWID"
        ),
        format!(
            "CREATE TABLE stamps_{number} (change INTEGER PRIMARY KEY, \
             stamp INTEGER NOT NULL) STRICT"
        ),
    ]
}

pub(crate) fn make_tables(connection: &Connection, number: i64) -> Result<()> {
    Ok(connection.execute_batch(&tables(number).join(";"))?)
}

pub(crate) fn drop_tables(connection: &Connection, number: i64) -> Result<()> {
    Ok(connection.execute_batch(&format!(
        "DROP TABLE rows_{number}; DROP TABLE gone_{number}; DROP TABLE stamps_{number};"
    ))?)
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
        entry.read_spec()?;
        expected.extend(tables(entry.number));
    }
    expected.sort();
    there.sort();
    if expected == there {
        Ok(())
    } else {
        Err(foreign())
    }
}
