//! What narrows stays narrow: empty lists, branches, and requests read from data.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use shelfward_core::library::{LibraryIndex, Mode, PassageFilter, Reading, SearchRequest};
use shelfward_core::{Filter, Store};
use support::{
    Meddling, Nothing, TestEmbedder, id, ids, library, library_with, memory, scope, source, tenant,
};

async fn shelf(store: &Store) -> LibraryIndex {
    let index = library(store).await;
    let org = index.tenant(tenant("a"));
    for name in ["allowed", "other"] {
        let filed = source(name, &["g"], &["one"]).folder(name).tags([name]);
        org.index_source(filed).await.unwrap();
    }
    index
}

fn one() -> SearchRequest {
    SearchRequest::new("one").mode(Mode::Dense)
}

async fn found(index: &LibraryIndex, request: &SearchRequest) -> Vec<String> {
    let reader = scope("a", &["g"]);
    let answer = index.search(&reader, request).await.unwrap();
    let mut searched: Vec<_> = ids(&answer);
    searched.sort();
    // A fetch by the same reading finds the same.
    let all = ["allowed#0", "other#0"].map(|id| id.parse().unwrap());
    let read = index.fetch(&reader, request.reading(), &all).await.unwrap();
    let read: Vec<_> = read.into_iter().flatten().map(|p| p.id).collect();
    assert_eq!(read, searched, "{request:?}");
    searched
}

#[tokio::test]
async fn a_branch_stays_within_the_bound_of_its_search() {
    let index = shelf(&memory()).await;
    let bound = || one().source_ids([id("allowed")]);
    let narrow = PassageFilter::new;
    let cases = [
        (vec![narrow().source_ids([id("other")])], vec![]),
        (vec![narrow().folder("other")], vec![]),
        (vec![narrow().kinds(["document"])], vec!["allowed#0"]),
        (vec![narrow()], vec!["allowed#0"]),
        (
            vec![narrow().tags(["other"]), narrow().folder("allowed")],
            vec!["allowed#0"],
        ),
        (vec![], vec![]),
    ];
    for (branches, right) in cases {
        let request = bound().any_of(branches.clone());
        assert_eq!(found(&index, &request).await, right, "{branches:?}");
        let json = serde_json::to_string(&request).unwrap();
        let read: SearchRequest = serde_json::from_str(&json).unwrap();
        assert_eq!(read, request, "{json}");
    }
    // Of the same field too: a folder within folders.
    let folders = one().folder_ids(["allowed", "other"]);
    let within = folders.any_of([narrow().folder("other")]);
    assert_eq!(found(&index, &within).await, ["other#0"]);
}

#[tokio::test]
async fn a_branch_with_defaults_takes_their_place_by_name_alone() {
    let index = shelf(&memory()).await;
    let bound = one().source_ids([id("allowed")]);
    let lifts = [PassageFilter::new().source_ids([id("other")])];
    let request = bound.clone().any_of_with_defaults(lifts);
    assert_eq!(found(&index, &request).await, ["other#0"]);
    let json = serde_json::to_string(&request).unwrap();
    assert!(json.contains("anyOfWithDefaults"), "{json}");
    let read: SearchRequest = serde_json::from_str(&json).unwrap();
    assert_eq!(read, request);
    let filled = bound.any_of_with_defaults([PassageFilter::new().kinds(["document"])]);
    assert_eq!(found(&index, &filled).await, ["allowed#0"]);
    let both = r#"{"text":"one","anyOf":[],"anyOfWithDefaults":[]}"#;
    let refused = serde_json::from_str::<SearchRequest>(both).unwrap_err();
    assert!(
        refused.to_string().contains("exclude each other"),
        "{refused}"
    );
}

#[tokio::test]
async fn what_is_given_and_empty_finds_nothing_and_asks_nobody() {
    let store = Meddling::new(Nothing);
    let asked = store.asked.clone();
    let store = Store::new(store);
    let index = shelf(&store).await;
    let (_, embedder) = library_with(&store, TestEmbedder::default()).await;
    asked.take_calls();
    let none = Vec::<String>::new;
    let narrow = PassageFilter::new;
    let empty = [
        narrow().kinds(none()),
        narrow().tags(none()),
        narrow().folder(""),
        narrow().folder_ids(none()),
        narrow().source_ids(Vec::<String>::new()),
        narrow().folder("allowed").folder_ids(["other"]),
    ];
    for empty in empty {
        let whole = Reading::from(empty.clone());
        let all = ["allowed#0".parse().unwrap()];
        let reader = scope("a", &["g"]);
        assert_eq!(
            index.fetch(&reader, &whole, &all).await.unwrap(),
            [None],
            "{empty:?}"
        );
        let json = serde_json::to_value(&empty).unwrap();
        let mut request = serde_json::to_value(one()).unwrap();
        request
            .as_object_mut()
            .unwrap()
            .extend(json.as_object().unwrap().clone());
        let read: SearchRequest = serde_json::from_value(request).unwrap();
        assert_eq!(found(&index, &read).await, [""; 0], "{empty:?}");
        // As a branch it finds nothing, and takes nothing from the others.
        let branch = one().any_of([empty.clone()]);
        assert_eq!(found(&index, &branch).await, [""; 0], "{empty:?}");
        assert_eq!(asked.take_calls(), [""; 0], "{empty:?}");
        let beside = one().any_of([empty, narrow().tags(["other"])]);
        assert_eq!(found(&index, &beside).await, ["other#0"]);
        asked.take_calls();
    }
    assert_eq!(embedder.calls(), 0);
    assert_eq!(
        found(&index, &one()).await.len(),
        2,
        "what is left out is open"
    );
}

#[test]
fn a_filter_inside_a_request_takes_no_number_that_was_rounded() {
    let read = |number: &str| {
        let json = format!(r#"{{"text":"one","filter":{{"n":{{"$in":[1,{number}]}}}}}}"#);
        serde_json::from_str::<SearchRequest>(&json)
    };
    for outside in [
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "1e30",
    ] {
        let refused = read(outside).unwrap_err();
        assert!(
            refused.to_string().contains("send larger ones as text"),
            "{refused}"
        );
    }
    for inside in [
        "9223372036854775807",
        "-9223372036854775808",
        "9.2e18",
        "0.5",
        "-1e-300",
    ] {
        assert!(read(inside).is_ok(), "{inside}");
    }
    // The text itself tells a float from an integer.
    assert!(Filter::from_json(r#"{"n":1e30}"#).is_ok());
    assert!(Filter::from_json(r#"{"n":18446744073709551616}"#).is_err());
}
