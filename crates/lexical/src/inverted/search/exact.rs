//! The scores of documents that were found, as the formula has them.

use super::cursor::Cursor;
use super::{Ranked, Task};

/// Scores documents, given in ascending order. The parts are added in the query's order, so that
/// documents alike get equal scores.
pub(super) fn scores(task: &Task<'_>, documents: Vec<u32>) -> Vec<Ranked> {
    let mut found: Vec<Ranked> = documents
        .into_iter()
        .map(|document| Ranked {
            document,
            score: 0.0,
            met: u32::MAX,
        })
        .collect();
    let mut parts = vec![0.0_f64; found.len()];
    for leaf in task.leaves {
        for (met, word) in (leaf.met..).zip(&leaf.words) {
            let mut cursor = Cursor::new(word.list);
            for (ranked, part) in found.iter_mut().zip(&mut parts) {
                match cursor.seek(ranked.document) {
                    None => break,
                    Some(document) if document != ranked.document => continue,
                    Some(_) => {}
                }
                let Some(count) = cursor.count_here() else {
                    continue;
                };
                let norm = task.norms.exact(ranked.document);
                *part = part.max(task.index.bm25.part(word.idf, count, norm));
                ranked.met = ranked.met.min(met);
            }
        }
        for (ranked, part) in found.iter_mut().zip(&mut parts) {
            ranked.score += std::mem::take(part) * leaf.times;
        }
    }
    found
}
