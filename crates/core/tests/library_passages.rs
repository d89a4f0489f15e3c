//! A passage that is refused is named, before anything is embedded and with nothing changed.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use shelfward_core::capabilities::Capabilities;
use shelfward_core::library::{
    IndexSource, LibraryError, LibrarySpec, Passage, PassageProblem, SearchRequest,
};
use shelfward_core::{
    ErrorKind, Field, FieldKind, LibraryIndex, Metadata, MetadataKey, MetadataProblem, Persistence,
    Store, VectorProblem,
};
use support::{Asked, Meddle, Meddling, TestEmbedder, ids, name, scope, source_of, tenant};

/// Holds small records alone.
struct Small;

impl Meddle for Small {
    fn capabilities(&self, mut can: Capabilities) -> Capabilities {
        can.max_metadata_bytes = Some(4_000);
        can.max_text_bytes = Some(100);
        can
    }
}

struct Shelf {
    index: LibraryIndex,
    embedder: Arc<TestEmbedder>,
    asked: Arc<Asked>,
}

impl Shelf {
    /// With a source `s` of one passage, `old`.
    async fn new(embedder: TestEmbedder) -> Self {
        let store = Meddling::new(Small);
        let asked = store.asked.clone();
        let embedder = Arc::new(embedder);
        let year = Field::new(MetadataKey::new("year").unwrap(), FieldKind::Integer);
        let spec = LibrarySpec::new(name()).with_fields([year]);
        let index = LibraryIndex::ensure(&Store::new(store), spec, embedder.clone())
            .await
            .unwrap();
        let shelf = Self {
            index,
            embedder,
            asked,
        };
        shelf.file([Passage::new("old")]).await.unwrap();
        shelf
    }

    async fn file(&self, passages: impl IntoIterator<Item = Passage>) -> Result<(), LibraryError> {
        let source: IndexSource = source_of("document", "s", &["g"]).passages(passages);
        let org = self.index.tenant(tenant("a"));
        org.index_source(source).await.map(drop)
    }

    async fn found(&self) -> Vec<String> {
        let request = SearchRequest::new("old");
        let answer = self.index.search(&scope("a", &["g"]), &request).await;
        ids(&answer.unwrap())
    }
}

fn with(key: &str, value: &str) -> Passage {
    Passage::new("two").metadata(Metadata::new().with(key, value).unwrap())
}

#[tokio::test]
async fn each_check_that_a_passage_fails_names_it_before_anything_is_embedded() {
    let shelf = Shelf::new(TestEmbedder::default()).await;
    let (embedded, _) = (shelf.embedder.calls(), shelf.asked.take_calls());
    let mut reserved = Metadata::new();
    reserved.insert(MetadataKey::stored("_shelfward_revision").unwrap(), 1);
    type IsRight = fn(&PassageProblem) -> bool;
    let cases: [(&str, Passage, IsRight); 7] = [
        ("blank", Passage::new(""), |p| {
            matches!(p, PassageProblem::Blank)
        }),
        ("white space", Passage::new(" \n\u{a0}\u{feff}"), |p| {
            matches!(p, PassageProblem::Blank)
        }),
        (
            "U+0000",
            Passage::new("a\0b"),
            |p| matches!(p, PassageProblem::Unfit(ErrorKind::Invalid(told)) if told.contains("U+0000")),
        ),
        ("much metadata", with("note", &"x".repeat(6_000)), |p| {
            matches!(
                p,
                PassageProblem::Unfit(ErrorKind::Limit { max: 4_000, .. })
            )
        }),
        ("much text", Passage::new("x".repeat(101)), |p| {
            matches!(
                p,
                PassageProblem::Unfit(ErrorKind::Limit {
                    given: 101,
                    max: 100,
                    ..
                })
            )
        }),
        ("another kind", with("year", "two thousand"), |p| {
            matches!(p, PassageProblem::Unfit(ErrorKind::Metadata(_)))
        }),
        (
            "reserved",
            Passage::new("two").metadata(reserved),
            |p| matches!(p, PassageProblem::Unfit(ErrorKind::Metadata(e)) if *e.problem() == MetadataProblem::ReservedKey),
        ),
    ];
    for (what, odd, is_right) in cases {
        let passages = [Passage::new("one"), odd, Passage::new("three")];
        let error = shelf.file(passages).await.unwrap_err();
        let LibraryError::Passage { id, problem } = &error else {
            panic!("{what}: {error}")
        };
        assert_eq!(id.to_string(), "s#1", "{what}");
        assert!(is_right(problem), "{what}: {error}");
        assert!(error.to_string().contains("s#1"), "{error}");
        assert_eq!(error.persistence(), Persistence::Permanent, "{error}");
        assert_eq!(shelf.embedder.calls(), embedded, "{what}");
        assert_eq!(shelf.asked.take_calls(), [""; 0], "{what}");
    }
    assert_eq!(shelf.found().await, ["s#0"]);
}

#[tokio::test]
async fn a_vector_that_cannot_be_kept_names_its_passage_in_whatever_batch_it_is() {
    let odd: [(&[f32], VectorProblem); 3] = [
        (&[0.0; 4], VectorProblem::Zero),
        (&[1.0; 3], VectorProblem::Width { given: 3, width: 4 }),
        (
            &[1.0, f32::NAN, 1.0, 1.0],
            VectorProblem::NotFinite { at: 1 },
        ),
    ];
    for (vector, right) in odd {
        let mut shelf = Shelf::new(TestEmbedder::default().with("bad", vector)).await;
        shelf.index = shelf.index.with_batch_size(2).unwrap();
        let texts = ["one", "two", "three", "bad", "five"];
        let error = shelf.file(texts.map(Passage::new)).await.unwrap_err();
        let LibraryError::Passage {
            id,
            problem: PassageProblem::Vector(problem),
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!((id.to_string().as_str(), *problem), ("s#3", right));
        assert_eq!(shelf.found().await, ["s#0"], "the old one is whole");
    }
}
