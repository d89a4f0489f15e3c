//! Searching: plan, ask, check, rank, fuse.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use super::answer::{ExecutedMode, FoundPassage, LegRank, Legs, SearchAnswer};
use super::plan::{Plan, plan};
use super::recheck::{OwnValues, ReadCheck};
use super::{LibraryError, LibraryIndex, Mode, PassageId, SearchRequest};
use crate::capabilities::Scoring;
use crate::collection::CheckedHits;
use crate::embed::{Role, embed_checked};
use crate::filter::Filter;
use crate::fusion::{FusionWeights, reciprocal_rank_fusion};
use crate::observer::{DroppedHit, Event, LegRan, Searched};
use crate::scope::Scope;
use crate::search::{Completeness, Hit, LegKind, LegQuery, query_words};

/// One leg that ran, checked and in order.
struct Ranked {
    kind: LegKind,
    /// The passage of each hit, in the order of the hits.
    passages: Vec<Option<PassageId>>,
    checked: CheckedHits,
}

impl LibraryIndex {
    /// Answers a request from what the scope may read.
    ///
    /// # Errors
    /// [`LibraryError::Refused`] for a blank or over-long query and for a `top_k` over the ceiling;
    /// [`LibraryError::Filter`] for a filter on an own or undeclared field; those of the embedder
    /// and the store, among them `Unsupported` for a lexical search of a store without a lexical
    /// leg. A refused request asks nobody.
    pub async fn search(
        &self,
        scope: &Scope,
        request: &SearchRequest,
    ) -> Result<SearchAnswer, LibraryError> {
        let (legs, answer) = match plan(scope, request, self.collection.limits())? {
            None => {
                let answer = SearchAnswer {
                    passages: Vec::new(),
                    complete: true,
                    ran: ExecutedMode::Nothing,
                };
                (Vec::new(), answer)
            }
            Some(Plan { filter, check }) => {
                let legs = self.run(request, &filter, &check).await?;
                let answer = self.answer(request, &legs);
                (legs, answer)
            }
        };
        self.observe(|| self.event(scope, &legs, &answer));
        Ok(answer)
    }

    /// Asks the store for what the mode needs, and keeps what passes the check.
    async fn run(
        &self,
        request: &SearchRequest,
        filter: &Filter,
        check: &ReadCheck,
    ) -> Result<Vec<Ranked>, LibraryError> {
        let check = |hit: &Hit| check.verdict(hit);
        let filter = self.collection.plan_filter(filter)?;
        let words = match request.mode {
            Mode::Dense => None,
            Mode::Hybrid if self.capabilities().lexical.is_none() => None,
            Mode::Lexical | Mode::Hybrid => Some(query_words(
                &request.text,
                self.spec().word_rule,
                request.prefix,
            )?),
        };
        // A hybrid query without words is its dense leg; a lexical one answers nothing.
        let words = words.filter(|words| request.mode == Mode::Lexical || !words.is_empty());
        let depth = match (request.mode, &words) {
            (Mode::Hybrid, Some(_)) => request.top_k.saturating_mul(3).max(50),
            _ => request.top_k,
        };
        let depth = depth.min(self.collection.limits().leg_top_k);
        // Refused before the query is embedded, which may cost money.
        let lexical = match words {
            Some(words) => {
                let (words, matching) = (words.into(), request.matching);
                let ask = LegQuery::Lexical { words, matching };
                Some(self.collection.plan_leg(ask, &filter, depth)?)
            }
            None => None,
        };
        if request.mode == Mode::Lexical {
            let legs = [lexical.flatten()];
            let [lexical] = self.collection.search_planned(legs, &check).await?;
            return Ok(vec![Ranked::new(LegKind::Lexical, lexical)]);
        }
        let vector = self.embed_query(&request.text).await?;
        let dense = self
            .collection
            .plan_leg(LegQuery::Dense(vector), &filter, depth)?;
        let Some(lexical) = lexical else {
            let [dense] = self.collection.search_planned([dense], &check).await?;
            return Ok(vec![Ranked::new(LegKind::Dense, dense)]);
        };
        let legs = [dense, lexical];
        let [dense, lexical] = self.collection.search_planned(legs, &check).await?;
        Ok(vec![
            Ranked::new(LegKind::Dense, dense),
            Ranked::new(LegKind::Lexical, lexical),
        ])
    }

    async fn embed_query(&self, text: &str) -> Result<Arc<[f32]>, LibraryError> {
        let mut vectors = embed_checked(&*self.embedder, Role::Query, &[text]).await?;
        // One text was given, and the number of vectors was checked.
        Ok(vectors.pop().unwrap_or_else(|| Arc::from([])))
    }

    fn answer(&self, request: &SearchRequest, legs: &[Ranked]) -> SearchAnswer {
        let (ran, mut passages) = match legs {
            [dense, lexical] => (
                ExecutedMode::Hybrid,
                self.fuse(dense, lexical, request.top_k),
            ),
            [only] => {
                let ran = match only.kind {
                    LegKind::Dense => ExecutedMode::Dense,
                    LegKind::Lexical => ExecutedMode::Lexical,
                };
                let hits = only.checked.hits.iter().zip(1..);
                let found = hits.filter_map(|(hit, rank)| self.alone(only, hit, rank));
                (ran, found.collect())
            }
            _ => (ExecutedMode::Nothing, Vec::new()),
        };
        passages.truncate(request.top_k);
        let ended = legs
            .iter()
            .all(|leg| leg.checked.end == Completeness::Complete);
        SearchAnswer {
            complete: passages.len() >= request.top_k || ended,
            passages,
            ran,
        }
    }

    fn alone(&self, leg: &Ranked, hit: &Hit, rank: u32) -> Option<FoundPassage> {
        let place = self.place(leg, hit, rank);
        let score = place
            .score
            .unwrap_or_else(|| 1.0 / (60.0 + f64::from(rank)));
        let mut legs = Legs::default();
        match leg.kind {
            LegKind::Dense => legs.dense = Some(place),
            LegKind::Lexical => legs.lexical = Some(place),
        }
        FoundPassage::new(hit, score, legs)
    }

    fn fuse(&self, dense: &Ranked, lexical: &Ranked, top_k: usize) -> Vec<FoundPassage> {
        let ranks = |leg: &Ranked| -> Vec<(Option<PassageId>, u32)> {
            leg.passages.iter().cloned().zip(1..).collect()
        };
        let fused = reciprocal_rank_fusion(&ranks(dense), &ranks(lexical), &FusionWeights::EQUAL);
        fused
            .into_iter()
            // The legs are deeper than the answer; what is past it is never shown.
            .take(top_k)
            .filter_map(|fused| {
                let in_dense = fused.dense_rank.zip(dense.at(fused.dense_rank));
                let in_lexical = fused.sparse_rank.zip(lexical.at(fused.sparse_rank));
                let legs = Legs {
                    dense: in_dense.map(|(rank, hit)| self.place(dense, hit, rank)),
                    lexical: in_lexical.map(|(rank, hit)| self.place(lexical, hit, rank)),
                };
                let (_, hit) = in_dense.or(in_lexical)?;
                FoundPassage::new(hit, fused.score, legs)
            })
            .collect()
    }

    fn place(&self, leg: &Ranked, hit: &Hit, rank: u32) -> LegRank {
        let own = self
            .capabilities()
            .lexical
            .is_some_and(|l| l.scoring == Scoring::StoreOwn);
        let shown = leg.kind == LegKind::Dense || !own;
        LegRank {
            rank,
            score: shown.then_some(hit.score),
        }
    }

    fn event(&self, scope: &Scope, legs: &[Ranked], answer: &SearchAnswer) -> Event {
        let dropped = legs.iter().flat_map(|leg| &leg.checked.dropped);
        Event::Searched(Searched {
            tenant: scope.tenant().clone(),
            groups: self.digest(scope),
            answered: answer
                .passages
                .iter()
                .map(|passage| passage.id.clone())
                .collect(),
            dropped: dropped
                .map(|d| DroppedHit {
                    key: d.key.to_string(),
                    reason: d.reason,
                })
                .collect(),
            legs: legs
                .iter()
                .map(|leg| LegRan {
                    leg: leg.kind,
                    rounds: leg.checked.rounds,
                    kept: leg.checked.hits.len(),
                    end: leg.checked.end,
                })
                .collect(),
            complete: answer.complete,
        })
    }
}

impl Ranked {
    /// Orders what was kept: by score, then by source, then by number, whatever order the store's
    /// ties had. A passage that a store answers twice counts once, at its better place.
    fn new(kind: LegKind, mut checked: CheckedHits) -> Self {
        let hits = std::mem::take(&mut checked.hits).into_iter();
        let mut ranked: Vec<_> = hits
            .map(|hit| (OwnValues::of(&hit.metadata).passage_id(), hit))
            .collect();
        ranked.sort_by(|(a_is, a), (b_is, b)| {
            let score = b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal);
            score.then_with(|| a_is.cmp(b_is))
        });
        let mut seen = HashSet::with_capacity(ranked.len());
        ranked.retain(|(passage, _)| seen.insert(passage.clone()));
        let passages;
        (passages, checked.hits) = ranked.into_iter().unzip();
        Self {
            kind,
            passages,
            checked,
        }
    }

    /// The hit of a rank, which is its place in the order.
    fn at(&self, rank: Option<u32>) -> Option<&Hit> {
        let place = usize::try_from(rank?.checked_sub(1)?).ok()?;
        self.checked.hits.get(place)
    }
}
