//! Both legs: candidates and their records in one statement and one snapshot.

use shelfward_adapter::sql::ALWAYS;
use shelfward_core::{
    CollectionSpec, Completeness, ErrorKind, Filter, Hit, Leg, LegQuery, LegResult, Match, Metric,
    QueryWord,
};
use sqlx_core::row::Row as _;

use crate::config::VectorIndex;
use crate::context::CollectionContext;
use crate::error::Result;
use crate::filter_translation::condition;
use crate::identifier::literal;
use crate::params::{Param, Params};
use crate::reads::FIRST;
use crate::record_mapping::{key, metadata, text};
use crate::schema;
use crate::server::SCAN_ON;
use crate::words::{query, text_search_query};

/// Of 16-bit floats, so many candidates for each hit are scored again by the vectors as they are.
const OVERSAMPLE: usize = 4;

impl CollectionContext {
    /// Searches all legs in one snapshot.
    pub(crate) async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        let has_graph = self.row.settings.index != VectorIndex::None;
        let found = self.search_by(legs, !has_graph).await?;
        // A walk through the graph ends after so many rows, whether enough of them passed or not. All
        // legs are asked again, since those of one answer are of one snapshot.
        let is_short = |(found, leg): (&LegResult, &Leg)| {
            let is_dense = matches!(leg.ask, LegQuery::Dense(_));
            is_dense && found.hits.len() < leg.top_k && !leg.filter.is_nothing()
        };
        if has_graph && found.iter().zip(legs).any(is_short) {
            return self.search_by(legs, true).await;
        }
        Ok(found)
    }

    /// Where it is `exact`, dense legs look at every row that the filter matches. Otherwise it goes however the
    /// server thinks best, which may be through the graph.
    async fn search_by(&self, legs: &[Leg], exact: bool) -> Result<Vec<LegResult>> {
        let mut params = Params::default();
        let mut queries = Vec::with_capacity(legs.len());
        for (at, leg) in legs.iter().enumerate() {
            let predicate = condition(&leg.filter, &self.row.spec, &mut params)?;
            queries.extend(match &leg.ask {
                LegQuery::Dense(vector) => {
                    Some(self.dense(at, vector, &predicate, leg.top_k, exact, &mut params)?)
                }
                LegQuery::Lexical { words, matching } => {
                    self.lexical(at, words, *matching, &predicate, leg.top_k, &mut params)?
                }
            });
        }
        let mut found = vec![LegResult::nothing(); legs.len()];
        if queries.is_empty() {
            return Ok(found);
        }
        let mut with = Vec::new();
        let dense = legs
            .iter()
            .filter(|leg| matches!(leg.ask, LegQuery::Dense(_)));
        if let Some(widest) = dense.map(|leg| leg.top_k).max()
            && !exact
        {
            let usual = usize::from(self.server.options.ef_search);
            let ef = usual.max(widest).min(MAX_EF);
            if ef != usual || !self.server.set_up {
                with.push(("hnsw.ef_search", ef.to_string()));
            }
            if self.extension.scans_on() && !self.server.set_up {
                with.push(("hnsw.iterative_scan", SCAN_ON.to_owned()));
            }
        }
        // Filters of two legs differ in what they find, not in who may read.
        let filter = legs
            .first()
            .map_or_else(Filter::everything, |leg| (*leg.filter).clone());
        let statement = self.framed(params, &filter, &with, &queries.join(" UNION ALL "))?;
        for row in self.asked(&statement).await? {
            let leg: &str = row.try_get(FIRST)?;
            let leg: usize = leg.parse().map_err(|_| ErrorKind::Engine)?;
            let (asked, found) = legs
                .get(leg)
                .zip(found.get_mut(leg))
                .ok_or(ErrorKind::Engine)?;
            found.hits.push(Hit::new(
                key(row.try_get(FIRST + 1)?, row.try_get(FIRST + 2)?)?,
                score(&self.row.spec, &asked.ask, row.try_get(FIRST + 5)?),
                text(row.try_get(FIRST + 4)?),
                metadata(&row, FIRST + 3, &self.row.spec)?,
            ));
        }
        for found in &mut found {
            (found.hits)
                .sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
            found.end = Completeness::Complete;
        }
        Ok(found)
    }

    /// The condition of a dense leg, for a planner that thinks too well of the graph.
    ///
    /// pgvector counts a step through a graph as one row that is read, and it reads the neighbours of
    /// that row, too. So the server would walk past thousands of rows for a filter that one in a hundred
    /// passes, and find few of the nearest, where looking at that hundredth takes a part of the time
    /// and finds all. So it is shown a filter that fewer rows seem to pass.
    ///
    /// By what both take, and what a walk misses, they are alike where about one in twenty of 100,000
    /// rows passes for 10 hits, and one in eight for 50; then the server thinks so, too.
    fn hinted(predicate: &str, exact: bool) -> String {
        if exact || predicate == ALWAYS {
            return predicate.to_owned();
        }
        format!("{predicate} AND {SELECTIVITY_HINT}")
    }

    fn dense(
        &self,
        leg: usize,
        vector: &[f32],
        predicate: &str,
        top_k: usize,
        exact: bool,
        params: &mut Params,
    ) -> Result<String> {
        let spec = &self.row.spec;
        let predicate = &Self::hinted(predicate, exact);
        let table = &self.table;
        let distance = self.extension.distance(spec.metric);
        let asked = params.add(Param::reals(vector));
        let asked = format!("({asked})::{}", self.extension.vector());
        let nearest = format!("(r.embedding {distance} {asked})");
        let limit = params.add(Param::count(top_k));
        let columns = "r.part, r.id, r.meta, r.body";
        let by_halves =
            self.row.settings.index == VectorIndex::HnswHalf && !exact && fits_halves(spec, vector);
        if !by_halves {
            // Plus nothing, the order is none that an index has: not even one made by hand.
            let exactly = if exact {
                " OPERATOR(pg_catalog.+) 0::double precision"
            } else {
                ""
            };
            return Ok(format!(
                "(SELECT '{leg}' AS leg, {columns}, {nearest} AS score FROM {table} r \
                 WHERE s.ready AND {predicate} ORDER BY {nearest}{exactly} LIMIT {limit})"
            ));
        }
        let halved = |vector: &str| schema::halved(spec, &self.extension, vector, false);
        let by_halves = format!(
            "{} {distance} {}",
            halved("r.embedding"),
            halved(&format!("({asked})"))
        );
        let over = params.add(Param::count(top_k.saturating_mul(OVERSAMPLE)));
        Ok(format!(
            "(SELECT '{leg}' AS leg, r.part, r.id, r.meta, r.body, {nearest} AS score FROM \
             (SELECT {columns}, r.embedding FROM {table} r WHERE s.ready AND {predicate} \
             ORDER BY {by_halves} LIMIT {over}) r \
             ORDER BY {nearest} LIMIT {limit})"
        ))
    }

    fn lexical(
        &self,
        leg: usize,
        words: &[QueryWord],
        matching: Match,
        predicate: &str,
        top_k: usize,
        params: &mut Params,
    ) -> Result<Option<String>> {
        let (column, asked) = match &self.row.settings.text_search {
            Some(configuration) => {
                let Some(query) = text_search_query(words, matching)? else {
                    return Ok(None);
                };
                let query = params.add(Param::text(query));
                let configuration = literal(configuration.as_str());
                (
                    "analysed",
                    format!("to_tsquery({configuration}::regconfig, {query})"),
                )
            }
            None => match query(words, matching) {
                Some(query) => ("words", params.add(Param::one("tsquery", query))),
                None => return Ok(None),
            },
        };
        let limit = params.add(Param::count(top_k));
        Ok(Some(format!(
            "(SELECT '{leg}' AS leg, r.part, r.id, r.meta, r.body, \
             ts_rank(r.{column}, {asked})::double precision AS score FROM {} r \
             WHERE s.ready AND r.{column} @@ {asked} AND {predicate} \
             ORDER BY score DESC, r.part, r.id LIMIT {limit})",
            self.table
        )))
    }
}

/// The largest number of 16 bits.
const MAX_HALF: f32 = 65_504.0;

/// The smallest number that 16 bits hold with all their precision.
const MIN_HALF: f32 = 6.2e-5;

/// Whether a vector is about the same as one of 16-bit floats: none of its numbers too large, and,
/// where its length matters, not all of them too small.
pub(crate) fn fits_halves(spec: &CollectionSpec, vector: &[f32]) -> bool {
    if spec.metric == Metric::Cosine {
        return true;
    }
    let largest = vector
        .iter()
        .fold(0_f32, |most, number| most.max(number.abs()));
    largest == 0.0 || (MIN_HALF..=MAX_HALF).contains(&largest)
}

/// Holds of every row, at next to no cost. Each part counts as a third, since nothing is known of what it
/// compares: the server takes one row in 27 to pass.
const SELECTIVITY_HINT: &str = "pg_catalog.octet_length(r.part) >= 0 \
    AND pg_catalog.octet_length(r.id) >= 0 AND pg_catalog.ascii(r.id) >= 0";

/// What `hnsw.ef_search` takes at most.
const MAX_EF: usize = 1_000;

/// A score from what the server orders by; higher is better.
fn score(spec: &CollectionSpec, ask: &LegQuery, value: f64) -> f64 {
    match (ask, spec.metric) {
        (LegQuery::Lexical { .. }, _) => value,
        (LegQuery::Dense(_), Metric::Cosine) => (1.0 - value).clamp(-1.0, 1.0),
        // The server's distances; plus zero turns minus zero into zero.
        (LegQuery::Dense(_), _) => -value + 0.0,
    }
}
