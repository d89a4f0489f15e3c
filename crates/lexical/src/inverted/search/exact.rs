//! The scores of documents that were found, as the formula has them.

use crate::inverted::Posting;

use super::cursor::Cursor;
use super::query::IndexWord;
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
            let each = |ranked: &mut Ranked, part: &mut f64, count: u32| {
                let norm = task.norms.exact(ranked.document);
                *part = part.max(task.index.bm25.part(word.idf, count, norm));
                ranked.met = ranked.met.min(met);
            };
            if word.list.len() as usize <= found.len() / LOOK_UP_COST {
                look_up(word, &mut found, &mut parts, each);
            } else {
                walk(word, &mut found, &mut parts, each);
            }
        }
        for (ranked, part) in found.iter_mut().zip(&mut parts) {
            ranked.score += std::mem::take(part) * leaf.times;
        }
    }
    found
}

/// How many documents are walked over in the time in which one is looked up.
const LOOK_UP_COST: usize = 8;

/// Looks the documents of the word up among those that were found: a prefix may stand for as many
/// words as there are documents, and walking over all for each would be the product of both.
fn look_up(
    word: &IndexWord<'_>,
    found: &mut [Ranked],
    parts: &mut [f64],
    mut each: impl FnMut(&mut Ranked, &mut f64, u32),
) {
    word.list.for_each(|Posting { document, count }| {
        if let Ok(at) = found.binary_search_by_key(&document, |ranked| ranked.document)
            && let (Some(ranked), Some(part)) = (found.get_mut(at), parts.get_mut(at))
        {
            each(ranked, part, count);
        }
    });
}

/// Looks each document that was found up among those of the word.
fn walk(
    word: &IndexWord<'_>,
    found: &mut [Ranked],
    parts: &mut [f64],
    mut each: impl FnMut(&mut Ranked, &mut f64, u32),
) {
    let mut cursor = Cursor::new(word.list);
    for (ranked, part) in found.iter_mut().zip(parts) {
        match cursor.seek(ranked.document) {
            None => return,
            Some(document) if document != ranked.document => continue,
            Some(_) => {}
        }
        if let Some(count) = cursor.count_here() {
            each(ranked, part, count);
        }
    }
}
