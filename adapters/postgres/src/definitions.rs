//! What is made, changed and dropped in the database, each one transaction.

use shelfward_core::{CollectionName, CollectionSpec, ErrorKind, async_trait};
use sqlx_core::row::Row as _;

use crate::VectorIndex;
use crate::binds::{Bind, Binds, Statement};
use crate::capabilities::MAX_WIDTH;
use crate::catalog::{LegResult, gone, there};
use crate::error::{Fail, Job, LOCK_TIMEOUT};
use crate::extension::{Extension, Facts};
use crate::locks::{self, Lock, of_collection, of_tables};
use crate::registry::{Entry, Settings};
use crate::schema::{self, Names};
use crate::transaction::{Transaction, Work};

/// Waits for a lock on a table no longer than this: whoever waits for one stands before all that come later.
async fn limit_locks(transaction: &mut Transaction<'_>) -> Job<()> {
    let millis = LOCK_TIMEOUT.as_millis();
    let set = format!("SET LOCAL lock_timeout = {millis}");
    transaction.define(&set).await
}

/// What a table holds in columns at most, less those that every table has.
const MAX_FIELDS: usize = 1_500;

/// Refuses a spec that no table can serve.
pub(crate) fn check(spec: &CollectionSpec) -> Job<()> {
    spec.check().map_err(ErrorKind::from)?;
    let limit = |what, given: u64, max: u64| Err(ErrorKind::Limit { what, given, max }.into());
    if spec.width > MAX_WIDTH {
        return limit("numbers of a vector", spec.width.into(), MAX_WIDTH.into());
    }
    let as_u64 = |n| u64::try_from(n).unwrap_or(u64::MAX);
    if spec.fields.len() > MAX_FIELDS {
        return limit(
            "declared fields",
            as_u64(spec.fields.len()),
            as_u64(MAX_FIELDS),
        );
    }
    let (row, max) = (schema::least_row(spec), schema::MAX_ROW);
    if row > max {
        return limit(
            "bytes of a row in which every declared field has a value",
            as_u64(row),
            as_u64(max),
        );
    }
    Ok(())
}

/// Makes a collection, or adds what an existing one lacks.
pub(crate) struct Create {
    pub(crate) names: Names,
    pub(crate) settings: Settings,
    pub(crate) spec: CollectionSpec,
}

#[async_trait]
impl Work for Create {
    type Output = ();

    fn locks(&self) -> Vec<Lock> {
        vec![of_tables(&self.names.registry())]
    }

    async fn run(&self, transaction: &mut Transaction<'_>) -> Job<()> {
        // Making an index of many rows takes as long as it takes; but nobody waits behind one who
        // waits for a table.
        limit_locks(transaction).await?;
        transaction
            .define("SET LOCAL statement_timeout = 0")
            .await?;
        let extension = installed(transaction).await?;
        let mut settings = self.settings.clone();
        if settings.index == VectorIndex::HnswHalf && !extension.has_half() {
            settings.index = VectorIndex::None;
        }
        let (has_schema, is_prepared) = self.prepared(transaction).await?;
        if !has_schema {
            let own = schema::own_schema(&self.names);
            transaction.define(&own).await?;
        }
        if !is_prepared {
            let shared = schema::shared(&self.names).join(";");
            transaction.define(&shared).await?;
        }
        let rows = transaction
            .rows(&Entry::ask(&self.names, &self.spec.name))
            .await?;
        let (spec, settings) = match Entry::answered(&rows)? {
            None => {
                let table = schema::table(&self.names, &self.spec, &settings, &extension);
                let made = transaction.define(&table.join(";")).await;
                made.map_err(|fail| self.why_not_made(fail))?;
                let insert = Entry::insert(&self.names, &self.spec, &settings)?;
                transaction.execute(&insert).await?;
                (self.spec.clone(), settings)
            }
            Some(entry) => {
                let serves = entry.spec.check_serves(&self.spec);
                serves.map_err(ErrorKind::from)?;
                if !self.has_table(transaction).await? {
                    let table = self.names.bare_table(&self.spec.name);
                    return Err(gone(&table).into());
                }
                let first = entry.spec.fields.len();
                if !entry.spec.lacking(&self.spec).is_empty() {
                    // No writer goes on by the old spec while the new fields are filled.
                    let lock = of_collection(&self.names.table(&self.spec.name));
                    transaction.define(&locks::statements(&[lock])).await?;
                }
                let lacking = entry.spec.lacking(&self.spec).into_iter().cloned();
                let spec = entry.spec.clone().with_fields(lacking);
                check(&spec)?;
                for (at, field) in spec.fields.iter().enumerate().skip(first) {
                    let table = self.names.table(&spec.name);
                    let wrong = schema::other_kinds(&table, field);
                    if !transaction.rows(&wrong).await?.is_empty() {
                        return Err(ErrorKind::Invalid(format!(
                            "records hold {} that is not {}; write them anew before the field is declared",
                            field.key,
                            field.kind.name()
                        ))
                        .into());
                    }
                    let add = schema::add_column(&self.names, &spec, at, field);
                    transaction.define_at_length(&add).await?;
                }
                if spec != entry.spec {
                    let update = Entry::update_spec(&self.names, &spec)?;
                    transaction.execute(&update).await?;
                }
                (spec, entry.settings)
            }
        };
        for index in schema::indexes(&self.names, &spec, &settings, &extension) {
            transaction.define_at_length(&index.sql).await?;
        }
        // What was there under the same name was left as it is: a column that somebody added, or an index
        // of another table.
        let of_commits = transaction.rows(&there(&self.names.commits())).await?;
        LegResult::of(&of_commits, &extension)?.check_commits(&self.names)?;
        let there = transaction
            .rows(&there(&self.names.table(&spec.name)))
            .await?;
        LegResult::of(&there, &extension)?.check(&self.names, &spec, &settings, &extension, true)
    }
}

impl Create {
    /// Whether the schema is there, and what all collections share in it: a role that may not make
    /// them goes on where they are.
    async fn prepared(&self, transaction: &mut Transaction<'_>) -> Job<(bool, bool)> {
        let mut binds = Binds::default();
        let schema = binds.add(Bind::Text(self.names.schema().as_str().to_owned()));
        let registry = binds.add(Bind::Text(self.names.registry()));
        let commits = binds.add(Bind::Text(self.names.commits()));
        let texts = format!("{}(jsonb)", self.names.texts());
        let texts = binds.add(Bind::Text(texts));
        let sql = format!(
            "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = {schema}), \
             to_regclass({registry}) IS NOT NULL AND to_regclass({commits}) IS NOT NULL \
             AND to_regprocedure({texts}) IS NOT NULL"
        );
        let rows = transaction.rows(&Statement { sql, binds }).await?;
        let row = rows.first().ok_or(ErrorKind::Engine)?;
        Ok((row.try_get(0)?, row.try_get(1)?))
    }

    async fn has_table(&self, transaction: &mut Transaction<'_>) -> Job<bool> {
        let mut binds = Binds::default();
        let table = binds.add(Bind::Text(self.names.table(&self.spec.name)));
        let sql = format!("SELECT to_regclass({table}) IS NOT NULL");
        let rows = transaction.rows(&Statement { sql, binds }).await?;
        Ok(rows.first().ok_or(ErrorKind::Engine)?.try_get(0)?)
    }

    fn why_not_made(&self, fail: Fail) -> Fail {
        let table = self.names.bare_table(&self.spec.name);
        let invalid = |why: String| Fail::Kind(ErrorKind::Invalid(why));
        match fail.code().as_deref() {
            Some("42P07") => invalid(format!(
                "the database has a table {table} that this store did not make; choose another \
                 table_prefix or schema"
            )),
            Some("42704") if self.settings.text_search.is_some() => invalid(
                "the server has no text search configuration of that name; \\dF lists them"
                    .to_owned(),
            ),
            _ => fail,
        }
    }
}

/// The extension, installed where it is not and the role may.
async fn installed(transaction: &mut Transaction<'_>) -> Job<Extension> {
    for install in [true, false] {
        let rows = transaction.rows(&Facts::ask()).await?;
        let facts = Facts::answered(&rows)?;
        if let Some(extension) = facts.extension()? {
            return Ok(extension);
        }
        if !install || !facts.can_be_installed {
            return Err(facts.missing().into());
        }
        // Two that make it at once are one too many for the server; the second finds it made.
        let lock = locks::statements(&[locks::of_extension()]);
        transaction.define(&lock).await?;
        let made = transaction
            .define("CREATE EXTENSION IF NOT EXISTS vector")
            .await;
        made.map_err(|fail| match fail.code().as_deref() {
            Some("42501" | "58P01" | "0A000") => Fail::Kind(facts.missing()),
            _ => fail,
        })?;
    }
    Err(ErrorKind::Engine.into())
}

/// Drops a collection.
pub(crate) struct Drop {
    pub(crate) names: Names,
    pub(crate) name: CollectionName,
}

#[async_trait]
impl Work for Drop {
    type Output = bool;

    fn locks(&self) -> Vec<Lock> {
        // The tables first, as all that make and drop them do.
        vec![
            of_tables(&self.names.registry()),
            of_collection(&self.names.table(&self.name)),
        ]
    }

    async fn run(&self, transaction: &mut Transaction<'_>) -> Job<bool> {
        limit_locks(transaction).await?;
        let removed = transaction
            .execute(&Entry::remove(&self.names, &self.name))
            .await?;
        if removed == 0 {
            return Ok(false);
        }
        let table = self.names.table(&self.name);
        let dropped = transaction
            .define(&format!("DROP TABLE IF EXISTS {table}"))
            .await;
        dropped.map_err(|fail| match fail.code().as_deref() {
            Some("2BP01") => {
                let right =
                    "something depends on the collection's table, as a view; drop that first";
                ErrorKind::Invalid(right.to_owned()).into()
            }
            _ => fail,
        })?;
        Ok(true)
    }
}

/// Makes the policies of a reader.
pub(crate) struct Policies {
    pub(crate) locks: Vec<Lock>,
    pub(crate) sql: String,
}

#[async_trait]
impl Work for Policies {
    type Output = ();

    fn locks(&self) -> Vec<Lock> {
        self.locks.clone()
    }

    async fn run(&self, transaction: &mut Transaction<'_>) -> Job<()> {
        limit_locks(transaction).await?;
        let made = transaction.define(&self.sql).await;
        made.map_err(|fail| match fail.code().as_deref() {
            Some("42704") => {
                let right = "the server has no role of the reader's name; CREATE ROLE first";
                ErrorKind::Invalid(right.to_owned()).into()
            }
            _ => fail,
        })
    }
}
