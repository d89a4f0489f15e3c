//! Nobody writes: everything is compared exactly, and memory has no reason to grow.

use std::collections::{BTreeMap, HashMap};

use shelfward::capabilities::{Dense, Full, Scoring};
use shelfward::library::{Mode, SearchAnswer};
use shelfward::{LibraryIndex, Store};

use crate::Failure;
use crate::asked::Asked;
use crate::busy::{Soak, random_rescope};
use crate::finding::Kind;
use crate::judge::TOLERANCE;
use crate::model::Now;
use crate::op::Op;
use crate::source::{self, Slot, cosine, vector};
use crate::store;
use crate::writer::Writer;

/// Searches that are compared in each calm phase.
const COMPARED: usize = 48;
/// Searches and looks between two looks at memory.
const CALLS: usize = 200;
/// What may be held more after so many calls, in bytes.
const GROWTH: usize = 256 << 10;
/// A growth that is caches' filling ends; a leak goes on for so many rounds.
const ROUNDS: usize = 4;

/// How often a write that settles what may land late is tried.
const TRIES: usize = 20;

/// How many of the nearest an approximate store has found.
#[derive(Default)]
pub(crate) struct Recall {
    pub(crate) found: u64,
    pub(crate) asked: u64,
}

impl Recall {
    pub(crate) fn share(&self) -> Option<f64> {
        let small = |n: u64| u32::try_from(n).ok().map(f64::from);
        let asked = small(self.asked).filter(|asked| *asked > 0.0)?;
        Some(small(self.found)? / asked)
    }
}

/// What is in force of every source.
type Known = BTreeMap<Slot, Now>;

impl Soak {
    /// Settles what may still land, looks at every source, and compares searches to a store that was
    /// filled with just what is in force.
    pub(crate) async fn calm(
        &self,
        library: &LibraryIndex,
        recall: &mut Recall,
    ) -> Result<(), Failure> {
        let mut random = self.random();
        let writer = Writer::Here(library.clone());
        for slot in Slot::all() {
            let mut tries = 0;
            while self.model.may_change_late(slot) {
                let settled = self
                    .do_op(&writer, Op::Source(slot, random_rescope(&mut random)), None)
                    .await;
                tries += 1;
                if tries == TRIES {
                    return Err(format!("{slot} cannot be settled: {settled:?}").into());
                }
            }
            self.look(library, slot).await?;
        }
        let reading = self.model.read();
        let mut known = Known::new();
        for slot in Slot::all() {
            let possible = reading.possible(slot);
            match possible.len() {
                1 => known.extend(possible.into_iter().map(|now| (slot, now))),
                // The look has reported it.
                _ => return Ok(()),
            }
        }
        drop(reading);
        let oracle = Store::new(shelfward::memory::MemoryStore::new());
        let oracle = store::library(&oracle, store::COLLECTION).await?;
        for (slot, now) in &known {
            if let Some(state) = now {
                let tenant = oracle.tenant(source::tenant_id(slot.tenant)?);
                tenant
                    .index_source(source::index_source(*slot, *state)?)
                    .await?;
            }
        }
        for _ in 0..COMPARED {
            let asked = Asked::random(&mut random);
            let answer = library.search(&asked.scope()?, &asked.request()?).await?;
            if let Some(why) = self
                .compare(library, &oracle, &known, &asked, &answer, recall)
                .await?
            {
                let what = format!(
                    "{why}; {asked:?}, ran {:?}, {} passages",
                    answer.ran,
                    answer.passages.len()
                );
                self.findings.add(Kind::Ranking, what, None);
            }
            self.findings.did("searches compared exactly");
        }
        Ok(())
    }

    /// Why an answer is not what it must be.
    async fn compare(
        &self,
        library: &LibraryIndex,
        oracle: &LibraryIndex,
        known: &Known,
        asked: &Asked,
        answer: &SearchAnswer,
        recall: &mut Recall,
    ) -> Result<Option<String>, Failure> {
        let can = library.capabilities();
        let by_words = asked.clone().with(Mode::Lexical, 1000);
        let by_words = oracle
            .search(&by_words.scope()?, &by_words.request()?)
            .await?;
        let by_words: HashMap<String, f64> = by_words
            .passages
            .iter()
            .map(|p| (p.id.to_string(), p.score))
            .collect();
        let near = nearest(asked, known);
        let all = if asked.mode == Mode::Lexical {
            by_words.len()
        } else {
            near.len()
        };
        if answer.passages.len() > all.min(asked.top_k)
            || can.full == Full::Guaranteed && answer.passages.len() < all.min(asked.top_k)
        {
            return Ok(Some(format!("of {all} that there are")));
        }
        let scores_words = can.lexical.is_some_and(|l| l.scoring == Scoring::Bm25);
        for passage in &answer.passages {
            let id = passage.id.to_string();
            let id = id.as_str();
            let right = |score: Option<f64>, right: Option<&f64>| match (score, right) {
                (Some(score), Some(right)) => {
                    (score - right).abs() <= TOLERANCE * right.abs().max(1.0)
                }
                _ => false,
            };
            if let Some(place) = passage.legs.dense
                && !right(place.score, near.get(id))
            {
                return Ok(Some(format!(
                    "{id} has the cosine {:?}, not {:?}",
                    place.score,
                    near.get(id)
                )));
            }
            // Beyond the most that one search answers, the score is not known.
            let known = by_words.len() < 1000;
            if let Some(place) = passage.legs.lexical
                && scores_words
                && known
                && !right(place.score, by_words.get(id))
            {
                return Ok(Some(format!(
                    "{id} has BM25 {:?}, not {:?}",
                    place.score,
                    by_words.get(id)
                )));
            }
        }
        let best: Vec<f64> = match asked.mode {
            Mode::Dense => sorted(near.values()),
            Mode::Lexical if scores_words => sorted(by_words.values()),
            _ => return Ok(None),
        };
        let approximate = asked.mode == Mode::Dense && can.dense != Dense::Exact;
        let worst = best
            .get(..asked.top_k.min(best.len()))
            .and_then(<[f64]>::last);
        let Some(worst) = worst else { return Ok(None) };
        let is_best = |score: f64| score >= worst - TOLERANCE * worst.abs().max(1.0);
        let found = answer.passages.iter().filter(|p| is_best(p.score)).count();
        let wanted = asked.top_k.min(best.len());
        if approximate {
            recall.found += u64::try_from(found).unwrap_or(0);
            recall.asked += u64::try_from(wanted).unwrap_or(0);
        } else if found < wanted {
            return Ok(Some(format!("{found} of the best {wanted}")));
        }
        Ok(None)
    }

    /// Searches while nothing changes: what is held must not grow with every round.
    pub(crate) async fn at_rest(
        &self,
        library: &LibraryIndex,
        held: impl Fn() -> usize,
    ) -> Result<(), Failure> {
        let mut random = self.random();
        let mut before = held();
        let mut growths = Vec::new();
        for _ in 0..ROUNDS {
            for _ in 0..CALLS {
                self.search(library, &Asked::random(&mut random)).await?;
            }
            let after = held();
            growths.push(after.saturating_sub(before));
            before = after;
            if growths.last().is_some_and(|growth| *growth <= GROWTH) {
                return Ok(());
            }
        }
        let what = format!("held more after each {CALLS} searches at rest, in bytes: {growths:?}");
        self.findings.add(Kind::Memory, what, None);
        Ok(())
    }
}

/// The cosine of each passage that the search may answer, by its id.
fn nearest(asked: &Asked, known: &Known) -> HashMap<String, f64> {
    let asked = asked.clone().with(Mode::Dense, asked.top_k);
    let query = vector(&asked.query);
    let of_tenant = known.iter().filter(|(slot, _)| slot.tenant == asked.tenant);
    let there = of_tenant.filter_map(|(slot, now)| Some((*slot, (*now)?)));
    there
        .flat_map(|(slot, state)| {
            let passages: Vec<_> = asked.answerable(slot, state).collect();
            passages
                .into_iter()
                .map(move |(index, text)| (format!("{}#{index}", slot.id()), text))
        })
        .map(|(id, text)| (id, cosine(&query, &vector(&text))))
        .collect()
}

/// Best first.
fn sorted<'a>(scores: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    let mut scores: Vec<f64> = scores.copied().collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    scores
}
