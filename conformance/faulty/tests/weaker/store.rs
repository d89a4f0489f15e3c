//! The memory store, doing less and saying so.

use std::collections::HashSet;
use std::sync::Arc;

use shelfward_conformance::layer::{CollectionLayer, LayeredCollection, StoreLayer};
use shelfward_conformance_faulty::{in_one_state, partition_only, search_one};
use shelfward_core::adapter::{CollectionAdapter, StoreAdapter};
use shelfward_core::capabilities::{Counting, Dense, Full, Lexical, Replace, Scoring, Words};
use shelfward_core::filter::FilterSupport;
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, Completeness, Count, Cursor, ErrorKind, Filter,
    Hit, Include, Key, Leg, LegQuery, LegResult, MAX_PREFIX_EXPANSIONS, Match, MetadataPatch,
    Metric, Operation, Page, Precondition, QueryWord, Record, Replaced, Result, Selector,
    StoreError, StoredRecord, adapter::text_words, async_trait,
};

macro_rules! weaknesses {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// One thing that a store does not do, or does less well, and declares so.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Weakness {
            $($(#[$doc])* $name,)+
        }

        impl Weakness {
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)+];
        }
    };
}

weaknesses! {
    NoLexicalLeg,
    NoPrefixes,
    /// Lexical scores count how often the words are said, over all tenants alike.
    OwnScores,
    /// Hashed words: more is found than holds the words.
    SupersetOfWords,
    /// An analyser that takes the plural away.
    OwnAnalyser,
    NoAtomicReplace,
    NoDeleteByFilter,
    NoUpdates,
    NoScan,
    NoCount,
    NeitherScanNorCount,
    CountsUnknown,
    CountsAtLeast,
    KernelOfFilters,
    NoOpenFields,
    CosineAlone,
    SmallBatches,
    SmallTexts,
    /// The best are found first, and filtered afterwards.
    NotFull,
    /// Of equal scores the last key comes first.
    TiesBackwards,
    /// One of ten of the nearest is missed where there are many.
    Approximate,
}

const EVERYTHING: usize = 100_000;

impl Weakness {
    fn lessen(self, can: &mut Capabilities) {
        let mut lexical = Lexical::exact();
        lexical.scoring = Scoring::StoreOwn;
        match self {
            Self::NoLexicalLeg => can.lexical = None,
            Self::NoPrefixes => {
                lexical = Lexical::exact();
                lexical.prefix = false;
                can.lexical = Some(lexical);
            }
            Self::OwnScores => can.lexical = Some(lexical),
            Self::SupersetOfWords => {
                lexical.words = Words::Superset;
                lexical.prefix = false;
                can.lexical = Some(lexical);
            }
            Self::OwnAnalyser => {
                lexical.words = Words::OwnAnalyser;
                lexical.prefix = false;
                can.lexical = Some(lexical);
            }
            Self::NoAtomicReplace => can.replace = Replace::DeleteThenWrite,
            Self::NoDeleteByFilter => {
                can.replace = Replace::DeleteThenWrite;
                can.delete_matching = None;
            }
            Self::NoUpdates => can.update_metadata = None,
            Self::NoScan => can.scan = false,
            Self::NoCount => can.count = None,
            Self::NeitherScanNorCount => {
                can.scan = false;
                can.count = None;
            }
            Self::CountsUnknown => counting(can, Counting::Unknown),
            Self::CountsAtLeast => counting(can, Counting::AtLeast),
            Self::KernelOfFilters => can.filter = FilterSupport::kernel(),
            Self::NoOpenFields => can.open_fields = false,
            Self::CosineAlone => can.metrics = [Metric::Cosine].into(),
            Self::SmallBatches => can.max_batch = Some(7),
            Self::SmallTexts => can.max_text_bytes = Some(40_000),
            Self::NotFull => can.full = Full::NotPromised,
            Self::Approximate => can.dense = Dense::Approximate { min_recall: 0.85 },
            Self::TiesBackwards => {}
        }
    }
}

fn counting(can: &mut Capabilities, counting: Counting) {
    can.count = Some(counting);
    can.delete_matching = Some(counting);
    can.update_metadata = Some(counting);
}

pub(crate) struct WeakStore {
    pub(crate) inner: Arc<dyn StoreAdapter>,
    pub(crate) weakness: Weakness,
}

#[async_trait]
impl StoreLayer for WeakStore {
    fn behind(&self) -> &Arc<dyn StoreAdapter> {
        &self.inner
    }

    fn kind(&self) -> &'static str {
        "weak"
    }

    fn capabilities(&self, spec: &CollectionSpec) -> Capabilities {
        let mut can = self.inner.capabilities(spec);
        self.weakness.lessen(&mut can);
        can
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        let Some(inner) = self.inner.open(name).await? else {
            return Ok(None);
        };
        let mut can = inner.capabilities().clone();
        self.weakness.lessen(&mut can);
        let weakness = self.weakness;
        Ok(Some(Arc::new(LayeredCollection(WeakCollection {
            inner,
            weakness,
            can,
        }))))
    }
}

/// What no store that declares so much may be handed.
fn contract(operation: Operation, what: &str) -> StoreError {
    StoreError::new(operation, ErrorKind::Contract(what.to_owned()))
}

struct WeakCollection {
    inner: Arc<dyn CollectionAdapter>,
    weakness: Weakness,
    can: Capabilities,
}

impl WeakCollection {
    /// A number as exactly as this store knows it.
    fn known(&self, count: Count) -> Count {
        match (self.weakness, count) {
            (Weakness::CountsUnknown, _) => Count::Unknown,
            (Weakness::CountsAtLeast, Count::Exact(n)) => Count::AtLeast(n.saturating_sub(1)),
            _ => count,
        }
    }

    /// Nothing must reach a store that it does not declare.
    fn served(&self, operation: Operation, filter: &Filter) -> Result<()> {
        if self.can.filter.split(filter).residual.is_none() {
            return Ok(());
        }
        Err(contract(
            operation,
            "a filter arrived that was never declared",
        ))
    }

    fn fits(&self, operation: Operation, number: usize) -> Result<()> {
        if self.can.max_batch.is_none_or(|most| number <= most) {
            return Ok(());
        }
        Err(contract(
            operation,
            "a batch arrived that is larger than declared",
        ))
    }

    /// Hits by how often a text says the words.
    async fn by_own_rule(&self, leg: &Leg) -> Result<Option<LegResult>> {
        let LegQuery::Lexical { words, matching } = &leg.ask else {
            return Ok(None);
        };
        let own = [
            Weakness::OwnScores,
            Weakness::SupersetOfWords,
            Weakness::OwnAnalyser,
        ];
        if !own.contains(&self.weakness) {
            return Ok(None);
        }
        let page = self
            .inner
            .scan(&leg.filter, None, EVERYTHING, Include::TEXT);
        let mut hits = Vec::new();
        let records = page.await?.records;
        self.few_enough(words, &records)?;
        for record in records {
            let Some(text) = &record.text else { continue };
            let held = text_words(text, self.spec().word_rule);
            let times = |word: &QueryWord| -> f64 {
                let same = held.iter().filter(|held| self.same(held.as_str(), word));
                same.map(|_| 1.0).sum()
            };
            let times: Vec<f64> = words.iter().map(times).collect();
            let holds = match matching {
                Match::Any => times.iter().any(|n| *n > 0.0),
                Match::All => times.iter().all(|n| *n > 0.0),
            };
            if holds || self.weakness == Weakness::SupersetOfWords {
                let score = times.iter().sum();
                hits.push(Hit::new(record.key, score, record.text, record.metadata));
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(leg.top_k);
        Ok(Some(LegResult::new(hits, Completeness::Complete)))
    }

    async fn search_leg(&self, leg: &Leg) -> Result<LegResult> {
        self.served(Operation::Search, &leg.filter)?;
        if let LegQuery::Lexical { words, .. } = &leg.ask {
            let lexical = self.can.lexical;
            let lexical =
                lexical.ok_or_else(|| self.unsupported(Operation::Search, "lexical search"))?;
            if !lexical.prefix && words.iter().any(|word| word.prefix) {
                return Err(self.unsupported(Operation::Search, "prefixes"));
            }
        }
        let lexical = matches!(leg.ask, LegQuery::Lexical { .. });
        if let Some(partition) = self.spec().partition_key()
            && lexical
            && leg.filter.pinned(partition.as_str()).is_none()
        {
            let what = "a lexical leg arrived that pins no partition";
            return Err(contract(Operation::Search, what));
        }
        if let Some(found) = self.by_own_rule(leg).await? {
            return Ok(found);
        }
        match self.weakness {
            Weakness::NotFull => {
                let wide = leg.with_filter(partition_only(self.spec(), &leg.filter));
                let mut found = search_one(&*self.inner, &wide).await?;
                found.hits.retain(|hit| leg.filter.matches(&hit.metadata));
                Ok(LegResult::new(found.hits, Completeness::Unknown))
            }
            Weakness::Approximate if !lexical => {
                let mut found = search_one(&*self.inner, &leg.with_top_k(leg.top_k + 1)).await?;
                let many = self.inner.count(&Filter::everything()).await?;
                if many.exact().is_some_and(|many| many > 500)
                    && found.hits.len() > leg.top_k.max(8)
                {
                    found.hits.remove(7);
                }
                found.hits.truncate(leg.top_k);
                Ok(found)
            }
            Weakness::TiesBackwards => {
                let mut found = search_one(&*self.inner, &leg.with_top_k(EVERYTHING)).await?;
                found.hits.reverse();
                found.hits.sort_by(|a, b| b.score.total_cmp(&a.score));
                found.hits.truncate(leg.top_k);
                Ok(found)
            }
            _ => search_one(&*self.inner, leg).await,
        }
    }

    /// The ceiling on prefixes is every store's.
    fn few_enough(&self, words: &[QueryWord], records: &[StoredRecord]) -> Result<()> {
        let texts = records.iter().filter_map(|record| record.text.as_deref());
        let stored: HashSet<String> = texts
            .flat_map(|text| self.spec().word_rule.words(text))
            .collect();
        for word in words.iter().filter(|word| word.prefix) {
            let begins = stored.iter().filter(|s| s.starts_with(word.text.as_str()));
            let given = begins.count();
            if given > MAX_PREFIX_EXPANSIONS {
                let kind = ErrorKind::Invalid(format!("{given} words begin so"));
                return Err(StoreError::new(Operation::Search, kind));
            }
        }
        Ok(())
    }

    fn same(&self, held: &str, word: &QueryWord) -> bool {
        let asked = word.text.as_str();
        match self.weakness {
            Weakness::OwnAnalyser => held.trim_end_matches('s') == asked.trim_end_matches('s'),
            _ => held == asked || (word.prefix && held.starts_with(asked)),
        }
    }
}

#[async_trait]
impl CollectionLayer for WeakCollection {
    fn behind(&self) -> &Arc<dyn CollectionAdapter> {
        &self.inner
    }

    fn capabilities(&self) -> &Capabilities {
        &self.can
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        self.fits(Operation::Upsert, records.len())?;
        self.inner.upsert(records).await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        self.fits(Operation::Delete, keys.len())?;
        Ok(self.known(self.inner.delete(keys).await?))
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        in_one_state(legs, |leg| self.search_leg(leg)).await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        self.served(Operation::Fetch, within)?;
        self.fits(Operation::Fetch, keys.len())?;
        self.inner.fetch(keys, within, include).await
    }

    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        if self.can.replace != Replace::Atomic {
            return Err(self.unsupported(Operation::Replace, "atomic replace"));
        }
        self.served(Operation::Replace, selector.filter())?;
        let replaced = self.inner.replace(selector, with, precondition).await?;
        Ok(replaced.map(|replaced| Replaced::new(self.known(replaced.removed), with.len())))
    }

    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
        if self.can.delete_matching.is_none() {
            return Err(self.unsupported(Operation::DeleteMatching, "delete by filter"));
        }
        self.served(Operation::DeleteMatching, selector.filter())?;
        Ok(self.known(self.inner.delete_matching(selector).await?))
    }

    async fn delete_all(&self) -> Result<Count> {
        Ok(self.known(self.inner.delete_all().await?))
    }

    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
        if self.can.update_metadata.is_none() {
            return Err(self.unsupported(Operation::UpdateMetadata, "metadata updates"));
        }
        self.served(Operation::UpdateMetadata, selector.filter())?;
        Ok(self.known(self.inner.update_metadata(selector, patch).await?))
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        if !self.can.scan {
            return Err(self.unsupported(Operation::Scan, "scan"));
        }
        self.served(Operation::Scan, filter)?;
        self.inner.scan(filter, after, limit, include).await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        if self.can.count.is_none() {
            return Err(self.unsupported(Operation::Count, "count"));
        }
        self.served(Operation::Count, filter)?;
        Ok(self.known(self.inner.count(filter).await?))
    }
}
