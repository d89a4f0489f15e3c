//! SQLite's FTS5, in memory, ranked by its `bm25`.

use rusqlite::{Connection, Row, Statement, params};
use shelfward_core::Match;

pub(crate) struct Sqlite(Connection);

/// Its name and version.
pub(crate) fn name() -> String {
    format!("SQLite FTS5 {}", rusqlite::version())
}

impl Sqlite {
    pub(crate) fn new(documents: &[String]) -> Self {
        let mut connection = Connection::open_in_memory().unwrap();
        connection
            .execute("CREATE VIRTUAL TABLE documents USING fts5(text)", [])
            .unwrap();
        let transaction = connection.transaction().unwrap();
        {
            let mut insert = transaction
                .prepare("INSERT INTO documents (text) VALUES (?1)")
                .unwrap();
            for document in documents {
                insert.execute(params![document]).unwrap();
            }
        }
        transaction.commit().unwrap();
        connection
            .execute("INSERT INTO documents (documents) VALUES ('optimize')", [])
            .unwrap();
        Self(connection)
    }

    /// The query that [`search`] runs, compiled once.
    pub(crate) fn select(&self) -> Statement<'_> {
        self.0
            .prepare(
                "SELECT rowid, bm25(documents) AS score FROM documents
                 WHERE documents MATCH ?1 ORDER BY score LIMIT ?2",
            )
            .unwrap()
    }
}

pub(crate) fn search(
    select: &mut Statement<'_>,
    words: &[String],
    matching: Match,
    top_k: usize,
) -> Vec<(i64, f64)> {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let between = match matching {
        Match::Any => " OR ",
        Match::All => " AND ",
    };
    let top_k = i64::try_from(top_k).unwrap();
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found = select
        .query_map(params![quoted.join(between), top_k], row)
        .unwrap();
    found.map(Result::unwrap).collect()
}
