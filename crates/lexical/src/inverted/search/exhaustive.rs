//! The formula, written down.

use std::collections::HashMap;

use shelfward_core::Match;

use super::{Ranked, Task};

/// Every document that matches.
pub(super) fn search(task: &Task<'_>) -> Vec<Ranked> {
    let mut found: HashMap<u32, (Ranked, usize)> = HashMap::new();
    for leaf in task.leaves {
        // The best part of each document, and where it was first met.
        let mut best: HashMap<u32, (f64, u32)> = HashMap::new();
        for (met, word) in (leaf.met..).zip(&leaf.words) {
            word.list.for_each(|posting| {
                let norm = task.norms.exact(posting.document);
                let part = task.index.bm25.part(word.idf, posting.count, norm);
                let best = best.entry(posting.document).or_insert((part, met));
                best.0 = best.0.max(part);
            });
        }
        for (document, (part, met)) in best {
            let new = Ranked {
                document,
                score: 0.0,
                met,
            };
            let (ranked, leaves) = found.entry(document).or_insert((new, 0));
            ranked.score += part * leaf.times;
            *leaves += 1;
        }
    }
    let matches = |leaves: usize| match task.search.matching {
        Match::Any => true,
        Match::All => leaves == task.leaves.len(),
    };
    (found.into_values())
        .filter(|(ranked, leaves)| matches(*leaves) && task.may_find(ranked.document))
        .map(|(ranked, _)| ranked)
        .collect()
}
