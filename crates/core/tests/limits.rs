//! Limits that no request could keep, or that contradict each other, cannot be made.

mod support;

use shelfward_core::library::{Mode, SearchRequest};
use shelfward_core::{Limits, LimitsError};
use support::{library, memory, scope, source, tenant};

#[test]
fn a_ceiling_of_0_is_refused_by_name() {
    let zero = [
        ("filter_nodes", Limits::builder().filter_nodes(0)),
        ("filter_values", Limits::builder().filter_values(0)),
        ("request_top_k", Limits::builder().request_top_k(0)),
        ("leg_top_k", Limits::builder().leg_top_k(0)),
        ("query_chars", Limits::builder().query_chars(0)),
        ("query_words", Limits::builder().query_words(0)),
        ("source_passages", Limits::builder().source_passages(0)),
        ("fetch_ids", Limits::builder().fetch_ids(0)),
        ("refill_rounds", Limits::builder().refill_rounds(0)),
        ("refill_candidates", Limits::builder().refill_candidates(0)),
    ];
    for (name, builder) in zero {
        let refused = builder.build().unwrap_err();
        assert_eq!(refused, LimitsError::Zero(name));
        assert!(refused.to_string().contains(name), "{refused}");
    }
    assert_eq!(Limits::builder().build(), Ok(Limits::default()));
}

#[tokio::test]
async fn a_request_that_a_leg_could_not_answer_in_full_is_never_called_complete() {
    let over = Limits::builder().leg_top_k(2).build().unwrap_err();
    let expected = LimitsError::RequestOverLeg {
        request_top_k: 1_000,
        leg_top_k: 2,
    };
    assert_eq!(over, expected);
    let both = Limits::builder().leg_top_k(2).request_top_k(2);
    let index = library(&memory().with_limits(both.build().unwrap())).await;
    let texts = ["word one", "word two", "word three", "word four"];
    let org = index.tenant(tenant("a"));
    org.index_source(source("s", &["g"], &texts)).await.unwrap();
    for mode in [Mode::Dense, Mode::Lexical, Mode::Hybrid] {
        let search = async |top_k| {
            let request = SearchRequest::new("word").mode(mode).top_k(top_k);
            index.search(&scope("a", &["g"]), &request).await
        };
        assert!(search(4).await.is_err(), "{mode:?}");
        let answer = search(2).await.unwrap();
        assert_eq!(
            (answer.passages.len(), answer.complete),
            (2, true),
            "{mode:?}"
        );
    }
}
