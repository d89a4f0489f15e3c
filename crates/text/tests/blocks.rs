//! Blocks of Markdown and of plain text, and pieces along the structure that they give.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use BlockKind::{Heading, Item, Row, TableHead, Text};
use proptest::prelude::*;
use shelfward_text::{
    Block, BlockKind, SplitError, WordRule, markdown_blocks, plain_blocks, structure,
};

/// Checks kinds and texts of the blocks of a Markdown text.
#[track_caller]
fn check(text: &str, expected: &[(BlockKind, &str)]) {
    let blocks = markdown_blocks(text);
    let found: Vec<(BlockKind, &str)> = blocks
        .iter()
        .map(|block| (block.kind, block.text.as_str()))
        .collect();
    assert_eq!(found, expected, "{text:?}");
}

#[track_caller]
fn check_structure(text: &str, size: usize, expected: &[&str]) {
    let pieces = structure(&markdown_blocks(text), size).unwrap();
    let found: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn headings() {
    check(
        "# A\n###### B ##\n####### C",
        &[(Heading(1), "A"), (Heading(6), "B"), (Text, "####### C")],
    );
    check(
        "#A\n\n   ## B\n\n    # code",
        &[(Text, "#A"), (Heading(2), "B"), (Text, "# code")],
    );
    check("# C#\n#\n# ##\ntext", &[(Heading(1), "C#"), (Text, "text")]);
    check(
        "Title\n=====\nSub\n---\nx",
        &[(Heading(1), "Title"), (Heading(2), "Sub"), (Text, "x")],
    );
    check("two\nlines\n---\nx", &[(Text, "two\nlines"), (Text, "x")]);
    check(
        "a\r\n# B\r\nc\r\n",
        &[(Text, "a"), (Heading(1), "B"), (Text, "c")],
    );
    check("\n---\n***\n_ _ _\n", &[]);
    check(
        "---\ntitle: x\n---\n# A",
        &[(Text, "---\ntitle: x\n---"), (Heading(1), "A")],
    );
    check("---\n\nx\n", &[(Text, "x")]);
}

#[test]
fn clauses_stand_alone() {
    check(
        "3. Leave\n\n3.2 Annual leave\n\nTwenty days.\n\n(a)\n\nx",
        &[
            (Heading(1), "3. Leave"),
            (Heading(2), "3.2 Annual leave"),
            (Text, "Twenty days."),
            (Heading(9), "(a)"),
            (Text, "x"),
        ],
    );
    check(
        "3.2 Leave\nis granted.",
        &[(Text, "3.2 Leave\nis granted.")],
    );
    check("1. one\n2. two", &[(Item, "1. one"), (Item, "2. two")]);
    let blocks = plain_blocks("3. Leave\r\n\r\nTwenty\r\ndays.\n \n# no heading");
    let found: Vec<_> = blocks
        .iter()
        .map(|block| (block.kind, block.text.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (Heading(1), "3. Leave"),
            (Text, "Twenty\r\ndays."),
            (Text, "# no heading")
        ]
    );
}

#[test]
fn fences_hold_no_headings() {
    check(
        "```\n# x\n\n# y\n```\n# Z",
        &[(Text, "```\n# x\n\n# y\n```"), (Heading(1), "Z")],
    );
    check(
        "````\n```\n# x\n```\n````\n# Z",
        &[(Text, "````\n```\n# x\n```\n````"), (Heading(1), "Z")],
    );
    check(
        "~~~ sh\n```\n# x\n~~~\n# Z",
        &[(Text, "~~~ sh\n```\n# x\n~~~"), (Heading(1), "Z")],
    );
    check(
        "a\n```\n# never closed\n\n# x",
        &[(Text, "a"), (Text, "```\n# never closed\n\n# x")],
    );
    check(
        "```not a fence```\n# A",
        &[(Text, "```not a fence```"), (Heading(1), "A")],
    );
    check(
        "```\n# x\n``` no end\n```\n# A",
        &[(Text, "```\n# x\n``` no end\n```"), (Heading(1), "A")],
    );
    check(
        "- a\n  ```\n  # x\n  ```\n",
        &[(Item, "- a"), (Text, "```\n  # x\n  ```")],
    );
}

#[test]
fn items_and_rows() {
    check(
        "- a\n  more\n* b\n    - deep\n1) c\n\nd",
        &[
            (Item, "- a\n  more"),
            (Item, "* b"),
            (Item, "- deep"),
            (Item, "1) c"),
            (Text, "d"),
        ],
    );
    check(
        "| a | b |\n|---|:-:|\n| 1 | 2 |\nafter",
        &[
            (TableHead, "| a | b |"),
            (Row, "| 1 | 2 |"),
            (Text, "after"),
        ],
    );
    check(
        "a | b\n--|--\n1 | 2\n\nx | y",
        &[(TableHead, "a | b"), (Row, "1 | 2"), (Text, "x | y")],
    );
    check("-not\n**bold** x", &[(Text, "-not\n**bold** x")]);
}

#[test]
fn spans_cover_what_the_block_is_made_of() {
    let text = "## A ##\n\nTitle\n===\n  - x\n";
    let spans: Vec<&str> = markdown_blocks(text)
        .iter()
        .map(|block| block.span.unwrap().slice(text).unwrap())
        .collect();
    assert_eq!(spans, ["## A ##", "Title\n===", "- x"]);
    let shown = format!("{:?}", markdown_blocks("secret"));
    assert!(!shown.contains("secret"), "{shown}");
}

#[test]
fn sections() {
    check_structure(
        "intro\n# A\nx\n\ny\n# B\nz",
        99,
        &["intro", "A\nx\ny", "B\nz"],
    );
    // A bare heading goes in front of the next section, at the end behind the last.
    check_structure("# A\n## B\nx\n# C\n# D\n", 99, &["A\nB\nx\nC\nD"]);
    check_structure("# A\n# B\n", 99, &["A\nB"]);
    check_structure("", 99, &[]);
    // Whole blocks as far as they fit; the heading stands in the first piece only.
    check_structure(
        "# Head\naaaa\n\nbbbb\n\ncccc",
        11,
        &["Head\naaaa", "bbbb\ncccc"],
    );
    // What is longer is cut, and a heading goes with it.
    check_structure(
        "# Head\naaaa bbbb cccc\n\nd",
        10,
        &["Head\naaaa", "bbbb cccc", "d"],
    );
    check_structure("aa bb cc\n\ndd\n\nee", 5, &["aa bb", "cc", "dd\nee"]);
    assert_eq!(
        structure(&[], 0),
        Err(SplitError::NoSize { option: "size" })
    );
}

#[test]
fn pieces_of_a_structure_say_where_they_stand() {
    let text =
        "# A\n\n## B\nsome words here that go on\n\n| x | y |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n";
    let pieces = structure(&markdown_blocks(text), 22).unwrap();
    let shown: Vec<_> = pieces
        .iter()
        .map(|piece| (piece.text.as_str(), piece.span.slice(text).unwrap()))
        .collect();
    assert_eq!(
        shown,
        [
            ("A\nB\nsome words here", "# A\n\n## B\nsome words here"),
            ("that go on", "that go on"),
            ("| x | y |\n| 1 | 2 |", "| x | y |\n|---|---|\n| 1 | 2 |"),
            // The head again, in front of what it stands above.
            ("| x | y |\n| 3 | 4 |", "| 3 | 4 |"),
        ]
    );
    assert!(pieces.iter().all(|piece| piece.headings == ["A", "B"]));

    // Blocks of no text have places in their texts, joined.
    let blocks: Vec<Block> = ["one two", "three"]
        .map(|text| Block {
            kind: Text,
            text: text.to_owned(),
            span: None,
        })
        .into();
    let pieces = structure(&blocks, 4).unwrap();
    let places = pieces
        .iter()
        .map(|p| (p.text.as_str(), p.span.start, p.span.end));
    let places: Vec<_> = places.collect();
    assert_eq!(places[..2], [("one", 0, 3), ("two", 4, 7)]);
    assert_eq!(places[2].1, 8);
}

/// Lines that matter to the readers.
fn document() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "",
        "",
        " ",
        "# A",
        "## Bb ##",
        "#",
        "Title",
        "====",
        "---",
        "- item",
        "  more of it",
        "    deep",
        "1. one",
        "3.2 Clause",
        "(a)",
        "```",
        "````",
        "~~~",
        "- ```sh",
        "  ```",
        "1. ~~~",
        "| a | b |",
        "|---|---|",
        "c | d",
        "some words here",
        "a longer line of words that goes on for a while",
        "\u{301}e",
        " \u{301}",
        "👩\u{200d}👧 family",
        "שלום עולם",
        "\u{feff}bom",
        "漢字かな",
        "e\u{301}\u{301}\u{301}",
    ]);
    let end = prop::sample::select(vec!["\n", "\n", "\r\n", "\r", "\u{2028}"]);
    prop_oneof![
        4 => prop::collection::vec((line, end), 0..24)
            .prop_map(|lines| lines.into_iter().flat_map(|(line, end)| [line, end]).collect()),
        1 => any::<String>(),
    ]
}

/// The words of blocks, in order.
fn words(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    texts
        .into_iter()
        .flat_map(|text| WordRule::Seed.words(text.as_ref()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn blocks_hold_every_word_in_order(text in document()) {
        for blocks in [markdown_blocks(&text), plain_blocks(&text)] {
            let held = words(blocks.iter().map(|block: &Block| &block.text));
            prop_assert_eq!(held, WordRule::Seed.words(&text));
            let mut end = 0;
            for block in &blocks {
                let span = block.span.unwrap();
                prop_assert!(end <= span.start);
                prop_assert!(span.slice(&text).unwrap().contains(&block.text));
                end = span.end;
            }
        }
    }

    #[test]
    fn structure_keeps_words_in_order_and_sizes(text in document(), size in 8..60_usize) {
        let mut blocks = markdown_blocks(&text);
        for block in &mut blocks {
            // A head would come again, and its words with it.
            if block.kind == TableHead {
                block.kind = Row;
            }
        }
        let pieces = structure(&blocks, size).unwrap();
        let mut end = 0;
        for piece in &pieces {
            prop_assert!(end <= piece.span.start && piece.span.end <= text.len());
            end = piece.span.start;
        }
        // A word that is longer than the size is cut, and is then two.
        let joined: String = words(pieces.iter().map(|piece| &piece.text)).concat();
        prop_assert_eq!(joined, WordRule::Seed.words(&text).concat());
        for piece in &pieces {
            prop_assert!(!piece.text.is_empty());
            // A line end is one character.
            let chars = piece.text.replace("\r\n", "\n").chars().count();
            prop_assert!(chars <= size, "{:?} of {}", piece, size);
        }
    }
}
