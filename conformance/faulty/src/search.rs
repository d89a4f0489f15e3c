//! Legs, wrongly searched.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use shelfward_conformance::layer::CollectionLayer as _;
use shelfward_core::{
    Completeness, Filter, Hit, Include, Leg, LegQuery, LegResult, Match, Operation, Result,
    StoreError, adapter::text_words,
};

use super::Fault;
use super::collection::{A_MOMENT, EVERYTHING, FaultyCollection};
use super::filter_semantics::{matches, misunderstands};
use super::legs::{in_one_state, partition_only, search_one};
use super::lexical::{LexicalLeg, of_words};

impl FaultyCollection {
    /// One leg.
    pub(super) async fn leg(&self, leg: &Leg) -> Result<LegResult> {
        let dense = matches!(leg.ask, LegQuery::Dense(_));
        let mut found = match self.fault {
            fault if of_words(fault) => match self.by_own_words(leg).await? {
                Some(found) => found,
                None => search_one(&*self.inner, leg).await?,
            },
            fault if misunderstands(fault) => {
                let mut found = self.unfiltered(leg, EVERYTHING).await?;
                found
                    .hits
                    .retain(|hit| matches(fault, &leg.filter, &hit.metadata));
                found
            }
            Fault::FiltersDenseOnly if !dense => self.unfiltered(leg, leg.top_k).await?,
            Fault::FiltersAfterTopK | Fault::ShortAndComplete => {
                let mut found = self.unfiltered(leg, leg.top_k).await?;
                found.hits.retain(|hit| leg.filter.matches(&hit.metadata));
                found
            }
            Fault::InvertsScores | Fault::UnstableTies => {
                search_one(&*self.inner, &leg.with_top_k(EVERYTHING)).await?
            }
            Fault::MissesNeighbours | Fault::MissesOneNeighbour if dense => {
                search_one(&*self.inner, &leg.with_top_k(leg.top_k * 2)).await?
            }
            Fault::AnyMeansAll => search_one(&*self.inner, &every_word(leg)).await?,
            _ => search_one(&*self.inner, leg).await?,
        };
        match self.fault {
            Fault::OffByOneTopK if found.hits.len() == leg.top_k || found.hits.len() > 1 => {
                found.hits.pop();
            }
            Fault::InvertsScores if dense => {
                found.hits.reverse();
                found.hits.iter_mut().for_each(|hit| hit.score = -hit.score);
            }
            Fault::MissesNeighbours if dense && self.is_large().await? => {
                let mut at = 0;
                found.hits.retain(|_| {
                    at += 1;
                    at % 5 != 2 && at % 5 != 4
                });
            }
            Fault::MissesOneNeighbour
                if dense && found.hits.len() > 4 && self.is_large().await? =>
            {
                found.hits.remove(4);
            }
            Fault::ScoresByCode if dense && self.is_large().await? => {
                let round = |score: f64| (score * 50.0).round() / 50.0;
                found
                    .hits
                    .iter_mut()
                    .for_each(|hit| hit.score = round(hit.score));
            }
            Fault::DistanceAsScore if dense => found
                .hits
                .iter_mut()
                .for_each(|hit| hit.score = 1.0 - hit.score),
            Fault::UnstableTies if self.searches.fetch_add(1, Ordering::SeqCst) % 2 == 1 => {
                // Reversed first, so that the sort, which is stable, leaves equal scores reversed.
                found.hits.reverse();
                found.hits.sort_by(|a, b| b.score.total_cmp(&a.score));
            }
            Fault::LeaksAcrossCollections => {
                found.hits.extend(self.elsewhere(leg).await?);
                found.hits.sort_by(|a, b| b.score.total_cmp(&a.score));
            }
            Fault::ForgetsLexicalOnDelete | Fault::KeepsOldWords | Fault::UpdateForgetsWords => {
                self.search_old_words(leg, &mut found).await?;
            }
            Fault::NeverSaysHowItEnded => found.end = Completeness::Unknown,
            Fault::FlatLexicalScores if !dense => {
                found.hits.iter_mut().for_each(|hit| hit.score = 1.0);
                found.hits.sort_by(|a, b| a.key.cmp(&b.key));
            }
            _ => {}
        }
        found.hits.truncate(leg.top_k);
        Ok(found)
    }

    /// Two legs asked for together.
    pub(super) async fn both_legs(&self, dense: &Leg, lexical: &Leg) -> Result<Vec<LegResult>> {
        let mut legs = [dense.clone(), lexical.clone()];
        if self.fault == Fault::FiltersOneOfBoth {
            legs[1] = lexical.with_filter(partition_only(self.spec(), &lexical.filter));
        }
        let mut results = match self.fault {
            Fault::LegsOfTwoStates | Fault::UnstableTies => {
                let first = self.leg(&legs[0]).await?;
                tokio::time::sleep(A_MOMENT).await;
                vec![first, self.leg(&legs[1]).await?]
            }
            _ => in_one_state(&legs, |leg| self.leg(leg)).await?,
        };
        match (self.fault, &mut *results) {
            (Fault::SwapsLegs, [a, b]) => std::mem::swap(a, b),
            (Fault::FusesLegs, [a, b]) => {
                a.hits.extend(b.hits.iter().cloned());
                let mut seen = HashSet::new();
                a.hits.retain(|hit| seen.insert(hit.key.clone()));
                b.hits.clone_from(&a.hits);
                a.hits.truncate(dense.top_k);
                b.hits.truncate(lexical.top_k);
            }
            _ => {}
        }
        Ok(results)
    }

    /// Whether there is so much that an index makes a difference.
    async fn is_large(&self) -> Result<bool> {
        let count = self.inner.count(&Filter::everything()).await?;
        Ok(count.exact().is_some_and(|count| count > 500))
    }

    /// Everything that the leg could find, unfiltered.
    async fn unfiltered(&self, leg: &Leg, top_k: usize) -> Result<LegResult> {
        let partition = partition_only(self.spec(), &leg.filter);
        let wider = leg.with_filter(partition).with_top_k(top_k);
        search_one(&*self.inner, &wider).await
    }

    /// Hits of the other collections of the store, as if they were of this one.
    async fn elsewhere(&self, leg: &Leg) -> Result<Vec<Hit>> {
        let mut hits = Vec::new();
        for name in self.store.list().await? {
            if name == self.spec().name {
                continue;
            }
            if let Some(other) = self.store.open(&name).await?
                && other.spec().width == self.spec().width
                && let Ok(found) = search_one(&*other, leg).await
            {
                hits.extend(found.hits);
            }
        }
        Ok(hits)
    }

    /// What is found, or no longer found, by words that a record had before it was changed.
    async fn search_old_words(&self, leg: &Leg, found: &mut LegResult) -> Result<()> {
        let LegQuery::Lexical { words, .. } = &leg.ask else {
            return Ok(());
        };
        for old in self.shared.old_records.of(&self.spec().name) {
            let text = old.text.as_deref().unwrap_or_default();
            let held = text_words(text, self.spec().word_rule);
            let by_word = held.iter().any(|h| words.iter().any(|w| w.text == *h));
            let there = found.hits.iter().any(|hit| hit.key == old.key);
            match self.fault {
                Fault::UpdateForgetsWords => found.hits.retain(|hit| hit.key != old.key),
                Fault::ForgetsLexicalOnDelete if by_word && leg.filter.matches(&old.metadata) => {
                    let (text, metadata) = (old.text, old.metadata);
                    found.hits.push(Hit::new(old.key, 0.1, text, metadata));
                }
                Fault::KeepsOldWords if by_word && !there => {
                    let keys = std::slice::from_ref(&old.key);
                    let now = self.inner.fetch(keys, &leg.filter, Include::TEXT).await?;
                    let now = now.into_iter().flatten();
                    found
                        .hits
                        .extend(now.map(|r| Hit::new(r.key, 0.1, r.text, r.metadata)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What the leg of this crate's own finds, with its fault.
    async fn by_own_words(&self, leg: &Leg) -> Result<Option<LegResult>> {
        let LegQuery::Lexical { words, matching } = &leg.ask else {
            return Ok(None);
        };
        if !of_words(self.fault) {
            return Ok(None);
        }
        let all = Filter::everything();
        let all = self.inner.scan(&all, None, EVERYTHING, Include::TEXT).await;
        let leg_of_words = LexicalLeg {
            fault: self.fault,
            spec: self.spec(),
            all: &all?.records,
            gone: &self.shared.old_records.of(&self.spec().name),
        };
        let hits = leg_of_words
            .search(words, *matching, &leg.filter)
            .map_err(|kind| StoreError::new(Operation::Search, kind).on(&self.spec().name))?;
        Ok(Some(LegResult::new(hits, Completeness::Complete)))
    }
}

/// The leg, for every word where any was asked for.
fn every_word(leg: &Leg) -> Leg {
    match &leg.ask {
        LegQuery::Lexical { words, .. } => {
            Leg::lexical(words.clone(), Match::All, leg.filter.clone(), leg.top_k)
        }
        LegQuery::Dense(_) => leg.clone(),
    }
}
