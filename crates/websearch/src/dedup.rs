//! Candidates that are the same page, or say the same.

use std::collections::{HashMap, HashSet};

use crate::candidate::{Candidate, ProviderRanks};
use crate::setting::{SettingError, checked};
use crate::url::normalize_url;
use crate::vocabulary::{Vocabulary, each_word};

/// How alike two snippets are, as a cosine, to be taken for the same, unless told otherwise.
pub const DEFAULT_THRESHOLD: f64 = 0.85;

/// Merges candidates of the same normalized address, then those whose snippets' term-frequency
/// vectors have a cosine of at least `threshold`.
///
/// A merged candidate stands where its first one stood and keeps its texts; takes the content of
/// the first that has some; has the rank that the first with one gives for each provider, and every
/// source; and has the highest relevance score, where a 0 says nothing. Each candidate is compared
/// with the snippets of those that stay, in their order, and joins the first that is alike: what is
/// alike to a merged one does not count.
///
/// A snippet without words is alike to nothing, unless `threshold` is 0, at which everything is. A
/// threshold above 1 merges by address alone. Where no snippet has words, nothing is merged by text.
/// Fewer than two candidates come back as they are, without a normalized address.
///
/// Words are those of [`build_vocabulary`](crate::build_vocabulary), so texts in other scripts than
/// Latin have hardly any and are merged by address alone.
///
/// # Errors
/// [`SettingError`] where `threshold` is negative, infinite or not a number.
pub fn semantic_dedup(
    candidates: Vec<Candidate>,
    threshold: f64,
) -> Result<Vec<Candidate>, SettingError> {
    let threshold = checked("threshold", threshold)?;
    if candidates.len() < 2 {
        return Ok(candidates);
    }
    let groups = alike_by_text(alike_by_address(candidates), threshold);
    Ok(groups.into_iter().filter_map(merged).collect())
}

/// Candidates to be merged, in their order; the first gives its texts.
type Group = Vec<Candidate>;

fn alike_by_address(candidates: Vec<Candidate>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for mut candidate in candidates {
        let given = candidate
            .normalized_url
            .take()
            .filter(|url| !url.is_empty());
        let url = given.unwrap_or_else(|| normalize_url(&candidate.url));
        candidate.normalized_url = Some(url.clone());
        let place = *places.entry(url).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(candidate),
            None => groups.push(vec![candidate]),
        }
    }
    groups
}

/// Joins groups whose first snippets are alike.
fn alike_by_text(groups: Vec<Group>, threshold: f64) -> Vec<Group> {
    let mut vocabulary = Vocabulary::default();
    let first = |group: &Group| group.first().map(|candidate| candidate.snippet.clone());
    let snippets = groups.iter().map(|group| first(group).unwrap_or_default());
    let vectors: Vec<Counts> = snippets
        .map(|snippet| Counts::new(&snippet, &mut vocabulary))
        .collect();
    if vocabulary.words().is_empty() {
        return groups;
    }
    let mut staying: Vec<Group> = Vec::new();
    let mut index = StayingVectors::new(vocabulary.words().len());
    for (group, vector) in groups.into_iter().zip(vectors) {
        let alike = index.first_alike(&vector, threshold);
        match alike.and_then(|at| staying.get_mut(at)) {
            Some(there) => there.extend(group),
            None => {
                index.add(&vector);
                staying.push(group);
            }
        }
    }
    staying
}

/// The words of a text that occur in it, with how often. Dividing by the number of words, as a
/// term-frequency vector does, changes no cosine, and whole numbers are exact.
struct Counts {
    /// By the word's place in the vocabulary, ascending.
    counts: Vec<(usize, f64)>,
    /// The sum of the squares.
    squares: f64,
}

impl Counts {
    fn new(text: &str, vocabulary: &mut Vocabulary) -> Self {
        let mut places = Vec::new();
        each_word(text, |word| places.push(vocabulary.add(word)));
        places.sort_unstable();
        let mut counts: Vec<(usize, f64)> = Vec::new();
        for place in places {
            match counts.last_mut() {
                Some((last, count)) if *last == place => *count += 1.0,
                _ => counts.push((place, 1.0)),
            }
        }
        let squares = counts.iter().map(|(_, count)| count * count).sum();
        Self { counts, squares }
    }
}

/// The vectors of those that stay, by word: only those that share a word are looked at.
struct StayingVectors {
    by_word: Vec<Vec<(usize, f64)>>,
    squares: Vec<f64>,
    /// The sum of products of each with the vector at hand; 0 between two look-ups.
    products: Vec<f64>,
}

impl StayingVectors {
    fn new(words: usize) -> Self {
        Self {
            by_word: vec![Vec::new(); words],
            squares: Vec::new(),
            products: Vec::new(),
        }
    }

    fn add(&mut self, vector: &Counts) {
        let at = self.squares.len();
        self.squares.push(vector.squares);
        self.products.push(0.0);
        for (word, count) in &vector.counts {
            if let Some(list) = self.by_word.get_mut(*word) {
                list.push((at, *count));
            }
        }
    }

    /// The first that has a cosine of at least `threshold` with a vector.
    fn first_alike(&mut self, vector: &Counts, threshold: f64) -> Option<usize> {
        if threshold <= 0.0 {
            // No cosine of counts is below 0.
            return (!self.squares.is_empty()).then_some(0);
        }
        let mut touched = Vec::new();
        for (word, count) in &vector.counts {
            for (at, there) in self.by_word.get(*word).into_iter().flatten() {
                if let Some(product) = self.products.get_mut(*at) {
                    if *product == 0.0 {
                        touched.push(*at);
                    }
                    *product += count * there;
                }
            }
        }
        let mut first: Option<usize> = None;
        for at in touched {
            let product = self.products.get_mut(at).map(std::mem::take);
            let squares = self.squares.get(at).copied().unwrap_or(0.0);
            let cosine = product.unwrap_or(0.0) / (vector.squares * squares).sqrt();
            if cosine >= threshold && first.is_none_or(|first| at < first) {
                first = Some(at);
            }
        }
        first
    }
}

fn merged(group: Group) -> Option<Candidate> {
    let mut others = group.into_iter();
    let mut kept = others.next()?;
    let mut ranks: Vec<(String, u32)> = std::mem::take(&mut kept.provider_ranks).into();
    let mut known: HashSet<String> = kept.provider_sources.iter().cloned().collect();
    let has_text = |content: &Option<String>| content.as_ref().is_some_and(|text| !text.is_empty());
    for other in others {
        ranks.extend(Vec::from(other.provider_ranks));
        let sources = other.provider_sources.into_iter();
        let new = sources.filter(|source| known.insert(source.clone()));
        kept.provider_sources.extend(new);
        if !has_text(&kept.content) && has_text(&other.content) {
            kept.content = other.content;
        }
        let higher = |score: &f64| kept.relevance_score.is_none_or(|held| *score > held);
        let told = other
            .relevance_score
            .filter(|score| *score != 0.0 && !score.is_nan());
        if let Some(score) = told.filter(higher) {
            kept.relevance_score = Some(score);
        }
    }
    // Of a provider's ranks the first stays.
    kept.provider_ranks = ProviderRanks::from(ranks);
    Some(kept)
}
