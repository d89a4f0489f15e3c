//! The query's words, looked up.

use std::collections::HashMap;

use crate::bm25::Bm25;
use crate::inverted::InvertedIndex;
use crate::inverted::list::List;

use super::Search;

/// A word of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term<'a> {
    /// The word, as the index's tokenizer gives it.
    pub text: &'a str,
    /// Whether it stands for every word that begins with it. A document then scores by the best of
    /// those that it holds.
    pub prefix: bool,
}

/// A prefix of the query begins more words than it may stand for.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a prefix of the query begins {given} words; at most {max} may stand for it")]
pub struct TooManyExpansions {
    /// How many words it begins.
    pub given: usize,
    /// How many it may begin.
    pub max: usize,
}

shelfward_core::debug_as_chain!(TooManyExpansions);

/// A distinct word of the query, with the words of the index that it stands for.
pub(super) struct Leaf<'a> {
    /// How often the query says it.
    pub(super) times: f64,
    /// In the order in which the index met them.
    pub(super) words: Vec<IndexWord<'a>>,
    /// The place of the first of `words` among those of all leaves.
    pub(super) met: u32,
}

pub(super) struct IndexWord<'a> {
    pub(super) list: &'a List,
    pub(super) idf: f64,
}

impl Leaf<'_> {
    /// Whether no document holds it.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// The distinct words of the query, in its order.
pub(super) fn leaves<'a>(
    index: &'a InvertedIndex,
    search: &Search<'_>,
) -> Result<Vec<Leaf<'a>>, TooManyExpansions> {
    let mut places: HashMap<Term<'_>, usize> = HashMap::new();
    let mut leaves: Vec<Leaf<'a>> = Vec::new();
    let mut met = 0_u32;
    for term in search.terms {
        let at = *places.entry(*term).or_insert(leaves.len());
        if let Some(leaf) = leaves.get_mut(at) {
            leaf.times += 1.0;
            continue;
        }
        let words = words(index, term, search.max_expansions)?;
        let first = met;
        met = met.saturating_add(u32::try_from(words.len()).unwrap_or(u32::MAX));
        leaves.push(Leaf {
            times: 1.0,
            words,
            met: first,
        });
    }
    Ok(leaves)
}

fn words<'a>(
    index: &'a InvertedIndex,
    term: &Term<'_>,
    max: Option<usize>,
) -> Result<Vec<IndexWord<'a>>, TooManyExpansions> {
    let numbers = if term.prefix {
        index.dictionary.beginning_with(term.text)
    } else {
        index.dictionary.find(term.text).into_iter().collect()
    };
    let held = |number: u32| {
        let list = index.lists.get(number as usize)?;
        let holders = index.live_len(list);
        let idf = Bm25::idf(index.live, holders);
        (holders > 0).then_some(IndexWord { list, idf })
    };
    let words: Vec<_> = numbers.into_iter().filter_map(held).collect();
    match max.filter(|max| term.prefix && words.len() > *max) {
        Some(max) => Err(TooManyExpansions {
            given: words.len(),
            max,
        }),
        None => Ok(words),
    }
}
