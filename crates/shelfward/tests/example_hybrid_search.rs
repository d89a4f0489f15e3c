//! The example `hybrid_search`, run as a test.

#[path = "../examples/hybrid_search.rs"]
#[expect(dead_code, reason = "the example's own main")]
mod hybrid_search;

#[tokio::test]
async fn either_leg_finds_what_the_other_cannot() {
    let meaning = hybrid_search::over_a_collection("I forgot how to login").await;
    let best = meaning.unwrap().remove(0);
    assert!(best.sparse.is_none(), "{best:?}");
    let words = hybrid_search::over_a_collection("code E-417")
        .await
        .unwrap();
    let page = words.iter().find(|hit| hit.id == "e417").unwrap();
    assert_eq!(page.sparse.unwrap().rank, Some(1));
}

#[tokio::test]
async fn readers_see_what_their_groups_may() {
    let ids = async |groups: &[&str]| {
        let found = hybrid_search::over_a_library(groups).await.unwrap();
        found
            .into_iter()
            .map(|found| found.passage.source_id)
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&["team:people"]).await, ["handbook", "salaries"]);
    assert_eq!(ids(&["team:harbor"]).await, ["handbook", "roster"]);
    assert!(ids(&["team:none"]).await.is_empty());
}
