//! Listings and exports over stores that answer wrongly.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::{Arc, Mutex};

use shelfward_core::library::{LibraryError, LibraryIndex, Reading};
use shelfward_core::observer::Event;
use shelfward_core::{Cursor, ErrorKind, Filter, Include, Key, Page, Store, StoredRecord, Text};
use support::{Events, Meddle, Meddling, id, library, name, scope, source, tenant};

async fn filled(store: &Store) -> LibraryIndex {
    let index = library(store).await;
    let org = index.tenant(tenant("a"));
    for (id, group) in [("mine", "g"), ("hidden", "h")] {
        let filed = source(id, &[group], &["one", "two"]);
        org.index_source(filed).await.unwrap();
    }
    let other = index.tenant(tenant("b"));
    let filed = source("mine", &["g"], &["three"]);
    other.index_source(filed).await.unwrap();
    index
}

/// Answers every record there is to each scan.
#[derive(Default)]
struct Ignores(Mutex<Vec<StoredRecord>>);

impl Meddle for Ignores {
    fn page(&self, page: Page) -> Page {
        match &self.0.lock().unwrap()[..] {
            [] => page,
            all => Page::new(all.to_vec(), None),
        }
    }
}

#[tokio::test]
async fn a_store_that_ignores_its_filter_lists_nothing_more() {
    let meddling = Meddling::new(Ignores::default());
    let meddle = meddling.meddle.clone();
    let store = Store::new(meddling);
    let index = filled(&store).await;
    let collection = store.open_unscoped(&name()).await.unwrap();
    let everything = Filter::everything();
    let all = collection.scan(&everything, None, 100, Include::TEXT).await;
    let all = all.unwrap().records;
    assert_eq!(all.len(), 5);
    *meddle.0.lock().unwrap() = all;

    let events = Arc::new(Events::default());
    let index = index.with_observer(events.clone(), None);
    let (reader, reading) = (scope("a", &["g"]), Reading::new());
    let listed = index.sources(&reader, &reading, None, 10).await;
    let listed = listed.unwrap().sources;
    let listed: Vec<_> = listed.iter().map(|source| source.id.as_str()).collect();
    assert_eq!(listed, ["mine"]);
    let org = index.tenant(tenant("a"));
    let exported = org.passages(&id("mine")).await.unwrap();
    let exported: Vec<_> = exported
        .iter()
        .map(|passage| passage.id.to_string())
        .collect();
    assert_eq!(exported, ["mine#0", "mine#1"]);

    let told = std::mem::take(&mut *events.0.lock().unwrap());
    let [Event::Listed(listed), Event::Fetched(exported)] = &told[..] else {
        unreachable!("{told:?}")
    };
    assert_eq!(listed.answered, ["mine"]);
    let mut reasons: Vec<_> = listed.dropped.iter().map(|hit| hit.reason).collect();
    reasons.sort_unstable();
    let wrong = "another passage's source or index";
    assert_eq!(reasons, ["access groups", "access groups", wrong, "tenant"]);
    let mut reasons: Vec<_> = exported.dropped.iter().map(|hit| hit.reason).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, [wrong, wrong, "tenant"]);
}

/// Ahead of every record of the tenant.
fn here() -> Cursor {
    let text = |text: &str| Text::new(text).unwrap();
    Cursor::after(&Key::within(text("a"), text("-")))
}

/// Answers one page, and its cursor, for ever.
struct Stands;

impl Meddle for Stands {
    fn page(&self, page: Page) -> Page {
        Page::new(page.records, Some(here()))
    }
}

#[tokio::test]
async fn a_scan_that_does_not_go_on_is_an_error_and_no_short_answer() {
    let index = filled(&Store::new(Meddling::new(Stands))).await;
    let (reader, reading) = (scope("a", &["g"]), Reading::new());
    let listed = index.sources(&reader, &reading, Some(&here()), 10).await;
    let org = index.tenant(tenant("a"));
    let refused = [listed.map(drop), org.passages(&id("mine")).await.map(drop)];
    for refused in refused {
        let Err(LibraryError::Store(error)) = refused else {
            unreachable!("{refused:?}")
        };
        assert!(matches!(error.kind(), ErrorKind::Contract(_)), "{error}");
    }
}
