//! Writes of a large source beside indexing it, and searches of another reader meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shelfward_bench::report::{Figures, Report, Row};
use shelfward_core::library::{
    IndexSource, LibrarySpec, Passage, ScopeChange, SearchRequest, TenantLibrary,
};
use shelfward_core::{
    CollectionName, Groups, LibraryIndex, Scope, SourceId, SourceKind, Store, TenantId,
};
use shelfward_hnsw::{HnswOptions, HnswStore};
use shelfward_memory::MemoryStore;
use shelfward_sqlite::{SqliteOptions, SqliteStore};
use tokio::runtime::Runtime;

use super::Run;
use crate::drawn::Drawn;

/// How long a search may wait for a write.
const LONGEST: Duration = Duration::from_millis(100);
/// How long the reader waits from one search to the next.
const PAUSE: Duration = Duration::from_millis(2);

#[derive(Clone, Copy)]
enum Write {
    Index,
    Replace,
    Rescope,
    Remove,
}

pub(crate) fn writes(run: &Run<'_>, report: &mut Report) {
    let folder = tempfile::tempdir().unwrap();
    let hnsw = HnswStore::open(folder.path().join("hnsw"), HnswOptions::default());
    let sqlite = SqliteStore::open(folder.path().join("writes.db"), SqliteOptions::default());
    let stores = [
        ("memory", Store::new(MemoryStore::new())),
        ("HNSW", Store::new(hnsw.unwrap())),
        ("SQLite", Store::new(sqlite.unwrap())),
    ];
    for (name, store) in stores {
        of_store(run, report, name, &store);
    }
}

fn of_store(run: &Run<'_>, report: &mut Report, name: &str, store: &Store) {
    let runtime = Runtime::new().unwrap();
    let documents = run.vectors.len();
    let library = runtime.block_on(async {
        let spec = LibrarySpec::new(CollectionName::new("writes").unwrap());
        let embedder = Arc::new(Drawn(run.vectors.clone()));
        let library = LibraryIndex::ensure(store, spec, embedder).await.unwrap();
        let tenant = library.tenant(TenantId::new("org").unwrap());
        let small = source("small", "g1", "small", documents.min(20));
        tenant.index_source(small).await.unwrap();
        Arc::new(library)
    });
    let mut indexing = None;
    for (write, what) in [
        (Write::Index, "indexed"),
        (Write::Replace, "replaced"),
        (Write::Rescope, "given another scope"),
        (Write::Remove, "removed"),
    ] {
        let over = Arc::new(AtomicBool::new(false));
        let reader = runtime.spawn(slowest(library.clone(), over.clone()));
        let tenant = library.tenant(TenantId::new("org").unwrap());
        let taken = runtime.block_on(runtime.spawn(written(tenant, write, documents)));
        over.store(true, Ordering::SeqCst);
        let slowest = runtime.block_on(reader).unwrap();
        let taken = taken.unwrap();
        let seconds = |time: Duration| Some(Figures::one(time.as_secs_f64()));
        let row = Row::times(
            &format!("{name}, the slowest search while a source is {what}"),
            documents,
            "100 ms",
        );
        let both = [seconds(slowest), seconds(LONGEST)];
        report.rows.push(row.goal(1.0).measured(both));
        match indexing {
            None => indexing = Some(taken),
            Some(indexing) => {
                let what = format!("{name}, a source {what}");
                let row = Row::times(&what, documents, "indexing it").goal(2.0);
                let both = [seconds(taken), seconds(indexing)];
                report.rows.push(row.measured(both));
            }
        }
    }
}

/// A source whose passages begin with the numbers of their vectors.
fn source(id: &str, group: &str, word: &str, passages: usize) -> IndexSource {
    let passages = (0..passages).map(|n| Passage::new(format!("{n} {word} passage of the book")));
    let (id, kind) = (
        SourceId::new(id).unwrap(),
        SourceKind::new("document").unwrap(),
    );
    IndexSource::new(id, kind, Groups::of([group]).unwrap()).passages(passages)
}

/// The longest that a search of what nobody writes takes.
async fn slowest(library: Arc<LibraryIndex>, over: Arc<AtomicBool>) -> Duration {
    let scope = Scope::of("org", ["g1"]).unwrap();
    let request = SearchRequest::new("0 small");
    let mut slowest = Duration::ZERO;
    while !over.load(Ordering::SeqCst) {
        let begun = Instant::now();
        let answer = library.search(&scope, &request).await.unwrap();
        slowest = slowest.max(begun.elapsed());
        assert!(!answer.passages.is_empty());
        tokio::time::sleep(PAUSE).await;
    }
    slowest
}

/// How long a write takes.
async fn written(tenant: TenantLibrary, write: Write, passages: usize) -> Duration {
    let id = SourceId::new("large").unwrap();
    let large = |word| source("large", "g2", word, passages);
    // Texts are made before, as a caller does.
    let source = match write {
        Write::Index => large("first"),
        _ => large("second"),
    };
    let begun = Instant::now();
    match write {
        Write::Index | Write::Replace => drop(tenant.index_source(source).await.unwrap()),
        Write::Rescope => {
            let scope = ScopeChange::new().groups(["g3"]).unwrap();
            let _count = tenant.set_source_scope(&id, &scope).await.unwrap().count();
        }
        Write::Remove => {
            let _count = tenant.remove_source(&id).await.unwrap().count();
        }
    }
    begun.elapsed()
}
