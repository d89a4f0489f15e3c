//! A place in a list of postings, which only moves forward.

use crate::inverted::block::Unpacked;
use crate::inverted::bounds::rounded_up;
use crate::inverted::list::List;

use super::Task;
use super::norms::to_f32;
use super::query::Leaf;

/// Walks the list of one word of the index, with what the word adds to a score.
pub(super) struct Cursor<'a> {
    list: &'a List,
    blocks: usize,
    /// What the word's score is multiplied by: `idf × (k1 + 1)`, times how often it is asked for.
    weight: f32,
    /// What bounds of blocks must be multiplied by under today's average length.
    shrink: f32,
    /// The best that the tail, or a list without blocks, can add.
    tail_bound: f32,
    /// The block that is looked at. The documents of those before lie behind.
    block: usize,
    /// Which block is unpacked.
    unpacked_block: usize,
    unpacked: Box<Unpacked>,
    has_counts: bool,
    position: usize,
}

impl<'a> Cursor<'a> {
    /// The cursor of a leaf that stands for one word.
    pub(super) fn of(task: &Task<'a>, leaf: &Leaf<'a>) -> Option<Self> {
        let word = leaf.words.first()?;
        let weight = word.idf * (task.index.bm25.k1() + 1.0) * leaf.times;
        let mut cursor = Self {
            list: word.list,
            blocks: word.list.blocks(),
            weight: to_f32(weight),
            shrink: task.index.shrink(),
            tail_bound: 0.0,
            block: 0,
            unpacked_block: usize::MAX,
            unpacked: Box::new(Unpacked::new()),
            has_counts: false,
            position: 0,
        };
        cursor.bound_tail(task, weight);
        Some(cursor)
    }

    fn bound_tail(&mut self, task: &Task<'_>, weight: f64) {
        let last = self.blocks.saturating_sub(1);
        if self.list.header(last).is_none() {
            self.list.unpack(last, &mut self.unpacked);
            let least = (self.unpacked.postings())
                .map(|posting| task.norms.exact(posting.document) / f64::from(posting.count))
                .fold(f64::INFINITY, f64::min);
            self.tail_bound = rounded_up(weight / (1.0 + least));
            (self.unpacked_block, self.has_counts) = (last, true);
        }
    }

    /// The best that a document of block `at` can get.
    fn bound(&self, at: usize) -> f32 {
        match self.list.header(at) {
            Some(header) => self.weight / (1.0 + header.least * self.shrink),
            None => self.tail_bound,
        }
    }

    /// How many documents the list has.
    pub(super) fn len(&self) -> u32 {
        self.list.len()
    }

    /// Moves to the block with the first documents from `from` on, and answers its last document.
    /// `None` behind the end.
    pub(super) fn block_from(&mut self, from: u32) -> Option<u32> {
        while self.block < self.blocks {
            let last = self.list.last_of(self.block);
            if last >= from {
                return Some(last);
            }
            self.block += 1;
        }
        None
    }

    /// No document from `from` on lies below the answer. `None` behind the end.
    pub(super) fn start_from(&mut self, from: u32) -> Option<u32> {
        self.block_from(from)?;
        let start = self.list.start_of(self.block);
        Some(start.max(from))
    }

    /// The best that a document from `from` up to and including `to` can get; 0 where there is
    /// none.
    pub(super) fn bound_within(&mut self, from: u32, to: u32) -> f32 {
        let mut best = 0.0_f32;
        let Some(mut last) = self.block_from(from) else {
            return best;
        };
        let mut at = self.block;
        loop {
            best = best.max(self.bound(at));
            at += 1;
            if last >= to || at >= self.blocks {
                return best;
            }
            last = self.list.last_of(at);
        }
    }

    fn load(&mut self) {
        if self.unpacked_block != self.block {
            self.has_counts = self.list.unpack_documents(self.block, &mut self.unpacked);
            self.unpacked_block = self.block;
            self.position = 0;
        }
    }

    fn load_counts(&mut self) {
        if !self.has_counts {
            self.list.unpack_counts(self.block, &mut self.unpacked);
            self.has_counts = true;
        }
    }

    /// What the word adds to a document that holds it `count` times.
    fn score(&self, task: &Task<'_>, document: u32, count: u32) -> f32 {
        near_score(self.weight, count, task.norms.near(document))
    }

    /// Calls `each` with every document from `from` up to and including `to`, and what the word
    /// adds to it.
    pub(super) fn for_each_within(
        &mut self,
        task: &Task<'_>,
        from: u32,
        to: u32,
        mut each: impl FnMut(u32, f32),
    ) {
        while self.block_from(from).is_some() {
            self.load();
            self.load_counts();
            let documents = self.unpacked.documents();
            let rest = documents.get(self.position..).unwrap_or_default();
            let start = self.position + rest.partition_point(|document| *document < from);
            let rest = documents.get(start..).unwrap_or_default();
            let end = start + rest.partition_point(|document| *document <= to);
            let counts = self.unpacked.counts.get(start..end).unwrap_or_default();
            for (document, count) in rest.iter().zip(counts) {
                let score = near_score(self.weight, *count, task.norms.near(*document));
                each(*document, score);
            }
            self.position = end;
            if end < documents.len() {
                return;
            }
            self.block += 1;
        }
    }

    /// Moves to the first document from `from` on and answers it. `None` behind the end.
    pub(super) fn seek(&mut self, from: u32) -> Option<u32> {
        self.block_from(from)?;
        self.load();
        let documents = self.unpacked.documents();
        // Mostly the next is near.
        let rest = documents.get(self.position..)?;
        let step = match rest.iter().take(4).position(|document| *document >= from) {
            Some(step) => step,
            None => rest.partition_point(|document| *document < from),
        };
        self.position += step;
        documents.get(self.position).copied()
    }

    /// What the word adds to the document that [`seek`](Self::seek) answered.
    pub(super) fn score_here(&mut self, task: &Task<'_>) -> f32 {
        self.load_counts();
        match self.here() {
            Some((document, count)) => self.score(task, document, count),
            None => 0.0,
        }
    }

    /// How often the document that [`seek`](Self::seek) answered holds the word.
    pub(super) fn count_here(&mut self) -> Option<u32> {
        self.load_counts();
        self.here().map(|(_, count)| count)
    }

    fn here(&self) -> Option<(u32, u32)> {
        let document = self.unpacked.documents().get(self.position)?;
        let count = self.unpacked.counts.get(self.position)?;
        Some((*document, *count))
    }
}

#[inline]
fn near_score(weight: f32, count: u32, norm: f32) -> f32 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a little off is what the slack is for"
    )]
    let count = count as f32;
    weight * count / (count + norm)
}
