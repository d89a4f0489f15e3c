//! Over a library, inside a scope.

use std::collections::HashMap;
use std::fmt;

use shelfward_core::library::{FoundPassage, LibraryError, Mode, PassageId, SearchRequest};
use shelfward_core::{LibraryIndex, Scope};

use crate::tokenizer::Tokenizer;

use super::fuse::{Fused, LegPlace, fuse};
use super::{
    HybridError, HybridSettings, MAX_CANDIDATES, SharedIndex, Taken, WordHit, depth, words_leg,
};

/// Searches a library by vectors and an index by words, inside a scope, and fuses the two.
///
/// The index holds the tenant's passages under the ids that the library answers them by,
/// `<sourceId>#<index>`. Make one for each tenant: BM25 scores tell how rare words are among all
/// that an index holds. Every hit of the index is read from the library inside the scope, so an
/// index that holds more than the reader may see, or what is there no longer, widens no answer.
pub struct LibraryHybridSearcher<T> {
    library: LibraryIndex,
    index: SharedIndex<T>,
    settings: HybridSettings,
}

/// A passage that was found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HybridPassage {
    /// The passage, as the library answers it, with the fused score.
    pub passage: FoundPassage,
    /// Where the dense leg has it.
    pub dense: Option<LegPlace>,
    /// Where the BM25 leg has it.
    pub sparse: Option<LegPlace>,
}

/// The most passages that one leg looks for, which is what a library's search allows.
const MAX_DEPTH: usize = 1_000;

impl<T: Tokenizer + Send + Sync> LibraryHybridSearcher<T> {
    /// A searcher of a library and an index of the same passages.
    pub fn new(library: LibraryIndex, index: SharedIndex<T>) -> Self {
        Self {
            library,
            index,
            settings: HybridSettings::default(),
        }
    }

    /// Sets how the legs are fused and how the BM25 leg searches.
    #[must_use]
    pub fn with_settings(mut self, settings: HybridSettings) -> Self {
        self.settings = settings;
        self
    }

    /// The best `top_k` passages of both legs, each looked through three times as deep, among those
    /// that the scope may read and the request's narrowing leaves. The request's mode, match and
    /// prefix do not count: both legs run, as the settings say. The query is embedded once.
    ///
    /// # Errors
    /// [`HybridError`].
    pub async fn search(
        &self,
        scope: &Scope,
        request: &SearchRequest,
        top_k: usize,
    ) -> Result<Vec<HybridPassage>, HybridError> {
        let depth = depth(top_k, MAX_DEPTH)?;
        let request = request.clone().mode(Mode::Dense).top_k(depth);
        let answer = self.library.search(scope, &request).await?;
        let mut read: HashMap<String, FoundPassage> = HashMap::new();
        let mut dense = Vec::with_capacity(answer.passages.len());
        for passage in answer.passages {
            dense.push((passage.id.clone(), passage.score));
            read.insert(passage.id.clone(), passage);
        }
        let sparse = self.words(scope, &request, depth, &mut read).await?;
        let sparse: Vec<_> = sparse.into_iter().map(|hit| (hit.id, hit.score)).collect();
        let found = |fused: Fused| {
            // What was fused came from a leg, and what is in a leg was read.
            let mut passage = read.remove(&fused.id)?;
            passage.score = fused.score;
            passage.legs = Default::default();
            Some(HybridPassage {
                passage,
                dense: fused.dense,
                sparse: fused.sparse,
            })
        };
        let fused = fuse(&dense, &sparse, &self.settings, top_k);
        Ok(fused.into_iter().filter_map(found).collect())
    }

    /// The BM25 leg: as deep as asked for among the passages that can be read.
    async fn words(
        &self,
        scope: &Scope,
        request: &SearchRequest,
        depth: usize,
        read: &mut HashMap<String, FoundPassage>,
    ) -> Result<Vec<WordHit>, HybridError> {
        let mut kept = Taken::default();
        if depth == 0 {
            return Ok(Vec::new());
        }
        let (mut looked_at, mut asked) = (0, depth);
        loop {
            let query = request.text();
            let hits = words_leg(&self.index, query, asked, &self.settings.words)?;
            let exhausted = hits.len() < asked;
            let new: Vec<_> = hits.into_iter().skip(looked_at).collect();
            looked_at += new.len();
            self.read(scope, request, &new, read).await?;
            kept.extend(new.into_iter().filter(|hit| read.contains_key(&hit.id)));
            if kept.len() >= depth || exhausted || asked >= MAX_CANDIDATES {
                return Ok(kept.into_best(depth));
            }
            asked = asked.saturating_mul(4).min(MAX_CANDIDATES);
        }
    }

    /// Reads those of the hits that were not read yet and that the scope may read.
    async fn read(
        &self,
        scope: &Scope,
        request: &SearchRequest,
        hits: &[WordHit],
        read: &mut HashMap<String, FoundPassage>,
    ) -> Result<(), LibraryError> {
        let new = hits.iter().filter(|hit| !read.contains_key(&hit.id));
        // An id of another shape is that of no passage.
        let ids: Vec<PassageId> = new.filter_map(|hit| hit.id.parse().ok()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let passages = self.library.fetch(scope, request, &ids).await?;
        for passage in passages.into_iter().flatten() {
            read.insert(passage.id.clone(), passage);
        }
        Ok(())
    }
}

impl<T> fmt::Debug for LibraryHybridSearcher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LibraryHybridSearcher")
            .field("library", &self.library)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
