//! What an observer is told, and what is told to nobody.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::{Arc, Mutex};

use shelfward_core::library::{LibraryIndex, PassageFilter, PassageId, Reading, SearchRequest};
use shelfward_core::observer::{DigestKey, Event, Fetched, ShortDigestKey};
use shelfward_core::{Filter, Key, Metadata, Precondition, Store, StoredRecord, Text};
use support::{
    Events, Meddle, Meddling, TestEmbedder, id, library, library_with, memory, scope, source,
    tenant,
};

fn passages(ids: &[&str]) -> Vec<PassageId> {
    ids.iter().map(|id| id.parse().unwrap()).collect()
}

/// The events of fetches since this was last asked for.
fn fetched(events: &Events) -> Vec<Fetched> {
    let all = std::mem::take(&mut *events.0.lock().unwrap());
    let fetched = all.into_iter().filter_map(|event| match event {
        Event::Fetched(fetched) => Some(fetched),
        _ => None,
    });
    fetched.collect()
}

async fn observed(store: &Store) -> (LibraryIndex, Arc<Events>) {
    let (index, _) = library_with(store, TestEmbedder::default()).await;
    let events = Arc::new(Events::default());
    let key = DigestKey::new([7; 32]).unwrap();
    (index.with_observer(events.clone(), Some(key)), events)
}

#[tokio::test]
async fn what_is_read_by_id_is_told_as_it_was_released() {
    let (index, events) = observed(&memory()).await;
    let org = index.tenant(tenant("a"));
    org.index_source(source("s", &["g"], &["one", "two"]))
        .await
        .unwrap();
    org.index_source(source("hidden", &["h"], &["three"]))
        .await
        .unwrap();
    let reader = scope("a", &["g"]);
    let asked = passages(&["s#1", "hidden#0", "none#0", "s#0", "s#1"]);
    events.0.lock().unwrap().clear();
    index.fetch(&reader, &Reading::new(), &asked).await.unwrap();
    let [told] = &fetched(&events)[..] else {
        unreachable!("one call, one event")
    };
    assert_eq!(told.tenant, tenant("a"));
    assert_eq!((told.asked, told.dropped.len()), (5, 0));
    assert_eq!(told.answered, ["s#1", "s#0", "s#1"]);

    index
        .search(&reader, &SearchRequest::new("one"))
        .await
        .unwrap();
    let searched = events.0.lock().unwrap().pop().unwrap();
    let Event::Searched(searched) = searched else {
        unreachable!("{searched:?}")
    };
    assert!(told.groups.is_some());
    assert_eq!(searched.groups, told.groups, "the same reader");

    // What nobody is asked for is told as well: nothing was released.
    let nothing = PassageFilter::new().source_ids(Vec::<String>::new()).into();
    index.fetch(&reader, &nothing, &asked).await.unwrap();
    let told = fetched(&events).pop().unwrap();
    assert!(told.answered.is_empty() && told.asked == 5);
    let own = Reading::new().filter(Filter::from_json(r#"{"tenantId":"b"}"#).unwrap());
    index.fetch(&reader, &own, &asked).await.unwrap_err();
    assert!(fetched(&events).is_empty(), "a refused call tells nothing");
}

/// Reads as if it were asked for everything.
struct Ignores(Mutex<Option<StoredRecord>>);

impl Meddle for Ignores {
    fn fetched(&self, records: Vec<Option<StoredRecord>>) -> Vec<Option<StoredRecord>> {
        match &*self.0.lock().unwrap() {
            Some(record) => vec![Some(record.clone())],
            None => records,
        }
    }
}

#[tokio::test]
async fn what_the_re_check_of_a_fetch_drops_is_told_with_its_reason() {
    let store = Meddling::new(Ignores(Mutex::default()));
    let meddle = store.meddle.clone();
    let (index, events) = observed(&Store::new(store)).await;
    let key = index.tenant(tenant("a")).key(&id("s"), 0);
    let cases = [
        (r#""aclGroups":["h"],"index":0"#, "access groups"),
        (
            r#""aclGroups":["g"],"index":1"#,
            "another passage's source or index",
        ),
    ];
    for (changed, reason) in cases {
        let json =
            format!(r#"{{"tenantId":"a","status":"active","sourceId":"s","kind":"k",{changed}}}"#);
        let metadata = Metadata::from_json(&json).unwrap();
        let record = StoredRecord::new(key.clone(), metadata.into());
        *meddle.0.lock().unwrap() = Some(record);
        let reader = scope("a", &["g"]);
        let read = index
            .fetch(&reader, &Reading::new(), &passages(&["s#0"]))
            .await;
        assert_eq!(read.unwrap(), [None]);
        let told = fetched(&events).pop().unwrap();
        assert!(told.answered.is_empty());
        let [dropped] = &told.dropped[..] else {
            unreachable!("{told:?}")
        };
        assert_eq!((&dropped.key, dropped.reason), (&key.to_string(), reason));
    }
}

#[test]
fn a_digest_is_of_a_tenant_and_its_key_is_no_word() {
    for bytes in [0, 1, 15] {
        let refused = DigestKey::new(vec![1; bytes]).unwrap_err();
        assert_eq!(refused, ShortDigestKey { bytes });
        assert!(refused.to_string().contains("16"), "{refused}");
    }
    let key = DigestKey::new([1; 16]).unwrap();
    let digest = |tenant, groups: &[&str]| key.digest(&scope(tenant, groups));
    assert_ne!(digest("a", &["all"]), digest("b", &["all"]));
    assert_eq!(digest("a", &["x", "y"]), digest("a", &["y", "x"]));
    // Names that run together are told apart.
    assert_ne!(digest("a", &["bc"]), digest("ab", &["c"]));
}

#[tokio::test]
async fn a_reader_is_not_told_who_else_may_read() {
    let index = library(&memory()).await;
    let filed = source("s", &["g", "canary"], &["one"]);
    index.tenant(tenant("a")).index_source(filed).await.unwrap();
    let reader = scope("a", &["g"]);
    let answer = index
        .search(&reader, &SearchRequest::new("one"))
        .await
        .unwrap();
    let json = serde_json::to_string(&answer).unwrap();
    assert!(
        json.contains("\"one\"") && !json.contains("canary"),
        "{json}"
    );
    let found = &answer.passages[0];
    assert!(!format!("{found:?} {:?}", found.metadata).contains("canary"));
    let groups: Vec<_> = found.access_groups().collect();
    assert_eq!(groups, ["g", "canary"], "a program may ask");
}

#[test]
fn what_is_shown_for_logs_names_no_group_and_no_value() {
    let metadata = Metadata::new().with("aclGroups", ["canary"]).unwrap();
    let key = Key::new(Text::new("k").unwrap());
    let expected = Precondition::new(key, Some(Arc::new(metadata)));
    let json = r#"{"aclGroups":{"$in":["canary"]},"$or":[{"t":"canary"},{"$not":{"t":{"$gt":"canary","$exists":true}}}]}"#;
    let filter = Filter::from_json(json).unwrap();
    let request = SearchRequest::new("canary").any_of([PassageFilter::new().tags(["canary"])]);
    let shown = format!(
        "{expected:?} {filter:?} {:?} {:?} {:?}",
        filter.clone().narrow().unwrap(),
        request.reading(),
        Reading::new().filter(filter.clone()),
    );
    assert!(!shown.contains("canary"), "{shown}");
    assert!(shown.contains("aclGroups $in [1 values]"), "{shown}");
    // What is written on purpose is whole.
    assert_eq!(filter.to_string(), json);
}
