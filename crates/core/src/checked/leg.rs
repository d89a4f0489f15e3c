//! One leg of a search: checked, asked with the native part of its filter, and asked again for more
//! while what is left of the filter, or the caller's own check, drops hits.

use std::collections::HashSet;
use std::sync::Arc;

use super::CheckedCollection;
use crate::capabilities::Words;
use crate::embed::check_numbers;
use crate::error::{ErrorKind, Operation, Result, VectorProblem};
use crate::filter::Filter;
use crate::metadata::Text;
use crate::port::Collection;
use crate::record::Key;
use crate::search::{Ask, Cap, End, Found, Hit, Leg, Match, QueryWord, as_count, query_words};
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

/// What is left of a leg.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) hits: Vec<Hit>,
    pub(crate) end: End,
    /// Those of the last round, which looks at the earlier rounds' hits again.
    pub(crate) dropped: Vec<Dropped>,
    pub(crate) rounds: u32,
}

impl Kept {
    fn nothing() -> Self {
        Self {
            hits: Vec::new(),
            end: End::Complete,
            dropped: Vec::new(),
            rounds: 0,
        }
    }
}

pub(crate) type Check<'a> = &'a (dyn Fn(&Hit) -> Verdict + Send + Sync);

/// A leg under way.
struct Run {
    /// What the engine is asked next.
    ask: Leg,
    top_k: usize,
    residual: Option<Filter>,
    /// The words to look for again in each text, where the engine answers a superset.
    words: Option<(Arc<[QueryWord]>, Match)>,
    rounds: u32,
}

impl CheckedCollection {
    /// Searches one leg and keeps what `check` keeps.
    pub(crate) async fn search_kept(&self, leg: &Leg, check: Check<'_>) -> Result<Kept> {
        let Some(run) = self.plan_leg(leg)? else {
            return Ok(Kept::nothing());
        };
        let found = self.inner.search(&run.ask).await?;
        self.go_on(run, found, check).await
    }

    /// Searches two legs, in one call where both have something to ask.
    pub(crate) async fn search_both_kept(
        &self,
        dense: &Leg,
        lexical: &Leg,
        check: Check<'_>,
    ) -> Result<(Kept, Kept)> {
        match (self.plan_leg(dense)?, self.plan_leg(lexical)?) {
            (Some(a), Some(b)) => {
                let (found_a, found_b) = self.inner.search_both(&a.ask, &b.ask).await?;
                Ok((
                    self.go_on(a, found_a, check).await?,
                    self.go_on(b, found_b, check).await?,
                ))
            }
            (a, b) => {
                let mut kept = Vec::with_capacity(2);
                for run in [a, b] {
                    kept.push(match run {
                        Some(run) => {
                            let found = self.inner.search(&run.ask).await?;
                            self.go_on(run, found, check).await?
                        }
                        None => Kept::nothing(),
                    });
                }
                let second = kept.pop().unwrap_or_else(Kept::nothing);
                Ok((kept.pop().unwrap_or_else(Kept::nothing), second))
            }
        }
    }

    /// Refuses a leg that a search would refuse, without asking anybody.
    pub(crate) fn check_leg(&self, leg: &Leg) -> Result<()> {
        self.plan_leg(leg).map(drop)
    }

    /// Refuses a filter that a search would refuse, without asking anybody.
    pub(crate) fn check_search_filter(&self, filter: &Filter) -> Result<()> {
        self.checked_filter(Operation::Search, filter).map(drop)
    }

    /// Checks a leg; `None` when there is nothing to ask.
    fn plan_leg(&self, leg: &Leg) -> Result<Option<Run>> {
        let max = self.ceilings().leg_top_k;
        if leg.top_k > max {
            let (given, max) = (as_count(leg.top_k), as_count(max));
            return Err(self.error(
                Operation::Search,
                ErrorKind::Limit {
                    what: "top_k of a leg",
                    given,
                    max,
                },
            ));
        }
        let filter = self.checked_filter(Operation::Search, &leg.filter)?;
        let words = match &leg.ask {
            Ask::Dense(vector) => {
                self.check_vector(vector)
                    .map_err(|e| self.error(Operation::Search, e))?;
                None
            }
            Ask::Lexical { words, matching } => {
                // What the engine is not asked to evaluate pins nothing for it.
                let native = self.inner.pushdown(&filter).native;
                let looked_at_again = self.check_words(words, &filter, &native)?;
                if words.is_empty() {
                    return Ok(None);
                }
                looked_at_again.then(|| (words.clone(), *matching))
            }
        };
        if leg.top_k == 0 || filter.never_matches() {
            return Ok(None);
        }
        let split = self.inner.pushdown(&filter);
        let asked = leg.top_k.min(self.store_top_k());
        let ask = leg.with_filter(split.native).with_top_k(asked);
        Ok(Some(Run {
            ask,
            top_k: leg.top_k,
            residual: split.residual,
            words,
            rounds: 1,
        }))
    }

    /// Refuses a lexical query that the store or the ceilings exclude; answers whether the words
    /// must be looked for again in what comes back.
    fn check_words(&self, words: &[QueryWord], filter: &Filter, native: &Filter) -> Result<bool> {
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
        let max = self.ceilings().query_words;
        if distinct > max {
            let (given, max) = (as_count(distinct), as_count(max));
            return refuse(ErrorKind::Limit {
                what: "distinct words of a query",
                given,
                max,
            });
        }
        if let Some(key) = self.spec().partition_key()
            && native
                .pinned(key.as_str())
                .is_none_or(|values| values.len() != 1)
            && !filter.never_matches()
        {
            return refuse(ErrorKind::Invalid(format!(
                "a lexical search must pin {key} by one $eq, since its statistics are kept for each"
            )));
        }
        Ok(lexical.words == Words::Superset)
    }

    pub(super) fn check_vector(&self, vector: &[f32]) -> Result<(), VectorProblem> {
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
    async fn go_on(&self, mut run: Run, mut found: Found, check: Check<'_>) -> Result<Kept> {
        loop {
            let asked = run.ask.top_k;
            if found.hits.iter().any(|hit| !hit.score.is_finite()) {
                let contract = "a score that is not a finite number".to_owned();
                return Err(self.error(Operation::Search, ErrorKind::Contract(contract)));
            }
            // A store that answers more than was asked has not said where those belong.
            found.hits.truncate(asked);
            let exhausted = found.hits.len() < asked;
            let (hits, dropped) = self.keep(&run, found.hits, check);
            let end = if hits.len() >= run.top_k {
                Some(End::Complete)
            } else if exhausted {
                Some(found.end)
            } else {
                self.next_round(&mut run)
            };
            if let Some(end) = end {
                let mut kept = Kept {
                    hits,
                    end,
                    dropped,
                    rounds: run.rounds,
                };
                kept.hits.truncate(run.top_k);
                return Ok(kept);
            }
            found = self.inner.search(&run.ask).await?;
        }
    }

    /// Makes the run ask for more, or answers what ends it.
    fn next_round(&self, run: &mut Run) -> Option<End> {
        let asked = run.ask.top_k;
        if asked >= self.store_top_k() {
            return Some(End::Capped { by: Cap::StoreTopK });
        }
        if run.rounds >= self.ceilings().refill_rounds {
            return Some(End::Capped { by: Cap::Rounds });
        }
        let most = self
            .ceilings()
            .refill_candidates
            .max(run.top_k)
            .min(self.store_top_k());
        if asked >= most {
            return Some(End::Capped {
                by: Cap::Candidates,
            });
        }
        run.ask.top_k = asked.saturating_mul(4).min(most);
        run.rounds += 1;
        None
    }

    fn keep(&self, run: &Run, hits: Vec<Hit>, check: Check<'_>) -> (Vec<Hit>, Vec<Dropped>) {
        let mut kept = Vec::with_capacity(hits.len().min(run.top_k));
        let mut dropped = Vec::new();
        let mut seen = HashSet::with_capacity(hits.len());
        // A hit that is answered twice is one hit, and what it took the place of is asked for again.
        for hit in hits {
            if !seen.insert(hit.key.clone()) {
                continue;
            }
            // What the engine is not asked to filter is no fault of its filter, and not told on.
            let asked = run
                .residual
                .as_ref()
                .is_none_or(|f| f.matches(&hit.metadata))
                && run
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
        let held: HashSet<Text> = query_words(text, self.spec().word_rule, false)
            .unwrap_or_default()
            .into_iter()
            .map(|word| word.text)
            .collect();
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
