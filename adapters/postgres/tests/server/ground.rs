//! A schema of its own for each test, and what it may make beside it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use shelfward_core::filter::key;
use shelfward_core::{
    Collection, CollectionName, CollectionSpec, Field, FieldKind, FieldRole, Filter, Key, Leg,
    Match, Metadata, MetadataKey, MetadataPatch, Metric, Record, Selector, Store, Text,
    query_words,
};
use shelfward_postgres::PostgresStore;
use sqlx_core::connection::Connection as _;
use sqlx_core::sql_str::AssertSqlSafe;
use sqlx_postgres::PgConnectOptions;
use sqlx_postgres::PgConnection;

pub(crate) type Test = fn(Ground) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// A test's own part of the server.
#[derive(Clone)]
pub(crate) struct Ground(Arc<Made>);

struct Made {
    url: String,
    name: String,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Makes a table of tests from their functions.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(crate) const TESTS: &[(&str, $crate::ground::Test)] = &[
            $((stringify!($name), |ground| Box::pin($name(ground)))),*
        ];
    };
}
pub(crate) use tests;

impl Ground {
    pub(crate) async fn new(url: String) -> Self {
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let clock = clock.unwrap().as_millis() % 0xfff_ffff;
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("sfwt_{:x}{clock:x}_{n}", std::process::id());
        let ground = Self(Arc::new(Made { url, name }));
        ground
            .sql(&format!("CREATE SCHEMA {}", ground.schema()))
            .await;
        // Tests begin side by side, and two that make it at once are one too many.
        let extension =
            "SELECT pg_advisory_lock(1); CREATE EXTENSION IF NOT EXISTS vector SCHEMA public";
        ground.sql(extension).await;
        ground
    }

    /// Takes away all that the test made: what is left on the server is what was there.
    pub(crate) async fn clear(&self) {
        let name = self.name();
        self.sql(&format!("DROP SCHEMA IF EXISTS {name} CASCADE"))
            .await;
        self.sql(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
            .await;
        let owned = format!(
            "DO $$ BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{name}') THEN \
             DROP OWNED BY {name} CASCADE; DROP ROLE {name}; END IF; END $$"
        );
        self.sql(&owned).await;
    }

    /// The name of everything that the test makes: schema, role, database.
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn schema(&self) -> &str {
        &self.0.name
    }

    /// The URL with options, in the test's schema.
    pub(crate) fn url(&self, options: &str) -> String {
        self.with_schema(&self.0.url, options)
    }

    fn with_schema(&self, url: &str, options: &str) -> String {
        let join = if url.contains('?') { '&' } else { '?' };
        format!("{url}{join}schema={}&{options}", self.schema())
    }

    /// The URL of another role, password, host or database.
    pub(crate) fn url_as(&self, change: impl FnOnce(&mut Parts), options: &str) -> String {
        let rest = self.0.url.split_once("://").unwrap().1;
        let (credentials, place) = rest.rsplit_once('@').unwrap();
        let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
        let (address, database) = place.split_once('/').unwrap();
        let database = database.split_once('?').map_or(database, |(name, _)| name);
        let mut parts = Parts {
            user: user.to_owned(),
            password: password.to_owned(),
            address: address.to_owned(),
            database: database.to_owned(),
        };
        change(&mut parts);
        let Parts {
            user,
            password,
            address,
            database,
        } = parts;
        let url = format!("postgres://{user}:{password}@{address}/{database}");
        self.with_schema(&url, options)
    }

    /// The URL of the test's own role, whose password is `of-the-role`.
    pub(crate) fn url_by_role(&self, options: &str) -> String {
        let change = |parts: &mut Parts| {
            self.name().clone_into(&mut parts.user);
            "of-the-role".clone_into(&mut parts.password);
        };
        self.url_as(change, options)
    }

    pub(crate) async fn store(&self) -> Store {
        self.store_with("").await
    }

    /// A store by a URL that is not the ground's own.
    pub(crate) async fn store_at(url: &str) -> Store {
        Store::new(shelfward_postgres::connect(url).await.unwrap())
    }

    pub(crate) async fn store_with(&self, options: &str) -> Store {
        Store::new(self.adapter(options).await)
    }

    pub(crate) async fn adapter(&self, options: &str) -> PostgresStore {
        shelfward_postgres::connect(&self.url(options))
            .await
            .unwrap()
    }

    /// A connection that is not the store's.
    pub(crate) async fn connection(&self) -> PgConnection {
        let options: PgConnectOptions = self.0.url.parse().unwrap();
        PgConnection::connect_with(&options).await.unwrap()
    }

    /// Runs SQL beside the store.
    pub(crate) async fn sql(&self, sql: &str) {
        let mut connection = self.connection().await;
        sqlx_core::raw_sql::raw_sql(AssertSqlSafe(sql))
            .execute(&mut connection)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
        connection.close().await.unwrap();
    }

    /// One number that SQL answers.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let mut connection = self.connection().await;
        let number = sqlx_core::query_scalar::query_scalar(AssertSqlSafe(sql))
            .fetch_one(&mut connection)
            .await;
        connection.close().await.unwrap();
        number.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }
}

pub(crate) struct Parts {
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) address: String,
    pub(crate) database: String,
}

pub(crate) fn text(text: &str) -> Text {
    Text::new(text).unwrap()
}

pub(crate) fn name(name: &str) -> CollectionName {
    CollectionName::new(name).unwrap()
}

/// A spec of four numbers without fields.
pub(crate) fn plain(collection: &str) -> CollectionSpec {
    CollectionSpec::new(name(collection), 4, Metric::Cosine, "test")
}

/// Everything that can be seen of an error.
pub(crate) fn shown(error: &(dyn std::error::Error + 'static)) -> String {
    let mut shown = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(under) = source {
        shown.push_str(&format!(": {under} {under:?}"));
        source = under.source();
    }
    shown
}

/// A spec of four numbers with a tenant, a source, groups and a weight.
pub(crate) fn spec(collection: &str) -> CollectionSpec {
    let field = |name: &str, kind| Field::new(MetadataKey::new(name).unwrap(), kind);
    plain(collection).with_fields([
        field("tenant", FieldKind::Text).with_role(FieldRole::Partition),
        field("source", FieldKind::Text).with_role(FieldRole::Unit),
        field("groups", FieldKind::TextList),
        field("weight", FieldKind::Float),
    ])
}

/// The record of a passage. `version` shows in its text and its metadata.
pub(crate) fn record(tenant: &str, source: &str, index: usize, version: usize) -> Record {
    let at = index as f32;
    let metadata = Metadata::new()
        .with("tenant", tenant)
        .and_then(|m| m.with("source", source))
        .and_then(|m| m.with("groups", ["all".to_owned(), format!("team:{}", index % 3)]))
        .and_then(|m| m.with("weight", index as f64 + 0.5))
        .and_then(|m| m.with("version", i64::try_from(version).unwrap()))
        .unwrap();
    let key = Key::within(text(tenant), text(&format!("{source}#{index:04}")));
    Record::new(key, [1.0, at / 100.0, (at * 0.7).sin(), 0.5])
        .with_text(format!(
            "berth {index} of {source} stays closed, version v{version}"
        ))
        .with_metadata(metadata)
}

pub(crate) fn source(tenant: &str, source: &str, passages: usize, version: usize) -> Vec<Record> {
    (0..passages)
        .map(|index| record(tenant, source, index, version))
        .collect()
}

pub(crate) fn of_source(tenant: &str, source: &str) -> Selector {
    let filter = key("tenant").eq(tenant).and(key("source").eq(source));
    filter.build().unwrap().narrow().unwrap()
}

pub(crate) fn of_tenant(tenant: &str) -> Filter {
    key("tenant").eq(tenant).build().unwrap()
}

pub(crate) fn dense(filter: Filter, top_k: usize) -> Leg {
    Leg::dense([1.0, 0.0, 0.0, 0.5], filter, top_k)
}

pub(crate) fn lexical(text: &str, filter: Filter, top_k: usize) -> Leg {
    let words = query_words(text, plain("c").word_rule, false).unwrap();
    Leg::lexical(words, Match::All, filter, top_k)
}

/// A patch that sets what `versions` reads.
pub(crate) fn to_version(version: i64) -> MetadataPatch {
    MetadataPatch::new().set(MetadataKey::new("version").unwrap(), version)
}

/// The versions of a source's passages that are there, and how many there are.
pub(crate) async fn versions(collection: &Collection, filter: &Filter) -> (Vec<i64>, usize) {
    let include = shelfward_core::Include::METADATA;
    let page = collection
        .scan(filter, None, 10_000, include)
        .await
        .unwrap();
    let version = |record: &shelfward_core::StoredRecord| {
        record
            .metadata
            .get("version")
            .and_then(|v| v.as_integer())
            .unwrap()
    };
    let mut versions: Vec<i64> = page.records.iter().map(version).collect();
    versions.sort_unstable();
    versions.dedup();
    (versions, page.records.len())
}
