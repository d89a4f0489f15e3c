//! A record as bytes, and back, exactly: the bits of every float, and the library's own metadata
//! keys.

use std::sync::Arc;

use shelfward_core::{Float, Key, List, Metadata, MetadataKey, Record, Scalar, Text, Value};

use crate::error::{FileError, FileResult};
use crate::files::codec::{Decoder, Encode};

const BAD: FileError = FileError::Corrupt("a record is not one");

pub(crate) fn encode_key(out: &mut Vec<u8>, key: &Key) {
    match &key.partition {
        Some(partition) => {
            out.put_u8(1);
            out.put_bytes(partition.as_str().as_bytes());
        }
        None => out.put_u8(0),
    }
    out.put_bytes(key.id.as_str().as_bytes());
}

pub(crate) fn decode_key(from: &mut Decoder<'_>) -> FileResult<Key> {
    Ok(match from.u8()? {
        0 => Key::new(decode_text(from)?),
        1 => Key::within(decode_text(from)?, decode_text(from)?),
        _ => return Err(BAD),
    })
}

fn decode_text(from: &mut Decoder<'_>) -> FileResult<Text> {
    Text::new(from.text()?).map_err(|_| BAD)
}

/// A borrowed record; its words only where they are not those of its text.
pub(crate) struct RecordRef<'a> {
    pub(crate) key: &'a Key,
    pub(crate) vector: &'a [f32],
    pub(crate) text: Option<&'a str>,
    pub(crate) words: Option<&'a [Text]>,
    pub(crate) metadata: &'a Metadata,
}

pub(crate) fn encode_record(out: &mut Vec<u8>, record: &RecordRef<'_>) {
    encode_key(out, record.key);
    out.put_length(record.vector.len());
    for number in record.vector {
        out.put_u32(number.to_bits());
    }
    match record.text {
        Some(text) => {
            out.put_u8(1);
            out.put_bytes(text.as_bytes());
        }
        None => out.put_u8(0),
    }
    match record.words {
        Some(words) => {
            out.put_u8(1);
            out.put_length(words.len());
            for word in words {
                out.put_bytes(word.as_str().as_bytes());
            }
        }
        None => out.put_u8(0),
    }
    encode_metadata(out, record.metadata);
}

/// A record and whether its words came with it; those of others are still to be made of the text.
pub(crate) fn decode_record(from: &mut Decoder<'_>) -> FileResult<(Record, bool)> {
    let key = decode_key(from)?;
    let width = from.length(4)?;
    let vector: Vec<f32> = (0..width)
        .map(|_| from.u32().map(f32::from_bits))
        .collect::<FileResult<_>>()?;
    let mut record = Record::new(key, vector);
    record.text = match from.u8()? {
        0 => None,
        1 => Some(Arc::from(from.text()?)),
        _ => return Err(BAD),
    };
    let with_words = match from.u8()? {
        0 => false,
        1 => true,
        _ => return Err(BAD),
    };
    if with_words {
        let words = from.length(1)?;
        record.words = (0..words)
            .map(|_| decode_text(from))
            .collect::<FileResult<_>>()?;
    }
    record.metadata = Arc::new(decode_metadata(from)?);
    Ok((record, with_words))
}

pub(crate) fn encode_metadata(out: &mut Vec<u8>, metadata: &Metadata) {
    out.put_length(metadata.len());
    for (key, value) in metadata.iter() {
        out.put_bytes(key.as_str().as_bytes());
        match value {
            Value::Scalar(scalar) => encode_scalar(out, scalar),
            Value::List(list) => {
                out.put_u8(LIST);
                out.put_length(list.members().len());
                for member in list.members() {
                    encode_scalar(out, member);
                }
            }
        }
    }
}

pub(crate) fn decode_metadata(from: &mut Decoder<'_>) -> FileResult<Metadata> {
    let mut metadata = Metadata::new();
    for _ in 0..from.length(2)? {
        let key = MetadataKey::stored(from.text()?).map_err(|_| BAD)?;
        let value = match from.u8()? {
            LIST => {
                let members = (0..from.length(1)?)
                    .map(|_| from.u8().and_then(|kind| decode_scalar(kind, from)))
                    .collect::<FileResult<_>>()?;
                Value::List(List::new(members).map_err(|_| BAD)?)
            }
            kind => Value::Scalar(decode_scalar(kind, from)?),
        };
        metadata.insert(key, value);
    }
    Ok(metadata)
}

const FALSE: u8 = 0;
const TRUE: u8 = 1;
const INTEGER: u8 = 2;
const FLOAT: u8 = 3;
const TEXT: u8 = 4;
const LIST: u8 = 5;

fn encode_scalar(out: &mut Vec<u8>, scalar: &Scalar) {
    match scalar {
        Scalar::Bool(false) => out.put_u8(FALSE),
        Scalar::Bool(true) => out.put_u8(TRUE),
        Scalar::Integer(integer) => {
            out.put_u8(INTEGER);
            out.put_u64(integer.cast_unsigned());
        }
        Scalar::Float(float) => {
            out.put_u8(FLOAT);
            out.put_u64(float.get().to_bits());
        }
        Scalar::Text(text) => {
            out.put_u8(TEXT);
            out.put_bytes(text.as_str().as_bytes());
        }
    }
}

fn decode_scalar(kind: u8, from: &mut Decoder<'_>) -> FileResult<Scalar> {
    Ok(match kind {
        FALSE => Scalar::Bool(false),
        TRUE => Scalar::Bool(true),
        INTEGER => Scalar::Integer(from.u64()?.cast_signed()),
        FLOAT => Scalar::Float(Float::new(f64::from_bits(from.u64()?)).map_err(|_| BAD)?),
        TEXT => Scalar::Text(decode_text(from)?),
        _ => return Err(BAD),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was() {
        let own = MetadataKey::stored("_shelfward_revision").unwrap();
        let mut metadata = Metadata::new()
            .with("whole", 5_i64)
            .and_then(|m| m.with("float", 5.0))
            .and_then(|m| m.with("tiny", f64::from_bits(1)))
            .and_then(|m| m.with("large", f64::MAX))
            .and_then(|m| m.with("least", i64::MIN))
            .and_then(|m| m.with("yes", true))
            .and_then(|m| m.with("none", Vec::<String>::new()))
            .and_then(|m| m.with("tags", ["a", "é"]))
            .unwrap();
        metadata.insert(own, Scalar::text("0f").unwrap());
        let key = Key::within(Text::new("").unwrap(), Text::new("i/d").unwrap());
        let mut record = Record::new(key, [1.5, -0.0, f32::from_bits(1), f32::MAX])
            .with_text("")
            .with_metadata(metadata);
        for words in [None, Some(vec![]), Some(vec![Text::new("word").unwrap()])] {
            let mut bytes = Vec::new();
            let parts = RecordRef {
                key: &record.key,
                vector: &record.vector,
                text: record.text.as_deref(),
                words: words.as_deref(),
                metadata: &record.metadata,
            };
            encode_record(&mut bytes, &parts);
            record.words = words.clone().unwrap_or_default().into();
            let mut take = Decoder::new(&bytes);
            let (back, with_words) = decode_record(&mut take).unwrap();
            assert!(take.is_empty());
            assert_eq!(with_words, words.is_some());
            assert!(back == record);
            // Equality of scalars is by value; kinds and bits are compared as they are printed.
            assert_eq!(
                format!("{:?}", back.metadata),
                format!("{:?}", record.metadata)
            );
            let bits = |v: &[f32]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&back.vector), bits(&record.vector));
            for cut in 0..bytes.len() {
                assert!(
                    decode_record(&mut Decoder::new(&bytes[..cut])).is_err(),
                    "{cut}"
                );
            }
        }
    }
}
