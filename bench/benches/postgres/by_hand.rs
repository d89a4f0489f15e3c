//! The same work as somebody would write it: prepared statements through the driver's pool.

use serde_json::Value;
use sqlx_core::row::Row as _;
use sqlx_core::sql_str::AssertSqlSafe;
use sqlx_postgres::PgPool;
use sqlx_postgres::PgRow;

use crate::place::Place;

/// A hit, decoded as ours are.
pub(crate) struct Hit {
    #[expect(dead_code, reason = "decoding it is part of the work")]
    pub(crate) id: String,
    #[expect(dead_code, reason = "decoding it is part of the work")]
    pub(crate) metadata: Value,
    pub(crate) text: Option<String>,
    #[expect(dead_code, reason = "decoding it is part of the work")]
    pub(crate) score: f64,
}

/// Statements on one table.
pub(crate) struct ByHand<'a> {
    place: &'a Place,
    table: &'a str,
}

/// The reader of a statement: tenant and groups.
pub(crate) type Reader<'a> = (&'a str, &'a [String]);

const SUCH: &str = "f0_tenantid = $2 AND f1_aclgroups && $3 AND f2_status = 'active'";

impl<'a> ByHand<'a> {
    pub(crate) fn new(place: &'a Place, table: &'a str) -> Self {
        Self { place, table }
    }

    pub(crate) fn dense(
        &self,
        vector: &[f32],
        reader: Option<Reader<'_>>,
        top_k: usize,
    ) -> Vec<Hit> {
        let such = if reader.is_some() { SUCH } else { "true" };
        let sql = format!(
            "SELECT id, meta, body, 1 - (embedding <=> $1::real[]::vector) FROM {} \
             WHERE {such} ORDER BY embedding <=> $1::real[]::vector LIMIT {top_k}",
            self.table
        );
        // Without values to plan for, one plan serves for good.
        let pool = if reader.is_some() {
            &self.place.planned
        } else {
            &self.place.pool
        };
        let mut query = sqlx_core::query::query(AssertSqlSafe(sql)).bind(vector);
        if let Some((tenant, groups)) = reader {
            query = query.bind(tenant).bind(groups);
        }
        let rows = self.place.runtime.block_on(query.fetch_all(pool));
        rows.unwrap().iter().map(hit).collect()
    }

    pub(crate) fn lexical(
        &self,
        words: &str,
        (tenant, groups): Reader<'_>,
        top_k: usize,
    ) -> Vec<Hit> {
        let sql = format!(
            "SELECT id, meta, body, ts_rank(words, $1::text::tsquery)::double precision AS score \
             FROM {} WHERE words @@ $1::text::tsquery AND {SUCH} ORDER BY score DESC, id LIMIT {top_k}",
            self.table
        );
        let query = sqlx_core::query::query(AssertSqlSafe(sql))
            .bind(words)
            .bind(tenant)
            .bind(groups);
        let rows = self
            .place
            .runtime
            .block_on(query.fetch_all(&self.place.planned));
        rows.unwrap().iter().map(hit).collect()
    }
}

fn hit(row: &PgRow) -> Hit {
    Hit {
        id: row.get(0),
        // Sent as a version and a text.
        metadata: serde_json::from_slice(&row.try_get_raw(1).unwrap().as_bytes().unwrap()[1..])
            .unwrap(),
        text: row.get(2),
        score: row.get(3),
    }
}

/// The columns of a row that are written; the server fills the others.
const COLUMNS: &str = "part, id, meta, body, words, embedding";

/// All rows of a table as the bytes that `COPY` takes.
pub(crate) fn copied_out(place: &Place, table: &str) -> Vec<u8> {
    use futures_util::TryStreamExt as _;
    let copy = format!("COPY {table} ({COLUMNS}) TO STDOUT (FORMAT binary)");
    place.runtime.block_on(async {
        let mut connection = place.pool.acquire().await.unwrap();
        let bytes = connection.copy_out_raw(&copy).await.unwrap();
        let chunks: Vec<_> = bytes.try_collect().await.unwrap();
        chunks.concat()
    })
}

/// One `COPY` of bytes that lie ready.
pub(crate) fn copy_in(place: &Place, table: &str, bytes: &[u8]) {
    let copy = format!("COPY {table} ({COLUMNS}) FROM STDIN (FORMAT binary)");
    place
        .runtime
        .block_on(sent(&place.pool, &copy, bytes))
        .unwrap();
}

async fn sent(pool: &PgPool, copy: &str, bytes: &[u8]) -> sqlx_core::error::Result<u64> {
    let mut connection = pool.acquire().await?;
    let mut copy = connection.copy_in_raw(copy).await?;
    for chunk in bytes.chunks(1 << 20) {
        copy.send(chunk).await?;
    }
    copy.finish().await
}
