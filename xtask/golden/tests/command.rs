//! The command as a person runs it, on files of its own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A folder of this test's own with one file of cases.
fn folder(name: &str, function: &str, cases: &Value) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let file = json!({ "function": function, "cases": cases });
    std::fs::write(folder.join("some.json"), file.to_string()).unwrap();
    folder
}

fn golden(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_golden"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Runs a folder; answers the exit code and the total.
fn run(folder: &Path) -> (Option<i32>, Value) {
    let done = golden(&[folder.to_str().unwrap(), "--json"]);
    let printed: Value = serde_json::from_slice(&done.stdout).unwrap();
    (done.status.code(), printed["total"].clone())
}

/// Judges one case of a function: `passed`, `failed` or `deviating`.
fn verdict(name: &str, function: &str, case: &Value) -> String {
    let (code, total) = run(&folder(name, function, &json!([case])));
    let ended = total.as_object().unwrap().iter();
    let (verdict, _) = ended.clone().find(|(_, count)| **count == 1).unwrap();
    assert_eq!(code, Some(i32::from(verdict == "failed")), "{total}");
    verdict.clone()
}

#[test]
fn a_wrong_answer_fails_and_is_shown() {
    let cases = json!([
        { "name": "right", "input": { "text": "Tea time" }, "output": ["tea", "time"] },
        { "name": "wrong one", "input": { "text": "Tea" }, "output": ["coffee"] },
    ]);
    let folder = folder("wrong", "lexicalTokens", &cases);
    let done = golden(&[folder.to_str().unwrap()]);
    let printed = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(
        printed.contains(r#"some.json: wrong one: expected ["coffee"], got ["tea"]"#),
        "{printed}"
    );
    assert!(printed.contains("1 passed, 1 failed"), "{printed}");
}

#[test]
fn nothing_to_run_is_said_by_the_exit_code() {
    assert_eq!(golden(&["no/such/folder"]).status.code(), Some(2));
    let empty = folder("empty", "lexicalTokens", &json!([]));
    assert_eq!(
        golden(&[empty.to_str().unwrap()]).status.code(),
        Some(2),
        "no case"
    );
    let case = json!([{ "name": "a", "input": { "text": "a" }, "output": ["a"] }]);
    let some = folder("some", "lexicalTokens", &case);
    let other = golden(&[some.to_str().unwrap(), "--function", "chunkTurns"]);
    assert_eq!(other.status.code(), Some(2), "no case of the function");
    assert_eq!(golden(&["--deviations"]).status.code(), Some(0));
}

#[test]
fn what_is_described_or_not_known_is_counted_as_such() {
    let case = json!({ "name": "a", "input": {}, "output": null });
    assert_eq!(verdict("described", "scopeFilter", &case), "described");
    assert_eq!(verdict("unknown", "somethingElse", &case), "notKnown");
}

#[test]
fn a_rule_excuses_only_what_it_speaks_of() {
    let verdict = |name: &str, metadata: Value, filter: Value, matches: bool| {
        let input = json!({ "metadata": metadata, "filter": filter });
        let output = json!({ "matches": matches });
        let case = json!({ "name": name, "input": input, "output": output });
        verdict(&format!("filter-{name}"), "inMemoryFilter", &case)
    };
    // A missing field: there $ne does not match, here it is the complement of $eq.
    let ne = json!({ "f": { "$ne": "a" } });
    assert_eq!(
        verdict("complement", json!({}), ne.clone(), false),
        "deviating"
    );
    assert_eq!(verdict("same", json!({}), ne.clone(), true), "passed");
    // A plain field that differs has to match in both.
    assert_eq!(verdict("plain", json!({ "f": "b" }), ne, false), "failed");
    // Refused here: excused by what is refused, and by nothing else.
    let unknown = json!({ "f": { "$regex": "a" } });
    assert_eq!(
        verdict("unknown", json!({ "f": "a" }), unknown, true),
        "deviating"
    );
    let eq = json!({ "f": "a" });
    assert_eq!(verdict("eq", json!({ "f": "a" }), eq, false), "failed");
    // A rule about refusals does not excuse a wrong answer.
    let known = json!({ "f": { "$in": ["a"] } });
    assert_eq!(verdict("in", json!({ "f": "a" }), known, false), "failed");
}

/// A library of one text, and the steps on it.
fn library(steps: &Value, output: &Value) -> Value {
    let vectors = json!({ "tea": [1, 0], "query": [1, 0], "narrow": [1] });
    let input = json!({ "dimension": 2, "vectors": vectors, "steps": steps });
    json!({ "name": "steps", "input": input, "output": output })
}

fn index(text: &str) -> Value {
    let source = json!({
        "sourceId": "s", "kind": "note", "tenantId": "t", "aclGroups": ["g"],
        "passages": [{ "text": text }],
    });
    json!({ "op": "indexSource", "source": source })
}

fn search(top_k: u64) -> Value {
    let scope = json!({ "tenantId": "t", "aclGroups": ["g"] });
    json!({ "op": "search", "query": { "text": "query", "scope": scope, "topK": top_k } })
}

#[test]
fn a_rule_of_one_step_does_not_excuse_another() {
    let indexed = json!({ "ok": { "passages": 1 }, "embedCalls": 1, "embedTexts": 1 });
    let wrong = json!({ "ok": { "passages": 7 }, "embedCalls": 1, "embedTexts": 1 });
    let nothing = json!({ "ok": [], "embedCalls": 1, "embedTexts": 1 });
    let steps = json!([index("tea"), search(0)]);
    let case = library(&steps, &json!([indexed, nothing]));
    assert_eq!(verdict("top-k-0", "libraryIndex", &case), "deviating");
    let case = library(&steps, &json!([wrong, nothing]));
    assert_eq!(verdict("other-step", "libraryIndex", &case), "failed");
    // The passage must be found.
    let steps = json!([index("tea"), search(1)]);
    let case = library(&steps, &json!([indexed, nothing]));
    assert_eq!(verdict("lost", "libraryIndex", &case), "failed");
}

#[test]
fn after_a_failed_embedding_the_library_may_hold_something_else() {
    let failed = json!({ "error": "width", "embedCalls": 1, "embedTexts": 1 });
    let indexed = json!({ "ok": { "passages": 1 }, "embedCalls": 1, "embedTexts": 1 });
    let nothing = json!({ "ok": [], "embedCalls": 1, "embedTexts": 1 });
    let steps = json!([index("tea"), index("narrow"), search(1)]);
    let case = library(&steps, &json!([indexed, failed, nothing]));
    assert_eq!(verdict("old-stays", "libraryIndex", &case), "deviating");
}
