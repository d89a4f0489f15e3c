//! Records as rows, and rows as records.

use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};
use shelfward_core::{
    CollectionSpec, ErrorKind, FieldKind, Include, Key, List, Metadata, MetadataKey, Record,
    Scalar, StoredRecord, Text, Value as MetadataValue, VectorProblem,
};

use crate::error::{Fail, Job, corrupt};
use crate::filter_translation::{as_element, list_number};
use crate::schema::column_type;

/// A record as it is written.
pub(crate) struct Written {
    /// Every column, in the table's order.
    pub(crate) columns: Vec<Value>,
    /// The checksum over all other columns.
    pub(crate) crc: i64,
    /// The elements of its lists and, where fields are open, of its undeclared keys.
    pub(crate) elements: Vec<(Value, Value)>,
}

/// Where the checksum stands among a row's columns.
const CRC: usize = 4;

/// The parts of a row; the last three are behind the columns of the fields.
pub(crate) struct Parts {
    pub(crate) key: Key,
    pub(crate) metadata: Metadata,
    pub(crate) text: Option<Arc<str>>,
    pub(crate) vector: Arc<[f32]>,
    pub(crate) crc: i64,
}

/// A partition in its column: 0 where there is none, which stands before all texts.
pub(crate) fn partition_value(partition: Option<&Text>) -> Value {
    match partition {
        Some(partition) => Value::Text(partition.as_str().to_owned()),
        None => Value::Integer(0),
    }
}

/// The partition that its column holds; `None` where that is none that was ever written.
#[expect(clippy::option_option, reason = "one for damage, one for no partition")]
pub(crate) fn partition_of(value: ValueRef<'_>) -> Option<Option<Text>> {
    match value {
        ValueRef::Integer(0) => Some(None),
        value => Some(Some(Text::new(value.as_str().ok()?).ok()?)),
    }
}

/// Makes the row of a record.
///
/// Refuses values that are not of their field's kind and vectors of another width.
pub(crate) fn written(
    spec: &CollectionSpec,
    n: i64,
    changed: i64,
    record: &Record,
) -> Job<Written> {
    let (given, width) = (record.vector.len(), spec.width);
    if usize::try_from(width) != Ok(given) {
        return Err(ErrorKind::Vector(VectorProblem::Width { given, width }).into());
    }
    let mut columns = Vec::with_capacity(8 + spec.fields.len());
    columns.push(Value::Integer(n));
    columns.push(partition_value(record.key.partition.as_ref()));
    columns.push(Value::Text(record.key.id.as_str().to_owned()));
    columns.push(Value::Integer(changed));
    columns.push(Value::Integer(0));
    let mut elements = Vec::new();
    for (at, field) in spec.fields.iter().enumerate() {
        let value = record.metadata.get(field.key.as_str());
        if let Some(value) = value {
            spec.check_value(&field.key, value)?;
        }
        if column_type(field.kind).is_some() {
            columns.push(value.map_or(Value::Null, |value| column(field.kind, value)));
        } else {
            let key = Value::Integer(list_number(at));
            let members = value.map_or(&[][..], MetadataValue::elements).iter();
            elements.extend(members.map(|element| (key.clone(), as_element(element))));
        }
    }
    if spec.open_fields {
        let open = (record.metadata.iter()).filter(|(key, _)| spec.field(key.as_str()).is_none());
        for (key, value) in open {
            let key = Value::Text(key.as_str().to_owned());
            let members = value.elements().iter();
            elements.extend(members.map(|element| (key.clone(), as_element(element))));
        }
    }
    let meta = serde_json::to_string(&*record.metadata)
        .map_err(|_| Fail::Kind(ErrorKind::Engine))?;
    columns.push(Value::Text(meta));
    columns.push(match &record.text {
        Some(text) => Value::Text(text.to_string()),
        None => Value::Null,
    });
    columns.push(Value::Blob(
        record.vector.iter().flat_map(|x| x.to_le_bytes()).collect(),
    ));
    let crc = checksum(columns.iter().map(ValueRef::from));
    if let Some(column) = columns.get_mut(CRC) {
        *column = Value::Integer(crc);
    }
    Ok(Written {
        columns,
        crc,
        elements,
    })
}

/// A value in its field's column. The kind was checked.
fn column(kind: FieldKind, value: &MetadataValue) -> Value {
    match (kind, value) {
        (FieldKind::Integer, value) => value.as_integer().map_or(Value::Null, Value::Integer),
        (_, MetadataValue::Scalar(Scalar::Text(text))) => Value::Text(text.as_str().to_owned()),
        (_, MetadataValue::Scalar(Scalar::Bool(truth))) => Value::Integer(i64::from(*truth)),
        (_, MetadataValue::Scalar(Scalar::Float(float))) => Value::Real(float.get()),
        #[expect(
            clippy::cast_precision_loss,
            reason = "a float field takes only integers that a float holds exactly"
        )]
        (_, MetadataValue::Scalar(Scalar::Integer(integer))) => Value::Real(*integer as f64),
        (_, MetadataValue::List(_)) => Value::Null,
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
                hasher.update(&bytes.len().to_le_bytes());
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
pub(crate) fn parts(spec: &CollectionSpec, row: &Row<'_>) -> Job<Parts> {
    let width = width_of_row(spec);
    let cells = (0..width)
        .map(|at| row.get_ref(at))
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let crc: i64 = row.get(CRC)?;
    if checksum(cells.into_iter()) != crc {
        return Err(corrupt("a row does not match its checksum"));
    }
    let damaged = || corrupt("a row is damaged");
    let text = |value: ValueRef<'_>| value.as_str().ok().and_then(|t| Text::new(t).ok());
    let mut key = Key::new(text(row.get_ref(2)?).ok_or_else(damaged)?);
    key.partition = partition_of(row.get_ref(1)?).ok_or_else(damaged)?;
    let meta: ValueRef<'_> = row.get_ref(width - 3)?;
    let metadata = metadata_of(meta.as_str().map_err(|_| damaged())?)?;
    let body = row.get_ref(width - 2)?;
    let body = body.as_str_or_null().map_err(|_| damaged())?;
    let vector = row.get_ref(width - 1)?.as_blob().map_err(|_| damaged())?;
    let (numbers, rest) = vector.as_chunks::<4>();
    if !rest.is_empty() || usize::try_from(spec.width) != Ok(numbers.len()) {
        return Err(damaged());
    }
    Ok(Parts {
        key,
        metadata,
        text: body.map(Arc::from),
        vector: numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        crc,
    })
}

impl Parts {
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

/// Metadata from its JSON, the library's own keys included.
fn metadata_of(json: &str) -> Job<Metadata> {
    let damaged = || corrupt("the metadata of a row cannot be read");
    let read: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(json).map_err(|_| damaged())?;
    let mut metadata = Metadata::new();
    for (key, value) in read {
        let key = MetadataKey::stored(&key).map_err(|_| damaged())?;
        let value = match value {
            serde_json::Value::Array(members) => {
                let members = members.into_iter().map(scalar).collect::<Option<_>>();
                let list = List::new(members.ok_or_else(damaged)?).map_err(|_| damaged())?;
                MetadataValue::List(list)
            }
            value => MetadataValue::Scalar(scalar(value).ok_or_else(damaged)?),
        };
        metadata.insert(key, value);
    }
    Ok(metadata)
}

fn scalar(value: serde_json::Value) -> Option<Scalar> {
    match value {
        serde_json::Value::Bool(truth) => Some(Scalar::Bool(truth)),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(integer) => Some(Scalar::Integer(integer)),
            None => Scalar::float(number.as_f64()?).ok(),
        },
        serde_json::Value::String(text) => Scalar::text(text).ok(),
        _ => None,
    }
}
