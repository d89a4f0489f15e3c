//! Stores that honestly do less: the suite finds nothing wrong with them. What they do not declare is
//! refused or not run, and says why.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod store;

use std::sync::Arc;

use shelfward_conformance::report::Report;
use shelfward_conformance::{DEFAULT_SEED, KnownGaps, Selection, StoreUnderTest, Suite, Verdict};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{Result, async_trait};
use shelfward_memory::MemoryStore;

use store::{WeakStore, Weakness};

struct UnderTest(MemoryStore, Weakness);

#[async_trait]
impl StoreUnderTest for UnderTest {
    fn name(&self) -> &'static str {
        "weak"
    }

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        let inner = Arc::new(self.0.clone());
        let weakness = self.1;
        Ok(Arc::new(WeakStore { inner, weakness }))
    }
}

async fn run(weakness: Weakness) -> Report {
    let store = Arc::new(UnderTest(MemoryStore::new(), weakness));
    let suite = Suite::new(
        store,
        KnownGaps::default(),
        &Selection::default(),
        DEFAULT_SEED,
    )
    .await;
    suite.unwrap().run_all().await
}

/// Of each weakness, what the suite finds of some of the cases that it bears on.
const FOUND: [(Weakness, &str, Verdict); 33] = [
    (Weakness::NoLexicalLeg, "lexical/any-word", Verdict::Refuses),
    (Weakness::NoLexicalLeg, "lexical/prefix", Verdict::Refuses),
    (
        Weakness::NoLexicalLeg,
        "lexical/bm25-random",
        Verdict::NotRun,
    ),
    (
        Weakness::NoLexicalLeg,
        "lexical/fused-evenly-in-the-library",
        Verdict::NotRun,
    ),
    (
        Weakness::NoLexicalLeg,
        "lexical/hybrid-without-a-lexical-leg-is-dense",
        Verdict::Honours,
    ),
    (
        Weakness::NoPrefixes,
        "lexical/prefix-of-too-many-words",
        Verdict::Refuses,
    ),
    (
        Weakness::NoPrefixes,
        "lexical/bm25-random",
        Verdict::Honours,
    ),
    (
        Weakness::OwnScores,
        "lexical/bm25-by-the-formula",
        Verdict::NotRun,
    ),
    (Weakness::OwnScores, "lexical/scores-fall", Verdict::Honours),
    (
        Weakness::OwnScores,
        "lexical/hybrid-finds-what-one-leg-finds",
        Verdict::Honours,
    ),
    (
        Weakness::SupersetOfWords,
        "lexical/all-words",
        Verdict::Honours,
    ),
    (Weakness::OwnAnalyser, "lexical/any-word", Verdict::NotRun),
    (Weakness::OwnAnalyser, "lexical/top-k", Verdict::Honours),
    (
        Weakness::NoAtomicReplace,
        "races/reads-during-replace",
        Verdict::NotRun,
    ),
    (
        Weakness::NoAtomicReplace,
        "lexical/after-replace",
        Verdict::Honours,
    ),
    (
        Weakness::NoDeleteByFilter,
        "delete/by-filter",
        Verdict::Honours,
    ),
    (Weakness::NoUpdates, "update/merges", Verdict::Refuses),
    (Weakness::NoUpdates, "update/empty-patch", Verdict::NotRun),
    (
        Weakness::NoScan,
        "paging/every-record-once",
        Verdict::Refuses,
    ),
    (Weakness::NoScan, "injection/scan-cursor", Verdict::NotRun),
    (
        Weakness::NeitherScanNorCount,
        "reads/count",
        Verdict::NotRun,
    ),
    (
        Weakness::CountsUnknown,
        "delete/by-filter",
        Verdict::Honours,
    ),
    (Weakness::CountsAtLeast, "reads/count", Verdict::Honours),
    (Weakness::KernelOfFilters, "operators/not", Verdict::Honours),
    (Weakness::NoOpenFields, "injection/key", Verdict::NotRun),
    (
        Weakness::NoOpenFields,
        "operators/open-number",
        Verdict::Refuses,
    ),
    (Weakness::CosineAlone, "metrics/dot", Verdict::NotRun),
    (
        Weakness::CosineAlone,
        "metrics/undeclared-is-refused",
        Verdict::Honours,
    ),
    (
        Weakness::NotFull,
        "search/says-how-it-ended",
        Verdict::NotRun,
    ),
    (
        Weakness::Approximate,
        "search/recall-cosine",
        Verdict::Honours,
    ),
    (
        Weakness::Approximate,
        "search/recall-under-filters",
        Verdict::Honours,
    ),
    (
        Weakness::NoScan,
        "durability/deletes-stay-done",
        Verdict::NotRun,
    ),
    (
        Weakness::NotFull,
        "lexical/hidden-hits-take-no-rank",
        Verdict::Honours,
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_wrong_with_a_store_that_says_what_it_does_not_do() {
    let mut wrong = Vec::new();
    for weakness in Weakness::ALL {
        let report = run(weakness).await;
        for case in report.unexpected() {
            let (id, found, expected) = (&case.id, case.verdict, case.expected);
            let message = &case.message;
            wrong.push(format!(
                "{weakness:?}, {id}: {found}, not {expected}: {message}"
            ));
        }
        let silent = report.cases.iter().filter(|case| !case.ran());
        wrong.extend(
            silent
                .filter(|case| case.message.is_empty())
                .map(|case| format!("{weakness:?}, {}: not run, without a reason", case.id)),
        );
        if !report.silent_groups().is_empty() {
            let groups = report.silent_groups();
            wrong.push(format!("{weakness:?}: nothing was run of {groups:?}"));
        }
        for (_, id, verdict) in FOUND.iter().filter(|(of, _, _)| *of == weakness) {
            let case = report.cases.iter().find(|case| case.id == *id);
            let found = case.map(|case| case.verdict);
            if found != Some(*verdict) {
                wrong.push(format!("{weakness:?}, {id}: {found:?}, not {verdict:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
