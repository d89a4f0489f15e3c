//! Records as rows, and rows as records.

use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::{ToSqlOutput, ValueRef};
use shelfward_core::{
    CollectionSpec, ErrorKind, FieldKind, Include, Key, Metadata, Record, Scalar, StoredRecord,
    Text, Value as MetadataValue,
};

use crate::error::{Result, corrupt};
use crate::filter_translation::{as_column, as_element, list_number, text};
use crate::schema::column_type;

/// A record as it is written.
pub(crate) struct Written<'a> {
    /// Every column, in the table's order.
    pub(crate) columns: Vec<ToSqlOutput<'a>>,
    /// The checksum over all other columns.
    pub(crate) crc: i64,
    /// The elements of its lists and, where fields are open, of its undeclared keys.
    pub(crate) elements: Vec<(ToSqlOutput<'a>, ToSqlOutput<'a>)>,
}

/// What of a record is written in another form than it has.
pub(crate) struct Encoded {
    metadata: String,
    vector: Vec<u8>,
}

impl Encoded {
    pub(crate) fn of(record: &Record) -> Result<Self> {
        Ok(Self {
            metadata: serde_json::to_string(&*record.metadata).map_err(|_| ErrorKind::Engine)?,
            vector: record.vector.iter().flat_map(|x| x.to_le_bytes()).collect(),
        })
    }
}

/// Where the checksum stands among a row's columns.
const CRC: usize = 4;

/// The parts of a row; the last three are behind the columns of the fields.
pub(crate) struct DecodedRow {
    pub(crate) key: Key,
    pub(crate) metadata: Metadata,
    pub(crate) text: Option<Arc<str>>,
    pub(crate) vector: Arc<[f32]>,
    pub(crate) crc: i64,
}

/// A partition in its column: 0 where there is none, which stands before all texts.
pub(crate) fn partition_value(partition: Option<&Text>) -> ValueRef<'_> {
    partition.map_or(ValueRef::Integer(0), |partition| text(partition.as_str()))
}

/// A value as a statement binds it.
pub(crate) fn bound(value: ValueRef<'_>) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(value)
}

/// The partition that its column holds; `None` where that is none that was ever written.
#[expect(clippy::option_option, reason = "one for damage, one for no partition")]
pub(crate) fn partition_of(value: ValueRef<'_>) -> Option<Option<Text>> {
    match value {
        ValueRef::Integer(0) => Some(None),
        value => Some(Some(Text::new(value.as_str().ok()?).ok()?)),
    }
}

/// Makes the row of a record. Refuses values that are not of their field's kind, which may have been
/// declared since the record was checked.
pub(crate) fn written<'a>(
    spec: &'a CollectionSpec,
    n: i64,
    changed: i64,
    record: &'a Record,
    encoded: &'a Encoded,
) -> Result<Written<'a>> {
    let mut columns = Vec::with_capacity(8 + spec.fields.len());
    columns.push(ValueRef::Integer(n));
    columns.push(partition_value(record.key.partition.as_ref()));
    columns.push(text(record.key.id.as_str()));
    columns.push(ValueRef::Integer(changed));
    columns.push(ValueRef::Integer(0));
    let mut elements = Vec::new();
    for (at, field) in spec.fields.iter().enumerate() {
        let value = record.metadata.get(field.key.as_str());
        if let Some(value) = value {
            spec.check_value(&field.key, value)?;
        }
        if column_type(field.kind).is_some() {
            columns.push(value.map_or(ValueRef::Null, |value| column(field.kind, value)));
        } else {
            let key = ValueRef::Integer(list_number(at));
            let members = value.map_or(&[][..], MetadataValue::elements).iter();
            elements.extend(members.map(|element| (bound(key), bound(as_element(element)))));
        }
    }
    if spec.open_fields {
        let open = (record.metadata.iter()).filter(|(key, _)| spec.field(key.as_str()).is_none());
        for (key, value) in open {
            let key = text(key.as_str());
            let members = value.elements().iter();
            elements.extend(members.map(|element| (bound(key), bound(as_element(element)))));
        }
    }
    columns.push(text(&encoded.metadata));
    columns.push(record.text.as_deref().map_or(ValueRef::Null, text));
    columns.push(ValueRef::Blob(&encoded.vector));
    let crc = checksum(columns.iter().copied());
    if let Some(column) = columns.get_mut(CRC) {
        *column = ValueRef::Integer(crc);
    }
    Ok(Written {
        columns: columns.into_iter().map(bound).collect(),
        crc,
        elements,
    })
}

/// A value in its field's column. The kind was checked.
fn column(kind: FieldKind, value: &MetadataValue) -> ValueRef<'_> {
    match (kind, value) {
        (FieldKind::Integer, value) => {
            (value.as_integer()).map_or(ValueRef::Null, ValueRef::Integer)
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "a float field takes only integers that a float holds exactly"
        )]
        (FieldKind::Float, MetadataValue::Scalar(Scalar::Integer(integer))) => {
            ValueRef::Real(*integer as f64)
        }
        (_, MetadataValue::Scalar(scalar)) => as_column(scalar),
        (_, MetadataValue::List(_)) => ValueRef::Null,
    }
}

/// The checksum over every column but its own.
fn checksum<'a>(columns: impl Iterator<Item = ValueRef<'a>>) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    for (at, column) in columns.enumerate() {
        if at == CRC {
            continue;
        }
        match column {
            ValueRef::Null => hasher.update(&[0]),
            ValueRef::Integer(integer) => {
                hasher.update(&[1]);
                hasher.update(&integer.to_le_bytes());
            }
            ValueRef::Real(real) => {
                hasher.update(&[2]);
                hasher.update(&real.to_bits().to_le_bytes());
            }
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                hasher.update(&[3]);
                hasher.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
                hasher.update(bytes);
            }
        }
    }
    i64::from(hasher.finalize())
}

/// How many columns a row has.
pub(crate) fn width_of_row(spec: &CollectionSpec) -> usize {
    let fields = spec.fields.iter().filter(|f| column_type(f.kind).is_some());
    8 + fields.count()
}

/// Reads a row that holds every column in the table's order, after it matched its checksum.
pub(crate) fn decode_row(spec: &CollectionSpec, row: &Row<'_>) -> Result<DecodedRow> {
    let width = width_of_row(spec);
    let cells = (0..width)
        .map(|at| row.get_ref(at))
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let crc: i64 = row.get(CRC)?;
    if checksum(cells.into_iter()) != crc {
        return Err(corrupt("a row does not match its checksum"));
    }
    let damaged = || corrupt("a row is damaged");
    let id = row
        .get_ref(2)?
        .as_str()
        .ok()
        .and_then(|id| Text::new(id).ok());
    let mut key = Key::new(id.ok_or_else(damaged)?);
    key.partition = partition_of(row.get_ref(1)?).ok_or_else(damaged)?;
    let meta: ValueRef<'_> = row.get_ref(width - 3)?;
    let metadata = Metadata::from_stored_json(meta.as_str().map_err(|_| damaged())?, spec);
    let metadata = metadata.ok_or_else(damaged)?;
    let body = row.get_ref(width - 2)?;
    let body = body.as_str_or_null().map_err(|_| damaged())?;
    let vector = row.get_ref(width - 1)?.as_blob().map_err(|_| damaged())?;
    let (numbers, rest) = vector.as_chunks::<4>();
    if !rest.is_empty() || usize::try_from(spec.width) != Ok(numbers.len()) {
        return Err(damaged());
    }
    Ok(DecodedRow {
        key,
        metadata,
        text: body.map(Arc::from),
        vector: numbers
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect(),
        crc,
    })
}

impl DecodedRow {
    pub(crate) fn stored(self, include: Include) -> StoredRecord {
        let mut stored = StoredRecord::new(self.key, Arc::new(self.metadata));
        stored.vector = include.vector.then_some(self.vector);
        stored.text = self.text.filter(|_| include.text);
        stored
    }

    pub(crate) fn record(self) -> Record {
        let mut record = Record::new(self.key, self.vector).with_metadata(self.metadata);
        record.text = self.text;
        record
    }
}
