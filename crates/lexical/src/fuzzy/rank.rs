//! Scoring: the documents that match, best first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use shelfward_core::Match;

use super::dictionary::Kind;
use super::settings::Checked;

/// That a document holds a word.
#[derive(Clone, Copy)]
pub(super) struct Posting {
    /// The document's slot. A word's postings ascend by it, and each slot occurs once.
    pub(super) slot: u32,
    /// Of the fields that hold the word, the one that weighs most: no other can be the best match.
    pub(super) field: u16,
}

/// What matches can be worth: each product of a count and a weight has a level, from 1, and a higher
/// level is worth more. Levels are small, so that a block of them stays in the nearest cache.
#[derive(Clone)]
pub(super) struct Levels {
    /// By kind of match, then by field.
    of: [Vec<u16>; 3],
    /// By level.
    worth: Vec<f64>,
}

impl Levels {
    pub(super) fn new(settings: &Checked) -> Self {
        let fields = 0..u16::try_from(settings.by_weight.len()).unwrap_or(u16::MAX);
        let product = |kind: Kind, field| kind.count() * settings.weight(field);
        let mut worth: Vec<f64> = Kind::ALL
            .iter()
            .flat_map(|kind| fields.clone().map(move |field| product(*kind, field)))
            .collect();
        worth.sort_by(f64::total_cmp);
        worth.dedup();
        let level = |worth_of: f64| {
            let below = worth.partition_point(|worth| *worth < worth_of);
            u16::try_from(below + 1).unwrap_or(u16::MAX)
        };
        let of = Kind::ALL.map(|kind| {
            fields
                .clone()
                .map(|field| level(product(kind, field)))
                .collect()
        });
        worth.insert(0, 0.0);
        Self { of, worth }
    }

    fn of_kind(&self, kind: Kind) -> &[u16] {
        let [same, begun, edited] = &self.of;
        match kind {
            Kind::Same => same,
            Kind::Begun => begun,
            Kind::Edited => edited,
        }
    }

    fn worth(&self, level: u16) -> f64 {
        self.worth.get(usize::from(level)).copied().unwrap_or(0.0)
    }
}

/// A query word: how often the query has it, and the postings of every stored word that matches.
pub(super) struct Wanted<'a> {
    pub(super) times: f64,
    pub(super) lists: Vec<List<'a>>,
}

/// The postings of a matching word that were not read yet.
pub(super) struct List<'a> {
    pub(super) rest: &'a [Posting],
    pub(super) kind: Kind,
}

impl<'a> List<'a> {
    /// Takes the postings of the slots from `start` up to but not including `end`, and skips those
    /// before.
    fn take(&mut self, start: u32, end: u32) -> &'a [Posting] {
        match self.rest.first() {
            None => return &[],
            Some(next) if next.slot >= end => return &[],
            Some(next) if next.slot < start => {
                let skipped = self.rest.partition_point(|posting| posting.slot < start);
                self.rest = self.rest.get(skipped..).unwrap_or_default();
            }
            Some(_) => {}
        }
        let taken = self.rest.partition_point(|posting| posting.slot < end);
        let (taken, rest) = self.rest.split_at(taken);
        self.rest = rest;
        taken
    }
}

/// A slot and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranked {
    pub(super) score: f64,
    pub(super) slot: u32,
}

/// The greatest is the worst, so that a heap has the one to drop on top: the lowest score, and of
/// equals the one that was added last.
impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then(self.slot.cmp(&other.slot))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Ranked {}

/// How many slots are scored at a time. What is kept for each fits the second cache, and a search
/// needs no more memory for a greater index.
const BLOCK: u32 = 1 << 14;

/// How many postings are read in the time that looking one up among them takes.
const LOOK_UP: usize = 16;

/// The `top_k` best of the living slots below `slots`, best first.
pub(super) fn rank(
    mut wanted: Vec<Wanted<'_>>,
    matching: Match,
    top_k: usize,
    slots: u32,
    levels: &Levels,
    living: impl Fn(u32) -> bool,
) -> Vec<Ranked> {
    if matching == Match::All {
        if wanted.iter().any(|word| word.lists.is_empty()) {
            return Vec::new();
        }
        // The rarest first: it leaves the fewest to look at.
        let postings =
            |word: &Wanted<'_>| word.lists.iter().map(|list| list.rest.len()).sum::<usize>();
        wanted.sort_by_cached_key(postings);
    }
    if wanted.is_empty() || top_k == 0 {
        return Vec::new();
    }
    let mut best: BinaryHeap<Ranked> = BinaryHeap::new();
    let mut block = Block::new(slots.min(BLOCK) as usize);
    let mut start = 0;
    while start < slots {
        let end = start.saturating_add(BLOCK).min(slots);
        block.score(&mut wanted, matching, start, end, levels);
        block.take_all(|at, score| {
            let found = Ranked {
                score,
                slot: start + at,
            };
            let full = best.len() >= top_k;
            let beaten = full && best.peek().is_some_and(|worst| found > *worst);
            if !beaten && living(found.slot) {
                if full {
                    best.pop();
                }
                best.push(found);
            }
        });
        start = end;
    }
    best.into_sorted_vec()
}

/// The slots that are scored together, each by its place in the block.
struct Block {
    /// The best match of the query word at hand; 0 where there is none.
    level: Vec<u16>,
    /// How many of the query's words matched so far.
    matched: Vec<u32>,
    score: Vec<f64>,
    /// Where the word at hand matched.
    touched: Vec<u32>,
    /// Where the words so far matched: every one, or at least one.
    candidates: Vec<u32>,
}

impl Block {
    fn new(slots: usize) -> Self {
        Self {
            level: vec![0; slots],
            matched: vec![0; slots],
            score: vec![0.0; slots],
            touched: Vec::new(),
            candidates: Vec::new(),
        }
    }

    fn score(
        &mut self,
        wanted: &mut [Wanted<'_>],
        matching: Match,
        start: u32,
        end: u32,
        levels: &Levels,
    ) {
        for (word, before) in wanted.iter_mut().zip(0..) {
            let narrows = matching == Match::All && before > 0;
            if narrows && self.candidates.is_empty() {
                return;
            }
            for list in &mut word.lists {
                let of_field = levels.of_kind(list.kind);
                let level = |posting: &Posting| {
                    let level = of_field.get(usize::from(posting.field));
                    level.copied().unwrap_or(0)
                };
                let postings = list.take(start, end);
                if !narrows {
                    for posting in postings {
                        self.raise(posting.slot - start, level(posting));
                    }
                } else if self.candidates.len() * LOOK_UP < postings.len() {
                    self.look_up_candidates(postings, start, level);
                } else {
                    for posting in postings {
                        self.raise_candidate(posting.slot - start, level(posting), before);
                    }
                }
            }
            if narrows {
                self.keep_matched(word.times, levels);
            } else {
                self.add_touched(word.times, levels);
            }
        }
    }

    fn raise(&mut self, at: u32, level: u16) {
        if let Some(held) = self.level.get_mut(at as usize) {
            if *held == 0 {
                self.touched.push(at);
            }
            *held = level.max(*held);
        }
    }

    /// As `raise`, where all the words before matched too.
    fn raise_candidate(&mut self, at: u32, level: u16, before: u32) {
        let at = at as usize;
        if self.matched.get(at) == Some(&before)
            && let Some(held) = self.level.get_mut(at)
        {
            *held = level.max(*held);
        }
    }

    /// As `raise_candidate` over all postings, for fewer candidates than there are postings by far.
    fn look_up_candidates(
        &mut self,
        postings: &[Posting],
        start: u32,
        level: impl Fn(&Posting) -> u16,
    ) {
        for at in &self.candidates {
            let found = postings.binary_search_by_key(&(start + at), |posting| posting.slot);
            let posting = found.ok().and_then(|found| postings.get(found));
            if let Some(posting) = posting
                && let Some(held) = self.level.get_mut(*at as usize)
            {
                *held = level(posting).max(*held);
            }
        }
    }

    /// Scores what the word at hand matched.
    fn add_touched(&mut self, times: f64, levels: &Levels) {
        for at in std::mem::take(&mut self.touched) {
            if self.add(at, times, levels) == Some(1) {
                self.candidates.push(at);
            }
        }
    }

    /// Scores the candidates that the word at hand matched, and drops the others.
    fn keep_matched(&mut self, times: f64, levels: &Levels) {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.retain(|at| {
            let matched = self.level.get(*at as usize).is_some_and(|level| *level > 0);
            if matched {
                self.add(*at, times, levels);
            } else {
                self.clear(*at);
            }
            matched
        });
        self.candidates = candidates;
    }

    /// Adds the level at a place to its score; answers how many words matched there by now.
    fn add(&mut self, at: u32, times: f64, levels: &Levels) -> Option<u32> {
        let at = at as usize;
        let level = std::mem::take(self.level.get_mut(at)?);
        *self.score.get_mut(at)? += times * levels.worth(level);
        let matched = self.matched.get_mut(at)?;
        *matched += 1;
        Some(*matched)
    }

    fn clear(&mut self, at: u32) -> f64 {
        let at = at as usize;
        if let Some(matched) = self.matched.get_mut(at) {
            *matched = 0;
        }
        self.score.get_mut(at).map(std::mem::take).unwrap_or(0.0)
    }

    /// Gives every candidate with its score to `take`, and leaves the block empty.
    fn take_all(&mut self, mut take: impl FnMut(u32, f64)) {
        for at in std::mem::take(&mut self.candidates) {
            let score = self.clear(at);
            take(at, score);
        }
    }
}
