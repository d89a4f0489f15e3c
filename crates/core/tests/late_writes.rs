//! A store that may apply a write after its call was given up: the library looks again, repeats, and
//! says so where it cannot be sure.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use std::collections::VecDeque;
use std::sync::Mutex;

use shelfward_core::capabilities::{Capabilities, Replace, Writers};
use shelfward_core::filter::key;
use shelfward_core::library::{LibraryError, Mode, ScopeChange, SearchRequest};
use shelfward_core::{
    ErrorKind, LibraryIndex, Operation, Persistence, Record, Selector, SourceId, Store,
};
use support::{Asked, Meddle, Meddling, ids, library, scope, source, tenant};

/// Declares late writes, and lets them land before the scans of the handle.
struct Late {
    all_processes: bool,
    replace: Replace,
    /// For each scan to come, what lands before it.
    landing: Mutex<VecDeque<Option<(Selector, Vec<Record>)>>>,
    scan: bool,
    declared: bool,
}

impl Default for Late {
    fn default() -> Self {
        Self {
            all_processes: false,
            replace: Replace::Atomic,
            landing: Mutex::default(),
            scan: true,
            declared: true,
        }
    }
}

impl Meddle for Late {
    fn capabilities(&self, mut can: Capabilities) -> Capabilities {
        can.late_writes = self.declared;
        can.scan = self.scan;
        can.replace = self.replace;
        if self.all_processes {
            can.writers = Writers::AllProcesses;
        }
        can
    }

    fn late(&self) -> Option<(Selector, Vec<Record>)> {
        self.landing.lock().unwrap().pop_front().flatten()
    }
}

struct Rig {
    index: LibraryIndex,
    late: std::sync::Arc<Late>,
    asked: std::sync::Arc<Asked>,
    /// The source as it was when a write of it was given up.
    wide: (Selector, Vec<Record>),
}

/// A library that holds a source, which everybody may read.
async fn rig(late: Late) -> Rig {
    let meddling = Meddling::new(late);
    let (late, asked) = (meddling.meddle.clone(), meddling.asked.clone());
    let index = library(&Store::new(meddling)).await;
    index
        .tenant(tenant("a"))
        .index_source(source("s", &["all", "few"], &["old one", "old two"]))
        .await
        .unwrap();
    let selector = key("tenantId").eq("a").and(key("sourceId").eq("s"));
    let selector = selector.build().unwrap().narrow().unwrap();
    let written = asked.written.lock().unwrap().clone();
    asked.take_calls();
    Rig {
        index,
        late,
        asked,
        wide: (selector, written),
    }
}

impl Rig {
    /// The write that was given up lands before the first scans, as often as this.
    fn lands(&self, times: usize) {
        let landing = std::iter::repeat_n(Some(self.wide.clone()), times);
        self.late.landing.lock().unwrap().extend(landing);
    }

    async fn read_by(&self, group: &str) -> Vec<String> {
        let request = SearchRequest::new("one").mode(Mode::Dense).top_k(10);
        let scope = scope("a", &[group]);
        let answer = self.index.search(&scope, &request).await.unwrap();
        ids(&answer)
    }

    async fn narrow(&self) -> Result<(), LibraryError> {
        let few = ScopeChange::new().groups(["few"]).unwrap();
        let id = SourceId::new("s").unwrap();
        let org = self.index.tenant(tenant("a"));
        org.set_source_scope(&id, &few).await.map(drop)
    }

    async fn remove(&self) -> Result<(), LibraryError> {
        let id = SourceId::new("s").unwrap();
        let org = self.index.tenant(tenant("a"));
        org.remove_source(&id).await.map(drop)
    }

    async fn replace(&self) -> Result<(), LibraryError> {
        let new = source("s", &["few"], &["new"]);
        let org = self.index.tenant(tenant("a"));
        org.index_source(new).await.map(drop)
    }
}

fn every_kind() -> impl Iterator<Item = Late> {
    [Replace::Atomic, Replace::DeleteThenWrite]
        .map(|replace| Late {
            replace,
            ..Late::default()
        })
        .into_iter()
}

fn not_sure(answer: Result<(), LibraryError>) {
    match answer.unwrap_err() {
        LibraryError::Store(error) => {
            assert!(matches!(error.kind(), ErrorKind::Unverified), "{error}");
            assert_eq!(error.persistence(), Persistence::Unknown);
            let why = std::error::Error::source(&error).unwrap().to_string();
            assert!(why.contains("4 times"), "{why}");
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_write_that_lands_behind_a_narrowing_is_narrowed_too() {
    for late in every_kind() {
        let rig = rig(late).await;
        for times in 1..4 {
            rig.lands(times);
            rig.narrow().await.unwrap();
            assert!(rig.read_by("all").await.is_empty(), "{times}");
            assert_eq!(rig.read_by("few").await.len(), 2);
        }
        rig.lands(4);
        not_sure(rig.narrow().await);
    }
}

#[tokio::test]
async fn a_write_that_lands_behind_a_removal_is_removed_too() {
    for late in every_kind() {
        let rig = rig(late).await;
        for times in 1..4 {
            rig.lands(times);
            rig.remove().await.unwrap();
            assert!(rig.read_by("few").await.is_empty(), "{times}");
        }
        rig.lands(4);
        not_sure(rig.remove().await);
    }
}

#[tokio::test]
async fn a_write_that_lands_behind_a_replace_is_replaced_too() {
    for late in every_kind() {
        let rig = rig(late).await;
        for times in 1..4 {
            rig.lands(times);
            rig.replace().await.unwrap();
            assert!(rig.read_by("all").await.is_empty(), "{times}");
            assert_eq!(rig.read_by("few").await, ["s#0"]);
        }
        rig.lands(4);
        not_sure(rig.replace().await);
    }
}

/// Where other processes write, what is there afterwards may be theirs: repeating would undo a write that
/// returned. The store orders late writes by its locks, and is not asked again.
#[tokio::test]
async fn where_others_write_too_nothing_is_looked_at_or_repeated() {
    for declared in [true, false] {
        let rig = rig(Late {
            all_processes: true,
            declared,
            ..Late::default()
        })
        .await;
        rig.narrow().await.unwrap();
        rig.replace().await.unwrap();
        rig.remove().await.unwrap();
        let calls = rig.asked.take_calls();
        for unasked in ["scan", "count"] {
            assert!(!calls.contains(&unasked), "{calls:?}");
        }
        for once in ["update_metadata", "delete_matching"] {
            assert_eq!(calls.iter().filter(|call| **call == once).count(), 1);
        }
    }
}

#[tokio::test]
async fn without_a_scan_nothing_could_be_certain_and_nothing_is_sent() {
    let rig = rig(Late::default()).await;
    let blind = Meddling::new(Late {
        scan: false,
        ..Late::default()
    });
    let asked = blind.asked.clone();
    let index = library(&Store::new(blind)).await;
    asked.take_calls();
    let blind = Rig { index, ..rig };
    for (operation, answer) in [
        (Operation::UpdateMetadata, blind.narrow().await),
        (Operation::DeleteMatching, blind.remove().await),
    ] {
        match answer.unwrap_err() {
            LibraryError::Store(error) => {
                assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
                assert_eq!(error.operation(), operation);
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(asked.take_calls(), [""; 0]);
    let refused = blind.replace().await.unwrap_err();
    assert!(
        matches!(&refused, LibraryError::Store(e) if matches!(e.kind(), ErrorKind::Unsupported(_)))
    );
    assert!(!asked.take_calls().contains(&"replace"));
}
