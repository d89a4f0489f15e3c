//! What is measured.

pub(crate) mod bulk;
pub(crate) mod filtered;
pub(crate) mod growth;
pub(crate) mod library;
pub(crate) mod search;
pub(crate) mod tenants;

use std::cell::OnceCell;
use std::hint::black_box;
use std::sync::Arc;

use shelfward_bench::material;
use shelfward_bench::options::Options;
use shelfward_bench::report::Figures;
use shelfward_bench::rounds::Times;
use shelfward_bench::vectors::drawn;
use shelfward_core::{Filter, Leg, WordRule, query_words};

use crate::drawn::Drawn;
use crate::library::{Face, Library, embedder};
use crate::place::Place;
use crate::{TOP_K, WIDTH};

/// How often what takes seconds is done.
const FEW_ROUNDS: usize = 3;
/// How many queries are timed.
const QUERIES: usize = 50;
/// How many of them by their words, too: each takes many times as long.
const BY_WORDS: usize = 20;

/// A run: what it was told, and what several rows use.
pub(crate) struct Run<'a> {
    pub(crate) options: &'a Options,
    pub(crate) place: &'a Place,
    pub(crate) vectors: Vec<Arc<[f32]>>,
    pub(crate) queries: Vec<Vec<f32>>,
    /// Each begins with its number.
    pub(crate) texts: Vec<String>,
    /// Texts that ask: the number of a query's vector, and words.
    pub(crate) asked: Vec<String>,
    pub(crate) embedder: Arc<Drawn>,
    library: OnceCell<Library>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(options: &'a Options, place: &'a Place) -> Self {
        let (vectors, queries) = drawn(options.documents, QUERIES, WIDTH);
        let (paragraphs, _) = material::paragraphs().unwrap();
        let texts = material::documents(&paragraphs, vectors.len(), 1);
        let words = material::queries(&texts, queries.len(), 2);
        Self {
            options,
            place,
            asked: (vectors.len()..)
                .zip(&words)
                .map(|(n, words)| format!("{n} {}", words.join(" ")))
                .collect(),
            texts: (0..)
                .zip(&texts)
                .map(|(n, text)| format!("{n} {text}"))
                .collect(),
            embedder: embedder(&vectors, &queries),
            vectors,
            queries,
            library: OnceCell::new(),
        }
    }

    /// All passages, of one tenant.
    pub(crate) fn library(&self) -> &Library {
        let full = || Library::full(self, "library", self.vectors.len(), 1);
        self.library.get_or_init(full)
    }

    /// The dense search of a collection, as a contender.
    pub(crate) fn dense<'s>(
        &'s self,
        face: Face<'s>,
        filter: &'s Arc<Filter>,
    ) -> impl FnMut(&usize) + 's {
        move |n| {
            let leg = Leg::dense(self.queries[*n].as_slice(), filter.clone(), TOP_K);
            black_box(face.search(self, &[leg]));
        }
    }

    /// The number of each query.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        (0..self.queries.len()).collect()
    }

    /// The numbers of those that are asked by words.
    pub(crate) fn by_words(&self) -> Vec<usize> {
        (0..self.queries.len().min(BY_WORDS)).collect()
    }

    /// The words of a question.
    pub(crate) fn words(&self, n: usize) -> Vec<shelfward_core::QueryWord> {
        query_words(&self.asked[n], WordRule::default(), false).unwrap()
    }
}

/// The figures of ours and of the peer, from the times of both.
pub(crate) fn both(times: &[Times]) -> [Option<Figures>; 2] {
    [
        times.first().map(Figures::many),
        times.get(1).map(Figures::many),
    ]
}
