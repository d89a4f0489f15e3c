//! Records as rows, and rows as records.

use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};
use shelfward_core::{
    CollectionSpec, ErrorKind, Include, Key, Metadata, Record, StoredRecord, Text,
};

use crate::error::{Result, corrupt};

/// The columns of a row in their order. What is looked at stands before what is large, so that it is read
/// without that.
pub(crate) const N: usize = 0;
pub(crate) const PART: usize = 1;
pub(crate) const ID: usize = 2;
const CRC: usize = 5;
pub(crate) const META: usize = 6;
const BODY: usize = 7;
const VEC: usize = 8;

/// A row as it is written: all but its number, which the engine gives it.
pub(crate) type Columns = [Value; 9];

/// A partition in its column: 0 where there is none, which stands before all texts.
pub(crate) fn partition_value(partition: Option<&Text>) -> Value {
    partition.map_or(Value::Integer(0), text)
}

pub(crate) fn text(text: &Text) -> Value {
    Value::Text(text.as_str().to_owned())
}

/// The key that two columns hold; `None` where that is none that was ever written.
pub(crate) fn key_of(part: ValueRef<'_>, id: ValueRef<'_>) -> Option<Key> {
    let text = |value: ValueRef<'_>| Text::new(value.as_str().ok()?).ok();
    let mut key = Key::new(text(id)?);
    if part != ValueRef::Integer(0) {
        key.partition = Some(text(part)?);
    }
    Some(key)
}

/// Makes the row of a record. Refuses values that are not of their field's kind, which may have been
/// declared since the record was checked.
pub(crate) fn encode_row(spec: &CollectionSpec, changed: i64, record: &Record) -> Result<Columns> {
    spec.check_metadata(&record.metadata)?;
    let metadata = serde_json::to_string(&*record.metadata).map_err(|_| ErrorKind::Engine)?;
    let owned = |text: &str| Value::Text(text.to_owned());
    let unit = (spec.unit_key()).and_then(|key| record.metadata.text(key.as_str()));
    let vector = record.vector.iter().flat_map(|x| x.to_le_bytes());
    let mut columns = [
        Value::Null,
        partition_value(record.key.partition.as_ref()),
        text(&record.key.id),
        unit.map_or(Value::Null, owned),
        Value::Integer(changed),
        Value::Null,
        Value::Text(metadata),
        record.text.as_deref().map_or(Value::Null, owned),
        Value::Blob(vector.collect()),
    ];
    let crc = checksum(columns.iter().map(ValueRef::from));
    if let Some(column) = columns.get_mut(CRC) {
        *column = Value::Integer(crc);
    }
    Ok(columns)
}

/// The checksum over every column but its own and the row's number.
fn checksum<'a>(columns: impl Iterator<Item = ValueRef<'a>>) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    for (at, column) in columns.enumerate() {
        match column {
            _ if at == N || at == CRC => {}
            ValueRef::Null => hasher.update(&[0]),
            ValueRef::Integer(integer) => {
                hasher.update(&[1]);
                hasher.update(&integer.to_le_bytes());
            }
            // No column of ours is one.
            ValueRef::Real(_) => hasher.update(&[2]),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                hasher.update(&[3]);
                hasher.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
                hasher.update(bytes);
            }
        }
    }
    i64::from(hasher.finalize())
}

/// Reads a row that holds every column, after it matched its checksum.
pub(crate) fn decode_row(spec: &CollectionSpec, row: &Row<'_>) -> Result<Record> {
    let cells = (N..=VEC)
        .map(|at| row.get_ref(at))
        .collect::<rusqlite::Result<Vec<_>>>()?;
    if checksum(cells.into_iter()) != row.get::<_, i64>(CRC)? {
        return Err(corrupt("a row does not match its checksum"));
    }
    let damaged = || corrupt("a row is damaged");
    let key = key_of(row.get_ref(PART)?, row.get_ref(ID)?).ok_or_else(damaged)?;
    let metadata = metadata_of(spec, row.get_ref(META)?).ok_or_else(damaged)?;
    let body = row.get_ref(BODY)?.as_str_or_null().map_err(|_| damaged())?;
    let vector = row.get_ref(VEC)?.as_blob().map_err(|_| damaged())?;
    let (numbers, rest) = vector.as_chunks::<4>();
    if !rest.is_empty() || usize::try_from(spec.width) != Ok(numbers.len()) {
        return Err(damaged());
    }
    let numbers = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes));
    let vector: Vec<f32> = numbers.collect();
    let mut record = Record::new(key, vector).with_metadata(metadata);
    record.text = body.map(Into::into);
    Ok(record)
}

/// The metadata that its column holds; `None` where it cannot be read.
pub(crate) fn metadata_of(spec: &CollectionSpec, value: ValueRef<'_>) -> Option<Metadata> {
    Metadata::from_stored_json(value.as_str().ok()?, spec)
}

/// What of a record is asked for.
pub(crate) fn stored(record: Record, include: Include) -> StoredRecord {
    let mut stored = StoredRecord::new(record.key, record.metadata);
    stored.vector = include.vector.then_some(record.vector);
    stored.text = record.text.filter(|_| include.text);
    stored
}
