//! What is measured.

pub(crate) mod build;
pub(crate) mod fuzzy;
pub(crate) mod growth;
pub(crate) mod saved;
pub(crate) mod search;
pub(crate) mod snippets;
pub(crate) mod sqlite;

use std::cell::OnceCell;

use shelfward_bench::material;
use shelfward_bench::options::Options;
use shelfward_bench::report::Figures;
use shelfward_bench::rounds::Times;
use shelfward_lexical::LexicalIndex;

use crate::ours;
use crate::peers::tantivy::{Ids, Tantivy};

/// How often what takes seconds is done.
const FEW_ROUNDS: usize = 3;

/// A run: what it was told, and what several rows use.
pub(crate) struct Run<'a> {
    pub(crate) options: &'a Options,
    paragraphs: &'a [String],
    pub(crate) documents: Vec<String>,
    pub(crate) queries: Vec<Vec<String>>,
    ours: OnceCell<LexicalIndex>,
    tantivy: OnceCell<Tantivy>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(options: &'a Options, paragraphs: &'a [String]) -> Self {
        let documents = material::documents(paragraphs, options.documents, 1);
        Self {
            options,
            paragraphs,
            queries: material::queries(&documents, 300, 2),
            documents,
            ours: OnceCell::new(),
            tantivy: OnceCell::new(),
        }
    }

    /// So many documents, and queries to them.
    pub(crate) fn of(&self, documents: usize) -> (Vec<String>, Vec<Vec<String>>) {
        let documents = material::documents(self.paragraphs, documents, 1);
        let queries = material::queries(&documents, 300, 2);
        (documents, queries)
    }

    pub(crate) fn ours(&self) -> &LexicalIndex {
        self.ours.get_or_init(|| ours::by_id(&self.documents))
    }

    /// tantivy with the ids that ours has, unless peers are left out.
    pub(crate) fn tantivy(&self) -> Option<&Tantivy> {
        let peer = || Tantivy::new(&self.documents, Ids::Text);
        (!self.options.ours_only).then(|| self.tantivy.get_or_init(peer))
    }
}

/// The figures of ours and of the peer, from the times of both.
fn both(times: &[Times], figures: impl Fn(&Times) -> Figures) -> [Option<Figures>; 2] {
    [times.first().map(&figures), times.get(1).map(&figures)]
}
