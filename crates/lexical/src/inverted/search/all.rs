//! Documents that hold every one of the words.
//!
//! The rarest word leads; the others are looked up for its documents. A block of it in which all
//! words together stay below the score of the `k`-th best so far is skipped unread.

use super::Task;
use super::cursor::Cursor;
use super::top::Candidates;

/// Every document that may be among the best, with its score a little off.
pub(super) fn search(task: &Task<'_>) -> Vec<u32> {
    let cursors = task.leaves.iter().filter_map(|leaf| Cursor::of(task, leaf));
    let mut cursors: Vec<_> = cursors.collect();
    cursors.sort_by_key(Cursor::len);
    let mut candidates = Candidates::near(task.search.top_k);
    if let Some((leader, others)) = cursors.split_first_mut() {
        let mut from = 0;
        while let Some(to) = leader.block_from(from) {
            block(task, leader, others, from, to, &mut candidates);
            let Some(behind) = to.checked_add(1) else {
                break;
            };
            from = behind;
        }
    }
    candidates.into_kept().into_iter().map(|(d, _)| d).collect()
}

/// Looks at the documents from `from` up to and including `to`.
fn block(
    task: &Task<'_>,
    leader: &mut Cursor<'_>,
    others: &mut [Cursor<'_>],
    from: u32,
    to: u32,
    candidates: &mut Candidates<u32, f32>,
) {
    let mut bound = leader.bound_within(from, to);
    for other in others.iter_mut() {
        bound += other.bound_within(from, to);
    }
    if bound < candidates.cut() {
        return;
    }
    let mut at = from;
    'documents: while let Some(document) = leader.seek(at).filter(|document| *document <= to) {
        for other in others.iter_mut() {
            match other.seek(document) {
                Some(found) if found == document => {}
                Some(found) if found <= to => {
                    at = found;
                    continue 'documents;
                }
                // Nothing more of it in this block.
                _ => return,
            }
        }
        let others_add = others.iter_mut().map(|other| other.score_here(task));
        let sum = leader.score_here(task) + others_add.sum::<f32>();
        if sum >= candidates.cut() && task.may_find(document) {
            candidates.offer(document, sum);
        }
        let Some(next) = document.checked_add(1) else {
            return;
        };
        at = next;
    }
}
