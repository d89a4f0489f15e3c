//! What a table answers.

use roaring::RoaringBitmap;
use shelfward_core::filter::Matcher;
use shelfward_core::{
    Completeness, Cursor, ErrorKind, Filter, Hit, Include, Key, Leg, LegQuery, LegResult, Match,
    Metadata, Page, QueryWord, Scalar, StoredRecord, Text,
};
use shelfward_dense::{CancelFlag, Candidates};
use shelfward_lexical::TooManyExpansions;

use crate::filter::FilterEvaluator;
use crate::mem_table::MemTable;
use crate::row_id::RowId;

/// One row in so many: fewer are sorted by their keys, more are met on a walk through all.
const FEW: u64 = 16;

impl MemTable {
    /// What `include` asks for of a row.
    pub fn stored(&self, row_id: RowId, include: Include) -> Option<StoredRecord> {
        let row = self.row(row_id)?;
        let mut stored = StoredRecord::new(row.key.clone(), row.metadata.clone());
        stored.text = row.text.clone().filter(|_| include.text);
        if include.vector {
            stored.vector = self.vector(row_id);
        }
        Some(stored)
    }

    /// The records under keys that a filter matches, in the order of the keys given.
    pub fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Vec<Option<StoredRecord>> {
        let within = Matcher::new(within);
        let stored = |key| {
            let row_id = self.row_id(key)?;
            let matches = within.matches(&self.row(row_id)?.metadata);
            matches.then(|| self.stored(row_id, include)).flatten()
        };
        keys.iter().map(stored).collect()
    }

    /// The best hits of a leg among some rows, or all.
    ///
    /// # Errors
    /// Those of [`best`](Self::best).
    pub fn search(
        &self,
        leg: &Leg,
        among: Option<&RoaringBitmap>,
        cancel: CancelFlag<'_>,
    ) -> Result<LegResult, ErrorKind> {
        let best = match &leg.ask {
            LegQuery::Dense(query) => self.nearest(query, among, leg.top_k, cancel),
            LegQuery::Lexical { words, matching } => {
                self.best(&leg.filter, words, *matching, among, leg.top_k)?
            }
        };
        Ok(self.hits(best))
    }

    /// Scored rows as the complete result of a leg.
    pub fn hits(&self, scored: Vec<(RowId, f64)>) -> LegResult {
        let hit = |(row_id, score): (RowId, f64)| {
            let row = self.row(row_id)?;
            let (text, metadata) = (row.text.clone(), row.metadata.clone());
            Some(Hit::new(row.key.clone(), score, text, metadata))
        };
        LegResult::new(
            scored.into_iter().filter_map(hit).collect(),
            Completeness::Complete,
        )
    }

    /// The rows that a filter matches; `None` where it matches every row.
    pub fn matching_part(&self, filter: &Filter, cancel: CancelFlag<'_>) -> Option<RoaringBitmap> {
        (!filter.is_everything()).then(|| self.matching(filter, cancel))
    }

    /// The rows that a filter matches: those of which [`Filter::matches`] is true. None where it was
    /// cancelled.
    pub fn matching(&self, filter: &Filter, cancel: CancelFlag<'_>) -> RoaringBitmap {
        if filter.is_everything() {
            return self.live.clone();
        }
        let matching = self.evaluator(cancel).matching(filter, &self.live);
        // Asked last: under a `$not`, rows that were not read would be too many.
        if cancel.is_cancelled() {
            return RoaringBitmap::new();
        }
        matching
    }

    /// Up to `limit` rows that a filter matches, in the order of the keys, after one or from the first; fewer
    /// where it was cancelled.
    pub fn page(
        &self,
        filter: &Filter,
        after: Option<&Key>,
        limit: usize,
        cancel: CancelFlag<'_>,
    ) -> Vec<RowId> {
        let walk = self
            .in_key_order(after)
            .take_while(|_| !cancel.is_cancelled());
        if !self.evaluator(cancel).has_postings_for(filter) {
            // Each row has to be read: no more of them than fill the page.
            let matcher = Matcher::new(filter);
            let matches = |row_id| {
                self.row(row_id)
                    .is_some_and(|row| matcher.matches(&row.metadata))
            };
            let matching = walk
                .map(|(_, row_id)| row_id)
                .filter(|row_id| matches(*row_id));
            return matching.take(limit).collect();
        }
        let matching = self.matching(filter, cancel);
        if matching.len() > self.live.len() / FEW {
            let matching = walk.filter(|(_, row_id)| matching.contains(*row_id));
            return matching.map(|(_, row_id)| row_id).take(limit).collect();
        }
        let mut few: Vec<(&Key, RowId)> = (matching.iter())
            .filter_map(|row_id| Some((self.key(row_id)?, row_id)))
            .filter(|(key, _)| after.is_none_or(|after| *key > after))
            .collect();
        few.sort_unstable();
        few.into_iter()
            .map(|(_, row_id)| row_id)
            .take(limit)
            .collect()
    }

    /// A page of a scan in the order of the keys; its cursor is that of [`Cursor::after`]. One that was
    /// cancelled is not to be answered.
    pub fn scan(
        &self,
        filter: &Filter,
        after: Option<&Key>,
        limit: usize,
        include: Include,
        cancel: CancelFlag<'_>,
    ) -> Page {
        // One more than asked tells whether there is a next page.
        let mut found = self.page(filter, after, limit.saturating_add(1), cancel);
        let more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| more);
        let next = last.and_then(|row_id| Some(Cursor::after(self.key(*row_id)?)));
        let stored = found.into_iter();
        let stored = stored.filter_map(|row_id| self.stored(row_id, include));
        Page::new(stored.collect(), next)
    }

    fn evaluator<'r>(
        &'r self,
        cancel: CancelFlag<'r>,
    ) -> FilterEvaluator<'r, impl Fn(RowId) -> Option<&'r Metadata>> {
        FilterEvaluator {
            cancel,
            postings: &self.postings,
            metadata: |row_id| Some(&*self.row(row_id)?.metadata),
        }
    }

    /// The `top_k` nearest rows among some, or all, with their scores; best first, equal scores in
    /// the order of the keys. Exact; nothing where it was cancelled.
    pub fn nearest(
        &self,
        query: &[f32],
        among: Option<&RoaringBitmap>,
        top_k: usize,
        cancel: CancelFlag<'_>,
    ) -> Vec<(RowId, f64)> {
        let ties = |a, b| self.key(a).cmp(&self.key(b));
        match among {
            None => self
                .matrix
                .nearest(query, Candidates::All, top_k, ties, cancel),
            Some(row_ids) => {
                let row_ids = to_vec(row_ids);
                self.matrix
                    .nearest(query, Candidates::Listed(&row_ids), top_k, ties, cancel)
            }
        }
    }

    /// The exact scores of some rows, the `top_k` best, in the order of [`nearest`](Self::nearest).
    pub fn scored(
        &self,
        query: &[f32],
        row_ids: impl IntoIterator<Item = RowId>,
        top_k: usize,
    ) -> Vec<(RowId, f64)> {
        let ties = |a, b| self.key(a).cmp(&self.key(b));
        self.matrix.scored(query, row_ids, top_k, ties)
    }

    /// The `top_k` best rows for words among some, or all, of the one partition that `filter` pins;
    /// best first, equal scores in the order of the keys. Statistics are over all of the partition's
    /// rows with a text, whatever the filter.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] without a lexical index;
    /// [`ErrorKind::Invalid`] where there are partitions and the filter does not pin one by `$eq`;
    /// [`ErrorKind::Limit`] when a prefix begins more words than it may stand for.
    pub fn best(
        &self,
        filter: &Filter,
        words: &[QueryWord],
        matching: Match,
        among: Option<&RoaringBitmap>,
        top_k: usize,
    ) -> Result<Vec<(RowId, f64)>, ErrorKind> {
        if filter.never_matches() {
            return Ok(Vec::new());
        }
        let partition = self.pinned_partition(filter)?;
        match &self.words {
            Some(index) => index
                .best(&partition, words, matching, top_k, among)
                .map_err(|error| too_many_expansions(&error)),
            None => Err(ErrorKind::Unsupported("lexical search")),
        }
    }

    /// The one partition that a filter pins; `None` in a collection without partitions.
    fn pinned_partition(&self, filter: &Filter) -> Result<Option<Text>, ErrorKind> {
        let Some(key) = self.spec().partition_key() else {
            return Ok(None);
        };
        match filter.pinned(key.as_str()).as_deref() {
            Some([Scalar::Text(partition)]) => Ok(Some(partition.clone())),
            _ => {
                let invalid = format!("a lexical search must pin {key} by one $eq");
                Err(ErrorKind::Invalid(invalid))
            }
        }
    }
}

/// The row ids of a bitmap. Its iterator is faster from within than step by step, as `collect` goes.
fn to_vec(row_ids: &RoaringBitmap) -> Vec<RowId> {
    let mut list = Vec::with_capacity(usize::try_from(row_ids.len()).unwrap_or(0));
    row_ids.iter().for_each(|row_id| list.push(row_id));
    list
}

fn too_many_expansions(error: &TooManyExpansions) -> ErrorKind {
    let as_u64 = |n| u64::try_from(n).unwrap_or(u64::MAX);
    ErrorKind::Limit {
        what: "stored words that begin with one word of the query",
        // How many there are would tell of passages that the reader may not see.
        given: as_u64(error.max.saturating_add(1)),
        max: as_u64(error.max),
    }
}
