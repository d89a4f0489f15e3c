//! Marks and passages.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use shelfward_lexical::fuzzy::{FuzzyDocument, FuzzyHit, FuzzyIndex, FuzzySearch, FuzzySettings};

fn hit(settings: FuzzySettings, document: FuzzyDocument, query: &str) -> Option<FuzzyHit> {
    let mut index = FuzzyIndex::new(settings).unwrap();
    index.add_document(document).unwrap();
    index
        .search(query, &FuzzySearch::default().any_word())
        .pop()
}

/// The passages of one text, each with its marks between brackets.
fn passages(settings: FuzzySettings, text: &str, query: &str) -> Vec<String> {
    let hit = hit(settings, FuzzyDocument::new("1").field("t", text), query);
    let passages = hit.map(|hit| hit.passages).unwrap_or_default();
    let bracketed = passages.iter().map(|passage| {
        let (mut shown, mut done) = (String::new(), 0);
        for mark in &passage.marks {
            shown.push_str(&passage.text[done..mark.start]);
            shown.push_str(&format!("[{}]", &passage.text[mark.start..mark.end]));
            done = mark.end;
        }
        shown + &passage.text[done..]
    });
    bracketed.collect()
}

#[test]
fn sentences_and_lines_that_hold_matches() {
    let settings = || FuzzySettings::new([("t", 1.0)]);
    let family = "👩\u{200D}👩\u{200D}👧".repeat(30);
    let spaces = format!("tea. {}tea", " ".repeat(3_000));
    for (settings, text, query, expected) in [
        (
            settings(),
            "A refund goes back. No match here! Refunds take two days.",
            "refund",
            &["A [refund] goes back.", "[Refunds] take two days."][..],
        ),
        // A line break ends a sentence; a typo and a begun word mark the whole stored word.
        (
            settings(),
            "first tea\nsecond\r\nteapot",
            "tea",
            &["first [tea]", "[teapot]"],
        ),
        (settings(), "Kettles boil.", "ketlte", &[]),
        (settings(), "Kettles boil.", "ketltes", &["[Kettles] boil."]),
        (
            settings(),
            "tea? tea! tea. Tea\u{2029}tea",
            "tea",
            &["[tea]?", "[tea]!", "[tea]."],
        ),
        (settings().passages(1), "Tea? Tea!", "tea", &["[Tea]?"]),
        (settings().passages(0), "Tea? Tea!", "tea", &[]),
        // Clipped around the first mark, at white space; what lies outside has no mark.
        (
            settings().passage_width(20),
            "one two three four five refund six seven eight refund",
            "refund",
            &["five [refund] six"],
        ),
        (
            settings().passage_width(20),
            "refund one two three four five six seven",
            "refund",
            &["[refund] one two three"],
        ),
        (
            settings().passage_width(20),
            "one two three four five six seven refund",
            "refund",
            &["six seven [refund]"],
        ),
        // A no-break space holds a number together.
        (
            settings().passage_width(12),
            "tea 1\u{A0}200\u{A0}300 cups",
            "tea",
            &["[tea]"],
        ),
        // A marked word is never cut.
        (
            settings().passage_width(3),
            "a kettle b",
            "kettle",
            &["[kettle]"],
        ),
        // Long runs of what the sentence rules look far ahead for.
        (settings(), &spaces, "tea", &["[tea].", "[tea]"]),
    ] {
        assert_eq!(passages(settings, text, query), expected, "{text:?}");
    }
    // Without white space a clip falls between graphemes.
    let clipped = passages(settings().passage_width(13), &format!("tea{family}"), "tea");
    assert_eq!(
        clipped,
        ["[tea]👩\u{200D}👩\u{200D}👧👩\u{200D}👩\u{200D}👧"]
    );
}

#[test]
fn passages_come_from_the_lightest_fields_unless_told_otherwise() {
    let document = || {
        FuzzyDocument::new("1")
            .field("title", "Tea time")
            .field("notes", ["green tea", "coffee"])
            .field("body", "Tea is hot.")
    };
    let settings = || FuzzySettings::new([("body", 1.0), ("title", 10.0), ("notes", 1.0)]);
    for (settings, expected) in [
        (settings(), &["Tea is hot.", "green tea"][..]),
        (settings().passage_fields(["title"]), &["Tea time"]),
        (
            settings().passage_fields(["title", "notes"]),
            &["Tea time", "green tea"],
        ),
        (settings().passage_fields(Vec::<String>::new()), &[]),
    ] {
        let passages = hit(settings, document(), "tea").unwrap().passages;
        let texts: Vec<_> = passages.iter().map(|passage| &*passage.text).collect();
        assert_eq!(texts, expected);
    }
}

#[test]
fn marks_are_bytes_of_the_text_as_given() {
    let text = "Ré\u{301}sumé «re\u{301}sume\u{301}» שלום resume";
    let hit = hit(
        FuzzySettings::new([("t", 1.0)]),
        FuzzyDocument::new("1").field("t", text),
        "resume",
    )
    .unwrap();
    let marked = &hit.fields[0].value.texts()[0];
    assert_eq!(&*marked.text, text);
    let words: Vec<_> = marked.words().collect();
    assert_eq!(words, ["Ré\u{301}sumé", "re\u{301}sume\u{301}", "resume"]);
}

#[test]
fn in_json_a_field_has_its_text_with_marks() {
    let document = FuzzyDocument::new("1")
        .field("t", "tea")
        .field("l", ["tea", "cup"]);
    let hit = hit(
        FuzzySettings::new([("t", 1.0), ("l", 2.0)]),
        document,
        "tea",
    )
    .unwrap();
    let json = serde_json::to_string(&hit).unwrap();
    assert_eq!(
        json,
        r#"{"id":"1","score":2.0,"fields":[{"name":"t","value":{"text":"tea","span":{"start":0,"end":3},"marks":[{"start":0,"end":3}]}},{"name":"l","value":[{"text":"tea","span":{"start":0,"end":3},"marks":[{"start":0,"end":3}]},{"text":"cup","span":{"start":0,"end":3},"marks":[]}]}],"passages":[{"text":"tea","span":{"start":0,"end":3},"marks":[{"start":0,"end":3}]}]}"#
    );
}

fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[a-c]{1,3}",
        4 => Just(" ".to_owned()),
        1 => Just(". ".to_owned()),
        1 => Just("\n".to_owned()),
        1 => "[.,)\u{301}\u{200D}👩🇩🇪é\u{A0}]",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..80).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn passages_are_stretches_of_the_text_in_order(text in texts(), width in 1..40_usize) {
        let settings = FuzzySettings::new([("t", 1.0)]).passage_width(width).passages(100);
        let document = FuzzyDocument::new("1").field("t", text.as_str());
        let Some(hit) = hit(settings, document, "a b") else {
            return Ok(());
        };
        let whole = &hit.fields[0].value.texts()[0];
        prop_assert_eq!(&*whole.text, &text);
        let mut rest = text.as_str();
        for passage in &hit.passages {
            prop_assert!(!passage.marks.is_empty());
            prop_assert_eq!(passage.text.trim(), &*passage.text);
            let at = rest.find(&*passage.text);
            prop_assert!(at.is_some(), "{:?} in {:?}", passage.text, rest);
            let end = at.unwrap() + passage.text.len();
            rest = &rest[end..];
            prop_assert!(passage.words().count() == passage.marks.len());
            prop_assert_eq!(passage.span.slice(&text), Some(&*passage.text));
        }
    }
}
