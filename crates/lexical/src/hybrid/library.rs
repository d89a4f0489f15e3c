//! Over a library, inside a scope.

use std::collections::HashMap;
use std::fmt;
use std::sync::{PoisonError, RwLockReadGuard};

use shelfward_core::library::{
    ExecutedMode, FoundPassage, LibraryError, Mode, PassageId, Reading, SearchRequest,
};
use shelfward_core::observer::LegRan;
use shelfward_core::{Completeness, LegKind, LibraryIndex, LimitReached, Scope, TenantId};

use crate::index::{LexicalIndex, SearchOptions};
use crate::tokenizer::Tokenizer;

use super::fuse::{Fused, LegRank, fuse};
use super::query_words::QueryWords;
use super::trail::Trail;
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
    max_expansions: Option<usize>,
}

/// What a hybrid search answered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HybridAnswer {
    /// The passages, best first, at most as many as asked for.
    pub passages: Vec<HybridPassage>,
    /// Whether that is all there is to answer: as many as asked for, or both legs came to their end.
    pub complete: bool,
    /// What ran: of a hybrid search the dense leg alone where the query has no word.
    pub ran: ExecutedMode,
}

/// A passage that was found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HybridPassage {
    /// The passage, as the library answers it, with the fused score.
    pub passage: FoundPassage,
    /// Where the dense leg has it.
    pub dense: Option<LegRank>,
    /// Where the BM25 leg has it.
    pub sparse: Option<LegRank>,
}

impl<T: Tokenizer + Send + Sync> LibraryHybridSearcher<T> {
    /// A searcher of a library and an index of the same passages.
    pub fn new(library: LibraryIndex, index: SharedIndex<T>) -> Self {
        Self {
            library,
            index,
            settings: HybridSettings::default(),
            max_expansions: None,
        }
    }

    /// Sets how the legs are fused.
    #[must_use]
    pub fn with_settings(mut self, settings: HybridSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the most words that a word of a query by prefixes may stand for; no limit unless set.
    #[must_use]
    pub fn with_max_expansions(mut self, max: usize) -> Self {
        self.max_expansions = Some(max);
        self
    }

    /// The request's best passages, among those that the scope may read and its narrowing leaves. Its
    /// mode says which legs run; of two, each is looked through three times as deep. The dense leg is the
    /// library's and the other the index's, by the words of the request as it asks for them. The query is
    /// embedded once, and not for the lexical mode. Scores are of the fusion in every mode, and
    /// [`LegRank`] has those of the legs.
    ///
    /// A hit of the index counts where the passage that is read holds the query's words, as the
    /// request asks for them, so that an index which is behind finds no word that was taken out. Its
    /// score is still that of the text which was indexed.
    ///
    /// The library's observer is told of one search, with what was answered in the end.
    ///
    /// # Errors
    /// [`HybridError`].
    pub async fn search(
        &self,
        scope: &Scope,
        request: &SearchRequest,
    ) -> Result<HybridAnswer, HybridError> {
        let (mode, top_k) = (request.asked_mode(), request.asked_top_k());
        let depth = match mode {
            Mode::Hybrid => depth(top_k, self.library.limits().request_top_k())?,
            _ => top_k,
        };
        let (trail, library) = Trail::of(&self.library);
        // The library checks a request of no passages as any other, and asks nobody.
        let most = self.library.limits().request_top_k();
        let dense = if mode == Mode::Lexical && top_k <= most {
            0
        } else {
            depth
        };
        let asked = request.clone().mode(Mode::Dense).top_k(dense);
        let answer = library.search(scope, &asked).await?;
        let mut read: HashMap<String, FoundPassage> = HashMap::new();
        let mut dense = Vec::with_capacity(answer.passages.len());
        for passage in answer.passages {
            let id = passage.id.to_string();
            dense.push((id.clone(), passage.score));
            read.insert(id, passage);
        }
        let words = match (mode, answer.ran) {
            (Mode::Dense, _) | (Mode::Hybrid, ExecutedMode::Nothing) => None,
            _ if depth == 0 => None,
            _ => {
                self.words(&library, scope, request, depth, &mut read)
                    .await?
            }
        };
        let ended = words
            .as_ref()
            .is_none_or(|leg| leg.end == Completeness::Complete);
        let leg = words
            .as_ref()
            .map(|leg| LegRan::new(LegKind::Lexical, leg.rounds, leg.hits.len(), leg.end));
        let ran = match (&words, mode) {
            (Some(_), Mode::Lexical) => ExecutedMode::Lexical,
            (Some(_), _) => ExecutedMode::Hybrid,
            (None, _) => answer.ran,
        };
        let sparse: Vec<_> = words
            .into_iter()
            .flat_map(|leg| leg.hits)
            .map(|hit| (hit.id, hit.score))
            .collect();
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
        let passages: Vec<_> = fused.into_iter().filter_map(found).collect();
        let complete = passages.len() >= top_k || (answer.complete && ended);
        let answered = passages.iter().map(|found| found.passage.id.clone());
        trail.tell(&self.library, answered.collect(), leg, complete);
        Ok(HybridAnswer {
            passages,
            complete,
            ran,
        })
    }

    /// Makes the index anew from all passages of a tenant: to begin with, or to repair one. Searches go on
    /// with the old one until it is done.
    ///
    /// The library is read page by page, and what is added to the old index meanwhile is not in the new
    /// one. So write nothing of the tenant until this has returned, or do it again.
    ///
    /// # Errors
    /// Those of the library, among them `Unsupported` on a store that cannot scan; [`HybridError::Index`]
    /// where the index has no room. The old index stays then.
    pub async fn rebuild(&self, tenant: TenantId) -> Result<(), HybridError>
    where
        T: Clone,
    {
        let mut built = {
            let old = self.lock();
            LexicalIndex::with_bm25(old.tokenizer().clone(), old.bm25())
        };
        let org = self.library.tenant(tenant);
        let page_size = self.library.limits().page_sources();
        let mut after = None;
        loop {
            let page = org
                .sources(&Reading::new(), after.as_ref(), page_size)
                .await?;
            for filed in page.sources {
                for passage in org.passages(&filed.source.id).await? {
                    // An empty text has no words to be found by.
                    if !passage.text.is_empty() {
                        built.add_document(&passage.id.to_string(), &passage.text, None)?;
                    }
                }
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        built.shrink_to_fit();
        *self.index.write().unwrap_or_else(PoisonError::into_inner) = built;
        Ok(())
    }

    /// The BM25 leg: as deep as asked for among the passages that can be read and hold the words.
    /// `None` where the query has no word.
    async fn words(
        &self,
        library: &LibraryIndex,
        scope: &Scope,
        request: &SearchRequest,
        depth: usize,
        read: &mut HashMap<String, FoundPassage>,
    ) -> Result<Option<WordLeg>, HybridError> {
        let query = request.text();
        let options = SearchOptions {
            matching: request.asked_matching(),
            prefix: request.asks_prefix(),
            max_expansions: self.max_expansions,
        };
        let words = QueryWords::new(self.lock().tokenizer(), query, options);
        if words.is_empty() {
            return Ok(None);
        }
        let mut kept = Taken::default();
        let (mut looked_at, mut asked, mut rounds) = (0, depth, 0);
        loop {
            rounds += 1;
            let hits = words_leg(&self.index, query, asked, &options)?;
            let exhausted = hits.len() < asked;
            let new: Vec<_> = hits.into_iter().skip(looked_at).collect();
            looked_at += new.len();
            fetch(library, scope, request, &new, read).await?;
            {
                let index = self.lock();
                let holds = |hit: &WordHit| {
                    let passage = read.get(&hit.id);
                    passage.is_some_and(|p| words.are_in(index.tokenizer(), &p.text))
                };
                kept.extend(new.into_iter().filter(holds));
            }
            let end = if kept.len() >= depth || exhausted {
                Completeness::Complete
            } else if asked >= MAX_CANDIDATES {
                Completeness::Capped {
                    by: LimitReached::Candidates,
                }
            } else {
                asked = asked.saturating_mul(4).min(MAX_CANDIDATES);
                continue;
            };
            return Ok(Some(WordLeg {
                hits: kept.into_best(depth),
                rounds,
                end,
            }));
        }
    }

    fn lock(&self) -> RwLockReadGuard<'_, LexicalIndex<T>> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the BM25 leg found.
struct WordLeg {
    hits: Vec<WordHit>,
    rounds: u32,
    end: Completeness,
}

/// Reads those of the hits that were not read yet and that the scope may read.
async fn fetch(
    library: &LibraryIndex,
    scope: &Scope,
    request: &SearchRequest,
    hits: &[WordHit],
    read: &mut HashMap<String, FoundPassage>,
) -> Result<(), LibraryError> {
    let new = hits.iter().filter(|hit| !read.contains_key(&hit.id));
    // An id of another shape is that of no passage.
    let ids: Vec<PassageId> = new.filter_map(|hit| hit.id.parse().ok()).collect();
    for ids in ids.chunks(library.limits().fetch_ids()) {
        let passages = library.fetch(scope, request.reading(), ids).await?;
        for passage in passages.into_iter().flatten() {
            read.insert(passage.id.to_string(), passage);
        }
    }
    Ok(())
}

impl<T> fmt::Debug for LibraryHybridSearcher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LibraryHybridSearcher")
            .field("library", &self.library)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
