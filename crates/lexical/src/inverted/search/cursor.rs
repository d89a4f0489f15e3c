//! A place in a list of postings, which only moves forward.

use crate::inverted::block::Unpacked;
use crate::inverted::bounds::rounded_up;
use crate::inverted::list::List;

use super::Task;
use super::norms::to_f32;
use super::query::Leaf;

/// Walks a list, unpacking no block that it can step over.
pub(super) struct Cursor<'a> {
    list: &'a List,
    blocks: usize,
    /// The block that is looked at. The documents of those before lie behind.
    block: usize,
    /// Which block is unpacked.
    unpacked_block: usize,
    /// Apart, since cursors are put in order again and again.
    unpacked: Box<Unpacked>,
    has_counts: bool,
    position: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(list: &'a List) -> Self {
        Self {
            list,
            blocks: list.blocks(),
            block: 0,
            unpacked_block: usize::MAX,
            unpacked: Box::new(Unpacked::new()),
            has_counts: false,
            position: 0,
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

    /// The next documents from `from` up to and including `to`, as many as stand together, and how
    /// often each holds the word. Moves behind them; `None` when there are no more.
    fn run_within(&mut self, from: u32, to: u32) -> Option<(&[u32], &[u32])> {
        loop {
            self.block_from(from)?;
            self.load();
            let documents = self.unpacked.documents();
            let rest = documents.get(self.position..)?;
            let start = self.position + rest.partition_point(|document| *document < from);
            let rest = documents.get(start..)?;
            let end = start + rest.partition_point(|document| *document <= to);
            let is_last = end < documents.len();
            self.position = end;
            if start < end {
                self.load_counts();
                if !is_last {
                    self.block += 1;
                }
                return Some((
                    self.unpacked.documents.get(start..end)?,
                    self.unpacked.counts.get(start..end)?,
                ));
            }
            if is_last {
                return None;
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

    /// How often the document that [`seek`](Self::seek) answered holds the word.
    pub(super) fn count_here(&mut self) -> Option<u32> {
        self.load_counts();
        self.unpacked.counts.get(self.position).copied()
    }
}

/// A cursor with what its word adds to a score, a little off.
pub(super) struct Scorer<'a> {
    pub(super) cursor: Cursor<'a>,
    /// What the word's score is multiplied by: `idf × (k1 + 1)`, times how often it is asked for.
    weight: f32,
    /// What bounds of blocks must be multiplied by under today's average length.
    shrink: f32,
    /// The best that the tail, or a list without blocks, can add.
    tail_bound: f32,
}

impl<'a> Scorer<'a> {
    /// One for each leaf, for leaves that stand for one word.
    pub(super) fn of_all(task: &Task<'a>) -> impl Iterator<Item = Self> {
        let of = |leaf: &Leaf<'a>| {
            let word = leaf.words.first()?;
            let weight = word.idf * (task.index.bm25.k1() + 1.0) * leaf.times;
            let mut cursor = Cursor::new(word.list);
            Some(Self {
                weight: to_f32(weight),
                shrink: task.index.shrink(),
                tail_bound: tail_bound(task, &mut cursor, weight),
                cursor,
            })
        };
        task.leaves.iter().filter_map(of)
    }

    /// The best that a document of block `at` can get.
    fn bound(&self, at: usize) -> f32 {
        match self.cursor.list.header(at) {
            Some(header) => self.weight / (1.0 + header.least * self.shrink),
            None => self.tail_bound,
        }
    }

    /// The best that `document` can get; documents only move forward.
    pub(super) fn bound_at(&mut self, document: u32) -> f32 {
        match self.cursor.block_from(document) {
            Some(_) => self.bound(self.cursor.block),
            None => 0.0,
        }
    }

    /// The best that a document from `from` up to and including `to` can get; 0 where there is
    /// none.
    pub(super) fn bound_within(&mut self, from: u32, to: u32) -> f32 {
        let mut best = 0.0_f32;
        let Some(mut last) = self.cursor.block_from(from) else {
            return best;
        };
        let mut at = self.cursor.block;
        loop {
            best = best.max(self.bound(at));
            at += 1;
            if last >= to || at >= self.cursor.blocks {
                return best;
            }
            last = self.cursor.list.last_of(at);
        }
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
        let weight = self.weight;
        while let Some((documents, counts)) = self.cursor.run_within(from, to) {
            for (document, count) in documents.iter().zip(counts) {
                each(
                    *document,
                    near_score(weight, *count, task.norms.near(*document)),
                );
            }
        }
    }

    /// What the word adds to `document`, which the cursor's `seek` answered.
    pub(super) fn score_of(&mut self, task: &Task<'_>, document: u32) -> f32 {
        match self.cursor.count_here() {
            Some(count) => near_score(self.weight, count, task.norms.near(document)),
            None => 0.0,
        }
    }
}

/// The best that a document of the tail can get; the tail has no bound of its own, and is short.
fn tail_bound(task: &Task<'_>, cursor: &mut Cursor<'_>, weight: f64) -> f32 {
    let last = cursor.blocks.saturating_sub(1);
    if cursor.list.header(last).is_some() {
        return 0.0;
    }
    cursor.list.unpack(last, &mut cursor.unpacked);
    (cursor.unpacked_block, cursor.has_counts) = (last, true);
    let ratio = |posting: crate::inverted::Posting| {
        task.norms.exact(posting.document) / f64::from(posting.count)
    };
    let ratios = cursor.unpacked.postings().map(ratio);
    rounded_up(weight / (1.0 + ratios.fold(f64::INFINITY, f64::min)))
}

/// What a word adds to a document that holds it `count` times, a little off.
#[inline]
pub(super) fn near_score(weight: f32, count: u32, norm: f32) -> f32 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a little off is what the slack of candidates is for"
    )]
    let count = count as f32;
    weight * count / (count + norm)
}
