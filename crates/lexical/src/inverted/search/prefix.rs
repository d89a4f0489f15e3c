//! Queries with words that stand for many words of the index.
//!
//! Every posting of every word is read once, and summed into a table by document. The table covers
//! a stretch of documents at a time, so that its size is bounded.

use shelfward_core::Match;

use crate::inverted::block::Unpacked;

use super::query::{IndexWord, Leaf};
use super::top::Candidates;
use super::{Ranked, Task};

/// Documents of a stretch.
const STRETCH: u32 = 1 << 18;

/// Every document that may be among the best.
pub(super) fn search(task: &Task<'_>) -> Vec<Ranked> {
    let end = task.index.end();
    let size = end.min(STRETCH) as usize;
    let mut table = Table {
        cells: vec![Cell::default(); size],
        parts: vec![0.0; size],
    };
    let mut progress: Vec<Vec<u32>> = (task.leaves.iter())
        .map(|leaf| vec![0; leaf.words.len()])
        .collect();
    let mut candidates = Candidates::exact(task.search.top_k);
    let mut from = 0;
    while from < end {
        let to = end.min(from.saturating_add(STRETCH));
        for (leaf, progress) in task.leaves.iter().zip(&mut progress) {
            table.add(task, leaf, progress, from, to);
        }
        table.collect(task, from, &mut candidates);
        from = to;
    }
    candidates.into_kept().into_iter().map(|(r, _)| r).collect()
}

/// What is known of a document.
#[derive(Clone, Copy, Default)]
struct Cell {
    score: f64,
    /// Where it was first met, from 1; 0 where it was not.
    met: u32,
    /// How many words of the query it holds.
    leaves: u32,
}

struct Table {
    cells: Vec<Cell>,
    /// The best part that the leaf at hand adds to each document.
    parts: Vec<f64>,
}

impl Table {
    /// Adds what a word of the query adds to the documents from `from` up to, not including, `to`.
    fn add(&mut self, task: &Task<'_>, leaf: &Leaf<'_>, progress: &mut [u32], from: u32, to: u32) {
        let mut block = Unpacked::new();
        for ((met, word), block_at) in (leaf.met + 1..).zip(&leaf.words).zip(progress) {
            self.add_word(task, word, met, block_at, from, to, &mut block);
        }
        for (cell, part) in self.cells.iter_mut().zip(&mut self.parts) {
            if *part > 0.0 {
                cell.score += *part * leaf.times;
                cell.leaves += 1;
                *part = 0.0;
            }
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one loop, cut out to be read by itself"
    )]
    fn add_word(
        &mut self,
        task: &Task<'_>,
        word: &IndexWord<'_>,
        met: u32,
        block_at: &mut u32,
        from: u32,
        to: u32,
        block: &mut Unpacked,
    ) {
        while (*block_at as usize) < word.list.blocks() {
            word.list.unpack(*block_at as usize, block);
            for posting in block.postings() {
                if posting.document < from {
                    continue;
                }
                if posting.document >= to {
                    // The rest of this block is for the next stretch.
                    return;
                }
                let at = (posting.document - from) as usize;
                let (Some(cell), Some(best)) = (self.cells.get_mut(at), self.parts.get_mut(at))
                else {
                    return;
                };
                let norm = task.norms.exact(posting.document);
                let part = task.index.bm25.part(word.idf, posting.count, norm);
                if part > *best {
                    *best = part;
                }
                if cell.met == 0 {
                    cell.met = met;
                }
            }
            *block_at += 1;
        }
    }

    /// Takes the documents of the stretch into account, and empties the table.
    fn collect(&mut self, task: &Task<'_>, from: u32, candidates: &mut Candidates<Ranked, f64>) {
        let wanted = match task.search.matching {
            Match::Any => 1,
            Match::All => u32::try_from(task.leaves.len()).unwrap_or(u32::MAX),
        };
        for (document, cell) in (from..).zip(&mut self.cells) {
            let cell = std::mem::take(cell);
            if cell.leaves >= wanted && cell.score >= candidates.cut() && task.may_find(document) {
                let ranked = Ranked {
                    document,
                    score: cell.score,
                    met: cell.met,
                };
                candidates.offer(ranked, cell.score);
            }
        }
    }
}
