//! The example `library`, run as a test: what it shows is what readers see.

#![cfg(any(feature = "memory", feature = "sqlite", feature = "hnsw"))]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may end by a panic"
)]

#[path = "../examples/library/story/mod.rs"]
mod story;

use shelfward::library::{ExecutedMode, PassageId};
use story::{Seen, Step};

/// The story on a store, told twice: the second time the library is there already.
async fn told_twice(url: &str) {
    let store = shelfward::connect(url).await.unwrap();
    let index = story::library(&store).await.unwrap();
    let first = story::tell(&index).await.unwrap();
    shows_what_it_is_to_show(&first);
    let store = if url.ends_with("memory:") {
        store
    } else {
        store.close().await.unwrap();
        shelfward::connect(url).await.unwrap()
    };
    let index = story::library(&store).await.unwrap();
    let second = story::tell(&index).await.unwrap();
    shows_what_it_is_to_show(&second);
    assert_eq!(answers(&first), answers(&second));
    store.close().await.unwrap();
}

/// What each reader is answered, step by step.
fn answers(steps: &[Step]) -> Vec<(&str, &str, Vec<(&PassageId, f64)>)> {
    let seen = steps.iter().flat_map(|step| &step.seen);
    seen.map(|seen| {
        let passages = seen.answer.passages.iter();
        let passages = passages.map(|passage| (&passage.id, passage.score));
        (seen.question, seen.reader, passages.collect())
    })
    .collect()
}

#[cfg(feature = "memory")]
#[tokio::test]
async fn on_the_memory_store() {
    told_twice("memory:").await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn on_a_sqlite_file() {
    told_twice("sqlite::memory:").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("library.db");
    told_twice(&format!("sqlite:{}", file.display())).await;
}

#[cfg(feature = "hnsw")]
#[tokio::test]
async fn on_an_hnsw_folder() {
    told_twice("hnsw::memory:").await;
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("library.hnsw");
    told_twice(&format!("hnsw:{}", library.display())).await;
}

/// Each reader sees what they may after each step.
fn shows_what_it_is_to_show(steps: &[Step]) {
    let [filed, narrowed, replaced, removed, gone] = steps else {
        panic!("five steps, not {}", steps.len());
    };
    assert!(steps.iter().all(|step| !step.title.is_empty()));
    assert_eq!(filed.notes.len(), 7);
    never_beyond_the_scope(steps);

    // Three readers, one question, three answers: two of them from equal ids in two tenants.
    assert_eq!(
        first(filed, "daily allowance", "ann"),
        Some("document:expenses#4".to_owned())
    );
    assert_eq!(
        first(filed, "daily allowance", "bo"),
        Some("document:expenses#4".to_owned())
    );
    assert_eq!(
        first(filed, "daily allowance", "cleo"),
        Some("document:handbook#5".to_owned())
    );
    // The incident report is for engineering and operations, and Bo is in neither.
    assert!(sees(
        filed,
        "restart delay",
        "ann",
        "document:incident-0417"
    ));
    assert_eq!(first(filed, "restart delay", "bo"), None);
    // The review is for operations and finance, and Ann is in neither.
    assert!(sees(
        filed,
        "a larger budget",
        "bo",
        "session:operations-review-31"
    ));
    assert_eq!(first(filed, "a larger budget", "ann"), None);

    // Bo loses the memo by the narrowing, Ann keeps it.
    assert!(sees(
        filed,
        "what does it cost",
        "bo",
        "document:defrost-memo"
    ));
    assert_eq!(first(narrowed, "what does it cost", "bo"), None);
    assert!(sees(
        narrowed,
        "what does it cost",
        "ann",
        "document:defrost-memo"
    ));
    assert_eq!(narrowed.notes, ["17 passages changed"]);

    // Nothing of the longer old edition is left.
    assert_eq!(replaced.notes, ["5 passages in the place of 18"]);
    assert_eq!(
        first(replaced, "daily allowance", "bo"),
        Some("document:expenses#1".to_owned())
    );
    let of_expenses = of(replaced, "daily allowance")
        .flat_map(|seen| &seen.answer.passages)
        .filter(|passage| passage.source_id == "document:expenses");
    for passage in of_expenses {
        assert_eq!(
            passage.title.as_deref(),
            Some("Travel and expenses policy, 2027 edition")
        );
    }

    // What is removed is found by nobody, and the other tenant notices nothing.
    let notes = "document:controller-notes";
    assert!(sees(narrowed, "defrosting", "bo", notes));
    assert!(
        !sees(removed, "defrosting", "bo", notes) && !sees(removed, "defrosting", "ann", notes)
    );
    assert_eq!(first(gone, "daily allowance", "ann"), None);
    assert_eq!(first(gone, "daily allowance", "bo"), None);
    assert_eq!(
        first(gone, "daily allowance", "cleo"),
        Some("document:handbook#5".to_owned())
    );
}

/// Whatever is asked and whenever, no passage reaches a reader who is in none of its groups.
fn never_beyond_the_scope(steps: &[Step]) {
    let readers = story::readers::readers().unwrap();
    for seen in steps.iter().flat_map(|step| &step.seen) {
        assert!(seen.answer.complete && seen.answer.ran != ExecutedMode::Nothing);
        let reader = readers
            .iter()
            .find(|reader| reader.name == seen.reader)
            .unwrap();
        for passage in &seen.answer.passages {
            let tenant = passage.metadata.text("tenantId");
            assert_eq!(tenant, Some(reader.scope.tenant().as_str()), "{passage:?}");
            let held = reader.scope.groups();
            let shared = |group: &str| held.iter().any(|held| held.as_str() == group);
            assert!(
                passage.access_groups().any(shared),
                "{} is shown {passage:?}",
                reader.name
            );
        }
    }
}

fn of<'a>(step: &'a Step, question: &'a str) -> impl Iterator<Item = &'a Seen> {
    step.seen
        .iter()
        .filter(move |seen| seen.question.starts_with(question))
}

fn answer<'a>(step: &'a Step, question: &str, reader: &str) -> &'a Seen {
    let mut answers = step.seen.iter().filter(|seen| seen.reader == reader);
    answers
        .find(|seen| seen.question.starts_with(question))
        .unwrap()
}

fn first(step: &Step, question: &str, reader: &str) -> Option<String> {
    let passages = &answer(step, question, reader).answer.passages;
    passages.first().map(|passage| passage.id.to_string())
}

fn sees(step: &Step, question: &str, reader: &str, source: &str) -> bool {
    let passages = &answer(step, question, reader).answer.passages;
    passages.iter().any(|passage| passage.source_id == source)
}
