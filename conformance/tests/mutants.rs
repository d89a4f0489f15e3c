//! The suite about itself: every fault is caught by every case that names it, the whole store is
//! caught by none, and no fault goes unnamed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use shelfward_conformance::{
    CrashableServer, DEFAULT_SEED, KnownGaps, Selection, Server, StoreUnderTest, Suite, Verdict,
};
use shelfward_conformance_faulty::{Fault, FaultyStore, Kept, RemoteServer};
use shelfward_core::{Result, VectorStore, async_trait};
use shelfward_memory::MemoryStore;

/// The memory store, behind a fault if there is one; kept at places, where the cases that are run
/// on it open it again.
struct UnderTest {
    memory: MemoryStore,
    fault: Option<Fault>,
    transactions: bool,
    kept: Option<Keeping>,
}

/// Stores that stay when nobody has them open.
struct Keeping {
    one_process: bool,
    places: Mutex<BTreeMap<String, Arc<Kept>>>,
}

impl UnderTest {
    fn behind_the_fault(&self, store: Arc<dyn VectorStore>) -> Arc<dyn VectorStore> {
        let Some(fault) = self.fault else {
            return store;
        };
        let store = FaultyStore::new(store, fault);
        Arc::new(if self.transactions {
            store
        } else {
            store.without_transactions()
        })
    }
}

#[async_trait]
impl StoreUnderTest for UnderTest {
    fn name(&self) -> &'static str {
        "under-test"
    }

    async fn open(&self) -> Result<Arc<dyn VectorStore>> {
        match &self.kept {
            Some(_) => self.open_at("the first place").await,
            None => Ok(self.behind_the_fault(Arc::new(self.memory.clone()))),
        }
    }

    fn place(&self, name: &str) -> Option<String> {
        self.kept.as_ref().map(|_| name.to_owned())
    }

    async fn open_at(&self, place: &str) -> Result<Arc<dyn VectorStore>> {
        let keeping = self.kept.as_ref().unwrap();
        let kept = {
            let mut places = keeping.places.lock().unwrap();
            let new = || {
                let memory = Arc::new(MemoryStore::new());
                if keeping.one_process {
                    Kept::of_one_process(memory, self.fault)
                } else {
                    Kept::new(memory, self.fault)
                }
            };
            places.entry(place.to_owned()).or_insert_with(new).clone()
        };
        Ok(self.behind_the_fault(kept.open().await?))
    }
}

async fn suite(fault: Option<Fault>, transactions: bool) -> Suite {
    let store = UnderTest {
        memory: MemoryStore::new(),
        fault,
        transactions,
        kept: None,
    };
    Suite::new(
        Arc::new(store),
        KnownGaps::default(),
        &Selection::default(),
        DEFAULT_SEED,
    )
    .await
    .unwrap()
}

/// The same on a store that is kept at places, where another process is a task of this one.
async fn kept_suite(fault: Option<Fault>, one_process: bool) -> Suite {
    let store = UnderTest {
        memory: MemoryStore::new(),
        fault,
        transactions: true,
        kept: Some(Keeping {
            one_process,
            places: Mutex::default(),
        }),
    };
    Suite::with_simulated_processes(
        Arc::new(store),
        KnownGaps::default(),
        &Selection::default(),
        DEFAULT_SEED,
    )
    .await
    .unwrap()
}

/// The memory store behind a server, whose clients have a fault where they are opened through a
/// proxy or with a wrong secret.
struct Remote {
    server: RemoteServer,
    /// Another one, to be crashed.
    crashable: RemoteServer,
    fault: Option<Fault>,
}

#[async_trait]
impl StoreUnderTest for Remote {
    fn name(&self) -> &'static str {
        "remote"
    }

    async fn open(&self) -> Result<Arc<dyn VectorStore>> {
        Ok(Arc::new(self.server.client()))
    }

    fn server(&self) -> Option<&dyn Server> {
        Some(self)
    }
}

#[async_trait]
impl Server for Remote {
    fn address(&self) -> String {
        self.server.address().to_string()
    }

    async fn open_through(
        &self,
        address: SocketAddr,
        patience: Duration,
    ) -> Result<Arc<dyn VectorStore>> {
        let client = self.server.client();
        Ok(Arc::new(client.through(address, patience, self.fault)))
    }

    async fn open_with_secret(&self, secret: &str) -> Result<Arc<dyn VectorStore>> {
        let client = self.server.client();
        Ok(Arc::new(client.with_secret(secret, self.fault)))
    }

    fn secrets(&self) -> Vec<String> {
        vec![self.server.secret().to_owned()]
    }

    fn crashable(&self) -> std::result::Result<&dyn CrashableServer, &'static str> {
        Ok(self)
    }
}

#[async_trait]
impl CrashableServer for Remote {
    async fn open(&self) -> Result<Arc<dyn VectorStore>> {
        let patience = Duration::from_secs(10);
        let client = self.crashable.client();
        Ok(Arc::new(client.through(
            self.crashable.address(),
            patience,
            self.fault,
        )))
    }

    async fn crash(&self, _: u32) -> Result<()> {
        self.crashable.crash().await;
        Ok(())
    }
}

async fn remote_suite(fault: Option<Fault>) -> Suite {
    let memory = Arc::new(MemoryStore::new());
    let server = RemoteServer::begin(memory, fault).await.unwrap();
    let memory = Arc::new(MemoryStore::new());
    let crashable = RemoteServer::begin(memory, fault).await.unwrap();
    let store = Remote {
        server,
        crashable,
        fault,
    };
    let selection = Selection::default();
    Suite::new(Arc::new(store), KnownGaps::default(), &selection, 1)
        .await
        .unwrap()
}

/// Runs the cases that name a fault on the store that has it, and on the whole one.
async fn caught(fault: Fault) -> Vec<String> {
    let of_the_server = [Fault::AppliesGivenUp, Fault::AppliesGivenUpOutOfOrder].contains(&fault);
    let of_one_process = [Fault::LetsAnotherProcessIn, Fault::KeepsLockOfTheDead].contains(&fault);
    let plain = (suite(Some(fault), true).await, suite(None, true).await);
    let kept = (
        kept_suite(Some(fault), of_one_process).await,
        kept_suite(None, of_one_process).await,
    );
    let remote = (remote_suite(Some(fault)).await, remote_suite(None).await);
    let mut missed = Vec::new();
    for (at, case) in plain.0.cases().iter().enumerate() {
        if !case.info().kills.contains(&fault) {
            continue;
        }
        let (faulty, whole) = match case.info() {
            info if info.is_of_a_server() || of_the_server => &remote,
            info if info.reopens => &kept,
            _ => &plain,
        };
        let (case, same) = (&faulty.cases()[at], &whole.cases()[at]);
        let found = faulty.run(case).await;
        let caught = !found.as_expected() && found.verdict != Verdict::NotRun;
        if !caught {
            missed.push(format!("{fault:?} is not caught by {}", case.info().id));
        }
        let found = whole.run(same).await;
        if found.verdict != Verdict::Honours {
            missed.push(format!(
                "{} finds the whole store wrong: {}",
                found.id, found.message
            ));
        }
    }
    missed
}

/// The store that faults of durable stores are made from must be right where it is left whole.
#[tokio::test(flavor = "multi_thread")]
async fn the_store_that_is_kept_is_whole() {
    for one_process in [false, true] {
        let suite = kept_suite(None, one_process).await;
        let report = suite.run_all().await;
        let wrong: Vec<_> = report
            .unexpected()
            .map(|case| (&case.id, case.verdict, &case.message))
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

/// The same of the store behind a server.
#[tokio::test(flavor = "multi_thread")]
async fn the_store_behind_a_server_is_whole() {
    let report = remote_suite(None).await.run_all().await;
    let wrong: Vec<_> = report
        .unexpected()
        .map(|case| (&case.id, case.verdict, &case.message))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let of_a_server = Suite::all_cases()
        .into_iter()
        .filter(|case| case.info().is_of_a_server());
    for case in of_a_server {
        let found = report.cases.iter().find(|found| found.id == case.info().id);
        assert!(found.unwrap().ran(), "{}", case.info().id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_caught_by_every_case_that_names_it() {
    // Some of them are caught by waiting, so that several are run at a time.
    let caught = stream::iter(Fault::ALL).map(caught).buffer_unordered(4);
    let missed: Vec<String> = caught.collect::<Vec<_>>().await.concat();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Most faults of words are made from a leg of the suite's own. It must be right where it is left
/// whole, or they would be caught for another reason.
#[tokio::test(flavor = "multi_thread")]
async fn the_leg_that_faults_of_words_are_made_from_is_whole() {
    let report = suite(Some(Fault::NoFault), true).await.run_all().await;
    let wrong: Vec<_> = report
        .unexpected()
        .map(|case| (&case.id, case.verdict, &case.message))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Ranks tell nothing of what is hidden, whatever more a store answers than it was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_widens_changes_no_published_rank() {
    for fault in [Fault::FiltersDenseOnly, Fault::FiltersOneOfBoth] {
        let suite = suite(Some(fault), true).await;
        for case in suite.cases() {
            let id = case.info().id.as_str();
            if ["lexical/hidden-hits-take-no-rank", "library/hybrid"].contains(&id) {
                let found = suite.run(case).await;
                assert!(found.as_expected(), "{fault:?}, {id}: {}", found.message);
            }
        }
    }
}

#[test]
fn every_fault_is_named_by_some_case() {
    let named: BTreeSet<Fault> = Suite::all_cases()
        .iter()
        .flat_map(|case| case.info().kills.iter().copied())
        .collect();
    let unnamed: Vec<_> = Fault::ALL
        .into_iter()
        .filter(|fault| !named.contains(fault))
        .collect();
    assert!(unnamed.is_empty(), "no case names {unnamed:?}");
}

#[test]
fn every_case_names_a_fault_or_is_of_the_handle() {
    let cases = Suite::all_cases();
    let unproven: Vec<_> = cases
        .iter()
        .map(|case| case.info())
        .filter(|info| info.kills.is_empty() != info.of_the_handle)
        .map(|info| info.id.as_str())
        .collect();
    assert!(unproven.is_empty(), "{unproven:?}");
}

#[test]
fn every_case_has_an_id_of_its_own_and_a_group() {
    let cases = Suite::all_cases();
    let ids: BTreeSet<_> = cases.iter().map(|case| case.info().id.clone()).collect();
    assert_eq!(ids.len(), cases.len());
    assert!(ids.iter().all(|id| id.split('/').count() == 2));
    assert!(cases.len() >= 320, "{} cases", cases.len());
    let of_words = ids.iter().filter(|id| id.starts_with("lexical/"));
    assert!(of_words.count() >= 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_without_transactions_serves_the_library_too() {
    let store = suite(Some(Fault::DeleteByFilterDoesNothing), false).await;
    let missing: BTreeSet<_> = store
        .run_all()
        .await
        .unexpected()
        .map(|case| case.id.clone())
        .collect();
    // What core composes of deletes and writes must fail loudly where the delete misses.
    assert!(missing.contains("library/remove-source"), "{missing:?}");
    assert!(missing.contains("delete/by-filter"), "{missing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_leaves_nothing_behind() {
    let memory = MemoryStore::new();
    let store = UnderTest {
        memory: memory.clone(),
        fault: None,
        transactions: true,
        kept: None,
    };
    let selection = Selection::default().groups(["writes", "collections"]);
    let suite = Suite::new(Arc::new(store), KnownGaps::default(), &selection, 1)
        .await
        .unwrap();
    let report = suite.run_all().await;
    assert!(report.left_behind.is_empty());
    assert_eq!(report.unexpected().count(), 0);
    assert!(VectorStore::list(&memory).await.unwrap().is_empty());
}

#[test]
fn widening_a_scope_is_never_a_known_gap_and_every_gap_is_listed_once() {
    let gap = |case: &str, verdict: &str| {
        format!("[[gap]]\ncase = \"{case}\"\nverdict = \"{verdict}\"\nreason = \"so\"\n")
    };
    assert!(KnownGaps::parse(&gap("library/groups-apart", "widens")).is_err());
    for group in [
        "eq",
        "in",
        "all",
        "races",
        "crash",
        "durability",
        "delete",
        "lexical",
        "injection",
        "collections",
    ] {
        assert!(KnownGaps::parse(&gap(&format!("{group}/any"), "widens")).is_err());
    }
    assert!(KnownGaps::parse(&gap("paging/any", "widens")).is_ok());
    assert!(KnownGaps::parse(&gap("in/list-any", "narrows")).is_ok());
    assert!(KnownGaps::parse(&gap("in/list-any", "narrows").repeat(2)).is_err());
    assert!(KnownGaps::parse(&gap("in/list-any", "blue")).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gap_that_closed_is_not_as_expected() {
    let gaps = "[[gap]]\ncase = \"eq/text\"\nverdict = \"narrows\"\nreason = \"it did once\"\n";
    let store = UnderTest {
        memory: MemoryStore::new(),
        fault: None,
        transactions: true,
        kept: None,
    };
    let selection = Selection::default().case("eq/text");
    let suite = Suite::new(
        Arc::new(store),
        KnownGaps::parse(gaps).unwrap(),
        &selection,
        1,
    )
    .await
    .unwrap();
    let report = suite.run_all().await;
    assert_eq!(
        report
            .unexpected()
            .map(|case| case.verdict)
            .collect::<Vec<_>>(),
        [Verdict::Honours]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_store_does_not_promise_is_not_run_and_says_why() {
    let suite = suite(Some(Fault::CreateEmpties), false).await;
    let case = suite
        .cases()
        .iter()
        .find(|case| case.info().id == "races/reads-during-replace");
    let found = suite.run(case.unwrap()).await;
    assert_eq!(
        (found.verdict, found.as_expected()),
        (Verdict::NotRun, true)
    );
    assert!(found.message.contains("not atomic"), "{}", found.message);
}
