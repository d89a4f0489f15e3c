//! What `docs/errors.md` says of errors is what they say.

#![cfg(all(feature = "memory", feature = "sqlite", feature = "hnsw"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use shelfward::library::{IndexSource, LibraryError, LibrarySpec, Passage, SearchRequest};
use shelfward::{
    CollectionName, EmbedError, Embedder, ErrorKind, FailedRecord, Filter, Groups, Key,
    LibraryIndex, Metadata, Operation, Persistence, Role, Scope, SourceId, SourceKind, Store,
    StoreError, TenantId, Text, async_trait, connect,
};

fn on_the_page(lines: &[String]) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    let page = std::fs::read_to_string(page).unwrap();
    let lines = lines.iter().map(String::as_str);
    let lacking: Vec<_> = lines.filter(|line| !page.contains(line)).collect();
    assert!(
        lacking.is_empty(),
        "docs/errors.md lacks\n{}",
        lacking.join("\n")
    );
}

/// Every kind, as `docs/errors.md` has it.
fn kinds() -> Vec<(&'static str, ErrorKind)> {
    let key = |id: &str| Key::new(Text::new(id).unwrap());
    let name = CollectionName::new("Library").unwrap_err();
    let metadata = Metadata::new().with("a", f64::NAN).unwrap_err();
    vec![
        ("NoCollection", ErrorKind::NoCollection),
        ("StaleHandle", ErrorKind::StaleHandle),
        ("IsLibrary", ErrorKind::IsLibrary),
        ("Spec", shelfward::SpecError::ZeroWidth.into()),
        ("Name", name.into()),
        (
            "Filter",
            Filter::from_json(r#"{"a":{"$is":1}}"#).unwrap_err().into(),
        ),
        ("Metadata", metadata.into()),
        ("Vector", shelfward::VectorProblem::Zero.into()),
        (
            "Invalid",
            ErrorKind::Invalid("a page holds at least one record".into()),
        ),
        (
            "Limit",
            ErrorKind::Limit {
                what: "bytes of metadata",
                given: 50_000,
                max: 40_960,
            },
        ),
        ("Unsupported", ErrorKind::Unsupported("lexical search")),
        (
            "PartialWrite",
            ErrorKind::PartialWrite(vec![FailedRecord::new(key("a"), "too large")]),
        ),
        (
            "PartialDelete",
            ErrorKind::PartialDelete { sent: 100, of: 250 },
        ),
        (
            "Conflict",
            ErrorKind::Conflict("the source was removed while it was indexed"),
        ),
        ("Unverified", ErrorKind::Unverified),
        ("Unavailable", ErrorKind::Unavailable),
        ("InUse", ErrorKind::InUse),
        ("Timeout", ErrorKind::Timeout(Duration::from_secs(5))),
        ("Full", ErrorKind::Full),
        ("Denied", ErrorKind::Denied("the role lacks a right")),
        ("Corrupt", ErrorKind::Corrupt("the file is damaged")),
        (
            "Contract",
            ErrorKind::Contract("2 legs were asked, 1 answered".into()),
        ),
        ("Engine", ErrorKind::Engine),
    ]
}

#[test]
fn the_table_of_kinds_says_what_each_says_and_whether_to_repeat_it() {
    let mut rows = Vec::new();
    let shown = |error: &StoreError| match (error.persistence(), error.changed_nothing()) {
        (Persistence::Temporary, _) => "Temporary",
        (Persistence::Permanent, _) => "Permanent",
        (Persistence::Unknown, _) => "Unknown",
    };
    for (name, kind) in kinds() {
        let text = kind.to_string();
        let written = StoreError::new(Operation::Upsert, kind);
        let changed = match written.changed_nothing() {
            true => "yes",
            false => "not said",
        };
        let write = shown(&written);
        let (_, kind) = kinds().into_iter().find(|(of, _)| *of == name).unwrap();
        let read = shown(&StoreError::new(Operation::Search, kind));
        let repeat = match read == write {
            true => write.to_owned(),
            false => format!("{read}; of a write {write}"),
        };
        rows.push(format!("| `{name}` | `{text}` | {repeat} | {changed} |"));
    }
    on_the_page(&rows);
}

/// Answers vectors of a width, and zeros for one text.
struct Model(&'static str, u32, u32);

#[async_trait]
impl Embedder for Model {
    fn id(&self) -> &str {
        self.0
    }

    fn width(&self) -> u32 {
        self.1
    }

    async fn embed(&self, _: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| match *text {
            "zero" => vec![0.0; self.2 as usize],
            "down" => Vec::new(),
            _ => vec![1.0; self.2 as usize],
        };
        if texts.contains(&"down") {
            let cause = std::io::Error::other("the model's server answered 503");
            return Err(EmbedError::provider(self.0, cause));
        }
        Ok(texts.iter().map(vector).collect())
    }
}

const MODEL: Model = Model("my-model", 3, 3);

async fn library(store: &Store, model: Model) -> Result<LibraryIndex, LibraryError> {
    let spec = LibrarySpec::new(CollectionName::new("library")?);
    LibraryIndex::ensure(store, spec, Arc::new(model)).await
}

fn source(texts: &[&str]) -> IndexSource {
    let (id, kind) = (SourceId::new("s1"), SourceKind::new("document"));
    IndexSource::new(id.unwrap(), kind.unwrap(), Groups::of(["g"]).unwrap())
        .passages(texts.iter().map(|text| Passage::new(*text)))
}

async fn refused(index: &LibraryIndex, source: IndexSource) -> LibraryError {
    let tenant = index.tenant(TenantId::new("org1").unwrap());
    tenant.index_source(source).await.unwrap_err()
}

/// The calls whose messages are on the page, with the errors that they answer.
async fn told() -> Vec<Box<dyn Error>> {
    let mut told: Vec<Box<dyn Error>> = Vec::new();
    for url in ["library.db", "SQLITE:library.db", "redis://localhost"] {
        told.push(connect(url).await.unwrap_err().into());
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("library.db");
    let url = format!("sqlite:{}", path.display());
    told.push(
        connect(&format!("{url}?readonly=true"))
            .await
            .unwrap_err()
            .into(),
    );
    let below = format!("sqlite:{}/nosuch/library.db", folder.path().display());
    told.push(connect(&below).await.unwrap_err().into());

    let store = connect(&url).await.unwrap();
    let index = library(&store, MODEL).await.unwrap();
    for texts in [&["a", "zero"][..], &["a\0"], &["a", " "], &["down"], &[]] {
        told.push(refused(&index, source(texts)).await.into());
    }
    for (key, value) in [("tenantId", "org2"), ("title", "Rota")] {
        let metadata = Metadata::new().with(key, value).unwrap();
        told.push(
            refused(&index, source(&["a"]).metadata(metadata.clone()))
                .await
                .into(),
        );
        let passage = Passage::new("a").metadata(metadata);
        told.push(
            refused(&index, source(&[]).passages([passage]))
                .await
                .into(),
        );
    }
    for model in [Model("my-model", 4, 4), Model("other-model", 3, 3)] {
        told.push(library(&store, model).await.unwrap_err().into());
    }
    let wrong = library(&store, Model("my-model", 3, 2)).await.unwrap();
    told.push(refused(&wrong, source(&["a"])).await.into());
    let scope = Scope::of("org1", ["g"]).unwrap();
    let blank = index.search(&scope, &SearchRequest::new(" ")).await;
    told.push(blank.unwrap_err().into());

    let tenant = index.tenant(TenantId::new("org1").unwrap());
    tenant.index_source(source(&["a"])).await.unwrap();
    let reader = connect(&format!("{url}?read_only=true")).await.unwrap();
    let read = library(&reader, MODEL).await.unwrap();
    told.push(refused(&read, source(&["b"])).await.into());
    told
}

#[tokio::test]
async fn the_page_shows_messages_as_they_are() {
    let told = told().await;
    let lines: Vec<_> = told.iter().map(|error| format!("`{error:?}`")).collect();
    on_the_page(&lines);
}

#[cfg(unix)]
#[tokio::test]
async fn a_store_that_was_opened_read_only_says_so_of_every_write() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("a.db").display());
    let store = connect(&url).await.unwrap();
    let index = library(&store, MODEL).await.unwrap();
    let tenant = index.tenant(TenantId::new("org1").unwrap());
    tenant.index_source(source(&["a"])).await.unwrap();
    let reader = connect(&format!("{url}?read_only=true")).await.unwrap();
    let read = library(&reader, MODEL).await.unwrap();
    let of_reader = read.tenant(TenantId::new("org1").unwrap());
    let id = SourceId::new("s1").unwrap();
    let change = shelfward::library::ScopeChange::new().title("T");
    let other = LibrarySpec::new(CollectionName::new("other").unwrap());
    let name = CollectionName::new("library").unwrap();
    let year = shelfward::Field::new(
        shelfward::MetadataKey::new("year").unwrap(),
        shelfward::FieldKind::Integer,
    );
    let wider = LibrarySpec::new(name.clone()).with_fields([year]);
    let errors: Vec<Box<dyn Error>> = vec![
        of_reader
            .index_source(source(&["b"]))
            .await
            .unwrap_err()
            .into(),
        of_reader
            .set_source_scope(&id, &change)
            .await
            .unwrap_err()
            .into(),
        of_reader.remove_source(&id).await.unwrap_err().into(),
        of_reader.remove_tenant().await.unwrap_err().into(),
        LibraryIndex::ensure(&reader, other, Arc::new(MODEL))
            .await
            .unwrap_err()
            .into(),
        LibraryIndex::ensure(&reader, wider, Arc::new(MODEL))
            .await
            .unwrap_err()
            .into(),
        reader.drop_collection(&name).await.unwrap_err().into(),
    ];
    for error in errors {
        let told = format!("{error:?}");
        assert!(told.contains("opened read_only"), "{told}");
        assert!(!told.contains("SQLite code"), "{told}");
    }
    // What there is is served.
    let scope = Scope::of("org1", ["g"]).unwrap();
    let answer = read.search(&scope, &SearchRequest::new("a")).await.unwrap();
    assert_eq!(answer.passages[0].id, "s1#0");
}
