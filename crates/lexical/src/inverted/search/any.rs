//! Documents that hold at least one of the words.
//!
//! Document numbers are walked window by window. In each, the words whose bounds together stay
//! below the score of the `k`-th best so far cannot bring a document in by themselves: only the
//! documents of the other words are looked at, and the former are looked up for those of them that
//! may still get there. A window in which all words together stay below is skipped unread.

use super::Task;
use super::cursor::Scorer;
use super::top::Candidates;

/// Documents of a window. A power of two, so that a document's place in it is a mask away.
const WINDOW: usize = 1 << BITS;
const MASK: u32 = (1 << BITS) - 1;
const BITS: u32 = 11;

/// Every document that may be among the best, in ascending order: windows and their sums are walked
/// upwards.
pub(super) fn search(task: &Task<'_>) -> Vec<u32> {
    let scorers = Scorer::of_all(task);
    let mut words: Vec<Word<'_>> = scorers.map(Word::new).collect();
    let mut candidates = Candidates::new(task.search.top_k, task.leaves.len());
    let mut sums = Sums::new();
    let end = task.index.end();
    let mut from = 0_u32;
    while from < end {
        // The first window that holds anything.
        let next = words
            .iter_mut()
            .filter_map(|word| word.scorer.cursor.start_from(from));
        let Some(next) = next.min() else { break };
        from = from.max(next & !MASK);
        let to = from | MASK;
        window(task, &mut words, from, to, &mut sums, &mut candidates);
        let Some(behind) = to.checked_add(1) else {
            break;
        };
        from = behind;
    }
    candidates.into_documents()
}

struct Word<'a> {
    scorer: Scorer<'a>,
    /// The best that it can add within the window.
    bound: f32,
    /// The best that it can add to the document at hand.
    bound_here: f32,
}

impl<'a> Word<'a> {
    fn new(scorer: Scorer<'a>) -> Self {
        Self {
            scorer,
            bound: 0.0,
            bound_here: 0.0,
        }
    }
}

fn window(
    task: &Task<'_>,
    words: &mut [Word<'_>],
    from: u32,
    to: u32,
    sums: &mut Sums,
    candidates: &mut Candidates,
) {
    for word in words.iter_mut() {
        word.bound = word.scorer.bound_within(from, to);
    }
    words.sort_unstable_by(|a, b| a.bound.total_cmp(&b.bound));
    // How many words cannot bring a document in, and what they can add together.
    let (mut helpers, mut added) = (0, 0.0);
    for word in words.iter() {
        if added + word.bound >= candidates.cut() {
            break;
        }
        added += word.bound;
        helpers += 1;
    }
    let (helpers, leaders) = words.split_at_mut(helpers);
    match leaders {
        [] => {}
        [leader] => leader
            .scorer
            .for_each_within(task, from, to, |document, sum| {
                if sum + added >= candidates.cut() {
                    consider(task, helpers, document, sum, candidates);
                }
            }),
        leaders => {
            for leader in leaders {
                let scorer = &mut leader.scorer;
                scorer.for_each_within(task, from, to, |document, score| {
                    sums.add(document, score);
                });
            }
            sums.drain(from, |document, sum| {
                if sum + added >= candidates.cut() {
                    consider(task, helpers, document, sum, candidates);
                }
            });
        }
    }
}

/// The sums of a window's documents, and which of them have one: mostly few.
struct Sums {
    sums: [f32; WINDOW],
    touched: [u64; WINDOW / 64],
}

impl Sums {
    fn new() -> Self {
        Self {
            sums: [0.0; WINDOW],
            touched: [0; WINDOW / 64],
        }
    }

    fn add(&mut self, document: u32, score: f32) {
        let at = (document & MASK) as usize;
        self.sums[at] += score;
        self.touched[at / 64] |= 1 << (at % 64);
    }

    /// Calls `each` with every document that has a sum, and empties the table, which is that of the
    /// window at `from`.
    fn drain(&mut self, from: u32, mut each: impl FnMut(u32, f32)) {
        for (start, touched) in (from..).step_by(64).zip(&mut self.touched) {
            let mut rest = std::mem::take(touched);
            while rest != 0 {
                let document = start + rest.trailing_zeros();
                rest &= rest - 1;
                let sum = &mut self.sums[(document & MASK) as usize];
                each(document, std::mem::take(sum));
            }
        }
    }
}

/// Completes a document's score, as long as it may be among the best.
fn consider(
    task: &Task<'_>,
    helpers: &mut [Word<'_>],
    document: u32,
    mut sum: f32,
    candidates: &mut Candidates,
) {
    // First by the bounds of the blocks in which the document would stand, which cost no unpacking.
    let mut rest = 0.0;
    for helper in helpers.iter_mut() {
        helper.bound_here = helper.scorer.bound_at(document);
        rest += helper.bound_here;
    }
    for helper in helpers.iter_mut().rev() {
        if sum + rest < candidates.cut() {
            return;
        }
        rest -= helper.bound_here;
        if helper.bound_here > 0.0 && helper.scorer.cursor.seek(document) == Some(document) {
            sum += helper.scorer.score_of(task, document);
        }
    }
    if sum >= candidates.cut() && task.may_find(document) {
        candidates.offer(document, sum);
    }
}
