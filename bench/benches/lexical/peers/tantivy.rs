//! tantivy: one segment in memory, one thread, frequencies without positions.

use std::sync::LazyLock;

use shelfward_core::Match;
use tantivy::collector::TopDocs;
use tantivy::directory::RamDirectory;
use tantivy::query::{BooleanQuery, Occur, Query, RegexQuery, TermQuery};
use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::snippet::SnippetGenerator;
use tantivy::{DocAddress, Index, IndexSettings, Searcher, TantivyDocument, Term};

/// Its name and version.
pub(crate) static NAME: LazyLock<String> = LazyLock::new(|| {
    let version = tantivy::version_string();
    version
        .split(',')
        .next()
        .unwrap_or(version)
        .replace(" v", " ")
});

/// How its documents are told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ids {
    /// By where they stand in the segment.
    None,
    /// By a text that they can be found, replaced and answered by.
    Text,
}

pub(crate) struct Tantivy {
    text: Field,
    searcher: Searcher,
    directory: RamDirectory,
}

impl Tantivy {
    pub(crate) fn new(documents: &[String], ids: Ids) -> Self {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("default")
            .set_index_option(IndexRecordOption::WithFreqs);
        let text = schema.add_text_field(
            "text",
            TextOptions::default().set_indexing_options(indexing),
        );
        let id = (ids == Ids::Text).then(|| schema.add_text_field("id", STRING | STORED));
        let directory = RamDirectory::create();
        let index =
            Index::create(directory.clone(), schema.build(), IndexSettings::default()).unwrap();
        let mut writer = index.writer_with_num_threads(1, 500_000_000).unwrap();
        for (at, document) in documents.iter().enumerate() {
            let mut added = TantivyDocument::default();
            added.add_text(text, document);
            if let Some(id) = id {
                added.add_text(id, format!("d{at}"));
            }
            writer.add_document(added).unwrap();
        }
        writer.commit().unwrap();
        let segments = index.searchable_segment_ids().unwrap();
        if segments.len() > 1 {
            writer.merge(&segments).wait().unwrap();
        }
        writer.wait_merging_threads().unwrap();
        let searcher = index.reader().unwrap().searcher();
        assert_eq!(searcher.segment_readers().len(), 1);
        Self {
            text,
            searcher,
            directory,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.directory.total_mem_usage()
    }

    fn run(
        &self,
        occur: Occur,
        parts: impl Iterator<Item = Box<dyn Query>>,
        top_k: usize,
    ) -> Vec<(f32, DocAddress)> {
        let query = BooleanQuery::new(parts.map(|part| (occur, part)).collect());
        self.searcher
            .search(&query, &TopDocs::with_limit(top_k).order_by_score())
            .unwrap()
    }

    /// What it shows of a text that one of the words stands in.
    pub(crate) fn snippet(&self, words: &[String], text: &str, max_chars: usize) -> String {
        let part = |word: &String| -> (Occur, Box<dyn Query>) {
            let term = Term::from_field_text(self.text, word);
            let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
            (Occur::Should, Box::new(query))
        };
        let query = BooleanQuery::new(words.iter().map(part).collect());
        let mut snippets = SnippetGenerator::create(&self.searcher, &query, self.text).unwrap();
        snippets.set_max_num_chars(max_chars);
        snippets.snippet(text).fragment().to_owned()
    }

    pub(crate) fn search(
        &self,
        words: &[String],
        matching: Match,
        top_k: usize,
    ) -> Vec<(f32, DocAddress)> {
        let occur = match matching {
            Match::Any => Occur::Should,
            Match::All => Occur::Must,
        };
        let part = |word: &String| -> Box<dyn Query> {
            let term = Term::from_field_text(self.text, word);
            Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
        };
        self.run(occur, words.iter().map(part), top_k)
    }

    /// Words that begin with these. Every match scores the same: tantivy ranks no expansions.
    pub(crate) fn search_begun(&self, words: &[String], top_k: usize) -> Vec<(f32, DocAddress)> {
        let part = |word: &String| -> Box<dyn Query> {
            Box::new(RegexQuery::from_pattern(&format!("{word}.*"), self.text).unwrap())
        };
        self.run(Occur::Should, words.iter().map(part), top_k)
    }
}
