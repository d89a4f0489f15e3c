//! The formula by which every index here ranks.

/// The two constants of BM25. The defaults are 1.2 and 0.75.
///
/// A document `D` scores for a query the sum over the query's words `t` of
///
/// ```text
/// idf(t) × tf(t, D) × (k1 + 1) / (tf(t, D) + k1 × (1 − b + b × |D| / avgdl))
/// idf(t) = ln((N − n(t) + 0.5) / (n(t) + 0.5) + 1)
/// ```
///
/// where `tf` counts the word in the document, `|D|` is the document's length in words, `avgdl` the
/// average length, `N` the number of documents and `n(t)` how many of them hold the word. `idf` is
/// above 0 for every word, however common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    k1: f64,
    b: f64,
}

/// Why a constant was refused.
#[derive(Clone, Copy, PartialEq, thiserror::Error)]
#[error("{name} is {given}; it must be a finite number")]
pub struct Bm25Error {
    name: &'static str,
    given: f64,
}

shelfward_core::debug_as_chain!(Bm25Error);

impl Bm25Error {
    /// Which constant was refused: `k1` or `b`.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl Default for Bm25 {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75 }
    }
}

impl Bm25 {
    /// The constants `k1`, how soon a repeated word stops to count, and `b`, how much long
    /// documents are held back.
    ///
    /// Useful values are 0 or more for `k1` and from 0 to 1 for `b`. Others are taken too, as the
    /// saved form allows them; scores may then be negative or no numbers, and a search is slower.
    ///
    /// # Errors
    /// [`Bm25Error`] names a constant that is infinite or not a number.
    pub fn new(k1: f64, b: f64) -> Result<Self, Bm25Error> {
        for (name, given) in [("k1", k1), ("b", b)] {
            if !given.is_finite() {
                return Err(Bm25Error { name, given });
            }
        }
        Ok(Self { k1, b })
    }

    /// How soon a repeated word stops to count.
    pub fn k1(&self) -> f64 {
        self.k1
    }

    /// How much long documents are held back.
    pub fn b(&self) -> f64 {
        self.b
    }

    /// How rare a word is that `holders` of `documents` hold.
    pub fn idf(documents: u32, holders: u32) -> f64 {
        let (documents, holders) = (f64::from(documents), f64::from(holders));
        ((documents - holders + 0.5) / (holders + 0.5) + 1.0).ln()
    }

    /// The part of the formula that depends on the document's length.
    pub(crate) fn norm(&self, length: u32, average: f64) -> f64 {
        self.k1 * (1.0 - self.b + self.b * f64::from(length) / average)
    }

    /// What a word adds to a document: `count` times in it, under the document's `norm`.
    pub(crate) fn part(&self, idf: f64, count: u32, norm: f64) -> f64 {
        let count = f64::from(count);
        idf * (count * (self.k1 + 1.0)) / (count + norm)
    }

    /// Whether more of a word is never less, and a longer document never more. What skips
    /// documents by bounds relies on both.
    pub(crate) fn is_usual(&self) -> bool {
        (0.0..=1e6).contains(&self.k1) && (0.0..=1.0).contains(&self.b)
    }
}
