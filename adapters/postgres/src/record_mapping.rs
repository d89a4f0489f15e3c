//! Rows as records, and keys as their columns.

use std::sync::Arc;

use shelfward_adapter::error::limit;
use shelfward_core::{
    CollectionSpec, FieldKind, FieldRole, Include, Key, Metadata, StoredRecord, Text,
};
use sqlx_core::row::Row as _;
use sqlx_postgres::PgRow;

use crate::error::{Result, corrupt};

/// Stands before a partition that would be taken for none, or for one that it stands before.
const ESCAPE: char = '\u{1}';

/// A partition as its column, which is empty where there is none.
pub(crate) fn partition_column(partition: Option<&Text>) -> String {
    match partition.map(Text::as_str) {
        None => String::new(),
        Some(text) if text.is_empty() || text.starts_with(ESCAPE) => format!("{ESCAPE}{text}"),
        Some(text) => text.to_owned(),
    }
}

/// The key that two columns hold.
pub(crate) fn key(part: &str, id: &str) -> Result<Key> {
    let text = |text: &str| Text::new(text).map_err(|_| corrupt("a key is none"));
    let mut key = Key::new(text(id)?);
    if !part.is_empty() {
        key.partition = Some(text(part.strip_prefix(ESCAPE).unwrap_or(part))?);
    }
    Ok(key)
}

/// The columns of a read, as [`stored`] takes them, from the alias `r`.
pub(crate) fn columns(include: Include) -> String {
    let body = if include.text { "r.body" } else { "NULL::text" };
    let vector = if include.vector {
        "r.embedding::real[]"
    } else {
        "NULL::real[]"
    };
    format!("r.part, r.id, r.meta, {body}, {vector}")
}

/// The record of a row; its columns begin at `from`.
pub(crate) fn stored(row: &PgRow, from: usize, spec: &CollectionSpec) -> Result<StoredRecord> {
    let mut stored = StoredRecord::new(
        key(row.try_get(from)?, row.try_get(from + 1)?)?,
        metadata(row, from + 2, spec)?,
    );
    stored.text = text(row.try_get(from + 3)?);
    let vector: Option<Vec<f32>> = row.try_get(from + 4)?;
    stored.vector = vector.map(Arc::from);
    Ok(stored)
}

/// The metadata in a column of `jsonb`, which is sent as the version of its form and a text. Cast to
/// a text by the server, it would be so for every row that is looked at, and not for those alone that
/// are answered.
pub(crate) fn metadata(row: &PgRow, at: usize, spec: &CollectionSpec) -> Result<Arc<Metadata>> {
    let value = row.try_get_raw(at)?;
    let json = (value.as_bytes().ok())
        .and_then(|bytes| bytes.strip_prefix(&[JSONB]))
        .and_then(|bytes| str::from_utf8(bytes).ok());
    json.and_then(|json| Metadata::from_stored_json(json, spec))
        .map(Arc::new)
        .ok_or_else(|| corrupt("a row's metadata cannot be read"))
}

/// The version of the form in which `jsonb` is sent and taken.
pub(crate) const JSONB: u8 = 1;

pub(crate) fn text(text: Option<&str>) -> Option<Arc<str>> {
    text.map(Arc::from)
}

/// The most bytes of a partition or a unit: an index has room for both.
const MAX_NAME: usize = 1_024;
/// The most bytes of one member of a declared list: an index has room for it.
const MAX_MEMBER: usize = 2_048;

/// Refuses values that are too large for their index.
pub(crate) fn check_sizes(metadata: &Metadata, spec: &CollectionSpec) -> Result<()> {
    for field in &spec.fields {
        let (what, max) = match (field.role, field.kind) {
            (FieldRole::Plain, FieldKind::TextList) => {
                ("bytes of one member of a declared list", MAX_MEMBER)
            }
            (FieldRole::Plain, _) => continue,
            _ => ("bytes of a partition or a unit", MAX_NAME),
        };
        let value = metadata.get(field.key.as_str());
        for member in value.map_or(&[][..], |value| value.elements()) {
            let bytes = member.as_text().map_or(0, str::len);
            if bytes > max {
                return Err(limit(what, bytes, max).into());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_back_from_its_columns() {
        for partition in [
            None,
            Some(""),
            Some("a"),
            Some("\u{1}"),
            Some("\u{1}\u{1}a"),
        ] {
            let partition = partition.map(|text| Text::new(text).unwrap());
            let columns = partition_column(partition.as_ref());
            assert_eq!(key(&columns, "id").unwrap().partition, partition);
        }
    }
}
