use std::time::Duration;

use serde::Deserialize;
use shelfward_adapter::url::milliseconds;
use shelfward_core::ErrorKind;

use crate::identifier::Identifier;

/// How vectors are indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum VectorIndex {
    /// No index: every search looks at all rows that its filter matches, and is exact.
    None,
    /// A graph over the vectors, up to 2,000 numbers wide. Wider ones get [`HnswHalf`](Self::HnswHalf).
    Hnsw,
    /// A graph over the vectors as 16-bit floats, up to 4,000 numbers wide; wider ones get none. It
    /// takes half the memory, and its candidates are scored again by the vectors as they are.
    HnswHalf,
}

impl VectorIndex {
    /// The index that vectors of a width get where this one is asked for.
    #[must_use]
    pub fn for_width(self, width: u32) -> Self {
        match self {
            Self::Hnsw if width <= 2_000 => Self::Hnsw,
            Self::Hnsw | Self::HnswHalf if width <= 4_000 => Self::HnswHalf,
            _ => Self::None,
        }
    }
}

/// What a [`PostgresStore`](crate::PostgresStore) does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PostgresOptions {
    /// The schema that the tables lie in. Default `public`.
    pub schema: Identifier,
    /// What the tables' names begin with, at most 16 bytes. Default `shelfward_`.
    pub table_prefix: Identifier,
    /// Whether the store makes and changes tables. Default `true`; with `false` it sends no such
    /// statement, and [`schema_sql`](crate::PostgresStore::schema_sql) prints them for a person.
    pub manage_schema: bool,
    /// How vectors of new collections are indexed. Default [`VectorIndex::Hnsw`].
    pub index: VectorIndex,
    /// How many neighbours a graph keeps of each vector, 2 to 100. Default 16.
    pub m: u16,
    /// How many candidates are looked at for a vector that is put into a graph, 4 to 1,000 and at
    /// least `2 * m`. Default 64.
    pub ef_construction: u16,
    /// How many candidates a search in a graph keeps at a time, 1 to 1,000. Default 100.
    pub ef_search: u16,
    /// The server's text search configuration, as `english`, that new collections search texts by,
    /// in the place of our words. Default none.
    pub text_search: Option<Identifier>,
    /// Whether searches set the reader's tenant and groups for row-level security. Default `false`.
    pub row_level_security: bool,
    /// The most connections. Default 10.
    pub max_connections: u32,
    /// How long is waited for the server to take a connection. Default 5 s. In line for one that is in
    /// use, a call waits as long as a statement may take.
    #[serde(rename = "connect_timeout_ms", deserialize_with = "milliseconds")]
    pub connect_timeout: Duration,
    /// How long one statement may take. Default 30 s. Zero is without end, and sends no settings when it
    /// connects, as poolers want it: the role has to carry `plan_cache_mode = force_custom_plan` then.
    #[serde(rename = "statement_timeout_ms", deserialize_with = "milliseconds")]
    pub statement_timeout: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            schema: known("public"),
            table_prefix: known("shelfward_"),
            manage_schema: true,
            index: VectorIndex::Hnsw,
            m: 16,
            ef_construction: 64,
            ef_search: 100,
            text_search: None,
            row_level_security: false,
            max_connections: 10,
            connect_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
        }
    }
}

#[expect(clippy::expect_used, reason = "the two names above are names")]
fn known(name: &str) -> Identifier {
    Identifier::new(name).expect("a plain name")
}

/// So many bytes are left for the prefix beside the longest name of a collection and of an index.
const MAX_PREFIX: usize = 16;

/// More than any server has; room for all of them is set aside at once.
const MAX_CONNECTIONS: u32 = 10_000;

/// How many milliseconds the server takes for a time at most.
pub(crate) const MAX_TIMEOUT: u128 = 2_147_483_647;

impl PostgresOptions {
    shelfward_adapter::setters! {
        /// Sets the schema that the tables lie in.
        with_schema: schema Identifier;
        /// Sets what the tables' names begin with.
        with_table_prefix: table_prefix Identifier;
        /// Sets whether the store makes and changes tables.
        with_manage_schema: manage_schema bool;
        /// Sets how vectors of new collections are indexed.
        with_index: index VectorIndex;
        /// Sets how many candidates a search in a graph keeps at a time.
        with_ef_search: ef_search u16;
        /// Sets the text search configuration that new collections search texts by.
        with_text_search: text_search Option<Identifier>;
        /// Sets whether searches set the reader's tenant and groups for row-level security.
        with_row_level_security: row_level_security bool;
        /// Sets the most connections.
        with_max_connections: max_connections u32;
        /// Sets how long is waited for the server to take a connection.
        with_connect_timeout: connect_timeout Duration;
        /// Sets how long one statement may take.
        with_statement_timeout: statement_timeout Duration;
    }

    /// Sets what a graph is built with.
    #[must_use]
    pub fn with_graph(mut self, m: u16, ef_construction: u16) -> Self {
        self.m = m;
        self.ef_construction = ef_construction;
        self
    }

    /// Refuses options that mean nothing, or that the process could not bear.
    pub(crate) fn check(&self) -> Result<(), ErrorKind> {
        let schema = self.schema.as_str();
        let wrong = [
            (
                schema.starts_with("pg_") || schema == "information_schema",
                "schemas of the server's own hold no tables of others; choose another schema",
            ),
            (
                self.table_prefix.as_str().len() > MAX_PREFIX,
                "a table prefix has at most 16 bytes",
            ),
            (!(2..=100).contains(&self.m), "m is 2 to 100"),
            (
                !(4..=1_000).contains(&self.ef_construction) || self.ef_construction < 2 * self.m,
                "ef_construction is 4 to 1000, and at least twice m",
            ),
            (
                !(1..=1_000).contains(&self.ef_search),
                "ef_search is 1 to 1000",
            ),
            (
                !(1..=MAX_CONNECTIONS).contains(&self.max_connections),
                "max_connections is 1 to 10000",
            ),
            (
                self.connect_timeout.is_zero(),
                "connect_timeout_ms is at least 1",
            ),
            (
                self.statement_timeout.as_millis() > MAX_TIMEOUT,
                "statement_timeout_ms is at most 2147483647",
            ),
        ];
        match wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, right)) => Err(ErrorKind::Invalid(right.to_owned())),
            None => Ok(()),
        }
    }
}
