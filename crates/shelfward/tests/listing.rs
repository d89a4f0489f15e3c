//! Which sources there are, on every embedded store: for readers, and for those who write them.

#![cfg(all(feature = "memory", feature = "sqlite", feature = "hnsw"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use shelfward::library::{
    FiledSource, IndexSource, LibraryError, LibrarySpec, ListedSource, Passage, PassageFilter,
    Reading, Refusal, ScopeChange,
};
use shelfward::observer::{Event, Observer};
use shelfward::{
    CollectionName, Cursor, EmbedError, Embedder, Field, FieldKind, Filter, Groups, LibraryIndex,
    Metadata, MetadataKey, Role, Scope, SourceId, SourceKind, TenantId, async_trait, connect,
};

struct Lengths;

#[async_trait]
impl Embedder for Lengths {
    fn id(&self) -> &str {
        "lengths"
    }

    fn width(&self) -> u32 {
        2
    }

    async fn embed(&self, _: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| vec![1.0, text.len() as f32];
        Ok(texts.iter().map(vector).collect())
    }
}

#[derive(Default)]
struct Trail(Mutex<Vec<Event>>);

impl Observer for Trail {
    fn observe(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

async fn libraries() -> Vec<(LibraryIndex, tempfile::TempDir)> {
    let mut libraries = Vec::new();
    for kind in ["memory:", "sqlite:", "hnsw:"] {
        let folder = tempfile::tempdir().unwrap();
        let url = match kind {
            "memory:" => kind.to_owned(),
            _ => format!("{kind}{}", folder.path().join("library").display()),
        };
        let store = connect(&url).await.unwrap();
        let year = Field::new(MetadataKey::new("year").unwrap(), FieldKind::Integer);
        let spec = LibrarySpec::new(CollectionName::new("library").unwrap()).with_fields([year]);
        let library = LibraryIndex::ensure(&store, spec, Arc::new(Lengths)).await;
        libraries.push((library.unwrap(), folder));
    }
    libraries
}

fn id(source: &str) -> SourceId {
    SourceId::new(source).unwrap()
}

fn source(name: &str, groups: &[&str], passages: usize) -> IndexSource {
    let kind = SourceKind::new("note").unwrap();
    let groups = Groups::of(groups.iter().copied()).unwrap();
    let passages = (0..passages).map(|at| Passage::new(format!("passage {at} of {name}")));
    IndexSource::new(id(name), kind, groups)
        .title(format!("The {name}"))
        .metadata(Metadata::new().with("year", 2026).unwrap())
        .passages(passages)
}

/// 30 sources of a tenant, every third for the board alone, and one of the same id elsewhere.
async fn fill(library: &LibraryIndex) {
    let org = library.tenant(TenantId::new("org").unwrap());
    for n in 0..30 {
        let groups: &[&str] = if n % 3 == 0 {
            &["board"]
        } else {
            &["staff", "board"]
        };
        let filed = source(&format!("s{n}"), groups, n % 4 + 1);
        let filed = if n % 2 == 0 {
            filed.folder("even").tags(["t"])
        } else {
            filed
        };
        org.index_source(filed).await.unwrap();
    }
    let other = library.tenant(TenantId::new("other").unwrap());
    other
        .index_source(source("s1", &["staff"], 9))
        .await
        .unwrap();
}

async fn all_of_scope(
    library: &LibraryIndex,
    scope: &Scope,
    reading: &Reading,
    page: usize,
) -> Vec<ListedSource> {
    let (mut all, mut after): (Vec<ListedSource>, Option<Cursor>) = (Vec::new(), None);
    loop {
        let found = library
            .sources(scope, reading, after.as_ref(), page)
            .await
            .unwrap();
        assert!(found.sources.len() <= page);
        all.extend(found.sources);
        after = found.next;
        if after.is_none() {
            return all;
        }
    }
}

fn ids(sources: &[ListedSource]) -> BTreeSet<String> {
    let ids: BTreeSet<_> = sources.iter().map(|source| source.id.to_string()).collect();
    assert_eq!(ids.len(), sources.len(), "each once");
    ids
}

#[tokio::test]
async fn a_reader_lists_what_it_may_read_and_nothing_else() {
    for (library, _folder) in libraries().await {
        fill(&library).await;
        let staff = Scope::of("org", ["staff"]).unwrap();
        let due: BTreeSet<_> = (0..30)
            .filter(|n| n % 3 != 0)
            .map(|n| format!("s{n}"))
            .collect();
        for page in [1, 7, 20, 1_000] {
            let listed = all_of_scope(&library, &staff, &Reading::new(), page).await;
            assert_eq!(ids(&listed), due, "{page} on a page");
        }
        let even: Reading = PassageFilter::new().folder("even").into();
        let even = even.filter(Filter::from_json(r#"{"year":{"$gte":2026}}"#).unwrap());
        let due: BTreeSet<_> = due
            .into_iter()
            .filter(|id| id[1..].parse::<usize>().unwrap() % 2 == 0)
            .collect();
        assert_eq!(ids(&all_of_scope(&library, &staff, &even, 5).await), due);

        let one = library.source(&staff, &id("s10")).await.unwrap().unwrap();
        assert_eq!((one.passages, one.title.as_deref()), (3, Some("The s10")));
        assert_eq!(
            (one.folder_id.as_deref(), one.tags.as_slice()),
            (Some("even"), &["t".to_owned()][..])
        );
        assert_eq!(one.metadata, Metadata::new().with("year", 2026).unwrap());
        let shown = serde_json::to_string(&one).unwrap();
        assert!(
            !shown.contains("board") && !shown.contains("_shelfward"),
            "{shown}"
        );
        for hidden in ["s0", "s99"] {
            assert_eq!(library.source(&staff, &id(hidden)).await.unwrap(), None);
        }
        let stranger = Scope::of("org", ["visitors"]).unwrap();
        assert!(
            all_of_scope(&library, &stranger, &Reading::new(), 10)
                .await
                .is_empty()
        );
        // The same id of another tenant is another source.
        let other = Scope::of("other", ["staff"]).unwrap();
        let listed = all_of_scope(&library, &other, &Reading::new(), 10).await;
        assert_eq!((listed.len(), listed[0].passages), (1, 9));
    }
}

#[tokio::test]
async fn a_cursor_of_one_scope_opens_nothing_to_another() {
    for (library, _folder) in libraries().await {
        fill(&library).await;
        let board = Scope::of("org", ["board"]).unwrap();
        let staff = Scope::of("org", ["staff"]).unwrap();
        let page = library
            .sources(&board, &Reading::new(), None, 3)
            .await
            .unwrap();
        let behind = library
            .sources(&staff, &Reading::new(), page.next.as_ref(), 1_000)
            .await
            .unwrap();
        let mine = ids(&all_of_scope(&library, &staff, &Reading::new(), 10).await);
        assert!(ids(&behind.sources).is_subset(&mine));
    }
}

#[tokio::test]
async fn who_writes_a_tenant_lists_all_of_it_and_its_groups() {
    for (library, _folder) in libraries().await {
        fill(&library).await;
        let org = library.tenant(TenantId::new("org").unwrap());
        let mut all: Vec<FiledSource> = Vec::new();
        let mut after = None;
        loop {
            let page = org
                .sources(&Reading::new(), after.as_ref(), 8)
                .await
                .unwrap();
            all.extend(page.sources);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(all.len(), 30);
        let first = org.source(&id("s0")).await.unwrap().unwrap();
        assert_eq!(first.access_groups, ["board"]);
        assert!(all.contains(&first));

        // The revision tells whether the content is another.
        let text = first.revision.clone();
        org.index_source(source("s0", &["staff"], 1)).await.unwrap();
        let again = org.source(&id("s0")).await.unwrap().unwrap();
        assert_eq!(
            (again.revision.as_str(), again.access_groups.as_slice()),
            (text.as_str(), &["staff".to_owned()][..])
        );
        let _changed = org
            .set_source_scope(&id("s0"), &ScopeChange::new().title("Another"))
            .await
            .unwrap();
        let titled = org.source(&id("s0")).await.unwrap().unwrap();
        assert_eq!(
            (titled.source.title.as_deref(), &titled.revision),
            (Some("Another"), &text)
        );
        org.index_source(source("s0", &["staff"], 2)).await.unwrap();
        assert_ne!(org.source(&id("s0")).await.unwrap().unwrap().revision, text);

        assert!(org.has_source(&id("s5")).await.unwrap());
        let _removed = org.remove_source(&id("s5")).await.unwrap();
        assert!(!org.has_source(&id("s5")).await.unwrap());
        assert!(org.passages(&id("s5")).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn all_passages_of_a_source_are_exported_in_their_order() {
    for (library, _folder) in libraries().await {
        let org = library.tenant(TenantId::new("org").unwrap());
        // More than the store is asked for at once.
        org.index_source(source("long", &["board"], 2_345))
            .await
            .unwrap();
        org.index_source(source("longer", &["board"], 3))
            .await
            .unwrap();
        let passages = org.passages(&id("long")).await.unwrap();
        let texts: Vec<_> = passages.iter().map(|passage| &*passage.text).collect();
        let due: Vec<_> = (0..2_345)
            .map(|at| format!("passage {at} of long"))
            .collect();
        assert_eq!(texts, due);
        assert_eq!(passages[7].access_groups().collect::<Vec<_>>(), ["board"]);
    }
}

#[tokio::test]
async fn what_is_listed_is_in_the_audit_trail() {
    for (library, _folder) in libraries().await {
        let trail = Arc::new(Trail::default());
        let library = library.with_observer(trail.clone(), None);
        fill(&library).await;
        trail.0.lock().unwrap().clear();
        let staff = Scope::of("org", ["staff"]).unwrap();
        let page = library
            .sources(&staff, &Reading::new(), None, 4)
            .await
            .unwrap();
        library.source(&staff, &id("s0")).await.unwrap();
        let org = library.tenant(TenantId::new("org").unwrap());
        org.passages(&id("s2")).await.unwrap();
        let events = std::mem::take(&mut *trail.0.lock().unwrap());
        let [
            Event::Listed(listed),
            Event::Listed(hidden),
            Event::Fetched(exported),
        ] = &events[..]
        else {
            panic!("{events:?}");
        };
        let answered: Vec<_> = page
            .sources
            .iter()
            .map(|source| source.id.clone())
            .collect();
        assert_eq!((&listed.answered, listed.dropped.len()), (&answered, 0));
        assert!(hidden.answered.is_empty());
        assert_eq!(exported.answered, ["s2#0", "s2#1", "s2#2"]);
    }
}

#[tokio::test]
async fn pages_of_none_or_too_many_and_filters_on_own_fields_are_refused() {
    for (library, _folder) in libraries().await {
        let staff = Scope::of("org", ["staff"]).unwrap();
        for given in [0, 1_001] {
            let refused = library.sources(&staff, &Reading::new(), None, given).await;
            let due = Refusal::PageSize { given, max: 1_000 };
            assert!(matches!(refused, Err(LibraryError::Refused(refusal)) if refusal == due));
        }
        let own = Reading::new().filter(Filter::from_json(r#"{"aclGroups":"board"}"#).unwrap());
        let org = library.tenant(TenantId::new("org").unwrap());
        assert!(matches!(
            library.sources(&staff, &own, None, 5).await,
            Err(LibraryError::Filter(_))
        ));
        assert!(matches!(
            org.sources(&own, None, 5).await,
            Err(LibraryError::Filter(_))
        ));
        let none = Reading::new().any_of([]);
        assert!(
            library
                .sources(&staff, &none, None, 5)
                .await
                .unwrap()
                .sources
                .is_empty()
        );
    }
}
