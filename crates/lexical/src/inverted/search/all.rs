//! Documents that hold every one of the words.
//!
//! The rarest word leads; the others are looked up for its documents, and only as long as a document
//! may still be among the best. A block of the leader in which all words together stay below the
//! score of the `k`-th best so far is skipped unread.

use super::Task;
use super::cursor::Scorer;
use super::top::Candidates;

/// Every document that may be among the best, in ascending order.
pub(super) fn search(task: &Task<'_>) -> Vec<u32> {
    let mut words: Vec<Word<'_>> = Scorer::of_all(task)
        .map(|scorer| Word { scorer, rest: 0.0 })
        .collect();
    words.sort_by_key(|word| word.scorer.cursor.len());
    let mut candidates = Candidates::new(task.search.top_k, task.leaves.len());
    if let Some((leader, others)) = words.split_first_mut() {
        let mut from = 0;
        while let Some(to) = leader.scorer.cursor.block_from(from) {
            block(task, &mut leader.scorer, others, from, to, &mut candidates);
            let Some(behind) = to.checked_add(1) else {
                break;
            };
            from = behind;
        }
    }
    candidates.into_documents()
}

struct Word<'a> {
    scorer: Scorer<'a>,
    /// The best that it and the words behind it can add within the block.
    rest: f32,
}

/// Looks at the leader's documents from `from` up to and including `to`.
fn block(
    task: &Task<'_>,
    leader: &mut Scorer<'_>,
    others: &mut [Word<'_>],
    from: u32,
    to: u32,
    candidates: &mut Candidates,
) {
    let mut rest = 0.0;
    for word in others.iter_mut().rev() {
        rest += word.scorer.bound_within(from, to);
        word.rest = rest;
    }
    if leader.bound_within(from, to) + rest < candidates.cut() {
        return;
    }
    // The leader's documents below lack one of the other words.
    let mut next = from;
    leader.for_each_within(task, from, to, |document, score| {
        if document < next || score + rest < candidates.cut() {
            return;
        }
        let mut sum = score;
        for word in others.iter_mut() {
            if sum + word.rest < candidates.cut() {
                return;
            }
            match word.scorer.cursor.seek(document) {
                Some(found) if found == document => sum += word.scorer.score_of(task, document),
                Some(found) => {
                    next = found;
                    return;
                }
                None => {
                    next = u32::MAX;
                    return;
                }
            }
        }
        if sum >= candidates.cut() && task.may_find(document) {
            candidates.offer(document, sum);
        }
    });
}
