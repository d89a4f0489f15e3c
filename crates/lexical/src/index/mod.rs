//! Documents by name, found by their words.

mod binary;
mod json;
mod rule;

use std::collections::HashMap;

use serde_json::Value;
use shelfward_core::Match;
use shelfward_text::{Highlighter, Span, WordPlaces, WordRule, is_prefix};

use crate::bm25::Bm25;
use crate::inverted::{Dictionary, Full, InvertedIndex, Search, Term, TooManyExpansions};
use crate::tokenizer::Tokenizer;

pub use binary::BytesError;
pub use json::{Part, SavedError};
pub use rule::OtherWordRule;

/// An index of documents by the words in them, ranked by BM25.
///
/// Take it with a [`WordRule`] for words as they are written, in any language. For stop words or stems,
/// as in a search over texts of one language, take a [`Bm25Index`](crate::Bm25Index): the same index
/// with a [`Bm25Tokenizer`](crate::Bm25Tokenizer).
///
/// It reads text with the tokenizer that it is given, and keeps no text: a hit carries the
/// document's id, score and metadata. Whoever keeps the texts shows why one was found with a
/// [`highlighter`](Self::highlighter).
///
/// ```
/// use shelfward_lexical::{LexicalIndex, SearchOptions};
/// use shelfward_text::WordRule;
///
/// let mut index = LexicalIndex::new(WordRule::Unicode);
/// index.add_document("faq-1", "Reset a password from the sign-in page.", None)?;
/// index.add_document("faq-2", "Passwords expire after ninety days.", None)?;
/// let ids = |query| index.search(query, 10).into_iter().map(|hit| hit.id).collect::<Vec<_>>();
/// assert_eq!(ids("password reset"), ["faq-1"]);
///
/// let begun = SearchOptions::default().prefix(true);
/// assert_eq!(index.search_with("pass", 10, &begun)?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LexicalIndex<T = WordRule> {
    tokenizer: T,
    inverted: InvertedIndex,
    /// The ids; a document has the number here that it has in `inverted`.
    ids: Dictionary,
    metadata: HashMap<u32, Value>,
}

/// A document to be indexed.
#[derive(Clone, Debug, PartialEq)]
pub struct Document<'a> {
    /// What names it. Must not be empty.
    pub id: &'a str,
    /// What is read. Must not be empty; it need not hold a word.
    pub text: &'a str,
    /// What a hit carries along.
    pub metadata: Option<Value>,
}

/// A document that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit<'a> {
    /// What names it.
    pub id: &'a str,
    /// Its BM25 score.
    pub score: f64,
    /// What was given along with it.
    pub metadata: Option<&'a Value>,
}

/// What a search may be told beside its query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// Whether a document must hold one of the query's words, the default, or all of them.
    pub matching: Match,
    /// Whether a query word stands for every word that begins with it, so that `pass` finds
    /// `password`. A document scores by the best of those that it holds. A word of one character
    /// stands for itself alone, see [`is_prefix`]. Off unless set.
    pub prefix: bool,
    /// The most words that one query word may stand for; no limit unless set.
    pub max_expansions: Option<usize>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            matching: Match::Any,
            prefix: false,
            max_expansions: None,
        }
    }
}

impl SearchOptions {
    /// Sets whether a document must hold one of the words or all of them.
    #[must_use]
    pub fn matching(self, matching: Match) -> Self {
        Self { matching, ..self }
    }

    /// Sets whether a query word stands for every word that begins with it.
    #[must_use]
    pub fn prefix(self, prefix: bool) -> Self {
        Self { prefix, ..self }
    }

    fn term(self, text: &str) -> Term<'_> {
        let prefix = self.prefix && is_prefix(text);
        Term { text, prefix }
    }

    /// Sets the most words that one query word may stand for.
    #[must_use]
    pub fn max_expansions(self, max: usize) -> Self {
        Self {
            max_expansions: Some(max),
            ..self
        }
    }
}

/// Why a document was not indexed.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// The id is empty.
    #[error("the document's id is empty; it must name the document")]
    EmptyId,
    /// The metadata nests deeper than saved indexes are read.
    #[error("the document's metadata nests deeper than {MAX_METADATA_DEPTH} lists and objects")]
    MetadataDepth,
    /// The text is empty.
    #[error("the document's text is empty; a document to be forgotten is removed")]
    EmptyText,
    /// There is no room.
    #[error(transparent)]
    Full(#[from] Full),
}

shelfward_core::debug_as_chain!(AddError);

/// What an index holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// How many documents.
    pub document_count: u32,
    /// How many distinct words.
    pub term_count: usize,
    /// How many words a document has on average; 0 where there is none.
    pub average_length: f64,
}

impl<T: Tokenizer> LexicalIndex<T> {
    /// An empty index.
    pub fn new(tokenizer: T) -> Self {
        Self::with_bm25(tokenizer, Bm25::default())
    }

    /// An empty index that ranks under other constants.
    pub fn with_bm25(tokenizer: T, bm25: Bm25) -> Self {
        Self {
            tokenizer,
            inverted: InvertedIndex::new(bm25),
            ids: Dictionary::default(),
            metadata: HashMap::new(),
        }
    }

    /// The constants of the formula.
    pub fn bm25(&self) -> Bm25 {
        self.inverted.bm25()
    }

    /// What reads documents and queries.
    pub fn tokenizer(&self) -> &T {
        &self.tokenizer
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.inverted.len() as usize
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.inverted.is_empty()
    }

    /// Whether a document of this id is there.
    pub fn contains(&self, id: &str) -> bool {
        self.ids.find(id).is_some()
    }

    /// Indexes a text under an id. A document of that id is replaced, and then counts as added
    /// last. A text without words is a document too: it counts in the statistics.
    ///
    /// # Errors
    /// [`AddError`]; what was there stays then.
    pub fn add_document(
        &mut self,
        id: &str,
        text: &str,
        metadata: Option<Value>,
    ) -> Result<(), AddError> {
        let document = Document { id, text, metadata };
        check(&document)?;
        self.add(document)
    }

    /// Indexes documents, one after the other; of two with one id the later stays.
    ///
    /// # Errors
    /// [`AddError`]. Empty ids and texts are seen before the first is indexed; only
    /// [`AddError::Full`] can come after some were.
    pub fn add_documents(&mut self, documents: &[Document<'_>]) -> Result<(), AddError> {
        documents.iter().try_for_each(check)?;
        (documents.iter()).try_for_each(|document| self.add(document.clone()))
    }

    fn add(&mut self, document: Document<'_>) -> Result<(), AddError> {
        let old = self.ids.find(document.id);
        let tokenizer = &self.tokenizer;
        if !self.ids.has_room_for(document.id) {
            return Err(Full.into());
        }
        let words = |each: &mut dyn FnMut(&str)| tokenizer.for_each_word(document.text, each);
        let number = match old {
            Some(old) => {
                let number = self.inverted.replace(old, words)?;
                self.ids.forget(old);
                self.metadata.remove(&old);
                number
            }
            None => self.inverted.add(words)?,
        };
        let named = self.ids.number(document.id);
        debug_assert_eq!(named, Some(number));
        if let Some(metadata) = document.metadata {
            self.metadata.insert(number, metadata);
        }
        self.compact_if_sparse();
        Ok(())
    }

    /// Removes a document; answers whether it was there.
    pub fn remove_document(&mut self, id: &str) -> bool {
        let Some(number) = self.ids.find(id) else {
            return false;
        };
        self.inverted.remove(number);
        self.ids.forget(number);
        self.metadata.remove(&number);
        self.compact_if_sparse();
        true
    }

    fn compact_if_sparse(&mut self) {
        if !self.inverted.is_sparse() {
            return;
        }
        let mut ids = Dictionary::default();
        let mut metadata = HashMap::with_capacity(self.metadata.len());
        for (new, old) in (0..).zip(self.inverted.compact()) {
            // There is room: there was for more.
            let _ = ids.number(self.ids.word(old));
            if let Some(value) = self.metadata.remove(&old) {
                metadata.insert(new, value);
            }
        }
        (self.ids, self.metadata) = (ids, metadata);
    }

    /// The best `top_k` documents that hold at least one word of the query, highest score first.
    ///
    /// Equal scores stand in the order of [`InvertedIndex::search`]. A query without words finds
    /// nothing.
    pub fn search(&self, query: &str, top_k: usize) -> Vec<Hit<'_>> {
        // Without a limit on expansions nothing can be refused.
        self.search_with(query, top_k, &SearchOptions::default())
            .unwrap_or_default()
    }

    /// The best `top_k` documents, as the options ask for them.
    ///
    /// # Errors
    /// [`TooManyExpansions`] where [`SearchOptions::max_expansions`] is set.
    pub fn search_with(
        &self,
        query: &str,
        top_k: usize,
        options: &SearchOptions,
    ) -> Result<Vec<Hit<'_>>, TooManyExpansions> {
        self.run(query, top_k, options, |inverted, search| {
            inverted.search(search)
        })
    }

    /// The same answer by the plain formula: what [`search_with`](Self::search_with) is compared
    /// with.
    ///
    /// # Errors
    /// As there.
    pub fn search_exhaustively(
        &self,
        query: &str,
        top_k: usize,
        options: &SearchOptions,
    ) -> Result<Vec<Hit<'_>>, TooManyExpansions> {
        self.run(query, top_k, options, |inverted, search| {
            inverted.search_exhaustively(search)
        })
    }

    /// What shows why texts were found by a query: by the same tokenizer, with prefixes if the options
    /// have them, and with the parts first that hold the words which are rare in this index.
    ///
    /// Nothing is computed for a text until it is asked for.
    ///
    /// ```
    /// use shelfward_lexical::{Bm25Index, Bm25Tokenizer, SearchOptions, Stemmer};
    ///
    /// let text = "Ask for it early. It is the office that decides on all policies.";
    /// let mut index = Bm25Index::new(Bm25Tokenizer::default().stem(Stemmer::English));
    /// index.add_document("a", text, None)?;
    /// index.add_document("b", "It is decided.", None)?;
    /// let found = index.highlighter("is it a policy", &SearchOptions::default()).max_chars(40);
    /// let snippet = found.snippet(text);
    /// assert_eq!(&*snippet.text, "the office that decides on all policies.");
    /// assert_eq!(snippet.words().collect::<Vec<_>>(), ["policies"]);
    /// # Ok::<(), shelfward_lexical::AddError>(())
    /// ```
    pub fn highlighter(&self, query: &str, options: &SearchOptions) -> Highlighter<&Self> {
        let words = Highlighter::new(self, query).prefix(options.prefix);
        words.weights(|text| self.inverted.idf(options.term(text)))
    }

    fn run(
        &self,
        query: &str,
        top_k: usize,
        options: &SearchOptions,
        search: impl Fn(
            &InvertedIndex,
            &Search<'_>,
        ) -> Result<Vec<crate::inverted::Scored>, TooManyExpansions>,
    ) -> Result<Vec<Hit<'_>>, TooManyExpansions> {
        let words = self.tokenizer.query_words(query);
        let term = |text| options.term(text);
        let terms: Vec<Term<'_>> = words.iter().map(|word| term(word.as_str())).collect();
        let asked = Search {
            terms: &terms,
            matching: options.matching,
            top_k,
            with_ties: false,
            max_expansions: options.max_expansions,
            allowed: None,
        };
        let found = search(&self.inverted, &asked)?;
        Ok(found.into_iter().map(|scored| self.hit(scored)).collect())
    }

    fn hit(&self, scored: crate::inverted::Scored) -> Hit<'_> {
        Hit {
            id: self.ids.word(scored.document),
            score: scored.score,
            metadata: self.metadata.get(&scored.document),
        }
    }

    /// What the index holds.
    pub fn stats(&self) -> Stats {
        let statistics = self.inverted.statistics();
        Stats {
            document_count: statistics.documents,
            term_count: statistics.words,
            average_length: statistics.average_length,
        }
    }

    /// The bytes of memory that the index takes, metadata left out.
    pub fn memory_bytes(&self) -> usize {
        self.inverted.memory_bytes() + self.ids.heap_bytes()
    }

    /// Gives back memory that was set aside for more documents.
    pub fn shrink_to_fit(&mut self) {
        self.inverted.shrink_to_fit();
        self.ids.shrink();
    }
}

/// By its tokenizer.
impl<T: Tokenizer> WordPlaces for LexicalIndex<T> {
    fn for_each_word_at(&self, text: &str, each: &mut dyn FnMut(&str, Span)) {
        self.tokenizer.for_each_word_at(text, each);
    }

    fn for_each_query_word(&self, query: &str, each: &mut dyn FnMut(&str)) {
        self.tokenizer.for_each_query_word(query, each);
    }
}

fn check(document: &Document<'_>) -> Result<(), AddError> {
    if document.id.is_empty() {
        Err(AddError::EmptyId)
    } else if document.text.is_empty() {
        Err(AddError::EmptyText)
    } else if document.metadata.as_ref().is_some_and(is_too_deep) {
        Err(AddError::MetadataDepth)
    } else {
        Ok(())
    }
}

/// How deep lists and objects may nest in metadata: what is saved deeper could not be read again.
const MAX_METADATA_DEPTH: usize = 64;

fn is_too_deep(metadata: &Value) -> bool {
    // Without recursion, which a deep value would run out of stack by.
    let mut open = vec![(metadata, 0)];
    while let Some((value, depth)) = open.pop() {
        let depth = depth + 1;
        match value {
            Value::Array(_) | Value::Object(_) if depth > MAX_METADATA_DEPTH => return true,
            Value::Array(members) => open.extend(members.iter().map(|member| (member, depth))),
            Value::Object(members) => open.extend(members.values().map(|member| (member, depth))),
            _ => {}
        }
    }
    false
}
