//! Running cases on a store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shelfward_core::{Capabilities, CollectionName, CollectionSpec, Metric, Result};

use crate::case::Case;
use crate::cases;
use crate::context::{Context, WIDTH};
use crate::gaps::KnownGaps;
use crate::process::Processes;
use crate::report::{CaseReport, Report, SCHEMA, abilities, legend, rule};
use crate::store::StoreUnderTest;
use crate::verdict::{Checked, Finding, Verdict};

/// The seed of the random cases, unless another is given.
pub const DEFAULT_SEED: u64 = 0x5e1f;

/// The longest that one case may take.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Which cases to run; everything by default.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Selection {
    /// Only these groups, if any are given.
    pub groups: Vec<String>,
    /// Only the case of this id, or those whose id begins with it.
    pub case: Option<String>,
}

impl Selection {
    /// Only these groups.
    #[must_use]
    pub fn groups<S: Into<String>>(mut self, groups: impl IntoIterator<Item = S>) -> Self {
        self.groups = groups.into_iter().map(Into::into).collect();
        self
    }

    /// Only cases whose id is or begins with this.
    #[must_use]
    pub fn case(mut self, case: impl Into<String>) -> Self {
        self.case = Some(case.into());
        self
    }

    /// Whether it takes a case.
    pub fn takes(&self, case: &Case) -> bool {
        let info = case.info();
        let group = self.groups.is_empty() || self.groups.iter().any(|group| group == info.group());
        let begins = |wanted: &String| info.id.starts_with(wanted.as_str());
        group && self.case.as_ref().is_none_or(begins)
    }
}

/// The suite on one store.
pub struct Suite {
    name: &'static str,
    /// When it began.
    date: String,
    versions: Vec<(String, String)>,
    capabilities: Capabilities,
    gaps: KnownGaps,
    context: Context,
    cases: Vec<Arc<Case>>,
    /// Whether a case found that the store answers nothing any more.
    gone: AtomicBool,
}

/// Why a case was not run where the store went away.
const GONE: &str = "the store answers nothing any more";

impl Suite {
    /// Every case, without a store: for listing.
    pub fn all_cases() -> Vec<Case> {
        cases::all()
    }

    /// Whether every case of a group has to have a server.
    pub(crate) fn is_of_servers(group: &str) -> bool {
        let mut cases = cases::all().into_iter();
        cases.all(|case| case.info().group() != group || case.info().is_of_a_server())
    }

    /// Opens the store and selects cases. What a second process is needed for is not run: that is
    /// had by [`run_tests`](crate::run_tests) alone.
    ///
    /// # Errors
    /// Those of opening the store.
    pub async fn new(
        store: Arc<dyn StoreUnderTest>,
        gaps: KnownGaps,
        selection: &Selection,
        seed: u64,
    ) -> Result<Self> {
        Self::with_processes(store, gaps, selection, seed, Processes::None).await
    }

    /// The same, where a second process is a task of this one that opens the store by itself: for
    /// stores that only seem to be durable, as those of the suite's own tests.
    ///
    /// # Errors
    /// Those of opening the store.
    #[doc(hidden)]
    pub async fn with_simulated_processes(
        store: Arc<dyn StoreUnderTest>,
        gaps: KnownGaps,
        selection: &Selection,
        seed: u64,
    ) -> Result<Self> {
        Self::with_processes(store, gaps, selection, seed, Processes::Simulated).await
    }

    pub(crate) async fn with_processes(
        store: Arc<dyn StoreUnderTest>,
        gaps: KnownGaps,
        selection: &Selection,
        seed: u64,
        processes: Processes,
    ) -> Result<Self> {
        let (name, versions) = (store.name(), store.versions());
        let context = Context::new(store, seed, processes);
        let capabilities = capabilities(&context).await?;
        let cases = cases::all().into_iter();
        let cases = cases
            .filter(|case| selection.takes(case))
            .map(Arc::new)
            .collect();
        Ok(Self {
            name,
            date: jiff::Timestamp::now()
                .strftime("%Y-%m-%dT%H:%M:%SZ")
                .to_string(),
            versions,
            capabilities,
            gaps,
            context,
            cases,
            gone: AtomicBool::new(false),
        })
    }

    /// Whether the store declares that it is durable and cannot be opened again to see.
    pub(crate) fn claims_more_than_it_shows(&self) -> bool {
        self.capabilities.durable && !self.context.environment().places
    }

    /// The selected cases.
    pub fn cases(&self) -> &[Arc<Case>] {
        &self.cases
    }

    /// The store's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Runs one case.
    pub async fn run(&self, case: &Arc<Case>) -> CaseReport {
        let begun = Instant::now();
        let info = case.info();
        let gap = self.gaps.of(&info.id);
        let skipped = match self.gone.load(Ordering::Relaxed) {
            // Hundreds of cases, each waiting for its end, would tell nothing more.
            true => Some(GONE),
            false => info.not_run(&self.capabilities, self.context.environment()),
        };
        let found = match skipped {
            Some(why) => Err(Finding::new(Verdict::NotRun, why)),
            None => self.found(case).await,
        };
        let Finding {
            verdict,
            message,
            causes,
        } = match found {
            Ok(()) => Finding::new(Verdict::Honours, ""),
            Err(finding) => finding,
        };
        let redact = |text: String| self.context.redacted(&text);
        let by_itself = match skipped {
            Some(_) => Verdict::NotRun,
            None if (info.needs)(&self.capabilities) => Verdict::Honours,
            None => Verdict::Refuses,
        };
        let expected = gap
            .filter(|_| skipped != Some(GONE))
            .map_or(by_itself, |gap| gap.verdict);
        if verdict != expected && self.context.is_gone().await {
            self.gone.store(true, Ordering::Relaxed);
        }
        CaseReport {
            id: info.id.clone(),
            group: info.group().to_owned(),
            rule: rule(&info.id).to_owned(),
            verdict,
            expected,
            message: redact(message),
            causes: causes.into_iter().map(redact).collect(),
            known_gap: gap.map(|gap| gap.reason.clone()),
            millis: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// What a case finds, in a task of its own: one that panics or hangs is a finding, not an end.
    async fn found(&self, case: &Arc<Case>) -> Checked {
        let (case, context) = (case.clone(), self.context.clone());
        let timeout = TIMEOUT + cases::timeout_for_crashes(case.info());
        let mut task = AbortOnDrop(tokio::spawn(async move { (case.run)(context).await }));
        match tokio::time::timeout(timeout, &mut task.0).await {
            Ok(Ok(found)) => found,
            Ok(Err(ended)) => Err(Finding::errors(format!("it panicked: {ended}"))),
            Err(_) => {
                let timeout = timeout.as_secs();
                Err(Finding::errors(format!("did not end within {timeout} s")))
            }
        }
    }

    /// Runs every selected case, one after another, and drops what the run made.
    pub async fn run_all(&self) -> Report {
        let mut cases = Vec::with_capacity(self.cases.len());
        for case in &self.cases {
            cases.push(self.run(case).await);
        }
        self.finish(cases).await
    }

    /// Drops what the run made, and reports.
    pub async fn finish(&self, cases: Vec<CaseReport>) -> Report {
        let left = self.context.clean_up().await;
        let report = Report {
            schema: SCHEMA,
            store: self.name.to_owned(),
            date: self.date.clone(),
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            versions: self.versions.iter().cloned().collect(),
            capabilities: self.capabilities.clone(),
            abilities: abilities(&self.capabilities),
            seed: self.context.seed(),
            selected: self.cases.len(),
            interrupted: false,
            groups: BTreeMap::new(),
            verdicts: legend(),
            cases,
            totals: BTreeMap::new(),
            left_behind: left,
        };
        report.complete()
    }
}

/// A case that ends when nobody waits for it any longer.
struct AbortOnDrop(tokio::task::JoinHandle<Checked>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a plain collection could do here.
async fn capabilities(context: &Context) -> Result<Capabilities> {
    let name = CollectionName::new("sfwt_capabilities")
        .map_err(|e| shelfward_core::StoreError::new(shelfward_core::Operation::Create, e))?;
    let spec = CollectionSpec::new(name, WIDTH, Metric::Cosine, "suite");
    Ok(context.adapter().await?.capabilities(&spec))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use shelfward_core::adapter::StoreAdapter;
    use shelfward_core::{ErrorKind, Operation, StoreError, async_trait};

    use super::*;
    use crate::layer::{LayeredStore, StoreLayer};

    /// A store that says what became of it.
    #[derive(Default)]
    struct Watched {
        memory: shelfward_memory::MemoryStore,
        torn_down: Mutex<u32>,
    }

    #[async_trait]
    impl StoreUnderTest for Watched {
        fn name(&self) -> &'static str {
            "watched"
        }

        async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
            Ok(Arc::new(self.memory.clone()))
        }

        async fn tear_down(&self) -> Result<()> {
            *self.torn_down.lock().unwrap() += 1;
            Ok(())
        }
    }

    /// A store whose server went away.
    struct Gone(Arc<dyn StoreAdapter>);

    fn unavailable<T>() -> Result<T> {
        Err(StoreError::new(Operation::Health, ErrorKind::Unavailable))
    }

    #[async_trait]
    impl StoreLayer for Gone {
        fn behind(&self) -> &Arc<dyn StoreAdapter> {
            &self.0
        }

        async fn create(&self, _: &CollectionSpec) -> Result<()> {
            unavailable()
        }

        async fn list(&self) -> Result<Vec<CollectionName>> {
            unavailable()
        }

        async fn drop_collection(&self, _: &CollectionName) -> Result<bool> {
            panic!("nobody answers, so nothing is asked")
        }

        async fn health(&self) -> Result<()> {
            unavailable()
        }
    }

    struct GoneUnderTest;

    #[async_trait]
    impl StoreUnderTest for GoneUnderTest {
        fn name(&self) -> &'static str {
            "gone"
        }

        async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
            let memory = shelfward_memory::MemoryStore::default();
            Ok(Arc::new(LayeredStore(Gone(Arc::new(memory)))))
        }
    }

    #[tokio::test]
    async fn where_the_store_went_away_one_case_says_so_and_the_others_are_not_run() {
        let selection = Selection::default().groups(["eq"]);
        let suite = Suite::new(Arc::new(GoneUnderTest), KnownGaps::default(), &selection, 1);
        let report = suite.await.unwrap().run_all().await;
        let (not_run, ran): (Vec<_>, Vec<_>) =
            (report.cases.iter()).partition(|case| case.verdict == Verdict::NotRun);
        assert!(matches!(*ran, [first] if first.verdict == Verdict::Errors));
        assert!(!not_run.is_empty() && not_run.iter().all(|case| case.message == GONE));
        assert_eq!(report.unexpected().count(), 1);
        assert!(
            !report.left_behind.is_empty(),
            "what it may have made is named"
        );
    }

    async fn suite_of(store: Arc<Watched>, case: Case) -> Suite {
        let gaps = KnownGaps::default();
        let mut suite = Suite::new(store, gaps, &Selection::default(), 1)
            .await
            .unwrap();
        suite.cases = vec![Arc::new(case)];
        suite
    }

    #[tokio::test]
    async fn what_a_case_made_that_panicked_or_hung_is_dropped_all_the_same() {
        let panics = Case::new("faults/panics", |context: Context| async move {
            context.holding(&[]).await?;
            panic!("as it was told")
        });
        let hangs = Case::new("faults/hangs", |context: Context| async move {
            context.holding(&[]).await?;
            std::future::pending().await
        });
        for (case, hangs) in [(panics, false), (hangs, true)] {
            let store = Arc::new(Watched::default());
            let suite = suite_of(store.clone(), case).await;
            let case = suite.cases[0].clone();
            let found = if hangs {
                // As Ctrl-C gives it up.
                let briefly = Duration::from_millis(100);
                tokio::time::timeout(briefly, suite.run(&case)).await.ok()
            } else {
                Some(suite.run(&case).await)
            };
            assert_eq!(found.is_none(), hangs);
            assert!(found.iter().all(|found| found.verdict == Verdict::Errors));
            let there = store.memory.list().await.unwrap();
            assert_eq!(there.len(), 1, "it made one");
            assert!(there[0].as_str().starts_with("sfwt_"));
            let report = suite.finish(found.into_iter().collect()).await;
            assert!(report.left_behind.is_empty());
            assert!(store.memory.list().await.unwrap().is_empty());
            assert_eq!(*store.torn_down.lock().unwrap(), 1);
        }
    }
}
