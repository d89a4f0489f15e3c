//! Records in the binary form that `COPY` takes.

use shelfward_adapter::error::limit;
use shelfward_core::{CollectionSpec, ErrorKind, Record};

use crate::error::Result;
use crate::metadata_json;
use crate::record_mapping::{JSONB, partition_column};
use crate::words::vector;

/// The columns that are sent, in their order.
pub(crate) const COLUMNS: &str = "part, id, meta, body, words, embedding";

/// A message holds about so many bytes at most; each is a statement of its own, which takes its time.
const CHUNK: usize = 4 << 20;

/// The server's limit for one value.
const MAX_VALUE: usize = 256 << 20;

/// Rows that are sent together.
struct Rows(Vec<u8>);

impl Rows {
    fn new() -> Self {
        let mut bytes = Vec::from(b"PGCOPY\n\xff\r\n\0");
        // Flags, and the length of an extension of the header: none.
        bytes.extend([0; 8]);
        Self(bytes)
    }

    fn push(&mut self, record: &Record, spec: &CollectionSpec, analysed: bool) -> Result<()> {
        self.0.extend(6_u16.to_be_bytes());
        self.field(partition_column(record.key.partition.as_ref()).as_bytes())?;
        self.field(record.key.id.as_str().as_bytes())?;
        let mut meta = vec![JSONB];
        meta.extend(metadata_json::json(&*record.metadata).as_bytes());
        self.field(&meta)?;
        match &record.text {
            Some(text) => self.field(text.as_bytes())?,
            None => self.null(),
        }
        // Where the server's own configuration is searched by, our words are of no use.
        if record.text.is_some() && !analysed {
            self.field(&vector(&record.words)?)?;
        } else {
            self.null();
        }
        let width = u16::try_from(spec.width).map_err(|_| ErrorKind::Engine)?;
        let mut embedding = Vec::with_capacity(4 + 4 * record.vector.len());
        embedding.extend(width.to_be_bytes());
        embedding.extend([0; 2]);
        for number in record.vector.iter() {
            embedding.extend(number.to_be_bytes());
        }
        self.field(&embedding)
    }

    fn field(&mut self, value: &[u8]) -> Result<()> {
        let length = i32::try_from(value.len()).ok();
        let Some(length) = length.filter(|_| value.len() <= MAX_VALUE) else {
            return Err(limit("bytes of one value of a record", value.len(), MAX_VALUE).into());
        };
        self.0.extend(length.to_be_bytes());
        self.0.extend(value);
        Ok(())
    }

    fn null(&mut self) {
        self.0.extend((-1_i32).to_be_bytes());
    }

    fn finish(mut self) -> Vec<u8> {
        self.0.extend((-1_i16).to_be_bytes());
        self.0
    }
}

/// The first of these records as a message, and how many they are.
pub(crate) fn message(
    records: &[&Record],
    spec: &CollectionSpec,
    analysed: bool,
) -> Result<(usize, Vec<u8>)> {
    let mut bytes = Rows::new();
    let mut rows = 0;
    for record in records {
        bytes.push(record, spec, analysed)?;
        rows += 1;
        if bytes.0.len() >= CHUNK {
            break;
        }
    }
    Ok((rows, bytes.finish()))
}
