//! Documents that hold at least one of the words.
//!
//! Document numbers are walked window by window. In each, the words whose bounds together stay
//! below the score of the `k`-th best so far cannot bring a document in by themselves: only the
//! documents of the other words are looked at, and the former are looked up for those of them that
//! may still get there. A window in which all words together stay below is skipped unread.

use super::Task;
use super::cursor::Cursor;
use super::top::Candidates;

/// Documents of a window. A power of two, so that a document's place in it is a mask away.
const WINDOW: usize = 2048;
const MASK: u32 = WINDOW as u32 - 1;

/// Every document that may be among the best, with its score a little off.
pub(super) fn search(task: &Task<'_>) -> Vec<u32> {
    let cursors = task.leaves.iter().filter_map(|leaf| Cursor::of(task, leaf));
    let mut words: Vec<Word<'_>> = cursors.map(|cursor| Word { cursor, bound: 0.0 }).collect();
    let mut candidates = Candidates::near(task.search.top_k);
    let mut sums = [0.0_f32; WINDOW];
    let end = task.index.end();
    let mut from = 0_u32;
    while from < end {
        // The first window that holds anything.
        let next = words
            .iter_mut()
            .filter_map(|word| word.cursor.start_from(from));
        let Some(next) = next.min() else { break };
        from = from.max(next & !MASK);
        let to = from | MASK;
        window(task, &mut words, from, to, &mut sums, &mut candidates);
        let Some(behind) = to.checked_add(1) else {
            break;
        };
        from = behind;
    }
    let mut found: Vec<u32> = candidates.into_kept().into_iter().map(|(d, _)| d).collect();
    found.sort_unstable();
    found
}

struct Word<'a> {
    cursor: Cursor<'a>,
    /// The best that it can add within the window.
    bound: f32,
}

fn window(
    task: &Task<'_>,
    words: &mut [Word<'_>],
    from: u32,
    to: u32,
    sums: &mut [f32; WINDOW],
    candidates: &mut Candidates<u32, f32>,
) {
    for word in words.iter_mut() {
        word.bound = word.cursor.bound_within(from, to);
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
    let mut consider = |document: u32, sum: f32| {
        if sum + added >= candidates.cut() {
            offer(task, helpers, added, document, sum, candidates);
        }
    };
    match leaders {
        [] => {}
        [leader] => leader.cursor.for_each_within(task, from, to, consider),
        leaders => {
            for leader in leaders {
                leader
                    .cursor
                    .for_each_within(task, from, to, |document, score| {
                        sums[(document & MASK) as usize] += score;
                    });
            }
            for (document, sum) in (from..=to).zip(sums.iter_mut()) {
                if *sum > 0.0 {
                    consider(document, *sum);
                    *sum = 0.0;
                }
            }
        }
    }
}

/// Completes a document's score, as long as it may be among the best.
fn offer(
    task: &Task<'_>,
    helpers: &mut [Word<'_>],
    mut added: f32,
    document: u32,
    mut sum: f32,
    candidates: &mut Candidates<u32, f32>,
) {
    for helper in helpers.iter_mut().rev() {
        if sum + added < candidates.cut() {
            return;
        }
        added -= helper.bound;
        if helper.cursor.seek(document) == Some(document) {
            sum += helper.cursor.score_here(task);
        }
    }
    if sum >= candidates.cut() && task.may_find(document) {
        candidates.offer(document, sum);
    }
}
