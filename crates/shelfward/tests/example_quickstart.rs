//! The example `library_quickstart`, run as a test.

#[path = "../examples/library_quickstart.rs"]
#[expect(dead_code, reason = "the example's own main")]
mod quickstart;

#[tokio::test]
async fn the_quickstart_finds_its_passage() {
    let hit = quickstart::best_hit().await.unwrap().unwrap();
    assert_eq!(hit.id, "session:planning#0");
    assert_eq!(hit.title.as_deref(), Some("Planning for spring"));
    assert!(hit.text.starts_with("The training budget"), "{}", hit.text);
}
