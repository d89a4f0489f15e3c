//! Documents that hold at least one of the words.
//!
//! Document numbers are walked window by window. In each, the words whose bounds together stay
//! below the score of the `k`-th best so far cannot bring a document in by themselves: only the
//! documents of the other words are looked at, and the former are looked up for those of them that
//! may still get there. A window in which all words together stay below is skipped unread.

use super::Task;
use super::cursor::Scorer;
use super::sums::scan;
use super::top::Candidates;

/// Documents of a window. A power of two, so that a document's place in it is a mask away.
const WINDOW: usize = 2048;
const MASK: u32 = WINDOW as u32 - 1;

/// Every document that may be among the best, with its score a little off.
pub(super) fn search(task: &Task<'_>) -> Vec<u32> {
    let scorers = Scorer::of_all(task);
    let mut words: Vec<Word<'_>> = scorers.map(|scorer| Word { scorer, bound: 0.0 }).collect();
    let mut candidates = Candidates::near(task.search.top_k);
    let mut sums = [0.0_f32; WINDOW];
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
    let mut found: Vec<u32> = candidates.into_kept().into_iter().map(|(d, _)| d).collect();
    found.sort_unstable();
    found
}

struct Word<'a> {
    scorer: Scorer<'a>,
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
                    consider(task, helpers, added, document, sum, candidates);
                }
            }),
        leaders => {
            for leader in leaders {
                leader
                    .scorer
                    .for_each_within(task, from, to, |document, score| {
                        sums[(document & MASK) as usize] += score;
                    });
            }
            let mut least = candidates.cut() - added;
            scan(sums, &mut least, |at, sum, least| {
                consider(task, helpers, added, from + at, sum, candidates);
                *least = candidates.cut() - added;
            });
        }
    }
}

/// Completes a document's score, as long as it may be among the best.
fn consider(
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
        if helper.scorer.cursor.seek(document) == Some(document) {
            sum += helper.scorer.score_of(task, document);
        }
    }
    if sum >= candidates.cut() && task.may_find(document) {
        candidates.offer(document, sum);
    }
}
