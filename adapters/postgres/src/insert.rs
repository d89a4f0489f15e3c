//! A few records as values of one statement.
//!
//! A small `COPY` is sent as two small messages, and the driver leaves it to the system to hold the second
//! back until the first is acknowledged, which on the same host takes 40 ms. Of a message that takes more
//! than one packet there, the first is acknowledged at once.

use shelfward_core::Record;

use crate::copy::COLUMNS;
use crate::error::Result;
use crate::metadata_json;
use crate::params::{Param, Params, Statement};
use crate::record_mapping::partition_column;
use crate::words::vector_text;

/// What a packet holds on the same host. Beyond, texts of numbers take longer than `COPY` does.
const PACKET: usize = 64 << 10;

/// Whether so many records are best sent as values.
pub(crate) fn are_few(records: &[&Record]) -> bool {
    let bytes = |r: &&Record| 4 * r.vector.len() + r.text.as_deref().map_or(0, str::len);
    records.iter().map(bytes).sum::<usize>() <= PACKET
}

/// Inserts records into a table; `vector` is the type of their vectors.
pub(crate) fn statement(
    table: &str,
    vector: &str,
    records: &[&Record],
    analysed: bool,
) -> Result<Statement> {
    let texts = |text: &dyn Fn(&Record) -> String| records.iter().map(|r| text(r)).collect();
    let words = records.iter().map(|record| {
        // Where the server's own configuration is searched by, our words are of no use.
        let ours = record.text.is_some() && !analysed;
        ours.then(|| vector_text(&record.words)).transpose()
    });
    let bodies = records.iter().map(|r| r.text.as_deref().map(str::to_owned));
    let mut params = Params::default();
    let columns = [
        Param::texts(texts(&|r| partition_column(r.key.partition.as_ref()))),
        Param::texts(texts(&|r| r.key.id.as_str().to_owned())),
        Param::texts(texts(&|r| metadata_json::json(&*r.metadata))),
        Param::maybe(bodies.collect()),
        Param::maybe(words.collect::<Result<_>>()?),
        Param::texts(texts(&|r| numbers(&r.vector))),
    ];
    let columns = columns.map(|column| format!("pg_catalog.unnest({})", params.add(column)));
    let (names, columns) = (COLUMNS, columns.join(", "));
    let sql = format!(
        "INSERT INTO {table} ({names}) SELECT part, id, meta::jsonb, body, words::tsvector, \
         embedding::{vector} FROM ROWS FROM ({columns}) AS r({names})"
    );
    Ok(Statement { sql, params })
}

fn numbers(vector: &[f32]) -> String {
    let numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
    format!("[{}]", numbers.join(","))
}
