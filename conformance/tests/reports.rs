//! What the reports of a run say: the JSON by its schema, the page by its structure, two runs beside each
//! other.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use shelfward_conformance::report::{Change, Comparison, NotRun, Outcome, html, junit, legend};
use shelfward_conformance::{DEFAULT_SEED, KnownGaps, Selection, StoreUnderTest, Suite};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{Result, async_trait};
use shelfward_memory::MemoryStore;

#[derive(Default)]
struct UnderTest(MemoryStore);

#[async_trait]
impl StoreUnderTest for UnderTest {
    fn name(&self) -> &'static str {
        "under-test"
    }

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        Ok(Arc::new(self.0.clone()))
    }

    fn versions(&self) -> Vec<(String, String)> {
        vec![("engine".to_owned(), "9.1".to_owned())]
    }
}

async fn ran() -> Value {
    let selection = Selection::default().groups(["eq", "in", "durability"]);
    let suite = Suite::new(
        Arc::new(UnderTest::default()),
        KnownGaps::default(),
        &selection,
        DEFAULT_SEED,
    );
    serde_json::to_value(suite.await.unwrap().run_all().await).unwrap()
}

/// The same run, in which one case widened and another failed by the engine.
async fn ran_badly() -> Value {
    let mut report = ran().await;
    let cases = report["cases"].as_array_mut().unwrap();
    for case in cases {
        match case["id"].as_str().unwrap() {
            "in/plain" => {
                case["verdict"] = "widens".into();
                case["message"] = "expected {\"a\"}, got <b> & more".into();
            }
            "eq/text" => {
                case["verdict"] = "errors".into();
                case["message"] = "failed to search: the engine failed".into();
                case["causes"] = json!(["the connection broke", "SQLSTATE 57014"]);
            }
            _ => {}
        }
    }
    report
}

fn outcome(report: Value) -> Outcome {
    serde_json::from_value(report).unwrap()
}

fn not_run() -> [Outcome; 2] {
    [
        NotRun::new("far", "FAR_URL is not <set>"),
        NotRun::failed("locked", "the store refused the credentials"),
    ]
    .map(Outcome::NotRun)
}

/// Why this is no report by the schema, if so.
fn problem(json: &Value) -> Option<String> {
    let schema: Value = serde_json::from_str(include_str!("../report.schema.json")).unwrap();
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler
        .add_resource("file:///report.json", schema)
        .unwrap();
    let index = compiler.compile("file:///report.json", &mut schemas);
    let answer = schemas.validate(json, index.unwrap());
    answer.err().map(|problem| problem.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_as_its_schema_says_and_is_read_again() {
    let mut outcomes = vec![outcome(ran().await), outcome(ran_badly().await)];
    outcomes.extend(not_run());
    let json = serde_json::to_value(&outcomes).unwrap();
    assert_eq!(problem(&json), None);
    let read: Vec<Outcome> = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(read, outcomes);
    let wrong: [fn(&mut Value); 4] = [
        |json| json[0]["cases"][0]["rule"] = "".into(),
        |json| json[0]["left_behind"] = json!([]),
        |json| json[0]["capabilities"]["dense"] = json!({"approximate": {"min_recall": 0.9}}),
        |json| json[2]["failed"] = false.into(),
    ];
    for spoil in wrong {
        let mut spoilt = json.clone();
        spoil(&mut spoilt);
        assert!(problem(&spoilt).is_some(), "{spoilt}");
    }
}

/// Everything between two marks, wherever it is in a text.
fn between<'a>(text: &'a str, before: &str, behind: &str) -> Vec<&'a str> {
    let parts = text.split(before).skip(1);
    parts
        .map(|part| part.split(behind).next().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_failures_first_and_what_they_mean() {
    let mut outcomes = vec![outcome(ran_badly().await)];
    outcomes.extend(not_run());
    let page = html(&outcomes);
    assert!(page.contains("<meta name=\"viewport\""));
    for told in [
        "engine 9.1",
        "seed 24095",
        "FAR_URL is not &lt;set&gt;",
        "locked could not begin",
        "the store refused the credentials",
        "expected {&quot;a&quot;}, got &lt;b&gt; &amp; more",
        "caused by <code>the connection broke</code>",
        "caused by <code>SQLSTATE 57014</code>",
        "<b>For readers:</b> Access groups are checked with <code>$in</code>",
        "Treat it as a leak",
        "A text matches the equal text only.",
        "what it holds is gone with the process",
        "<th>lexical scores</th><td>BM25</td>",
    ] {
        assert!(page.contains(told), "{told} is not on the page");
    }
    let at = |text: &str| page.find(text).unwrap();
    assert!(at("id=\"failures\"") < at("id=\"cases\""));
    // What widens comes before what fails, and what could not begin before both.
    assert!(at("locked could not begin") < at("id=\"under-test-in\""));
    assert!(at("id=\"under-test-in\"") < at("id=\"under-test-eq\""));
    // A row for each group, a column for each store.
    let table = between(&page, "<table>", "</table>")[0];
    assert!(table.contains("<th>group</th><th>under-test</th>"));
    assert_eq!(table.matches("<tr data-group").count(), 3);
    assert!(table.contains("<td class=\"bad number\"><a href=\"#under-test-eq\">24/25</a>"));
    assert!(table.contains("<td class=\"good number\"><a href=\"#group-durability\">1/1</a>"));
    let ids = between(&page, " id=\"", "\"");
    let there: BTreeSet<_> = ids.iter().collect();
    assert_eq!(there.len(), ids.len(), "an id is there twice");
    for anchor in between(&page, "href=\"#", "\"") {
        assert!(there.contains(&anchor), "nothing is at #{anchor}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_without_failures_says_so_and_one_without_stores_claims_nothing() {
    let page = html(&[outcome(ran().await)]);
    assert!(page.contains("every case that ran found what was expected"));
    assert!(!page.contains("class=\"failure\""));
    let [not_run, _] = not_run();
    let page = html(&[not_run]);
    assert!(page.contains("No store was run") && !page.contains("every case that ran"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_says_so_on_the_page_and_in_junit() {
    let mut report = ran().await;
    report["interrupted"] = true.into();
    report["selected"] = 99.into();
    let [_, locked] = not_run();
    let outcomes = [outcome(report), locked];
    let page = html(&outcomes);
    assert!(
        page.contains("Interrupted: 58 of 99 cases were run."),
        "{page}"
    );
    let xml = junit(&outcomes);
    assert!(xml.contains("<error message=\"interrupted after 58 of 99 cases\"/>"));
    assert!(xml.contains("<error message=\"the store refused the credentials\"/>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn junit_tells_the_rule_and_the_causes_of_a_failure() {
    let xml = junit(&[outcome(ran_badly().await)]);
    let failure = between(&xml, "<failure", "</failure>");
    assert_eq!(failure.len(), 2);
    for told in [
        "type=\"errors\"",
        "A text matches the equal text only.",
        "expected: honours\nfound: errors",
        "caused by: the connection broke\ncaused by: SQLSTATE 57014",
    ] {
        assert!(failure[0].contains(told), "{told} is not in {}", failure[0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_reports_are_compared_by_store_and_case() {
    let (good, bad) = (ran().await, ran_badly().await);
    let worse = Comparison::new(&[outcome(good.clone())], &[outcome(bad.clone())]);
    let new = worse.of(Change::NewFailure);
    assert_eq!(new.len(), 2);
    assert_eq!(
        new[0],
        "under-test eq/text: honours, now errors, expected honours: failed to search: the engine failed: \
         the connection broke: SQLSTATE 57014"
    );
    let better = Comparison::new(&[outcome(bad.clone())], &[outcome(good.clone())]);
    assert_eq!(better.of(Change::Fixed).len(), 2);
    assert!(better.of(Change::NewFailure).is_empty());
    // Another verdict that is not expected either, a case that is gone, and one that is new.
    let mut other = bad.clone();
    let cases = other["cases"].as_array_mut().unwrap();
    cases.retain(|case| case["id"] != "eq/case");
    for case in cases {
        if case["id"] == "in/plain" {
            case["verdict"] = "narrows".into();
        }
    }
    let differs = Comparison::new(&[outcome(bad.clone())], &[outcome(other.clone())]);
    assert_eq!(differs.of(Change::Changed).len(), 1);
    assert_eq!(
        differs.of(Change::OnlyBefore),
        ["under-test eq/case: honours"]
    );
    let back = Comparison::new(&[outcome(other)], &[outcome(bad)]);
    assert_eq!(back.of(Change::OnlyAfter), ["under-test eq/case: honours"]);
    // A store that cannot begin any more is a failure; one that does again is not.
    let failed = Outcome::NotRun(NotRun::failed("under-test", "the password is wrong"));
    let gone = Comparison::new(&[outcome(good.clone())], std::slice::from_ref(&failed));
    assert_eq!(
        gone.of(Change::NewFailure),
        ["under-test ran 58 cases, now could not begin (the password is wrong)"]
    );
    let same = Comparison::new(&[outcome(good.clone())], &[outcome(good)]);
    assert_eq!(same.to_string(), "the same: 58");
}

#[test]
fn the_page_of_the_book_says_of_verdicts_what_reports_say() {
    let page = include_str!("../../docs/reading-a-report.md");
    for verdict in legend() {
        let (name, meaning, action) = (verdict.verdict, verdict.meaning, verdict.action);
        let row = format!("| {name} | {meaning} | {action} |");
        assert!(page.contains(&row), "docs/reading-a-report.md lacks {row}");
    }
}
