//! The Library Index beside the store's own call with the same filter.

use std::hint::black_box;
use std::sync::Arc;

use shelfward_bench::material;
use shelfward_bench::report::{Report, Row};
use shelfward_bench::rounds::alternate;
use shelfward_core::library::{IndexSource, LibrarySpec, Mode, Passage, SearchRequest};
use shelfward_core::{
    CollectionName, Filter, Leg, LibraryIndex, Match, Scope, Store, TenantId, query_words,
};
use shelfward_memory::MemoryStore;
use tokio::runtime::Runtime;

use super::{Run, both};
use crate::TOP_K;
use crate::drawn::Drawn;

const PASSAGES: usize = 100;

pub(crate) fn library(run: &Run<'_>, report: &mut Report) {
    let runtime = Runtime::new().unwrap();
    let store = Store::new(MemoryStore::new());
    let (paragraphs, _) = material::paragraphs().unwrap();
    let texts = material::documents(&paragraphs, run.vectors.len(), 1);
    let mut vectors = run.vectors.clone();
    let queries = vectors.len();
    vectors.extend(run.queries.iter().map(|q| Arc::from(q.as_slice())));
    let embedder = Arc::new(Drawn(vectors));
    let spec = LibrarySpec::new(CollectionName::new("library").unwrap());
    let index = runtime.block_on(async {
        let index = LibraryIndex::ensure(&store, spec, embedder.clone())
            .await
            .unwrap();
        let tenant = index.tenant(TenantId::new("org").unwrap());
        for (n, texts) in texts.chunks(PASSAGES).enumerate() {
            // Half of the sources are for the reader's group.
            let groups = if n % 2 == 0 { ["g1"] } else { ["g2"] };
            let passages = (n * PASSAGES..)
                .zip(texts)
                .map(|(at, text)| Passage::new(format!("{at} {text}")));
            let id = format!("s{n}");
            let source = IndexSource::new(&id, "document", groups)
                .unwrap()
                .passages(passages);
            tenant.index_source(source).await.unwrap();
        }
        index
    });
    let name = CollectionName::new("library").unwrap();
    let collection = runtime.block_on(store.open_unscoped(&name)).unwrap();
    let scope = Scope::of("org", ["g1", "g9"]).unwrap();
    let filter = Filter::from_json(
        r#"{"tenantId":"org","aclGroups":{"$in":["g1","g9"]},"status":"active"}"#,
    );
    let filter = Arc::new(filter.unwrap());
    let words = material::queries(&texts, run.queries.len(), 2);
    let asked: Vec<(usize, String)> = words
        .iter()
        .enumerate()
        .map(|(n, words)| (n, format!("{} {}", queries + n, words.join(" "))))
        .collect();
    for (mode, depth) in [(Mode::Dense, TOP_K), (Mode::Hybrid, 50)] {
        let hybrid = mode == Mode::Hybrid;
        let mut ours = |(_, text): &(usize, String)| {
            let request = SearchRequest::new(text).mode(mode).top_k(TOP_K);
            drop(black_box(
                runtime.block_on(index.search(&scope, &request)).unwrap(),
            ));
        };
        let mut raw = |(n, text): &(usize, String)| {
            let dense = Leg::dense(run.queries[*n].as_slice(), filter.clone(), depth);
            if hybrid {
                let words = query_words(text, index.spec().word_rule, false).unwrap();
                let lexical = Leg::lexical(words, Match::Any, filter.clone(), depth);
                drop(black_box(
                    runtime
                        .block_on(collection.search_both(&dense, &lexical))
                        .unwrap(),
                ));
            } else {
                drop(black_box(
                    runtime.block_on(collection.search(&dense)).unwrap(),
                ));
            }
        };
        let times = alternate(
            &asked,
            run.options.rounds,
            &mut [("library", &mut ours), ("raw", &mut raw)],
        );
        let what = if hybrid {
            "a library's hybrid search"
        } else {
            "a library's dense search"
        };
        let beside = if hybrid {
            "the store's two legs, as deep"
        } else {
            "the store's own call"
        };
        let row = Row::times(what, run.vectors.len(), beside).goal(1.05);
        report.rows.push(row.measured(both(&times)));
    }
}
