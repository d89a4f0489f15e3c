//! The scores of documents that were found, as the formula has them.

use super::cursor::Cursor;
use super::{Ranked, Task};

/// Scores documents, given in ascending order, by leaves that stand for one word each. The parts
/// are added in the query's order, so that documents alike get equal scores.
pub(super) fn scores(task: &Task<'_>, documents: Vec<u32>) -> Vec<Ranked> {
    let mut found: Vec<Ranked> = documents
        .into_iter()
        .map(|document| Ranked {
            document,
            score: 0.0,
            met: u32::MAX,
        })
        .collect();
    for leaf in task.leaves {
        let (Some(mut cursor), Some(word)) = (Cursor::of(task, leaf), leaf.words.first()) else {
            continue;
        };
        for ranked in &mut found {
            if cursor.seek(ranked.document) != Some(ranked.document) {
                continue;
            }
            let Some(count) = cursor.count_here() else {
                continue;
            };
            let norm = task.norms.exact(ranked.document);
            ranked.score += task.index.bm25.part(word.idf, count, norm) * leaf.times;
            ranked.met = ranked.met.min(leaf.met);
        }
    }
    found
}
