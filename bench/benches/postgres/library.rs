//! A library to search, and what its answers should be.

use std::sync::Arc;

use shelfward_bench::vectors::recall;
use shelfward_core::adapter::{CollectionAdapter, StoreAdapter as _};
use shelfward_core::library::{IndexSource, LibrarySpec, Passage};
use shelfward_core::{
    Collection, CollectionName, Filter, Groups, Hit, Leg, LegResult, LibraryIndex, SourceId,
    SourceKind, Store, TenantId,
};
use shelfward_postgres::{PostgresStore, VectorIndex};

use crate::TOP_K;
use crate::drawn::Drawn;
use crate::rows::Run;

/// So many passages each source has.
pub(crate) const PASSAGES: usize = 100;

/// Groups that may see a part of all sources: their name, and every how manieth source is theirs.
pub(crate) const SHARES: [(&str, usize); 5] = [
    ("all", 1),
    ("half", 2),
    ("tenth", 10),
    ("hundredth", 100),
    ("thousandth", 1_000),
];

/// Whether a group may see a passage.
pub(crate) fn may_see(every: usize, passage: usize) -> bool {
    (passage / PASSAGES).is_multiple_of(every)
}

/// A library in a table.
pub(crate) struct Library {
    pub(crate) index: LibraryIndex,
    /// The collection as the adapter gives it.
    bare: Arc<dyn CollectionAdapter>,
    /// The collection as a user holds it.
    pub(crate) checked: Collection,
    pub(crate) table: String,
}

/// The two faces of a collection, searched alike.
#[derive(Clone, Copy)]
pub(crate) enum Face<'a> {
    Adapter(&'a dyn CollectionAdapter),
    Checked(&'a Collection),
}

impl Face<'_> {
    pub(crate) fn search(self, run: &Run<'_>, legs: &[Leg]) -> Vec<LegResult> {
        let search = async {
            match (self, legs) {
                (Self::Adapter(adapter), _) => adapter.search(legs).await,
                (Self::Checked(checked), [dense, lexical]) => {
                    let found = checked.search_both(dense, lexical).await;
                    found.map(|(dense, lexical)| vec![dense, lexical])
                }
                (Self::Checked(checked), _) => {
                    let found = checked.search(legs.first().unwrap()).await;
                    found.map(|found| vec![found])
                }
            }
        };
        run.place.runtime.block_on(search).unwrap()
    }
}

impl Library {
    pub(crate) fn adapter(&self) -> Face<'_> {
        Face::Adapter(&*self.bare)
    }

    pub(crate) fn checked(&self) -> Face<'_> {
        Face::Checked(&self.checked)
    }

    /// An empty one.
    pub(crate) fn new(run: &Run<'_>, name: &str, index: VectorIndex) -> Self {
        Self::on(run, &Arc::new(run.place.store(index)), name)
    }

    fn on(run: &Run<'_>, store: &Arc<PostgresStore>, name: &str) -> Self {
        let collection = CollectionName::new(name).unwrap();
        let checked = Store::from_arc(store.clone());
        run.place.runtime.block_on(async {
            let spec = LibrarySpec::new(collection.clone());
            let index = LibraryIndex::ensure(&checked, spec, run.embedder.clone());
            Self {
                index: index.await.unwrap(),
                bare: store.open(&collection).await.unwrap().unwrap(),
                checked: checked.open_unscoped(&collection).await.unwrap(),
                table: run.place.table(name),
            }
        })
    }

    /// One of the first `count` passages, in so many tenants.
    pub(crate) fn full(run: &Run<'_>, name: &str, count: usize, tenants: usize) -> Self {
        let library = Self::new(run, name, VectorIndex::Hnsw);
        run.place
            .without_graph(name, || library.fill(run, count, tenants));
        library
    }

    /// Indexes the first `count` passages.
    pub(crate) fn fill(&self, run: &Run<'_>, count: usize, tenants: usize) {
        for first in (0..count).step_by(PASSAGES) {
            let tenant = self.index.tenant(tenant((first / PASSAGES) % tenants));
            let source = source(&run.texts, first, count);
            run.place
                .runtime
                .block_on(tenant.index_source(source))
                .unwrap();
        }
    }
}

pub(crate) fn tenant(number: usize) -> TenantId {
    TenantId::new(format!("t{number}")).unwrap()
}

/// The source whose first passage is given.
pub(crate) fn source(texts: &[String], first: usize, count: usize) -> IndexSource {
    let groups = SHARES.iter().filter(|(_, every)| may_see(*every, first));
    let passages = texts[first..(first + PASSAGES).min(count)].iter();
    let id = format!("s{}", first / PASSAGES);
    let (id, kind) = (
        SourceId::new(&id).unwrap(),
        SourceKind::new("document").unwrap(),
    );
    let groups = Groups::of(groups.map(|(group, _)| *group)).unwrap();
    IndexSource::new(id, kind, groups)
        .title(format!("Manual {}", first / PASSAGES))
        .passages(passages.map(|text| Passage::new(text.as_str())))
}

/// What a library sends for a reader of one group.
pub(crate) fn reader(tenant: &TenantId, group: &str) -> Arc<Filter> {
    let filter = format!(
        r#"{{"tenantId":"{tenant}","aclGroups":{{"$in":["{group}","of-nobody"]}},"status":"active"}}"#
    );
    Arc::new(Filter::from_json(&filter).unwrap())
}

pub(crate) fn everything() -> Arc<Filter> {
    Arc::new(Filter::everything())
}

/// An embedder for all passages, and behind them all queries.
pub(crate) fn embedder(vectors: &[Arc<[f32]>], queries: &[Vec<f32>]) -> Arc<Drawn> {
    let queries = queries.iter().map(|query| Arc::from(query.as_slice()));
    Arc::new(Drawn(vectors.iter().cloned().chain(queries).collect()))
}

/// The numbers that the texts of hits begin with.
pub(crate) fn numbers(hits: &[Hit]) -> Vec<String> {
    hits.iter().map(|hit| number(hit.text.as_deref())).collect()
}

pub(crate) fn number(text: Option<&str>) -> String {
    text.and_then(|t| t.split(' ').next()).unwrap().to_owned()
}

/// How well a search finds the nearest of the passages that a reader may see: the mean share that it
/// found, and the fewest hits of an answer.
pub(crate) fn found(
    run: &Run<'_>,
    face: Face<'_>,
    filter: &Arc<Filter>,
    such: impl Fn(usize) -> bool,
) -> (f64, usize) {
    let search = |query: &Vec<f32>| {
        let leg = Leg::dense(query.as_slice(), filter.clone(), TOP_K);
        numbers(&face.search(run, &[leg])[0].hits)
    };
    let found: Vec<_> = run.queries.iter().map(search).collect();
    let fewest = found.iter().map(Vec::len).min().unwrap_or(0);
    (recall(&found, &nearest(run, such)), fewest)
}

/// The nearest by the formula itself.
pub(crate) fn nearest(run: &Run<'_>, such: impl Fn(usize) -> bool) -> Vec<Vec<String>> {
    let seen: Vec<usize> = (0..run.vectors.len()).filter(|n| such(*n)).collect();
    let of_query = |query: &Vec<f32>| {
        let dot = |vector: &[f32]| -> f64 {
            let pairs = vector.iter().zip(query);
            pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        // All vectors have a length of one.
        let mut scored: Vec<_> = seen.iter().map(|n| (dot(&run.vectors[*n]), n)).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.truncate(TOP_K);
        scored.iter().map(|(_, n)| n.to_string()).collect()
    };
    run.queries.iter().map(of_query).collect()
}
