//! One leg of a search: checked, asked with the native part of its filter, and asked again for more
//! while what is left of the filter, or the caller's own check, drops hits.

use std::collections::HashSet;
use std::sync::Arc;

use super::Collection;
use crate::capabilities::Words;
use crate::embed::check_numbers;
use crate::error::{ErrorKind, Operation, Result, VectorProblem};
use crate::filter::{Filter, FilterError};
use crate::metadata::{Metadata, Text};
use crate::record::Key;
use crate::search::{
    Completeness, Hit, Leg, LegQuery, LegResult, LimitReached, Match, QueryWord, as_count,
    text_words,
};
use crate::spec::Metric;

/// What a check says of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Keep,
    /// The reason goes to the observer, never into the answer.
    Drop(&'static str),
}

/// A hit that the caller's check dropped.
#[derive(Clone, Debug)]
pub(crate) struct Dropped {
    pub(crate) key: Key,
    pub(crate) reason: &'static str,
}

/// What a leg found and the checks left.
#[derive(Debug)]
pub(crate) struct CheckedHits {
    pub(crate) hits: Vec<Hit>,
    pub(crate) end: Completeness,
    /// Those of the last round, which looks at the earlier rounds' hits again.
    pub(crate) dropped: Vec<Dropped>,
    pub(crate) rounds: u32,
}

impl CheckedHits {
    fn nothing() -> Self {
        Self {
            hits: Vec::new(),
            end: Completeness::Complete,
            dropped: Vec::new(),
            rounds: 0,
        }
    }
}

impl From<CheckedHits> for LegResult {
    fn from(checked: CheckedHits) -> Self {
        Self::new(checked.hits, checked.end)
    }
}

pub(crate) type Check<'a> = &'a (dyn Fn(&Hit) -> Verdict + Send + Sync);

/// A filter that was checked, folded and split: once for all legs of a search.
#[derive(Clone, Debug)]
pub(crate) struct FilterPlan {
    native: Arc<Filter>,
    residual: Option<Arc<Filter>>,
    never_matches: bool,
}

impl FilterPlan {
    pub(super) fn native(&self) -> &Filter {
        &self.native
    }

    pub(super) fn residual_matches(&self, metadata: &Metadata) -> bool {
        self.residual
            .as_ref()
            .is_none_or(|residual| residual.matches(metadata))
    }
}

/// A leg that was checked: what the engine is asked next, and what is looked at afterwards.
pub(crate) struct LegPlan {
    ask: Leg,
    top_k: usize,
    filter: FilterPlan,
    /// The words to look for again in each text, where the engine answers a superset.
    words: Option<(Arc<[QueryWord]>, Match)>,
    rounds: u32,
}

impl Collection {
    /// Checks, folds and splits a filter.
    pub(crate) fn plan_filter(&self, filter: &Filter) -> Result<FilterPlan, FilterError> {
        Ok(self.plan_folded(self.fold(filter)?))
    }

    pub(super) fn plan_folded(&self, filter: Filter) -> FilterPlan {
        let split = self.split(&filter);
        FilterPlan {
            never_matches: filter.never_matches(),
            native: Arc::new(split.native),
            residual: split.residual.map(Arc::new),
        }
    }

    pub(super) fn plan(&self, leg: &Leg) -> Result<Option<LegPlan>> {
        let filter = self
            .plan_filter(&leg.filter)
            .map_err(|e| self.error(Operation::Search, e))?;
        self.plan_leg(leg.ask.clone(), &filter, leg.top_k)
    }

    /// Checks a leg; `None` when there is nothing to ask.
    pub(crate) fn plan_leg(
        &self,
        ask: LegQuery,
        filter: &FilterPlan,
        top_k: usize,
    ) -> Result<Option<LegPlan>> {
        let max = self.limits().leg_top_k;
        if top_k > max {
            let (given, max) = (as_count(top_k), as_count(max));
            return Err(self.error(
                Operation::Search,
                ErrorKind::Limit {
                    what: "top_k of a leg",
                    given,
                    max,
                },
            ));
        }
        let words = match &ask {
            LegQuery::Dense(vector) => {
                self.check_vector(vector)
                    .map_err(|e| self.error(Operation::Search, e))?;
                None
            }
            LegQuery::Lexical { words, matching } => {
                let looked_at_again = self.check_words(words, filter)?;
                if words.is_empty() {
                    return Ok(None);
                }
                looked_at_again.then(|| (words.clone(), *matching))
            }
        };
        if top_k == 0 || filter.never_matches {
            return Ok(None);
        }
        let ask = Leg {
            ask,
            filter: filter.native.clone(),
            top_k: top_k.min(self.store_top_k()),
        };
        Ok(Some(LegPlan {
            ask,
            top_k,
            filter: filter.clone(),
            words,
            rounds: 1,
        }))
    }

    /// Asks for all legs at once and keeps what `check` keeps.
    pub(crate) async fn search_planned<const N: usize>(
        &self,
        plans: [Option<LegPlan>; N],
        check: Check<'_>,
    ) -> Result<[CheckedHits; N]> {
        let legs: Vec<Leg> = plans
            .iter()
            .flatten()
            .map(|plan| plan.ask.clone())
            .collect();
        let results = self.ask(&legs).await?;
        let mut results = results.into_iter();
        let mut checked = [const { None }; N];
        for (slot, plan) in checked.iter_mut().zip(plans) {
            if let Some((plan, result)) = plan.and_then(|plan| Some((plan, results.next()?))) {
                *slot = Some(self.go_on(plan, result, check).await?);
            }
        }
        Ok(checked.map(|hits| hits.unwrap_or_else(CheckedHits::nothing)))
    }

    async fn ask(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        if legs.is_empty() {
            return Ok(Vec::new());
        }
        let results = self.adapter.search(legs).await?;
        if results.len() != legs.len() {
            let contract = format!("{} legs were asked, {} answered", legs.len(), results.len());
            return Err(self.error(Operation::Search, ErrorKind::Contract(contract)));
        }
        Ok(results)
    }

    /// Refuses a lexical query that the store or the limits exclude; answers whether the words
    /// must be looked for again in what comes back.
    fn check_words(&self, words: &[QueryWord], filter: &FilterPlan) -> Result<bool> {
        let refuse = |kind: ErrorKind| Err(self.error(Operation::Search, kind));
        let Some(lexical) = self.capabilities().lexical else {
            return refuse(ErrorKind::Unsupported("lexical search"));
        };
        if !lexical.prefix && words.iter().any(|word| word.prefix) {
            return refuse(ErrorKind::Unsupported("prefixes in a lexical search"));
        }
        let distinct = words
            .iter()
            .map(|word| &word.text)
            .collect::<HashSet<_>>()
            .len();
        let max = self.limits().query_words;
        if distinct > max {
            let (given, max) = (as_count(distinct), as_count(max));
            return refuse(ErrorKind::Limit {
                what: "distinct words of a query",
                given,
                max,
            });
        }
        // What the engine is not asked to evaluate pins nothing for it.
        if let Some(key) = self.spec().partition_key()
            && filter
                .native
                .pinned(key.as_str())
                .is_none_or(|values| values.len() != 1)
            && !filter.never_matches
        {
            return refuse(ErrorKind::Invalid(format!(
                "a lexical search must pin {key} by one $eq, since its statistics are kept for each"
            )));
        }
        Ok(lexical.words == Words::Superset)
    }

    pub(crate) fn check_vector(&self, vector: &[f32]) -> Result<(), VectorProblem> {
        check_numbers(vector, self.spec().width)?;
        let squared: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
        let largest = match self.spec().metric {
            // Two vectors are at most as far from each other as both are long.
            Metric::Euclidean => f64::from(f32::MAX) / 4.0,
            _ => f64::from(f32::MAX),
        };
        if squared > largest {
            return Err(VectorProblem::Length);
        }
        if self.spec().metric == Metric::Cosine {
            if squared == 0.0 {
                return Err(VectorProblem::Zero);
            }
            if squared < f64::from(f32::MIN_POSITIVE) {
                return Err(VectorProblem::Length);
            }
        }
        Ok(())
    }

    fn store_top_k(&self) -> usize {
        self.capabilities().max_top_k.unwrap_or(usize::MAX)
    }

    /// Keeps what may be kept, and asks again for four times as many while some are missing.
    async fn go_on(
        &self,
        mut plan: LegPlan,
        mut found: LegResult,
        check: Check<'_>,
    ) -> Result<CheckedHits> {
        loop {
            let asked = plan.ask.top_k;
            if found.hits.iter().any(|hit| !hit.score.is_finite()) {
                let contract = "a score that is not a finite number".to_owned();
                return Err(self.error(Operation::Search, ErrorKind::Contract(contract)));
            }
            // A store that answers more than was asked has not said where those belong.
            found.hits.truncate(asked);
            let exhausted = found.hits.len() < asked;
            let (hits, dropped) = self.keep(&plan, found.hits, check);
            let end = if hits.len() >= plan.top_k {
                Some(Completeness::Complete)
            } else if exhausted {
                Some(found.end)
            } else {
                self.next_round(&mut plan)
            };
            if let Some(end) = end {
                let mut checked = CheckedHits {
                    hits,
                    end,
                    dropped,
                    rounds: plan.rounds,
                };
                checked.hits.truncate(plan.top_k);
                return Ok(checked);
            }
            found = self
                .ask(std::slice::from_ref(&plan.ask))
                .await?
                .pop()
                .unwrap_or_else(LegResult::nothing);
        }
    }

    /// Makes the plan ask for more, or answers what ends it.
    fn next_round(&self, plan: &mut LegPlan) -> Option<Completeness> {
        let asked = plan.ask.top_k;
        if asked >= self.store_top_k() {
            return Some(Completeness::Capped {
                by: LimitReached::StoreTopK,
            });
        }
        if plan.rounds >= self.limits().refill_rounds {
            return Some(Completeness::Capped {
                by: LimitReached::Rounds,
            });
        }
        let most = self
            .limits()
            .refill_candidates
            .max(plan.top_k)
            .min(self.store_top_k());
        if asked >= most {
            return Some(Completeness::Capped {
                by: LimitReached::Candidates,
            });
        }
        plan.ask.top_k = asked.saturating_mul(4).min(most);
        plan.rounds += 1;
        None
    }

    fn keep(&self, plan: &LegPlan, hits: Vec<Hit>, check: Check<'_>) -> (Vec<Hit>, Vec<Dropped>) {
        let mut kept = Vec::with_capacity(hits.len().min(plan.top_k));
        let mut dropped = Vec::new();
        let mut seen = HashSet::with_capacity(hits.len());
        // A hit that is answered twice is one hit, and what it took the place of is asked for again.
        for hit in hits {
            if !seen.insert(hit.key.clone()) {
                continue;
            }
            // What the engine is not asked to filter is no fault of its filter, and not told on.
            let asked = plan.filter.residual_matches(&hit.metadata)
                && plan
                    .words
                    .as_ref()
                    .is_none_or(|(words, how)| self.holds_words(&hit, words, *how));
            if !asked {
                continue;
            }
            match check(&hit) {
                Verdict::Keep => kept.push(hit),
                Verdict::Drop(reason) => dropped.push(Dropped {
                    key: hit.key,
                    reason,
                }),
            }
        }
        (kept, dropped)
    }

    fn holds_words(&self, hit: &Hit, words: &[QueryWord], matching: Match) -> bool {
        let text = hit.text.as_deref().unwrap_or_default();
        let held = text_words(text, self.spec().word_rule);
        let held: HashSet<&Text> = held.iter().collect();
        let holds = |word: &QueryWord| {
            held.contains(&word.text)
                || (word.prefix
                    && held
                        .iter()
                        .any(|h| h.as_str().starts_with(word.text.as_str())))
        };
        match matching {
            Match::Any => words.iter().any(holds),
            Match::All => words.iter().all(holds),
        }
    }
}
