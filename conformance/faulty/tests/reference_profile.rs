//! The five faults that the reference profile's table of stores names: what each does to an index
//! that asks once and believes what it is told, and what this index does instead.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use shelfward_conformance::TableEmbedder;
use shelfward_conformance_faulty::{Fault, FaultyStore};
use shelfward_core::filter::key;
use shelfward_core::library::{
    IndexSource, LibraryError, LibrarySpec, Mode, Passage, SearchAnswer, SearchRequest,
    TenantLibrary,
};
use shelfward_core::{
    Collection, CollectionName, Count, ErrorKind, Groups, LibraryIndex, Limits, Scope, SourceId,
    SourceKind, Store, TenantId,
};
use shelfward_memory::MemoryStore;

/// A library on a faulty store without transactions, as the servers of the table are.
async fn library(fault: Fault, rounds: u32) -> (LibraryIndex, Collection) {
    let memory = MemoryStore::new();
    let faulty = FaultyStore::new(Arc::new(memory.clone()), fault).without_transactions();
    let store =
        Store::new(faulty).with_limits(Limits::builder().refill_rounds(rounds).build().unwrap());
    let name = CollectionName::new("library").unwrap();
    let embedder = Arc::new(TableEmbedder::new("table", 8));
    let index = LibraryIndex::ensure(&store, LibrarySpec::new(name.clone()), embedder)
        .await
        .unwrap();
    // The same rows without the fault, to see what is really there.
    let truth = Store::new(memory).open_unscoped(&name).await.unwrap();
    (index, truth)
}

fn org(index: &LibraryIndex) -> TenantLibrary {
    index.tenant(TenantId::new("org1").unwrap())
}

fn source(id: &str, tags: &[&str], texts: &[&str]) -> IndexSource {
    let passages = texts.iter().map(|text| Passage::new(*text));
    let (id, kind) = (
        SourceId::new(id).unwrap(),
        SourceKind::new("document").unwrap(),
    );
    IndexSource::new(id, kind, Groups::of(["g"]).unwrap())
        .tags(tags.iter().copied())
        .passages(passages)
}

async fn search(index: &LibraryIndex, request: SearchRequest) -> SearchAnswer {
    index
        .search(&Scope::of("org1", ["g"]).unwrap(), &request)
        .await
        .unwrap()
}

fn ids(answer: &SearchAnswer) -> Vec<String> {
    answer
        .passages
        .iter()
        .map(|passage| passage.id.to_string())
        .collect()
}

async fn rows(truth: &Collection, source: &str) -> u64 {
    let of_source = key("tenantId")
        .eq("org1")
        .and(key("sourceId").eq(source))
        .build()
        .unwrap();
    truth.count(&of_source).await.unwrap().exact().unwrap()
}

fn contract(error: &LibraryError) -> &str {
    match error {
        LibraryError::Store(error) => match error.kind() {
            ErrorKind::Contract(what) => what,
            other => panic!("not a broken contract but {other}"),
        },
        other => panic!("not the store's but {other}"),
    }
}

#[tokio::test]
async fn in_that_compares_a_list_as_one_value_finds_nothing_and_widens_nothing() {
    for rounds in [1, 3] {
        let (index, _) = library(Fault::InComparesListAsOne, rounds).await;
        org(&index)
            .index_source(source("s1", &[], &["a", "b"]))
            .await
            .unwrap();
        for mode in [Mode::Dense, Mode::Hybrid] {
            // No passage's groups pass the store's filter, and nothing that is asked again for can.
            let answer = search(&index, SearchRequest::new("a").mode(mode)).await;
            assert!(answer.passages.is_empty());
        }
    }
}

#[tokio::test]
async fn a_delete_by_filter_that_deletes_nothing_is_an_error_and_never_a_success() {
    let (index, truth) = library(Fault::DeleteByFilterDoesNothing, 1).await;
    let org = org(&index);
    org.index_source(source("s1", &[], &["a", "b", "c"]))
        .await
        .unwrap();

    // The table: indexing again leaves those past the new count. Here that is said.
    let error = org
        .index_source(source("s1", &[], &["a"]))
        .await
        .unwrap_err();
    assert_eq!(rows(&truth, "s1").await, 3);
    assert!(contract(&error).contains("3 are there"), "{error}");

    // The table: removals leave the passages and answer 0. Here that is an error with the number.
    let id = SourceId::new("s1").unwrap();
    for error in [
        org.remove_source(&id).await.unwrap_err(),
        org.remove_tenant().await.unwrap_err(),
    ] {
        assert!(
            contract(&error).contains("3 records are still there"),
            "{error}"
        );
    }
    assert_eq!(rows(&truth, "s1").await, 3);
}

#[tokio::test]
async fn a_dropped_all_makes_a_search_by_tags_short_when_it_is_asked_once_and_full_when_asked_again()
 {
    let index_both = async |rounds| {
        let (index, _) = library(Fault::DropsAll, rounds).await;
        let near: Vec<String> = (0..20).map(|_| "near".to_owned()).collect();
        let near: Vec<&str> = near.iter().map(String::as_str).collect();
        org(&index)
            .index_source(source("near", &["x"], &near))
            .await
            .unwrap();
        org(&index)
            .index_source(source("far", &["x", "y"], &["zzzzz", "qqqqq"]))
            .await
            .unwrap();
        index
    };
    let request = SearchRequest::new("near")
        .mode(Mode::Dense)
        .top_k(5)
        .tags(["x", "y"]);

    // The table: fewer than topK, since the index drops those without every tag. Nobody is misled:
    // the answer says that it is not complete.
    let once = search(&index_both(1).await, request.clone()).await;
    assert_eq!((ids(&once).len(), once.complete), (0, false));

    let again = search(&index_both(3).await, request).await;
    assert_eq!(ids(&again), ["far#0", "far#1"]);
    assert!(again.complete);
}

#[tokio::test]
async fn a_delete_that_answers_no_count_is_counted_before_it() {
    for fault in [
        Fault::DeleteByFilterAnswersUnknown,
        Fault::DeleteByFilterAnswersZero,
    ] {
        let (index, truth) = library(fault, 1).await;
        let org = org(&index);
        org.index_source(source("s1", &[], &["a", "b", "c"]))
            .await
            .unwrap();
        org.index_source(source("s2", &[], &["d"])).await.unwrap();

        let removed = org
            .remove_source(&SourceId::new("s1").unwrap())
            .await
            .unwrap()
            .count();
        assert_eq!(removed, Count::Exact(3), "{fault:?}");
        assert_eq!(rows(&truth, "s1").await, 0);
        assert_eq!(
            org.remove_tenant().await.unwrap().count(),
            Count::Exact(1),
            "{fault:?}"
        );
    }
}

#[tokio::test]
async fn the_same_faults_at_the_store_itself_answer_what_the_table_says() {
    let expected = [
        (Fault::DeleteByFilterAnswersUnknown, Count::Unknown, 0),
        (Fault::DeleteByFilterAnswersZero, Count::Exact(0), 0),
        (Fault::DeleteByFilterDoesNothing, Count::Exact(0), 1),
    ];
    for (fault, answer, left) in expected {
        let memory = MemoryStore::new();
        let store = Store::new(FaultyStore::new(Arc::new(memory.clone()), fault));
        let name = CollectionName::new("library").unwrap();
        let embedder = Arc::new(TableEmbedder::new("table", 8));
        let index = LibraryIndex::ensure(&store, LibrarySpec::new(name.clone()), embedder)
            .await
            .unwrap();
        org(&index)
            .index_source(source("s1", &[], &["a"]))
            .await
            .unwrap();
        let selector = key("tenantId")
            .eq("org1")
            .build()
            .unwrap()
            .narrow()
            .unwrap();
        let collection = store.open_unscoped(&name).await.unwrap();
        assert_eq!(
            collection.delete_matching(&selector).await.unwrap(),
            answer,
            "{fault:?}"
        );
        assert_eq!(
            rows(
                &Store::new(memory).open_unscoped(&name).await.unwrap(),
                "s1"
            )
            .await,
            left,
            "{fault:?}"
        );
    }
}
