//! Search by meaning and by words at once, over a collection and over a library.
//!
//! ```text
//! cargo run -p shelfward --example hybrid_search
//! ```

#![expect(clippy::print_stdout, reason = "an example speaks to people")]

use std::error::Error;
use std::fmt::Display;
use std::sync::{Arc, RwLock};

use shelfward::lexical::hybrid::{
    HybridHit, HybridPassage, HybridSearcher, LegRank, LibraryHybridSearcher, SharedIndex,
};
use shelfward::lexical::{Bm25Index, Bm25Tokenizer, Stemmer};
use shelfward::library::{IndexSource, LibrarySpec, Passage, SearchRequest};
use shelfward::text::WordRule;
use shelfward::{
    CollectionName, CollectionSpec, EmbedError, Embedder, Groups, Key, LibraryIndex, Metric,
    Record, Role, Scope, SourceId, SourceKind, TenantId, Text, async_trait, embed_checked,
};

/// A stand-in for a model: it counts words of four subjects.
///
/// It takes "login" and "password" for near, though they share no word, and has never heard of the
/// code E-417. Models are like that: they know what they were taught. Words find the rest.
struct Subjects;

const SUBJECTS: [&[&str]; 4] = [
    &["password", "sign", "login", "account", "locked", "forgot"],
    &["refund", "card", "pay", "paid", "money", "charge"],
    &["ship", "order", "parcel", "delivery", "arrive"],
    &["salary", "contract", "holiday", "staff"],
];

#[async_trait]
impl Embedder for Subjects {
    fn id(&self) -> &str {
        "example-subjects-1"
    }

    fn width(&self) -> u32 {
        4
    }

    async fn embed(&self, _: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| {
            let words = WordRule::Unicode.words(text);
            let counted = SUBJECTS.iter().map(|subject| {
                let of_it = |word: &&String| subject.iter().any(|s| word.starts_with(s));
                // A text of no subject is a little of each: a zero vector has no direction.
                words.iter().filter(of_it).fold(0.1, |sum, _| sum + 1.0)
            });
            counted.collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

const HELP: [(&str, &str); 5] = [
    ("reset", "Choose a new password on the sign-in page."),
    ("locked", "A locked account opens again after an hour."),
    (
        "refund",
        "We pay the money back to your card in three days.",
    ),
    (
        "parcel",
        "Your parcel is on its way: orders ship on weekdays.",
    ),
    ("e417", "E-417: turn the printer off, and on again."),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    for query in ["I forgot how to login", "E-417 after login"] {
        println!("{query:?}");
        for hit in over_a_collection(query).await? {
            println!("{}", line(&hit.id, hit.score, hit.dense, hit.sparse));
        }
    }
    println!("\nA library, asked for \"holiday contract\"");
    for (reader, groups) in READERS {
        println!("{reader}, of {groups:?}");
        for found in over_a_library(groups).await? {
            let (id, score) = (&found.passage.id, found.passage.score);
            println!("{}", line(id, score, found.dense, found.sparse));
        }
    }
    Ok(())
}

/// The best three of the help pages.
pub(crate) async fn over_a_collection(query: &str) -> Result<Vec<HybridHit>, Box<dyn Error>> {
    let store = shelfward::connect("memory:").await?;
    let name = CollectionName::new("help")?;
    let spec = CollectionSpec::new(
        name.clone(),
        Subjects.width(),
        Metric::Cosine,
        Subjects.id(),
    );
    let collection = store.ensure(&spec).await?;

    // Each page goes into the collection and into the index, under one id.
    let texts = HELP.map(|(_, text)| text);
    let vectors = embed_checked(&Subjects, Role::Passage, &texts).await?;
    let mut index = Bm25Index::new(Bm25Tokenizer::plain_english().stem(Stemmer::Porter));
    let mut records = Vec::new();
    for ((id, text), vector) in HELP.into_iter().zip(vectors) {
        records.push(Record::new(Key::new(Text::new(id)?), vector).with_text(text));
        index.add_document(id, text, None)?;
    }
    collection.upsert(&records).await?;

    let index = Arc::new(RwLock::new(index));
    let searcher = HybridSearcher::open(&store, &name, Arc::new(Subjects), index).await?;
    Ok(searcher.search(query, 3, None).await?)
}

/// Who reads, and the groups they are in.
const READERS: [(&str, &[&str]); 2] = [
    ("Ann", &["acct:ann", "team:people"]),
    ("Bo", &["acct:bo", "team:harbor"]),
];

/// What a reader of these groups finds in a library of three sources.
pub(crate) async fn over_a_library(groups: &[&str]) -> Result<Vec<HybridPassage>, Box<dyn Error>> {
    let store = shelfward::connect("memory:").await?;
    let spec = LibrarySpec::new(CollectionName::new("library")?);
    let library = LibraryIndex::ensure(&store, spec, Arc::new(Subjects)).await?;
    let acme = library.tenant(TenantId::new("acme")?);

    // One index holds the passages of the whole tenant. That widens nobody's answer: each of its
    // hits is read from the library inside the reader's scope.
    let mut index = Bm25Index::new(Bm25Tokenizer::plain_english().stem(Stemmer::Porter));
    let sources = [
        (
            "handbook",
            ["team:people", "team:harbor"].as_slice(),
            "Every contract has thirty days of holiday.",
        ),
        (
            "salaries",
            &["team:people"],
            "The salary of a new contract is settled by the staff council.",
        ),
        (
            "roster",
            &["team:harbor"],
            "On a public holiday the quay is closed.",
        ),
    ];
    for (id, readers, text) in sources {
        let kind = SourceKind::new("document")?;
        let source = IndexSource::new(SourceId::new(id)?, kind, Groups::of(readers)?)
            .passages([Passage::new(text)]);
        acme.index_source(source).await?;
        // The library's id of a passage is its source's id, #, and its number.
        index.add_document(&format!("{id}#0"), text, None)?;
    }

    let index: SharedIndex<_> = Arc::new(RwLock::new(index));
    let searcher = LibraryHybridSearcher::new(library, index);
    let reader = Scope::of("acme", groups)?;
    let request = SearchRequest::new("holiday contract").top_k(3);
    Ok(searcher.search(&reader, &request).await?.passages)
}

fn line(id: impl Display, score: f64, dense: Option<LegRank>, sparse: Option<LegRank>) -> String {
    let rank = |place: Option<LegRank>| {
        let rank = place.and_then(|place| place.rank);
        rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string())
    };
    let (dense, sparse) = (rank(dense), rank(sparse));
    format!("  {id:<12} {score:.4}  rank by meaning {dense}, by words {sparse}")
}
