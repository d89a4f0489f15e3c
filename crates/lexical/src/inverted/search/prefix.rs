//! Queries with words that stand for many words of the index.
//!
//! Every posting of every word is read once, and summed into a table by document. The table covers
//! a stretch of documents at a time, so that its size is bounded.

use shelfward_core::Match;

use crate::inverted::block::Unpacked;

use super::Task;
use super::cursor::near_score;
use super::norms::to_f32;
use super::query::{IndexWord, Leaf};
use super::sums::{STRIDE, scan};
use super::top::Candidates;

/// Documents of a stretch.
const STRETCH: u32 = 1 << 17;

/// Every document that may be among the best, in ascending order.
pub(super) fn search(task: &Task<'_>) -> Vec<u32> {
    let end = task.index.end();
    let size = (end.min(STRETCH) as usize).next_multiple_of(STRIDE);
    let mut table = Table {
        sums: vec![0.0; size],
        parts: vec![0.0; size],
        lacking: match task.search.matching {
            Match::Any => Vec::new(),
            Match::All => vec![0; size],
        },
    };
    let mut progress: Vec<Vec<u32>> = (task.leaves.iter())
        .map(|leaf| vec![0; leaf.words.len()])
        .collect();
    let mut candidates = Candidates::new(task.search.top_k, task.leaves.len());
    let mut from = 0;
    while from < end {
        let to = end.min(from.saturating_add(STRETCH));
        for (leaf, progress) in task.leaves.iter().zip(&mut progress) {
            table.add(task, leaf, progress, from, to);
        }
        table.collect(task, from, &mut candidates);
        from = to;
    }
    candidates.into_documents()
}

struct Table {
    /// What the leaves so far add to each document.
    sums: Vec<f32>,
    /// The best that the words of the leaf at hand add to each.
    parts: Vec<f32>,
    /// How many of the leaves each document lacks; empty where it may lack any.
    lacking: Vec<u32>,
}

impl Table {
    /// Adds what a word of the query adds to the documents from `from` up to, not including, `to`.
    fn add(&mut self, task: &Task<'_>, leaf: &Leaf<'_>, progress: &mut [u32], from: u32, to: u32) {
        let mut block = Unpacked::new();
        for (word, block_at) in leaf.words.iter().zip(progress) {
            let weight = to_f32(word.idf * (task.index.bm25.k1() + 1.0) * leaf.times);
            self.add_word(task, (word, weight), block_at, from..to, &mut block);
        }
        for (lacking, part) in self.lacking.iter_mut().zip(&self.parts) {
            *lacking += u32::from(*part <= 0.0);
        }
        for (sum, part) in self.sums.iter_mut().zip(&mut self.parts) {
            *sum += *part;
            *part = 0.0;
        }
    }

    fn add_word(
        &mut self,
        task: &Task<'_>,
        (word, weight): (&IndexWord<'_>, f32),
        block_at: &mut u32,
        within: std::ops::Range<u32>,
        block: &mut Unpacked,
    ) {
        while (*block_at as usize) < word.list.blocks() {
            word.list.unpack(*block_at as usize, block);
            for posting in block.postings() {
                let Some(at) = posting.document.checked_sub(within.start) else {
                    continue;
                };
                if posting.document >= within.end {
                    // The rest of this block is for the next stretch.
                    return;
                }
                if let Some(best) = self.parts.get_mut(at as usize) {
                    let norm = task.norms.near(posting.document);
                    let part = near_score(weight, posting.count, norm);
                    *best = if part > *best { part } else { *best };
                }
            }
            *block_at += 1;
        }
    }

    /// Takes the documents of the stretch into account, and empties the table.
    fn collect(&mut self, task: &Task<'_>, from: u32, candidates: &mut Candidates) {
        let Self { sums, lacking, .. } = self;
        for (sum, lacking) in sums.iter_mut().zip(lacking.iter_mut()) {
            if std::mem::take(lacking) > 0 {
                *sum = 0.0;
            }
        }
        let mut cut = candidates.cut();
        scan(sums, &mut cut, |at, sum, cut| {
            let document = from.saturating_add(at);
            if task.may_find(document) {
                candidates.offer(document, sum);
                *cut = candidates.cut();
            }
        });
    }
}
