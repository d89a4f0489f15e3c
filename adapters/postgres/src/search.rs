//! Both legs: candidates and their records in one statement and one snapshot.

use shelfward_core::{
    Ask, CollectionSpec, End, ErrorKind, Filter, Hit, Leg, LegResult, Match, Metric, QueryWord,
    VectorProblem,
};
use sqlx_core::row::Row as _;

use crate::binds::{Bind, Binds};
use crate::collection::Opened;
use crate::config::VectorIndex;
use crate::error::Job;
use crate::filter_translation::{ALWAYS, condition};
use crate::identifier::literal;
use crate::reads::FIRST;
use crate::record_mapping::{key, metadata, text};
use crate::schema;
use crate::words::{query, text_search_query};

/// How a dense leg is served.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// However the server thinks best: it may walk the graph.
    Planned,
    /// By looking at every row that the filter matches.
    Exact,
}

/// Of 16-bit floats, so many candidates for each hit are scored again by the vectors as they are.
const OVER: usize = 4;

impl Opened {
    /// Searches all legs in one snapshot.
    pub(crate) async fn search(&self, legs: &[Leg]) -> Job<Vec<LegResult>> {
        let found = self.search_by(legs, Way::Planned).await?;
        if self.entry.settings.index == VectorIndex::None {
            return Ok(found);
        }
        // A walk through the graph ends after so many rows, whether enough of them passed or not. All
        // legs are asked again, since those of one answer are of one snapshot.
        let is_short = |(found, leg): (&LegResult, &Leg)| {
            let is_dense = matches!(leg.ask, Ask::Dense(_));
            is_dense && found.hits.len() < leg.top_k && !leg.filter.is_nothing()
        };
        if found.iter().zip(legs).any(is_short) {
            return self.search_by(legs, Way::Exact).await;
        }
        Ok(found)
    }

    async fn search_by(&self, legs: &[Leg], way: Way) -> Job<Vec<LegResult>> {
        let mut binds = Binds::default();
        let mut queries = Vec::with_capacity(legs.len());
        let mut widest = 0;
        for (at, leg) in legs.iter().enumerate() {
            let such = condition(&leg.filter, &self.entry.spec, &mut binds)?;
            match &leg.ask {
                Ask::Dense(vector) => {
                    widest = widest.max(leg.top_k);
                    queries.push(self.dense(at, vector, &such, leg.top_k, way, &mut binds)?);
                }
                Ask::Lexical { words, matching } => {
                    let lexical =
                        self.lexical(at, words, *matching, &such, leg.top_k, &mut binds)?;
                    queries.extend(lexical);
                }
            }
        }
        let mut found = vec![LegResult::nothing(); legs.len()];
        if queries.is_empty() {
            return Ok(found);
        }
        let mut with = Vec::new();
        if self.may_walk(way) && widest > 0 {
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
        let statement = self.framed(binds, &filter, &with, &queries.join(" UNION ALL "))?;
        for row in self.asked(&statement).await? {
            let leg: &str = row.try_get(FIRST)?;
            let leg: usize = leg.parse().map_err(|_| ErrorKind::Engine)?;
            let score: f64 = row.try_get(FIRST + 5)?;
            let hit = Hit::new(
                key(row.try_get(FIRST + 1)?, row.try_get(FIRST + 2)?)?,
                self.score(&legs.get(leg).ok_or(ErrorKind::Engine)?.ask, score),
                text(row.try_get(FIRST + 4)?),
                metadata(&row, FIRST + 3, &self.entry.spec)?,
            );
            found.get_mut(leg).ok_or(ErrorKind::Engine)?.hits.push(hit);
        }
        for found in &mut found {
            (found.hits)
                .sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
            found.end = End::Complete;
        }
        Ok(found)
    }

    /// Whether a dense leg may walk the graph.
    fn may_walk(&self, way: Way) -> bool {
        way == Way::Planned && self.entry.settings.index != VectorIndex::None
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
    fn such(&self, such: &str, way: Way) -> String {
        if !self.may_walk(way) || such == ALWAYS {
            return such.to_owned();
        }
        format!("{such} AND {NO_TEXT_IS_SHORTER}")
    }

    fn dense(
        &self,
        leg: usize,
        vector: &[f32],
        such: &str,
        top_k: usize,
        way: Way,
        binds: &mut Binds,
    ) -> Job<String> {
        let spec = &self.entry.spec;
        let (given, width) = (vector.len(), spec.width);
        if usize::try_from(width) != Ok(given) {
            return Err(ErrorKind::Vector(VectorProblem::Width { given, width }).into());
        }
        let such = &self.such(such, way);
        let table = &self.table;
        let distance = self.extension.distance(spec.metric);
        let asked = binds.add(Bind::Reals(vector.to_vec()));
        let asked = format!("({asked})::{}", self.extension.vector());
        let nearest = format!("(r.embedding {distance} {asked})");
        let limit = limit(top_k, binds);
        let columns = "r.part, r.id, r.meta, r.body";
        let by_halves = self.entry.settings.index == VectorIndex::HnswHalf
            && way == Way::Planned
            && fits_halves(spec, vector);
        if !by_halves {
            // Plus nothing, the order is none that an index has: not even one made by hand.
            let exact = way == Way::Exact || self.entry.settings.index == VectorIndex::None;
            let exactly = if exact {
                " OPERATOR(pg_catalog.+) 0::double precision"
            } else {
                ""
            };
            return Ok(format!(
                "(SELECT '{leg}' AS leg, {columns}, {nearest} AS score FROM {table} r \
                 WHERE s.ready AND {such} ORDER BY {nearest}{exactly} LIMIT {limit})"
            ));
        }
        let halved = |vector: &str| schema::halved(spec, &self.extension, vector, false);
        let by_halves = format!(
            "{} {distance} {}",
            halved("r.embedding"),
            halved(&format!("({asked})"))
        );
        let over = self::limit(top_k.saturating_mul(OVER), binds);
        Ok(format!(
            "(SELECT '{leg}' AS leg, r.part, r.id, r.meta, r.body, {nearest} AS score FROM \
             (SELECT {columns}, r.embedding FROM {table} r WHERE s.ready AND {such} \
             ORDER BY {by_halves} LIMIT {over}) r \
             ORDER BY {nearest} LIMIT {limit})"
        ))
    }

    fn lexical(
        &self,
        leg: usize,
        words: &[QueryWord],
        matching: Match,
        such: &str,
        top_k: usize,
        binds: &mut Binds,
    ) -> Job<Option<String>> {
        let (column, asked) = match &self.entry.settings.text_search {
            Some(configuration) => {
                let Some(query) = text_search_query(words, matching)? else {
                    return Ok(None);
                };
                let query = binds.add(Bind::Text(query));
                let configuration = literal(configuration.as_str());
                (
                    "analysed",
                    format!("to_tsquery({configuration}::regconfig, {query})"),
                )
            }
            None => match query(words, matching) {
                Some(query) => ("words", binds.add(Bind::Query(query))),
                None => return Ok(None),
            },
        };
        let limit = limit(top_k, binds);
        Ok(Some(format!(
            "(SELECT '{leg}' AS leg, r.part, r.id, r.meta, r.body, \
             ts_rank(r.{column}, {asked})::double precision AS score FROM {} r \
             WHERE s.ready AND r.{column} @@ {asked} AND {such} \
             ORDER BY score DESC, r.part, r.id LIMIT {limit})",
            self.table
        )))
    }

    /// A score from what the server orders by; higher is better.
    fn score(&self, ask: &Ask, value: f64) -> f64 {
        match ask {
            Ask::Dense(_) => of_distance(&self.entry.spec, value),
            Ask::Lexical { .. } => value,
        }
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
const NO_TEXT_IS_SHORTER: &str = "pg_catalog.octet_length(r.part) >= 0 \
    AND pg_catalog.octet_length(r.id) >= 0 AND pg_catalog.ascii(r.id) >= 0";

/// How a walk through the graph goes on where a filter left too few of what it found.
///
/// Not in strict order, which drops what a later part of the walk finds nearer than what an earlier part
/// found. The hits are put into order when they are here.
pub(crate) const SCAN_ON: &str = "relaxed_order";

/// What `hnsw.ef_search` takes at most.
const MAX_EF: usize = 1_000;

fn limit(top_k: usize, binds: &mut Binds) -> String {
    binds.add(Bind::Integer(i64::try_from(top_k).unwrap_or(i64::MAX)))
}

fn of_distance(spec: &CollectionSpec, distance: f64) -> f64 {
    match spec.metric {
        Metric::Cosine => (1.0 - distance).clamp(-1.0, 1.0),
        // The server's distances; plus zero turns minus zero into zero.
        _ => -distance + 0.0,
    }
}
