//! Passages read by their ids, inside a scope.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Mutex;

use serde_json::{Value as Json, json};
use shelfward_core::library::{
    FoundPassage, LibraryError, PassageFilter, PassageId, PassageIdError, Reading, ScopeChange,
    SearchRequest,
};
use shelfward_core::{ErrorKind, Filter, LibraryIndex, Metadata, Scope, Store, StoredRecord};
use support::{
    Meddle, Meddling, Nothing, TestEmbedder, id, library, library_with, memory, scope, source,
    tenant,
};

fn passage(text: &str) -> PassageId {
    text.parse().unwrap()
}

fn any() -> Reading {
    Reading::new()
}

fn narrow() -> PassageFilter {
    PassageFilter::new()
}

/// The ids and texts of what is read, in the order asked for.
async fn read(
    index: &LibraryIndex,
    scope: &Scope,
    reading: &Reading,
    ids: &[&str],
) -> Vec<Option<(String, String)>> {
    let ids: Vec<_> = ids.iter().map(|id| passage(id)).collect();
    let found = index.fetch(scope, reading, &ids).await.unwrap();
    assert_eq!(found.len(), ids.len());
    let shown = |found: FoundPassage| (found.id.to_string(), found.text.to_string());
    found.into_iter().map(|found| found.map(shown)).collect()
}

fn shown(id: &str, text: &str) -> Option<(String, String)> {
    Some((id.to_owned(), text.to_owned()))
}

#[tokio::test]
async fn passages_come_in_the_order_of_their_ids() {
    let index = library(&memory()).await;
    let org = index.tenant(tenant("a"));
    org.index_source(source("s", &["g"], &["zero", "one", "two"]))
        .await
        .unwrap();
    org.index_source(source("t", &["g"], &["other"]))
        .await
        .unwrap();
    let reader = scope("a", &["g"]);
    let asked = ["s#2", "none#0", "t#0", "s#0", "s#3", "s#2"];
    let right = [
        shown("s#2", "two"),
        None,
        shown("t#0", "other"),
        shown("s#0", "zero"),
        None,
        shown("s#2", "two"),
    ];
    assert_eq!(read(&index, &reader, &any(), &asked).await, right);
    assert!(read(&index, &reader, &any(), &[]).await.is_empty());
    let far = ["s#4294967295"];
    assert_eq!(read(&index, &reader, &any(), &far).await, [None]);
}

#[tokio::test]
async fn a_passage_is_as_a_search_shows_it_without_a_rank() {
    let index = library(&memory()).await;
    let filed = source("s", &["g"], &["text"])
        .title("Title")
        .folder("f")
        .tags(["x"]);
    index.tenant(tenant("a")).index_source(filed).await.unwrap();
    let reader = scope("a", &["g"]);
    let searched = index
        .search(&reader, &SearchRequest::new("text"))
        .await
        .unwrap()
        .passages
        .remove(0);
    let fetched = index
        .fetch(&reader, &any(), &[passage("s#0")])
        .await
        .unwrap();
    let fetched = fetched.into_iter().next().flatten().unwrap();
    assert!((fetched.score, fetched.legs) == (0.0, Default::default()));
    let mut ranked = fetched;
    (ranked.score, ranked.legs) = (searched.score, searched.legs);
    assert_eq!(ranked, searched);
}

#[tokio::test]
async fn out_of_scope_and_absent_are_not_told_apart() {
    let index = library(&memory()).await;
    let (org, other) = (index.tenant(tenant("a")), index.tenant(tenant("b")));
    org.index_source(source("s", &["g"], &["ours", "ours too"]))
        .await
        .unwrap();
    org.index_source(source("hidden", &["h"], &["hidden"]))
        .await
        .unwrap();
    other
        .index_source(source("s", &["g"], &["theirs"]))
        .await
        .unwrap();
    other
        .index_source(source("theirs", &["g"], &["theirs"]))
        .await
        .unwrap();
    let ids = ["s#0", "hidden#0", "theirs#0"];
    let of =
        async |tenant, groups: &[&str]| read(&index, &scope(tenant, groups), &any(), &ids).await;
    assert_eq!(of("a", &["g"]).await, [shown("s#0", "ours"), None, None]);
    assert_eq!(
        of("a", &["h"]).await,
        [None, shown("hidden#0", "hidden"), None]
    );
    assert_eq!(
        of("b", &["g", "h"]).await,
        [shown("s#0", "theirs"), None, shown("theirs#0", "theirs")]
    );
    assert_eq!(of("c", &["g", "h"]).await, [None, None, None]);

    let change = ScopeChange::new().groups(["h"]).unwrap();
    org.set_source_scope(&id("s"), &change)
        .await
        .unwrap()
        .count();
    assert_eq!(of("a", &["g"]).await, [None, None, None]);
    org.remove_source(&id("hidden")).await.unwrap().count();
    assert_eq!(of("a", &["h"]).await, [shown("s#0", "ours"), None, None]);
}

#[tokio::test]
async fn the_narrowing_counts() {
    let index = library(&memory()).await;
    let org = index.tenant(tenant("a"));
    org.index_source(source("tagged", &["g"], &["t"]).tags(["x"]))
        .await
        .unwrap();
    org.index_source(source("filed", &["g"], &["f"]).folder("f"))
        .await
        .unwrap();
    let reader = scope("a", &["g"]);
    let ids = ["tagged#0", "filed#0"];
    let (tagged, filed) = (shown("tagged#0", "t"), shown("filed#0", "f"));
    let either = [
        PassageFilter::new().tags(["x"]),
        PassageFilter::new().folder("f"),
    ];
    let cases = [
        (any(), [tagged.clone(), filed.clone()]),
        (narrow().tags(["x"]).into(), [tagged.clone(), None]),
        (narrow().tags(["x", "y"]).into(), [None, None]),
        (narrow().folder_ids(["f"]).into(), [None, filed.clone()]),
        (
            narrow().source_ids([id("filed")]).into(),
            [None, filed.clone()],
        ),
        (
            narrow().source_ids(Vec::<String>::new()).into(),
            [None, None],
        ),
        (
            narrow().kinds(["document"]).into(),
            [tagged.clone(), filed.clone()],
        ),
        (narrow().kinds(["session"]).into(), [None, None]),
        (any().any_of(either), [tagged, filed]),
        (any().any_of([]), [None, None]),
    ];
    for (reading, right) in cases {
        assert_eq!(
            read(&index, &reader, &reading, &ids).await,
            right,
            "{reading:?}"
        );
    }
}

#[tokio::test]
async fn nobody_is_asked_in_vain_and_nothing_is_embedded() {
    let store = Meddling::new(Nothing);
    let asked = store.asked.clone();
    let (index, embedder) = library_with(&Store::new(store), TestEmbedder::default()).await;
    index
        .tenant(tenant("a"))
        .index_source(source("s", &["g"], &["text"]))
        .await
        .unwrap();
    let (reader, calls) = (scope("a", &["g"]), embedder.calls());
    asked.take_calls();
    asked.take_within();
    read(&index, &reader, &any(), &[]).await;
    read(
        &index,
        &reader,
        &narrow().source_ids(Vec::<String>::new()).into(),
        &["s#0"],
    )
    .await;
    assert!(asked.take_calls().is_empty());

    read(&index, &reader, &narrow().tags(["x"]).into(), &["s#0"]).await;
    assert_eq!(asked.take_calls(), ["fetch"]);
    let within = asked.take_within().remove(0);
    for condition in ["tenantId", "aclGroups", "status", "tags"] {
        assert!(within.contains(condition), "{condition} is not in {within}");
    }
    assert_eq!(embedder.calls(), calls);
}

#[tokio::test]
async fn source_ids_may_hold_the_mark_of_a_passage() {
    let index = library(&memory()).await;
    let org = index.tenant(tenant("a"));
    org.index_source(source("s", &["g"], &["of s", "of s too"]))
        .await
        .unwrap();
    org.index_source(source("s#1", &["g"], &["of s#1"]))
        .await
        .unwrap();
    org.index_source(source("#", &["g"], &["of the mark"]))
        .await
        .unwrap();
    let ids = ["s#1", "s#1#0", "s#1#1", "##0"];
    let right = [
        shown("s#1", "of s too"),
        shown("s#1#0", "of s#1"),
        None,
        shown("##0", "of the mark"),
    ];
    assert_eq!(read(&index, &scope("a", &["g"]), &any(), &ids).await, right);
}

#[test]
fn a_passages_id_is_read_in_one_way_only() {
    for text in ["s#0", "s#1#0", "##10", "a b#4294967295"] {
        assert_eq!(passage(text).to_string(), text);
    }
    assert_eq!(passage("s#1#2"), PassageId::new(id("s#1"), 2));
    let shapeless = [
        "",
        "s",
        "s#",
        "s#-1",
        "s#+1",
        "s#01",
        "s#00",
        "s# 1",
        "s#1.0",
        "s#4294967296",
    ];
    for text in shapeless {
        let refused = text.parse::<PassageId>().unwrap_err();
        assert_eq!(refused, PassageIdError::Shape, "{text:?}");
    }
    for text in ["#0", "\0#0"] {
        let refused = text.parse::<PassageId>().unwrap_err();
        assert!(
            matches!(refused, PassageIdError::Source(_)),
            "{text:?}: {refused}"
        );
    }
}

/// Reads as if it were asked for everything.
struct Ignores(Mutex<Vec<StoredRecord>>);

impl Meddle for Ignores {
    // The memory store has dropped what is out of scope; this puts it back.
    fn fetched(&self, records: Vec<Option<StoredRecord>>) -> Vec<Option<StoredRecord>> {
        let kept = self.0.lock().unwrap();
        let kept = kept.iter().cloned().map(Some);
        let mut answer: Vec<_> = kept.collect();
        answer.resize(records.len(), None);
        answer
    }
}

#[tokio::test]
async fn a_store_that_ignores_its_filter_shows_nothing_more() {
    let store = Meddling::new(Ignores(Mutex::default()));
    let meddle = store.meddle.clone();
    let index = library(&Store::new(store)).await;
    let org = index.tenant(tenant("a"));
    let right = json!({
        "tenantId": "a", "aclGroups": ["g"], "status": "active",
        "sourceId": "s", "kind": "document", "index": 0,
    });
    // Null takes a key away.
    let held = |changes: &Json| {
        let mut all = right.as_object().unwrap().clone();
        all.extend(changes.as_object().unwrap().clone());
        let metadata = Metadata::from_json(&Json::from(all).to_string()).unwrap();
        StoredRecord::new(org.key(&id("s"), 0), metadata.into())
    };
    let cases = [
        (json!({}), true),
        (json!({ "aclGroups": ["h", "g"], "more": 1 }), true),
        (json!({ "tenantId": "b" }), false),
        (json!({ "tenantId": ["a"] }), false),
        (json!({ "tenantId": null }), false),
        (json!({ "aclGroups": ["h"] }), false),
        (json!({ "aclGroups": null }), false),
        (json!({ "status": "draft" }), false),
        (json!({ "kind": null }), false),
        // Another passage's record under the key of this one.
        (json!({ "sourceId": "t" }), false),
        (json!({ "index": 1 }), false),
    ];
    for (changes, shows) in cases {
        *meddle.0.lock().unwrap() = vec![held(&changes)];
        let found = index
            .fetch(&scope("a", &["g"]), &any(), &[passage("s#0")])
            .await
            .unwrap();
        assert_eq!(found[0].is_some(), shows, "{changes}");
    }
    // The narrowing is checked as well.
    *meddle.0.lock().unwrap() = vec![held(&json!({}))];
    let narrowed = narrow().tags(["x"]).into();
    let found = index
        .fetch(&scope("a", &["g"]), &narrowed, &[passage("s#0")])
        .await
        .unwrap();
    assert_eq!(found, [None]);
}

#[tokio::test]
async fn a_store_that_answers_other_keys_is_found_out() {
    struct Odd(fn(Vec<Option<StoredRecord>>) -> Vec<Option<StoredRecord>>);
    impl Meddle for Odd {
        fn fetched(&self, records: Vec<Option<StoredRecord>>) -> Vec<Option<StoredRecord>> {
            // Writing fetches too, one key.
            if records.len() == 3 {
                self.0(records)
            } else {
                records
            }
        }
    }
    let odd: [(&str, Odd); 4] = [
        (
            "turned round",
            Odd(|records| records.into_iter().rev().collect()),
        ),
        (
            "one too few",
            Odd(|mut records| {
                records.pop();
                records
            }),
        ),
        (
            "one too many",
            Odd(|mut records| {
                records.push(None);
                records
            }),
        ),
        (
            "without the gaps",
            Odd(|records| records.into_iter().flatten().map(Some).collect()),
        ),
    ];
    for (name, odd) in odd {
        let index = library(&Store::new(Meddling::new(odd))).await;
        let org = index.tenant(tenant("a"));
        org.index_source(source("s", &["g"], &["zero", "one"]))
            .await
            .unwrap();
        let ids = [passage("s#0"), passage("none#0"), passage("s#1")];
        let error = index
            .fetch(&scope("a", &["g"]), &any(), &ids)
            .await
            .unwrap_err();
        let LibraryError::Store(error) = error else {
            panic!("{name}: {error}");
        };
        assert!(
            matches!(error.kind(), ErrorKind::Contract(_)),
            "{name}: {error}"
        );
    }
}

#[tokio::test]
async fn a_filter_on_an_own_field_is_refused() {
    let index = library(&memory()).await;
    let filter = Filter::from_json(r#"{"tenantId":"b"}"#).unwrap();
    let request = any().filter(filter);
    let refused = index
        .fetch(&scope("a", &["g"]), &request, &[passage("s#0")])
        .await;
    assert!(matches!(refused, Err(LibraryError::Filter(_))));
}
