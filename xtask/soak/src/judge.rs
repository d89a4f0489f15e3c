//! Judges an answer by what the model says could be in force while it was made.

use std::collections::{BTreeMap, HashSet};

use shelfward::library::{ExecutedMode, FoundPassage, LegRank, Mode, SearchAnswer};

use crate::asked::Asked;
use crate::finding::{Findings, Kind};
use crate::model::{Model, Possible, Reading};
use crate::source::{
    Slot, State, cosine, folder_name, names, passages, tenant_name, text, vector, year,
};

/// What a read is judged with.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'a> {
    pub(crate) model: &'a Model,
    pub(crate) findings: &'a Findings,
}

impl Judge<'_> {
    fn wrong(&self, kind: Kind, slot: Slot, what: String) {
        self.findings.add(kind, what, Some((self.model, slot)));
    }

    /// A whole answer.
    pub(crate) fn answer(&self, asked: &Asked, answer: &SearchAnswer, reading: &Reading<'_>) {
        let mut by_source: BTreeMap<Slot, Vec<&FoundPassage>> = BTreeMap::new();
        for passage in &answer.passages {
            match slot_of(asked.tenant, passage.source_id.as_str()) {
                Some(slot) => by_source.entry(slot).or_default().push(passage),
                None => self.findings.add(
                    Kind::NotInForce,
                    format!("{} names no source; {asked:?}", passage.id),
                    None,
                ),
            }
        }
        self.ranking(asked, answer);
        let short = answer.complete && answer.passages.len() < asked.top_k;
        for slot in Slot::of_tenant(asked.tenant) {
            let found = by_source.remove(&slot).unwrap_or_default();
            if found.is_empty() && !short {
                continue;
            }
            let possible = reading.possible(slot);
            if !found.is_empty() {
                self.source(asked, slot, &found, &possible);
            }
            if short {
                self.complete(asked, slot, &found, &possible);
            }
        }
    }

    /// The passages of one source in one answer are of one state that could be in force.
    fn source(&self, asked: &Asked, slot: Slot, found: &[&FoundPassage], possible: &Possible) {
        let fits = |state: State, passage: &FoundPassage| {
            asked.admits(state)
                && is_of(slot, state, passage)
                && (asked.mode != Mode::Lexical || asked.finds(&passage.text))
        };
        let states: Vec<State> = possible.iter().copied().flatten().collect();
        let whole = |state: &State| found.iter().all(|passage| fits(*state, passage));
        if states.iter().any(whole) {
            return;
        }
        let single = |passage: &&&FoundPassage| !states.iter().any(|state| fits(*state, passage));
        let (kind, passage) = match found.iter().find(single) {
            None => (Kind::MixedVersions, found.first()),
            Some(odd) => {
                let told = |state: &State| {
                    let index = odd.index;
                    *odd.text == *text(slot, state.content, index)
                };
                let hidden = states.iter().any(told)
                    && !states.iter().any(|s| told(s) && asked.may_read(*s));
                let kind = if hidden {
                    Kind::OutsideScope
                } else {
                    Kind::NotInForce
                };
                (kind, Some(odd))
            }
        };
        let shown = passage.map(|p| format!("{:?} {:?}", p.text, p.metadata));
        let what = format!(
            "{slot}: {shown:?} of {} in an answer to {asked:?}; possible {possible:?}",
            found.len()
        );
        self.wrong(kind, slot, what);
    }

    /// What every possible state has that the search can answer is in a complete answer.
    fn complete(&self, asked: &Asked, slot: Slot, found: &[&FoundPassage], possible: &Possible) {
        let Some(mut states) = possible.iter().copied().collect::<Option<Vec<State>>>() else {
            return;
        };
        let Some(first) = states.pop() else { return };
        // Of different contents no passage is in all.
        if !states
            .iter()
            .all(|s| s.content == first.content && asked.admits(*s))
        {
            return;
        }
        let there: HashSet<u32> = found.iter().map(|passage| passage.index).collect();
        let missing = asked
            .answerable(slot, first)
            .find(|(index, _)| !there.contains(index));
        if let Some((index, text)) = missing {
            let what = format!("{slot}#{index} {text:?} is not in a complete answer to {asked:?}");
            self.wrong(Kind::Missing, slot, what);
        }
    }

    /// Scores, order and ranks of an answer by itself.
    fn ranking(&self, asked: &Asked, answer: &SearchAnswer) {
        if let Some(why) = ranking_problem(asked, answer) {
            let what = format!("{why}; {asked:?}, ran {:?}", answer.ran);
            self.findings.add(Kind::Ranking, what, None);
        }
    }

    /// What a fetch of passages 0..n of a source by a reader brought is one state that could be in
    /// force. Answers that state, where the reader sees all there is.
    pub(crate) fn fetched(
        &self,
        asked: &Asked,
        slot: Slot,
        found: &[Option<FoundPassage>],
        reading: &Reading<'_>,
        kind: Kind,
    ) {
        let possible = reading.possible(slot);
        let is = |now: &Option<State>| {
            let state = now.filter(|state| asked.admits(*state));
            let upto = state.map_or(0, |state| passages(state.content) as usize);
            let one = |(i, found): (usize, &Option<FoundPassage>)| match (found, state) {
                (Some(found), Some(state)) => i < upto && is_of(slot, state, found),
                (None, _) => i >= upto,
                (Some(_), None) => false,
            };
            found.iter().enumerate().all(one)
        };
        let fitting: Vec<_> = possible.iter().filter(|now| is(now)).collect();
        match fitting[..] {
            [now] => self.model.observed(slot, reading.from, *now),
            [] => {
                let there = found.iter().flatten();
                let shown = there
                    .clone()
                    .next()
                    .map(|p| format!("{:?} {:?}", p.text, p.metadata));
                let what = format!(
                    "{slot}: a fetch by {:#b} brought {} passages, the first {shown:?}; possible {possible:?}",
                    asked.groups,
                    there.count()
                );
                let readable = possible.iter().flatten().any(|s| asked.may_read(*s));
                let hidden = !readable && found.iter().any(Option::is_some);
                let kind = if hidden { Kind::OutsideScope } else { kind };
                self.wrong(kind, slot, what);
            }
            _ => {}
        }
    }
}

/// Whether a passage is of a source in a state, in all that it says.
pub(crate) fn is_of(slot: Slot, state: State, passage: &FoundPassage) -> bool {
    let index = passage.index;
    let folder = passage.folder_id.as_deref().unwrap_or_default();
    index < passages(state.content)
        && *passage.text == *text(slot, state.content, index)
        && passage.access_groups().eq(names('g', state.place.groups))
        && passage.tags == names('t', state.place.tags).collect::<Vec<_>>()
        && folder == folder_name(state.place.folder)
        && passage.metadata.text("tenantId") == Some(tenant_name(slot.tenant).as_str())
        && passage
            .metadata
            .get("year")
            .and_then(shelfward::Value::as_integer)
            == Some(year(state.content))
        && passage.id == format!("{}#{index}", slot.id())
}

fn slot_of(tenant: usize, id: &str) -> Option<Slot> {
    let source: usize = id.strip_prefix('s')?.parse().ok()?;
    Slot::of_tenant(tenant).find(|slot| slot.source == source)
}

/// The smallest difference between scores that is one.
pub(crate) const TOLERANCE: f64 = 1e-4;

fn ranking_problem(asked: &Asked, answer: &SearchAnswer) -> Option<String> {
    let passages = &answer.passages;
    if passages.len() > asked.top_k {
        return Some(format!("{} passages", passages.len()));
    }
    let mut ids = HashSet::new();
    let mut ranks = HashSet::new();
    for (passage, place) in passages.iter().zip(1_u32..) {
        let id = &passage.id;
        if !ids.insert(id) {
            return Some(format!("{id} comes twice"));
        }
        if !passage.score.is_finite() {
            return Some(format!("{id} has the score {}", passage.score));
        }
        let legs = [passage.legs.dense, passage.legs.lexical];
        for (leg, found) in legs.iter().enumerate() {
            let Some(LegRank { rank, .. }) = found else {
                continue;
            };
            if *rank == 0 || !ranks.insert((leg, *rank)) {
                return Some(format!("two passages have the rank {rank} of leg {leg}"));
            }
            if answer.ran != ExecutedMode::Hybrid && *rank != place {
                return Some(format!("{id} is at place {place} with the rank {rank}"));
            }
        }
        let ran = match answer.ran {
            ExecutedMode::Dense => passage.legs.dense.is_some() && passage.legs.lexical.is_none(),
            ExecutedMode::Lexical => passage.legs.lexical.is_some() && passage.legs.dense.is_none(),
            ExecutedMode::Hybrid => {
                let fused: f64 = legs
                    .iter()
                    .flatten()
                    .map(|p| 1.0 / (60.0 + f64::from(p.rank)))
                    .sum();
                (fused - passage.score).abs() < 1e-9
            }
            _ => false,
        };
        if !ran {
            return Some(format!(
                "{id} scores {} by {:?}",
                passage.score, passage.legs
            ));
        }
        // The score is that of the text it stands beside, not of one before or after it.
        let of_text = cosine(&vector(&asked.query), &vector(&passage.text));
        if let Some(score) = passage.legs.dense.and_then(|place| place.score)
            && (score - of_text).abs() > TOLERANCE
        {
            return Some(format!("{id} has the cosine {score}, its text {of_text}"));
        }
        if passage.legs.lexical.is_some() && !asked.finds(&passage.text) {
            return Some(format!("{id} {:?} is found by words", passage.text));
        }
    }
    let order = |p: &FoundPassage| (p.source_id.clone(), p.index);
    for pair in passages.windows(2) {
        let [first, second] = pair else { continue };
        if first.score < second.score || first.score == second.score && order(first) > order(second)
        {
            return Some(format!(
                "{} ({}) before {} ({})",
                first.id, first.score, second.id, second.score
            ));
        }
    }
    None
}
