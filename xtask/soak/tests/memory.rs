//! Searches, fetches and writes hold nothing that grows, and give every block back as they took it.
//!
//! A program of its own: its allocator looks at every block of it. One store after the other, so
//! that what is held is held by one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../src/allocator.rs"]
mod allocator;

use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use shelfward::library::{
    IndexSource, LibrarySpec, Mode, Passage, PassageId, Reading, ScopeChange, SearchRequest,
    TenantLibrary,
};
use shelfward::{CollectionName, Groups, LibraryIndex, Scope, SourceId, SourceKind, TenantId};
use shelfward_conformance::TableEmbedder;

use allocator::Checking;

#[global_allocator]
static ALLOCATOR: Checking = Checking::new();

/// Rounds until caches are filled.
const WARM_UP: usize = 3;
const ROUNDS: usize = 5;
/// Searches, fetches and writes of a round.
const CALLS: usize = 500;
/// What the usual round may hold more than the round before it, in bytes: 4 for each call.
const GROWTH: usize = 4 * CALLS;
const SOURCES: usize = 8;

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let folder = tempfile::tempdir().unwrap();
    let at = |scheme: &str| format!("{scheme}:{}/library.{scheme}", folder.path().display());
    let server = std::env::var("DATABASE_URL")
        .ok()
        .filter(|url| !url.is_empty());
    let missing = server.is_none();
    let stores = [
        ("memory", "memory:".to_owned()),
        ("sqlite_file", at("sqlite")),
        ("sqlite_in_memory", "sqlite::memory:".to_owned()),
        ("hnsw", at("hnsw")),
        // A second connection is no leak, but a step that could be taken for one.
        ("postgres", one_connection(&server.unwrap_or_default())),
    ];
    let trials = stores.map(|(name, url)| {
        let trial = Trial::test(format!("{name}_holds_nothing_that_grows"), move || {
            judged(&rounds(&url, || ())?)
        });
        // Counted as not run by the runner.
        trial.with_ignored_flag(name == "postgres" && missing)
    });
    let planted = Trial::test("a_leak_is_found", || {
        // As little as an id.
        let leaking = || std::mem::forget(std::hint::black_box(Vec::<u8>::with_capacity(40)));
        let seen = rounds("memory:", leaking)?;
        match judged(&seen) {
            Err(_) => Ok(()),
            Ok(()) => Err(format!("nothing was found: {seen:?}").into()),
        }
    });
    libtest_mimic::run(&arguments, trials.into_iter().chain([planted]).collect()).exit();
}

/// What the allocator saw of a store.
#[derive(Debug)]
struct Seen {
    /// The bytes held after each round, from the warm-up's last on.
    held: Vec<usize>,
    wrong: usize,
}

/// A leak grows in each round; a buffer or a cache that is made larger grows in one. So the growth of
/// the median round counts.
fn judged(seen: &Seen) -> Result<(), Failed> {
    let pairs = seen.held.windows(2);
    let mut growth: Vec<_> = pairs.map(|two| two[1].saturating_sub(two[0])).collect();
    growth.sort_unstable();
    if seen.wrong > 0 || growth[growth.len() / 2] > GROWTH {
        return Err(format!("{seen:?}").into());
    }
    Ok(())
}

fn one_connection(url: &str) -> String {
    let before = if url.contains('?') { '&' } else { '?' };
    format!("{url}{before}max_connections=1")
}

/// Calls a store in rounds of which each leaves it empty, and does something else beside each call.
fn rounds(url: &str, beside: fn()) -> Result<Seen, Failed> {
    let before = ALLOCATOR.wrong_layouts();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let held = runtime.block_on(async {
        let store = shelfward::connect(url).await?;
        let name = CollectionName::new(format!("memory_{}", std::process::id()))?;
        let embedder = Arc::new(TableEmbedder::new("memory", 8));
        let spec = LibrarySpec::new(name.clone());
        let library = LibraryIndex::ensure(&store, spec, embedder).await?;
        let mut held = Vec::with_capacity(ROUNDS + 1);
        for round in 1..=WARM_UP + ROUNDS {
            calls(&library, beside).await?;
            if round >= WARM_UP {
                held.push(ALLOCATOR.held());
            }
        }
        drop(library);
        store.drop_collection(&name).await?;
        store.close().await?;
        Ok::<_, Failed>(held)
    })?;
    // What the store gave to the runtime ends with it.
    drop(runtime);
    let wrong = ALLOCATOR.wrong_layouts() - before;
    Ok(Seen { held, wrong })
}

async fn calls(library: &LibraryIndex, beside: fn()) -> Result<(), Failed> {
    let tenant = library.tenant(TenantId::new("t")?);
    let scope = Scope::of("t", ["g"])?;
    for source in 0..SOURCES {
        index(&tenant, source, source).await?;
    }
    let modes = [Mode::Dense, Mode::Lexical, Mode::Hybrid];
    for call in 0..CALLS {
        beside();
        let id = SourceId::new(format!("s{}", call / 5 % SOURCES))?;
        match call % 5 {
            4 if call % 3 == 0 => drop(tenant.remove_source(&id).await?.count()),
            4 if call % 3 == 1 => {
                let change = ScopeChange::new().groups(["g", "h"])?;
                tenant.set_source_scope(&id, &change).await?.count();
            }
            4 => index(&tenant, call / 5 % SOURCES, call).await?,
            3 => {
                let ids: Vec<_> = (0..20).map(|i| PassageId::new(id.clone(), i)).collect();
                library.fetch(&scope, &Reading::new(), &ids).await?;
            }
            leg => {
                let query = format!("word w{}", call % 7);
                let request = SearchRequest::new(query).mode(modes[leg]).top_k(50);
                library.search(&scope, &request).await?;
            }
        }
    }
    tenant.remove_tenant().await?.count();
    Ok(())
}

async fn index(tenant: &TenantLibrary, source: usize, content: usize) -> Result<(), Failed> {
    let passages = (0..10 + content % 5).map(|i| Passage::new(format!("word w{i} of {content}")));
    let (id, kind) = (
        SourceId::new(format!("s{source}"))?,
        SourceKind::new("document")?,
    );
    let source = IndexSource::new(id, kind, Groups::of(["g"])?);
    tenant.index_source(source.passages(passages)).await?;
    Ok(())
}
