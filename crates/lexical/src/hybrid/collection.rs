//! Over a collection that is no library.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use shelfward_core::library::{ACL_GROUPS, TENANT_ID};
use shelfward_core::{
    Collection, CollectionName, Embedder, Filter, Include, Key, Leg, Limits, Metadata, Operation,
    Role, Scalar, Store, StoreError, Text, embed_checked,
};
use shelfward_text::is_blank;

use crate::index::SearchOptions;
use crate::tokenizer::Tokenizer;

use super::fuse::{Fused, LegRank, fuse};
use super::{HybridError, HybridSettings, MAX_CANDIDATES, SharedIndex, Taken, depth, words_leg};

/// Searches a collection by vectors and an index by words, and fuses the two.
///
/// The index holds the collection's documents under the same ids. Whoever writes keeps both in step:
/// a filter is evaluated by the store on what the store holds, for the hits of both legs, so that a
/// stale index widens no filtered answer.
pub struct HybridSearcher<T> {
    collection: Collection,
    embedder: Arc<dyn Embedder>,
    index: SharedIndex<T>,
    settings: HybridSettings,
    words: SearchOptions,
    limits: Limits,
}

/// A document that was found.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct HybridHit {
    /// What names it.
    pub id: String,
    /// The fused score; under [`Fusion::Interleave`](super::Fusion::Interleave) that of its leg.
    pub score: f64,
    /// Where the dense leg has it.
    pub dense: Option<LegRank>,
    /// Where the BM25 leg has it.
    pub sparse: Option<LegRank>,
    /// The text, where the store has one under this id.
    pub text: Option<Arc<str>>,
    /// The store's metadata; `None` where the store has no such document.
    pub metadata: Option<Arc<Metadata>>,
    /// The index's metadata, where the BM25 leg found it.
    pub index_metadata: Option<Value>,
}

impl<T: Tokenizer + Send + Sync> HybridSearcher<T> {
    /// Opens a collection for searching.
    ///
    /// # Errors
    /// [`HybridError::IsLibrary`] for a library; [`HybridError::Store`] where there is no such
    /// collection, or where it holds vectors of another embedder or width.
    pub async fn open(
        store: &Store,
        name: &CollectionName,
        embedder: Arc<dyn Embedder>,
        index: SharedIndex<T>,
    ) -> Result<Self, HybridError> {
        let collection = store.open_unscoped(name).await?;
        let spec = collection.spec();
        let own = [TENANT_ID, ACL_GROUPS];
        if let Some(field) = own.into_iter().find(|own| spec.field(own).is_some()) {
            return Err(HybridError::IsLibrary { field });
        }
        let mut asked = spec.clone();
        embedder.id().clone_into(&mut asked.embedder);
        asked.width = embedder.width();
        spec.check_compatible(&asked)
            .map_err(|e| StoreError::new(Operation::Open, e).on(name))?;
        Ok(Self {
            limits: *store.limits(),
            collection,
            embedder,
            index,
            settings: HybridSettings::default(),
            words: SearchOptions::default(),
        })
    }

    /// Sets how the legs are fused.
    #[must_use]
    pub fn with_settings(mut self, settings: HybridSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets how the BM25 leg searches: for documents that hold any word of the query unless set.
    #[must_use]
    pub fn with_words(mut self, words: SearchOptions) -> Self {
        self.words = words;
        self
    }

    /// The best `top_k` documents of both legs, each looked through three times as deep, among those
    /// that the filter matches. The query is embedded once.
    ///
    /// A document that only the BM25 leg found is fetched by its id. One that the store does not
    /// hold stays without text, or, where there is a filter, is left out.
    ///
    /// # Errors
    /// [`HybridError`]; among them an embedder that answers no vector.
    pub async fn search(
        &self,
        query: &str,
        top_k: usize,
        filter: Option<&Filter>,
    ) -> Result<Vec<HybridHit>, HybridError> {
        if is_blank(query) {
            return Err(HybridError::BlankQuery);
        }
        if self.limits.is_long_query(query) {
            let max = self.limits.query_chars();
            return Err(HybridError::LongQuery { max });
        }
        let depth = depth(top_k, self.limits.leg_top_k())?;
        let partition = self.partition(filter)?;
        if top_k == 0 {
            return Ok(Vec::new());
        }
        let vector = self.embed(query).await?;
        let everything = Filter::everything();
        let filter = filter.unwrap_or(&everything);
        let leg = Leg::dense(vector, filter.clone(), depth);
        let found = self.collection.search(&leg).await?;
        let mut seen = HashMap::new();
        let mut dense = Vec::with_capacity(found.hits.len());
        for hit in found.hits {
            let id = hit.key.id.as_str().to_owned();
            dense.push((id.clone(), hit.score));
            seen.insert(id, Held::of(hit.text, hit.metadata));
        }
        let sparse = self
            .words(query, depth, filter, partition.as_ref(), &mut seen)
            .await?;
        let mut indexed: HashMap<String, Value> = HashMap::new();
        let sparse: Vec<_> = (sparse.into_iter())
            .map(|hit| {
                indexed.extend(hit.metadata.map(|metadata| (hit.id.clone(), metadata)));
                (hit.id, hit.score)
            })
            .collect();
        let fused = fuse(&dense, &sparse, &self.settings, top_k);
        // What only the BM25 leg found, where no filter had it fetched already.
        let ids = fused.iter().map(|fused| fused.id.as_str());
        self.fetch(ids, filter, partition.as_ref(), &mut seen)
            .await?;
        let hit = |fused: Fused| {
            let held = seen.remove(&fused.id);
            let (text, metadata) = held.map_or((None, None), |h| (h.text, Some(h.metadata)));
            HybridHit {
                index_metadata: indexed.remove(&fused.id),
                id: fused.id,
                score: fused.score,
                dense: fused.dense,
                sparse: fused.sparse,
                text,
                metadata,
            }
        };
        Ok(fused.into_iter().map(hit).collect())
    }

    async fn embed(&self, query: &str) -> Result<Arc<[f32]>, HybridError> {
        let mut vectors = embed_checked(&*self.embedder, Role::Query, &[query]).await?;
        // One text was given, and the number of vectors was checked.
        Ok(vectors.pop().unwrap_or_else(|| Arc::from([])))
    }

    /// The BM25 leg: as deep as asked for among those documents that the filter matches.
    async fn words(
        &self,
        query: &str,
        depth: usize,
        filter: &Filter,
        partition: Option<&Text>,
        seen: &mut HashMap<String, Held>,
    ) -> Result<Vec<super::WordHit>, HybridError> {
        let is_open = filter.is_everything() && partition.is_none();
        let (mut looked_at, mut asked) = (0, depth);
        let mut kept = Taken::default();
        loop {
            let hits = words_leg(&self.index, query, asked, &self.words)?;
            let exhausted = hits.len() < asked;
            if is_open {
                return Ok(hits);
            }
            let new: Vec<_> = hits.into_iter().skip(looked_at).collect();
            looked_at += new.len();
            let ids = new.iter().map(|hit| hit.id.as_str());
            self.fetch(ids, filter, partition, seen).await?;
            kept.extend(new.into_iter().filter(|hit| seen.contains_key(&hit.id)));
            if kept.len() >= depth || exhausted || asked >= MAX_CANDIDATES {
                return Ok(kept.into_best(depth));
            }
            asked = asked.saturating_mul(4).min(MAX_CANDIDATES.max(depth));
        }
    }

    /// Fetches those of the ids that were not seen yet, as far as the filter matches them.
    async fn fetch(
        &self,
        ids: impl Iterator<Item = &str>,
        filter: &Filter,
        partition: Option<&Text>,
        seen: &mut HashMap<String, Held>,
    ) -> Result<(), HybridError> {
        let key = |id: &str| {
            // An id that no store can hold is that of no document.
            let fits = id.len() <= Key::MAX_ID_BYTES;
            let id = Text::new(id).ok().filter(|_| fits)?;
            Some(match partition {
                Some(partition) => Key::within(partition.clone(), id),
                None => Key::new(id),
            })
        };
        let new = ids.filter(|id| !seen.contains_key(*id));
        let keys: Vec<Key> = new.filter_map(key).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let records = self.collection.fetch(&keys, filter, Include::TEXT).await?;
        for record in records.into_iter().flatten() {
            let held = Held::of(record.text, record.metadata);
            seen.insert(record.key.id.as_str().to_owned(), held);
        }
        Ok(())
    }

    /// The partition that ids are looked up in.
    fn partition(&self, filter: Option<&Filter>) -> Result<Option<Text>, HybridError> {
        let Some(field) = self.collection.spec().partition_key() else {
            return Ok(None);
        };
        let pinned = filter.and_then(|filter| filter.pinned(field.as_str()));
        match pinned.as_deref() {
            Some([Scalar::Text(partition)]) => Ok(Some(partition.clone())),
            _ => Err(HybridError::NoPartition {
                field: field.to_string(),
            }),
        }
    }
}

/// What the store holds of a document.
struct Held {
    text: Option<Arc<str>>,
    metadata: Arc<Metadata>,
}

impl Held {
    fn of(text: Option<Arc<str>>, metadata: Arc<Metadata>) -> Self {
        Self { text, metadata }
    }
}

/// Shows ids and places, never the text or the metadata.
impl fmt::Debug for HybridHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HybridHit")
            .field("id", &self.id)
            .field("score", &self.score)
            .field("dense", &self.dense)
            .field("sparse", &self.sparse)
            .field("text_bytes", &self.text.as_deref().map(str::len))
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for HybridSearcher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HybridSearcher")
            .field("collection", &self.collection.spec().name)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
