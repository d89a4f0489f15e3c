//! The library as its users meet it first: what the opening sample files and finds.

mod support;

use shelfward_core::library::{Mode, Passage, SearchRequest};
use shelfward_core::{Metadata, Value};
use shelfward_text::{ChunkTurns, Turn, chunk_turns, lexical_tokens};
use support::{TestEmbedder, library_with, memory, scope, source_of, tenant};

fn turns() -> Vec<Turn> {
    let turn = |seq, text: &str, start, end| Turn {
        seq,
        item_id: format!("item_{seq}"),
        text: text.to_owned(),
        start_ms: Some(start),
        end_ms: Some(end),
    };
    vec![
        turn(1, "The budget grows by ten percent next quarter.", 0, 4_200),
        turn(2, "Hiring opens in May.", 4_200, 6_100),
    ]
}

#[tokio::test]
async fn the_opening_sample_finds_its_session() {
    let (index, _) = library_with(&memory(), TestEmbedder::default()).await;
    let passages = chunk_turns(&turns(), &ChunkTurns::default())
        .into_iter()
        .map(|chunk| {
            let metadata = Metadata::new().with("firstSeq", chunk.first_seq).unwrap();
            Passage::new(chunk.text).metadata(metadata.with("lastSeq", chunk.last_seq).unwrap())
        });
    let session = source_of("session", "session:s1", &["acct:ann"])
        .tags(["q3"])
        .title("Budget review")
        .passages(passages);
    let report = index
        .tenant(tenant("org1"))
        .index_source(session)
        .await
        .unwrap();
    assert_eq!(report.passages, 1);

    let ann = scope("org1", &["acct:ann", "org:org1"]);
    for mode in [Mode::Hybrid, Mode::Dense, Mode::Lexical] {
        let answer = index
            .search(&ann, &SearchRequest::new("budget").top_k(3).mode(mode))
            .await
            .unwrap();
        let [hit] = &answer.passages[..] else {
            unreachable!("one passage is there")
        };
        assert_eq!(hit.id, "session:s1#0");
        assert_eq!(hit.title.as_deref(), Some("Budget review"));
        assert_eq!(
            &*hit.text,
            "The budget grows by ten percent next quarter.\nHiring opens in May."
        );
        assert_eq!(
            (hit.source_id.as_str(), hit.kind.as_str(), hit.index),
            ("session:s1", "session", 0)
        );
        assert_eq!(hit.tags, ["q3"]);
        assert_eq!(
            hit.metadata.get("lastSeq").and_then(Value::as_integer),
            Some(2)
        );
        assert_eq!(hit.metadata.text("status"), Some("active"));
        assert_eq!(hit.folder_id, None);
    }
    let others = scope("org1", &["acct:bob"]);
    let answer = index
        .search(&others, &SearchRequest::new("budget"))
        .await
        .unwrap();
    assert!(answer.passages.is_empty() && answer.complete);
}

#[test]
fn words_are_lower_case_runs_of_letters_and_digits() {
    assert_eq!(
        lexical_tokens("Q3's budget: 1,200 units"),
        ["q3", "s", "budget", "1", "200", "units"]
    );
}
