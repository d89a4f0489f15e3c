//! The example `text_search`, run as a test.

#[path = "../examples/text_search.rs"]
#[expect(dead_code, reason = "the example's own main")]
mod text_search;

#[test]
fn every_part_finds_what_it_says() {
    let words = text_search::words().unwrap();
    assert!(
        words.contains("password message (all words)        nothing"),
        "{words}"
    );
    assert!(
        words.contains("password expire (all words, begun)  expiry"),
        "{words}"
    );
    let stems = text_search::stems().unwrap();
    assert!(stems.contains("finds nothing"), "{stems}");
    assert!(stems.contains("attempt reset"), "{stems}");
    let snippets = text_search::snippets().unwrap();
    assert!(
        snippets.contains("A mail with a [code] [arrives]"),
        "{snippets}"
    );
    let search_box = text_search::search_box().unwrap();
    assert!(
        search_box.contains("refunds 0.50   A [refund] goes"),
        "{search_box}"
    );
}
