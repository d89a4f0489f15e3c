//! Reads, each one statement that sees one snapshot.

use std::collections::HashMap;

use shelfward_core::{Cursor, ErrorKind, Filter, Include, Key, Page, StoredRecord};
use sqlx_core::row::Row as _;
use sqlx_postgres::PgRow;

use crate::context::CollectionContext;
use crate::error::Result;
use crate::filter_translation::condition;
use crate::params::{Param, Params, Statement};
use crate::record_mapping::{columns, partition_column, stored};
use crate::row_level_security;

/// The first column behind those of the frame.
pub(crate) const FIRST: usize = 2;

impl CollectionContext {
    /// A query of the collection in a frame that tells whether it is still the collection that was
    /// opened, in the snapshot of the query. `with` are settings that are in force for it alone.
    ///
    /// The query must say `s.ready`, so that it begins when the settings are made.
    pub(crate) fn framed(
        &self,
        mut params: Params,
        filter: &Filter,
        with: &[(&str, String)],
        query: &str,
    ) -> Result<Statement> {
        let mut ready = String::new();
        let mut settings: Vec<(&str, Param)> = with
            .iter()
            .map(|(name, value)| (*name, Param::text(value.clone())))
            .collect();
        if self.server.options.row_level_security {
            settings.extend(row_level_security::settings(filter, &self.row.spec)?);
        }
        for (name, value) in settings {
            let as_text = if value.is_list() { "::text" } else { "" };
            let value = params.add(value);
            ready.push_str(&format!(
                "set_config('{name}', ({value}){as_text}, true) IS NOT NULL AND "
            ));
        }
        let name = params.add(Param::text(self.row.spec.name.as_str()));
        // The offset keeps the frame a step of its own, which is taken before the query begins.
        let table = params.add(Param::text(self.table.clone()));
        let sql = format!(
            "SELECT s.generation, s.by_policies, h.* FROM (SELECT (SELECT generation FROM {} WHERE \
             name = {name}) AS generation, row_security_active({table}) AS by_policies, \
             {ready}true AS ready OFFSET 0) s LEFT JOIN LATERAL ({query}) h ON true",
            self.names.registry()
        );
        Ok(Statement { sql, params })
    }

    /// The rows of a framed query.
    pub(crate) async fn asked(&self, statement: &Statement) -> Result<Vec<PgRow>> {
        let mut rows = self.server.read(statement).await?;
        let first = rows.first().ok_or(ErrorKind::Engine)?;
        if first.try_get::<Option<i64>, _>(0)? != Some(self.row.generation) {
            return Err(ErrorKind::StaleHandle.into());
        }
        row_level_security::check(first.try_get(1)?, self.server.options.row_level_security)?;
        // Where the query had no row, the frame's row stands alone.
        if first.try_get::<Option<&str>, _>(FIRST)?.is_none() {
            rows.clear();
        }
        Ok(rows)
    }

    pub(crate) async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let mut params = Params::default();
        let predicate = condition(within, &self.row.spec, &mut params)?;
        let (parts, ids) = key_columns(keys);
        let (parts, ids) = (params.add(parts), params.add(ids));
        let query = format!(
            "SELECT {} FROM {} r JOIN ROWS FROM (pg_catalog.unnest({parts}), pg_catalog.unnest({ids})) AS k(part, id) \
             ON r.part = k.part AND r.id = k.id WHERE s.ready AND {predicate}",
            columns(include),
            self.table
        );
        let rows = self
            .asked(&self.framed(params, within, &[], &query)?)
            .await?;
        let mut found = HashMap::with_capacity(rows.len());
        for row in &rows {
            let record = stored(row, FIRST, &self.row.spec)?;
            found.insert(record.key.clone(), record);
        }
        Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
    }

    pub(crate) async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Key>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        let mut params = Params::default();
        let predicate = condition(filter, &self.row.spec, &mut params)?;
        let behind = after.map(|key| {
            let part = params.add(Param::text(partition_column(key.partition.as_ref())));
            let id = params.add(Param::text(key.id.as_str()));
            format!(" AND (r.part, r.id) > ({part}, {id})")
        });
        let more = params.add(Param::count(limit.saturating_add(1)));
        let query = format!(
            "SELECT {} FROM {} r WHERE s.ready AND {predicate}{} ORDER BY r.part, r.id LIMIT {more}",
            columns(include),
            self.table,
            behind.unwrap_or_default(),
        );
        let rows = self
            .asked(&self.framed(params, filter, &[], &query)?)
            .await?;
        let mut records = (rows.iter())
            .take(limit)
            .map(|row| stored(row, FIRST, &self.row.spec))
            .collect::<Result<Vec<_>>>()?;
        // As the server ordered them: by the columns of their keys.
        records.sort_by_cached_key(|record| {
            let key = &record.key;
            (partition_column(key.partition.as_ref()), key.id.clone())
        });
        let last = records.last().filter(|_| rows.len() > limit);
        let next = last.map(|record| Cursor::after(&record.key));
        Ok(Page::new(records, next))
    }

    pub(crate) async fn count(&self, filter: &Filter) -> Result<u64> {
        let mut params = Params::default();
        let predicate = condition(filter, &self.row.spec, &mut params)?;
        let query = format!(
            "SELECT count(*)::text FROM {} r WHERE s.ready AND {predicate}",
            self.table
        );
        let rows = self
            .asked(&self.framed(params, filter, &[], &query)?)
            .await?;
        let row = rows.first().ok_or(ErrorKind::Engine)?;
        let count: &str = row.try_get(FIRST)?;
        Ok(count.parse().map_err(|_| ErrorKind::Engine)?)
    }
}

/// Keys as two columns.
pub(crate) fn key_columns<'a>(keys: impl IntoIterator<Item = &'a Key>) -> (Param, Param) {
    let (parts, ids) = keys
        .into_iter()
        .map(|key| {
            (
                partition_column(key.partition.as_ref()),
                key.id.as_str().to_owned(),
            )
        })
        .unzip();
    (Param::texts(parts), Param::texts(ids))
}
