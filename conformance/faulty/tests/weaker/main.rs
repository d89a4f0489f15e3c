//! Stores that honestly do less: the suite finds nothing wrong with them. What they do not declare is
//! refused or not run, and says why.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod store;

use std::sync::Arc;

use shelfward_conformance::layer::LayeredStore;
use shelfward_conformance::report::CaseReport;
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
        Ok(Arc::new(LayeredStore(WeakStore { inner, weakness })))
    }
}

async fn suite(weakness: Weakness) -> Suite {
    let store = Arc::new(UnderTest(MemoryStore::new(), weakness));
    let (gaps, selection) = (KnownGaps::default(), Selection::default());
    let suite = Suite::new(store, gaps, &selection, DEFAULT_SEED);
    suite.await.unwrap()
}

/// What is wrong with what a case found: it did not find what was expected, or does not say why it was
/// not run.
fn wrong(weakness: Weakness, case: &CaseReport) -> Option<String> {
    let CaseReport {
        id,
        verdict,
        expected,
        message,
        ..
    } = case;
    if !case.as_expected() {
        return Some(format!(
            "{weakness:?}, {id}: {verdict}, not {expected}: {message}"
        ));
    }
    let silent = !case.ran() && message.is_empty();
    silent.then(|| format!("{weakness:?}, {id}: not run, without a reason"))
}

/// Of each weakness, what the suite finds of some of the cases that it bears on.
#[rustfmt::skip] // a row a line reads as the table that it is
const FOUND: [(Weakness, &str, Verdict); 33] = [
    (Weakness::NoLexicalLeg, "lexical/any-word", Verdict::Refuses),
    (Weakness::NoLexicalLeg, "lexical/prefix", Verdict::Refuses),
    (Weakness::NoLexicalLeg, "lexical/bm25-random", Verdict::NotRun),
    (Weakness::NoLexicalLeg, "lexical/fused-evenly-in-the-library", Verdict::NotRun),
    (Weakness::NoLexicalLeg, "lexical/hybrid-without-a-lexical-leg-is-dense", Verdict::Honours),
    (Weakness::NoPrefixes, "lexical/prefix-of-too-many-words", Verdict::Refuses),
    (Weakness::NoPrefixes, "lexical/bm25-random", Verdict::Honours),
    (Weakness::OwnScores, "lexical/bm25-by-the-formula", Verdict::NotRun),
    (Weakness::OwnScores, "lexical/scores-fall", Verdict::Honours),
    (Weakness::OwnScores, "lexical/hybrid-finds-what-one-leg-finds", Verdict::Honours),
    (Weakness::SupersetOfWords, "lexical/all-words", Verdict::Honours),
    (Weakness::OwnAnalyser, "lexical/any-word", Verdict::NotRun),
    (Weakness::OwnAnalyser, "lexical/top-k", Verdict::Honours),
    (Weakness::NoAtomicReplace, "races/reads-during-replace", Verdict::NotRun),
    (Weakness::NoAtomicReplace, "lexical/after-replace", Verdict::Honours),
    (Weakness::NoDeleteByFilter, "delete/by-filter", Verdict::Honours),
    (Weakness::NoUpdates, "update/merges", Verdict::Refuses),
    (Weakness::NoUpdates, "update/empty-patch", Verdict::NotRun),
    (Weakness::NoScan, "paging/every-record-once", Verdict::Refuses),
    (Weakness::NoScan, "injection/scan-cursor", Verdict::NotRun),
    (Weakness::NeitherScanNorCount, "reads/count", Verdict::NotRun),
    (Weakness::CountsUnknown, "delete/by-filter", Verdict::Honours),
    (Weakness::CountsAtLeast, "reads/count", Verdict::Honours),
    (Weakness::KernelOfFilters, "operators/not", Verdict::Honours),
    (Weakness::NoOpenFields, "injection/key", Verdict::NotRun),
    (Weakness::NoOpenFields, "operators/open-number", Verdict::Refuses),
    (Weakness::CosineAlone, "metrics/dot", Verdict::NotRun),
    (Weakness::CosineAlone, "metrics/undeclared-is-refused", Verdict::Honours),
    (Weakness::NotFull, "search/says-how-it-ended", Verdict::NotRun),
    (Weakness::Approximate, "search/recall-cosine", Verdict::Honours),
    (Weakness::Approximate, "search/recall-under-filters", Verdict::Honours),
    (Weakness::NoScan, "durability/deletes-stay-done", Verdict::NotRun),
    (Weakness::NotFull, "lexical/hidden-hits-take-no-rank", Verdict::Honours),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_weaker_store_is_asked_for_what_it_declares() {
    let mut all = Vec::new();
    for &weakness in Weakness::ALL {
        let suite = suite(weakness).await;
        for (_, id, verdict) in FOUND.iter().filter(|(of, _, _)| *of == weakness) {
            let mut cases = suite.cases().iter();
            let case = cases.find(|case| case.info().id == *id).unwrap();
            let found = suite.run(case).await;
            all.extend(wrong(weakness, &found));
            if found.verdict != *verdict {
                all.push(format!(
                    "{weakness:?}, {id}: {}, not {verdict}",
                    found.verdict
                ));
            }
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[cfg(feature = "full")]
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_wrong_with_a_store_that_says_what_it_does_not_do() {
    let mut all = Vec::new();
    for &weakness in Weakness::ALL {
        let report = suite(weakness).await.run_all().await;
        all.extend(report.cases.iter().filter_map(|case| wrong(weakness, case)));
        let silent = report.silent_groups();
        if !silent.is_empty() {
            all.push(format!("{weakness:?}: nothing was run of {silent:?}"));
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}
