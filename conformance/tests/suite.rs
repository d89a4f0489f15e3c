//! Runs of the suite, and what a store may list as a known gap.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::sync::Arc;

use shelfward_conformance::report::Report;
use shelfward_conformance::{DEFAULT_SEED, KnownGaps, Selection, StoreUnderTest, Suite, Verdict};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{Result, async_trait};
use shelfward_memory::MemoryStore;

struct UnderTest(MemoryStore);

#[async_trait]
impl StoreUnderTest for UnderTest {
    fn name(&self) -> &'static str {
        "under-test"
    }

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        Ok(Arc::new(self.0.clone()))
    }
}

async fn run(memory: &MemoryStore, gaps: &str, selection: Selection) -> Report {
    let store = Arc::new(UnderTest(memory.clone()));
    let gaps = KnownGaps::parse(gaps).unwrap();
    let suite = Suite::new(store, gaps, &selection, DEFAULT_SEED);
    suite.await.unwrap().run_all().await
}

fn gap(case: &str, verdict: &str) -> String {
    format!("[[gap]]\ncase = \"{case}\"\nverdict = \"{verdict}\"\nreason = \"so\"\n")
}

#[test]
fn every_case_has_an_id_of_its_own_and_a_group() {
    let cases = Suite::all_cases();
    let ids: BTreeSet<_> = cases.iter().map(|case| case.info().id.clone()).collect();
    assert_eq!(ids.len(), cases.len());
    assert!(ids.iter().all(|id| id.split('/').count() == 2));
    assert!(cases.len() >= 382, "{} cases", cases.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_leaves_nothing_behind() {
    let memory = MemoryStore::new();
    let selection = Selection::default().groups(["writes", "collections"]);
    let report = run(&memory, "", selection).await;
    assert!(report.left_behind.is_empty());
    assert_eq!(report.unexpected().count(), 0);
    assert!(StoreAdapter::list(&memory).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gap_that_closed_is_not_as_expected() {
    let memory = MemoryStore::new();
    let selection = Selection::default().case("eq/text");
    let report = run(&memory, &gap("eq/text", "narrows"), selection).await;
    let unexpected = report.unexpected().map(|case| case.verdict);
    assert_eq!(unexpected.collect::<Vec<_>>(), [Verdict::Honours]);
}

#[test]
fn widening_a_scope_is_never_a_known_gap_and_every_gap_is_listed_once() {
    assert!(KnownGaps::parse(&gap("library/groups-apart", "widens")).is_err());
    let of_scopes = [
        "eq",
        "in",
        "all-of",
        "races",
        "crash",
        "durability",
        "delete",
    ];
    for group in of_scopes
        .into_iter()
        .chain(["lexical", "injection", "collections"])
    {
        assert!(KnownGaps::parse(&gap(&format!("{group}/any"), "widens")).is_err());
    }
    assert!(KnownGaps::parse(&gap("paging/any", "widens")).is_ok());
    assert!(KnownGaps::parse(&gap("in/list-any", "narrows")).is_ok());
    assert!(KnownGaps::parse(&gap("in/list-any", "narrows").repeat(2)).is_err());
    assert!(KnownGaps::parse(&gap("in/list-any", "blue")).is_err());
}
