//! The splitters: what they answer by characters, what they refuse, and what holds on any text. By
//! words: `pieces.rs`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use shelfward_text::{
    Block, BlockKind, Boundaries, ByHeading, ByHeadingOptions, ByParagraph, ByParagraphOptions,
    Document, FixedWithOverlap, FixedWithOverlapOptions, Pages, Piece, Span, SplitError, Splitter,
    WholeDocument, fixed, markdown_blocks, plain_blocks, split_documents, structure,
};
use unicode_segmentation::UnicodeSegmentation;

fn paragraphs(max_chars: usize, overlap_chars: usize, min_chars: usize) -> ByParagraph {
    ByParagraph::new(ByParagraphOptions {
        max_chars,
        overlap_chars,
        min_chars: Some(min_chars),
        boundaries: Boundaries::Characters,
    })
    .unwrap()
}

fn headings(max_chars: usize, overlap_chars: usize, min_chars: usize) -> ByHeading {
    let min_chars = Some(min_chars);
    ByHeading::new(ByHeadingOptions {
        max_chars,
        overlap_chars,
        min_chars,
        max_level: 6,
        boundaries: Boundaries::Characters,
    })
    .unwrap()
}

fn overlapping(chars: usize, overlap_chars: usize, word_window: usize) -> FixedWithOverlap {
    FixedWithOverlap::new(FixedWithOverlapOptions {
        chars,
        overlap_chars,
        word_window,
        boundaries: Boundaries::Characters,
    })
    .unwrap()
}

fn texts<'a>(text: &'a str, pieces: &[Piece]) -> Vec<&'a str> {
    pieces
        .iter()
        .map(|piece| piece.span.slice(text).unwrap())
        .collect()
}

/// The spans of [`fixed`], by characters.
fn spans(text: &str, size: usize) -> Vec<Span> {
    let pieces = fixed(text, size, Boundaries::Characters).unwrap();
    pieces.iter().map(|piece| piece.span).collect()
}

#[track_caller]
fn check_fixed(text: &str, size: usize, expected: &[&str]) {
    let pieces = spans(text, size);
    let pieces: Vec<&str> = pieces
        .iter()
        .map(|span| span.slice(text).unwrap())
        .collect();
    assert_eq!(pieces, expected, "{text:?} at {size}");
}

#[test]
fn fixed_pieces() {
    check_fixed("", 9, &[]);
    check_fixed(" \n ", 9, &[]);
    check_fixed("a b", 1, &["a", "b"]);
    check_fixed("  abc  ", 9, &["abc"]);
    check_fixed("aaaa bbbb", 4, &["aaaa", "bbbb"]);
    // White space in the last tenth, and one character is the least of a tenth.
    check_fixed("aaa bbbb", 4, &["aaa", "bbbb"]);
    check_fixed("aa bbbbb", 4, &["aa b", "bbbb"]);
    check_fixed("ééééé", 2, &["éé", "éé", "é"]);
    check_fixed("aaa\r\nbbb", 4, &["aaa", "bbb"]);
}

#[test]
fn no_grapheme_is_cut() {
    let family = "👩\u{200d}👩\u{200d}👧\u{200d}👦";
    check_fixed(&format!("abc{family}def"), 5, &["abc", family, "def"]);
    check_fixed(&family.repeat(3), 8, &[family; 3]);
    check_fixed("🇫🇷🇩🇪🇮🇹", 3, &["🇫🇷", "🇩🇪", "🇮🇹"]);
    check_fixed("e\u{301}e\u{301}", 1, &["e\u{301}", "e\u{301}"]);
    // White space that carries a mark is no white space to cut at or to trim.
    check_fixed("aaa \u{301}bb", 4, &["aaa", " \u{301}bb"]);
    check_fixed("\u{301}\u{301}", 1, &["\u{301}\u{301}"]);
    // A sign that binds to what follows, here to a blank.
    check_fixed("\u{600} a", 9, &["\u{600} a"]);
}

#[test]
fn settings_that_cannot_be_meant_are_refused() {
    let overlap = |overlap, option, size| {
        Err(SplitError::OverlapNotBelowSize {
            overlap,
            option,
            size,
        })
    };
    let by_paragraph = |max_chars, overlap_chars, min_chars| {
        ByParagraph::new(ByParagraphOptions {
            max_chars,
            overlap_chars,
            min_chars,
            ..ByParagraphOptions::default()
        })
        .map(|_| ())
    };
    assert_eq!(by_paragraph(100, 100, None), overlap(100, "max_chars", 100));
    assert_eq!(by_paragraph(100, 101, None), overlap(101, "max_chars", 100));
    assert_eq!(by_paragraph(100, 99, None), Ok(()));
    assert_eq!(
        by_paragraph(0, 0, None),
        Err(SplitError::NoSize {
            option: "max_chars"
        })
    );
    assert_eq!(
        by_paragraph(100, 0, Some(100)),
        Err(SplitError::MinCharsNotBelowMaxChars {
            min_chars: 100,
            max_chars: 100
        })
    );
    let options = ByHeadingOptions {
        max_chars: 150,
        ..ByHeadingOptions::default()
    };
    assert_eq!(
        ByHeading::new(options).map(|_| ()),
        overlap(150, "max_chars", 150)
    );
    let options = FixedWithOverlapOptions {
        chars: 7,
        overlap_chars: 7,
        word_window: 0,
        ..FixedWithOverlapOptions::default()
    };
    let refusal = FixedWithOverlap::new(options).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "overlap_chars is 7, and the next piece would not get ahead: set it below chars, which is 7"
    );
    assert_eq!(
        fixed("a", 0, Boundaries::Words),
        Err(SplitError::NoSize { option: "size" })
    );
}

#[test]
fn most_of_a_size_repeated_on_short_lines_gets_ahead() {
    let text = "x\n".repeat(2_000);
    for (size, overlap) in [(10, 6), (100, 60), (100, 99)] {
        for pieces in [
            paragraphs(size, overlap, 0).split(&text),
            headings(size, overlap, 0).split(&text),
            overlapping(size, overlap, 40).split(&text),
        ] {
            assert!(
                pieces
                    .windows(2)
                    .all(|pair| pair[0].span.start < pair[1].span.start)
            );
            assert!(pieces.len() <= text.len(), "{} pieces", pieces.len());
            assert_eq!(pieces.last().unwrap().span.end, text.len() - 1);
        }
    }
}

#[test]
fn a_text_of_ellipses_is_cut_between_characters() {
    let text = "…".repeat(2_000);
    assert_eq!(spans(&text, 350).len(), 6);
    assert_eq!(overlapping(350, 50, 40).split(&text).len(), 6);
    // 350 at a time, 300 characters on: the sixth holds the last 500 with what it repeats.
    assert_eq!(paragraphs(350, 50, 0).split(&text).len(), 7);
}

#[test]
fn headings_in_fences_are_none() {
    let text = "# A\n\n````\n```\n# x\n```\n# y\n````\n\n# B\n~~~\n# never closed\n";
    let pieces = headings(200, 0, 0).split(text);
    let found: Vec<_> = pieces.iter().map(|piece| piece.heading()).collect();
    // Both pieces are short; other headings do not join.
    assert_eq!(found, [Some("A"), Some("B")]);
}

/// The headings that a text is cut at, by both readers of Markdown.
#[track_caller]
fn check_headings(text: &str, expected: &[&str]) {
    let pieces = headings(2_000, 0, 0).split(text);
    let found: Vec<_> = pieces.iter().filter_map(|piece| piece.heading()).collect();
    assert_eq!(found, expected, "{text}");
    let blocks = markdown_blocks(text);
    let titles = blocks
        .iter()
        .filter(|block| matches!(block.kind, BlockKind::Heading(_)));
    let titles: Vec<&str> = titles.map(|block| block.text.as_str()).collect();
    assert_eq!(titles, expected, "{text}");
}

#[test]
fn a_fence_in_a_list_ends_where_it_is_closed() {
    let marks = [
        "- ", "* ", "+ ", "-   ", "1. ", "1.  ", "12) ", "  - ", "- 1. ", "•  ", "-\t",
    ];
    for mark in marks {
        let column = mark.chars().count() + if mark.contains('\t') { 2 } else { 0 };
        let within = " ".repeat(column);
        for (sign, info) in [("```", "sh"), ("~~~~", ""), ("```", "")] {
            // The code and the closing signs may stand elsewhere than the entry's text.
            for code in ["", " ", "  ", &within] {
                for close in 0..=column + 3 {
                    let close = " ".repeat(close);
                    let body =
                        format!("{code}make\n\n{code}# no heading\n{close}{sign}\n\n# B\n\nb\n");
                    check_headings(&format!("# A\n\n{mark}{sign}{info}\n{body}"), &["A", "B"]);
                    let below = format!("{mark}step\n{within}two\n\n{within}{sign}{info}");
                    check_headings(&format!("# A\n\n{below}\n{body}"), &["A", "B"]);
                    let follows = format!("{mark}step\nand more\n{within}{sign}{info}");
                    check_headings(&format!("# A\n\n{follows}\n{body}"), &["A", "B"]);
                }
            }
        }
    }
}

#[test]
fn a_fence_that_nothing_closes_ends_with_its_entry() {
    check_headings("# A\n\n- ```sh\n  make\n\n# B\n\nb\n", &["A", "B"]);
    check_headings("# A\n\n1. ~~~\n   make\n2. next\n\n# B\n\nb\n", &["A", "B"]);
    // What closes it stands too far in.
    check_headings("# A\n\n- ```\n  make\n      ```\n# B\n\nb\n", &["A", "B"]);
    // The next fence opens ahead of what would close it.
    let two = "# A\n\n- ```sh\n  make\n\n# B\n\n```sh\n# no heading\n```\n\n# C\n\nc\n";
    check_headings(two, &["A", "B", "C"]);
    // Outside of lists it goes on to the end.
    check_headings("# A\n\na\n\n```sh\nmake\n\n# no heading\n", &["A"]);
}

#[test]
fn what_is_no_list_opens_no_fence() {
    // Text that goes on with a number, a rule, and code by itself.
    check_headings("# A\n\nin\n1986. ```\n# B\n\nb\n", &["A", "B"]);
    check_headings("# A\n\n* * * ```x```\n# B\n\nb\n", &["A", "B"]);
    check_headings("# A\n\n-```\n# B\n\nb\n", &["A", "B"]);
    check_headings("# A\n\n-      ```\n\n# B\n\nb\n", &["A", "B"]);
}

#[test]
fn an_entry_that_begins_with_a_fence_is_one_block() {
    let text = "- ```sh\n  make\n  ```\n- next\n";
    let blocks = markdown_blocks(text);
    let shown: Vec<_> = blocks
        .iter()
        .map(|block| (block.kind, block.text.as_str()))
        .collect();
    let entry = "- ```sh\n  make\n  ```";
    assert_eq!(
        shown,
        [(BlockKind::Item, entry), (BlockKind::Item, "- next")]
    );
}

#[test]
fn many_marks_on_a_line_are_read_in_time() {
    let line = "- ".repeat(50_000) + "x\n";
    assert!(headings(1_000, 0, 0).split(&line).len() > 90);
    let fences = "- ```\nx\n".repeat(50_000);
    assert!(!markdown_blocks(&fences).is_empty());
}

#[test]
fn blank_lines_of_every_kind_part_paragraphs() {
    for end in ["\n", "\r\n", "\r", "\u{2028}", "\u{2029}"] {
        let text = ["One is here.", "Two is here.", "Three is here."].join(&end.repeat(2));
        for pieces in [paragraphs(30, 0, 0), paragraphs(26, 0, 0)].map(|by| by.split(&text)) {
            let first = format!("One is here.{}Two is here.", end.repeat(2));
            // The scrap behind is joined to it.
            assert_eq!(pieces.len(), 1, "{end:?}");
            assert!(texts(&text, &pieces)[0].starts_with(&first));
        }
        let long = |word: &str| word.repeat(12);
        let text = [long("one, "), long("two, "), long("three, ")].join(&end.repeat(2));
        let pieces = paragraphs(100, 0, 0).split(&text);
        let starts: Vec<&str> = texts(&text, &pieces)
            .iter()
            .map(|piece| &piece[..3])
            .collect();
        assert_eq!(starts, ["one", "two", "thr"], "{end:?}");
    }
}

#[test]
fn what_a_piece_has_of_its_own_begins_behind_the_piece_before() {
    let text = "x".repeat(250);
    let places: Vec<_> = paragraphs(100, 20, 0)
        .split(&text)
        .iter()
        .map(|piece| (piece.span.start, piece.span.end, piece.own.start))
        .collect();
    assert_eq!(places, [(0, 100, 0), (60, 180, 100), (140, 250, 180)]);

    // A page that begins behind the cut is the page of the piece.
    let text = format!(
        "{}\n\n{}",
        "one ".repeat(15).trim(),
        "two ".repeat(30).trim()
    );
    let pages = Pages::joined_by_blank_lines([59, 119]);
    for splitter in [
        &paragraphs(100, 20, 0) as &dyn Splitter,
        &headings(100, 20, 0),
        &overlapping(59, 10, 5),
    ] {
        let document = Document {
            uri: "u",
            text: &text,
            pages: Some(&pages),
        };
        let pieces = split_documents(&[document], splitter).unwrap();
        assert_eq!(
            (pieces[0].piece.page, pieces[1].piece.page),
            (Some(1), Some(2))
        );
        assert!(
            pieces[1].piece.text.contains("one"),
            "it repeats the page before"
        );
    }
}

#[test]
fn hard_cuts_fall_between_words_where_some_end_near() {
    let text = "letters ".repeat(40);
    for pieces in [
        paragraphs(100, 30, 0).split(&text),
        headings(100, 30, 0).split(&text),
    ] {
        assert!(pieces.len() > 3);
        for piece in texts(&text, &pieces) {
            assert!(piece.ends_with("letters"), "{piece:?}");
        }
    }
    // No white space in the last tenth: at the limit.
    let text = format!("{} {}", "a".repeat(85), "b".repeat(100));
    assert_eq!(paragraphs(100, 0, 0).split(&text)[0].span.end, 100);
}

#[test]
fn no_cut_falls_behind_a_joiner() {
    let sentence = "می\u{200c}خواهم کتاب\u{200c}های خوب را نمی\u{200c}فروشم ";
    let spaced = sentence.repeat(15);
    let unspaced = spaced.replace(' ', "");
    let (conjuncts, bound) = ("ක්\u{200d}ෂ".repeat(200), "a\u{2060}b".repeat(200));
    for text in [&spaced, &unspaced, &conjuncts, &bound] {
        for size in (20..90).step_by(3) {
            let mut spans = spans(text, size);
            for splitter in [
                &paragraphs(size, size / 4, 0) as &dyn Splitter,
                &headings(size, size / 4, 0),
                &overlapping(size, size / 4, 0),
            ] {
                spans.extend(splitter.split(text).iter().map(|piece| piece.span));
            }
            for span in spans {
                for at in [span.start, span.end] {
                    let (ahead, behind) = text.split_at(at);
                    let bound = ['\u{200c}', '\u{200d}', '\u{2060}'];
                    let cut =
                        behind.is_empty() || !ahead.ends_with(bound) && !behind.starts_with(bound);
                    assert!(cut, "at {at} of {text:?} by {size}");
                }
            }
        }
    }
    let pieces = paragraphs(100, 0, 0).split(&spaced);
    let words: Vec<&str> = spaced.split_whitespace().collect();
    for piece in texts(&spaced, &pieces) {
        assert!(
            piece.split_whitespace().all(|word| words.contains(&word)),
            "{piece:?}"
        );
    }
    // Joined from end to end, it is cut all the same.
    let joined = "a\u{200c}".repeat(500);
    assert_eq!(spans(&joined, 100).len(), 10);
}

#[test]
fn a_short_first_piece_is_not_repeated_whole() {
    let text = format!("One two three.\n\n{}", "word ".repeat(20));
    let pieces = paragraphs(100, 50, 0).split(&text);
    assert_eq!(pieces[1].span.start, 4);
    assert_eq!(pieces[1].own.start, 16);
    // No word to leave out: nothing is repeated.
    let text = format!("One.\n\n{}", "word ".repeat(20));
    assert_eq!(paragraphs(100, 50, 0).split(&text)[1].span.start, 6);
}

#[test]
fn documents_are_numbered_each() {
    let pages = Pages::joined_by_blank_lines([5, 5]);
    let document = |uri, text| Document {
        uri,
        text,
        pages: Some(&pages),
    };
    let documents = [
        document("a", "# one\n\ntwo t"),
        document("b#c", " "),
        document("d", "\u{a0}x"),
    ];
    let pieces = split_documents(&documents, &WholeDocument).unwrap();
    let ids: Vec<&str> = pieces.iter().map(|piece| piece.id.as_str()).collect();
    assert_eq!(ids, ["a#0", "d#0"]);
    assert_eq!(
        (pieces[0].piece.page, pieces[1].piece.text.as_str()),
        (Some(1), "x")
    );
    let shown = format!("{pieces:?} {documents:?}");
    assert!(!shown.contains("two"), "{shown}");

    let wrong = |span: Span| {
        move |_: &str| {
            vec![Piece {
                text: "é".get(span.start..span.end).unwrap_or("?").to_owned(),
                span,
                own: span,
                headings: Vec::new(),
                page: None,
            }]
        }
    };
    for span in [
        Span { start: 0, end: 3 },
        Span { start: 1, end: 2 },
        Span { start: 2, end: 0 },
    ] {
        let refusal = split_documents(
            &[Document {
                uri: "u",
                text: "é",
                pages: None,
            }],
            &wrong(span),
        );
        assert_eq!(
            refusal,
            Err(SplitError::OffsetsMismatch {
                uri: "u".to_owned(),
                piece: 0,
                span
            })
        );
    }
    let empty = wrong(Span { start: 2, end: 2 });
    assert_eq!(
        split_documents(
            &[Document {
                uri: "u",
                text: "é",
                pages: None
            }],
            &empty
        ),
        Ok(Vec::new())
    );
}

#[test]
fn pieces_grow_with_the_text_and_no_faster() {
    // One of each that an algorithm looks back through, over and over, if it looks back too far.
    let texts: [(&str, fn(usize) -> String); 10] = [
        ("words", |n| "word ".repeat(n / 5)),
        ("one word", |n| "x".repeat(n)),
        ("flags", |n| "🇫🇷".repeat(n / 2)),
        ("one grapheme", |n| format!("e{}", "\u{301}".repeat(n))),
        ("blank", |n| " ".repeat(n)),
        ("short lines", |n| "x\n".repeat(n / 2)),
        ("paragraphs", |n| "x\n\n".repeat(n / 3)),
        ("headings", |n| "# A\n".repeat(n / 4)),
        ("joined", |n| "a\u{200c}".repeat(n / 2)),
        ("joined words", |n| {
            (" ".to_owned() + &"a\u{200c}".repeat(30)).repeat(n / 61)
        }),
    ];
    for (name, text) in texts {
        let count = |n| {
            let text = text(n);
            [
                spans(&text, 800).len(),
                overlapping(1_000, 150, 40).split(&text).len(),
                paragraphs(1_000, 150, 250).split(&text).len(),
                headings(1_000, 150, 250).split(&text).len(),
            ]
        };
        let (once, twice) = (count(200_000), count(400_000));
        for (once, twice) in once.into_iter().zip(twice) {
            assert!(
                twice <= 2 * once + 2 && once <= 300,
                "{name}: {once}, then {twice}"
            );
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "word",
        "longer-word",
        " ",
        " ",
        "\n",
        "\n\n",
        "\r\n",
        "\n \t\n",
        "# A\n",
        "## B ##\n",
        "#\n",
        "```\n",
        "~~~\n",
        "- ",
        "12. ",
        "- ```sh\n",
        "    ",
        "\u{200c}",
        "e\u{301}",
        "\u{301}",
        " \u{301}",
        "👩\u{200d}👩\u{200d}👧",
        "🇫🇷",
        "שלום",
        "\u{feff}",
        "\u{85}",
        "\u{2028}",
        "漢字",
        "\u{600}",
        "…",
        "\u{1112}\u{1161}\u{11ab}",
        "नि",
        "क्ष",
        "\u{200d}",
        "\u{a0}",
    ]);
    prop_oneof![
        6 => prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

/// What holds for the answer of any splitter.
fn check_pieces(text: &str, spans: &[Span]) -> Result<(), TestCaseError> {
    let mut edges: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
    edges.push(text.len());
    let mut covered = 0;
    for (index, span) in spans.iter().enumerate() {
        let piece = span.slice(text);
        prop_assert!(piece.is_some_and(|piece| !piece.is_empty()));
        prop_assert!(
            edges.binary_search(&span.start).is_ok(),
            "{:?} of {:?}",
            span,
            text
        );
        prop_assert!(
            edges.binary_search(&span.end).is_ok(),
            "{:?} of {:?}",
            span,
            text
        );
        prop_assert!(
            index == 0 || spans[index - 1].start < span.start,
            "{:?}",
            spans
        );
        // What no piece holds is white space.
        let gap = text.get(covered..span.start).unwrap_or_default();
        prop_assert!(gap.trim().is_empty(), "{:?} is lost", gap);
        covered = covered.max(span.end);
    }
    prop_assert!(
        text[covered..].trim().is_empty(),
        "{:?} is lost",
        &text[covered..]
    );
    Ok(())
}

/// What each piece has of its own: all that the one before has not, and no more. It repeats at
/// most so many characters.
fn check_own(text: &str, pieces: &[Piece], most: usize) -> Result<(), TestCaseError> {
    let mut before = 0;
    for piece in pieces {
        let Span { start, end } = piece.span;
        let own = piece.own.start;
        prop_assert!(start <= own && own < end, "{:?}", pieces);
        prop_assert!(own >= before, "{:?}", pieces);
        // Between what the piece before has and what is its own there is white space alone.
        let between = &text[before.min(own).max(start)..own];
        prop_assert!(between.trim().is_empty(), "{:?} of {:?}", between, pieces);
        let begins = text[own..].graphemes(true).next().unwrap_or_default();
        prop_assert!(!begins.trim().is_empty(), "{:?}", pieces);
        let repeated = text[start..before.max(start)].replace("\r\n", "\n");
        prop_assert!(
            repeated.chars().count() <= most,
            "{:?} in {:?}",
            repeated,
            pieces
        );
        before = end;
    }
    Ok(())
}

/// The same text with line ends of other kinds, and where each of its places is then.
fn with_line_ends(text: &str, ends: &[usize]) -> (String, Vec<usize>) {
    const ENDS: [&str; 5] = ["\n", "\r\n", "\r", "\u{2028}", "\u{2029}"];
    let mut ends = ends.iter().cycle();
    let (mut other, mut places) = (String::new(), Vec::new());
    for (at, character) in text.char_indices() {
        places.resize(at + 1, other.len());
        if character == '\n' {
            let end = ENDS[*ends.next().unwrap()];
            // Behind a carriage return, a line feed would be half of a line end.
            let end = if other.ends_with('\r') && end == "\n" {
                "\r"
            } else {
                end
            };
            other.push_str(end);
        } else {
            other.push(character);
        }
    }
    places.resize(text.len() + 1, other.len());
    (other, places)
}

fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace(['\r', '\u{2028}', '\u{2029}'], "\n")
}

/// Whether a text has nothing under its headings, and so no pieces.
fn headings_alone(text: &str) -> bool {
    headings(usize::MAX, 0, 0).split(text).is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn fixed_keeps_everything(text in text(), size in 1..40_usize) {
        let spans = spans(&text, size);
        check_pieces(&text, &spans)?;
        for pair in spans.windows(2) {
            prop_assert!(pair[0].end <= pair[1].start);
        }
        for span in &spans {
            let piece = span.slice(&text).unwrap();
            let one_grapheme = piece.graphemes(true).count() == 1;
            // A line end is one character.
            let chars = piece.replace("\r\n", "\n").chars().count();
            prop_assert!(chars <= size || one_grapheme, "{:?} at {}", piece, size);
        }
        // Nothing but white space is lost, so the words are kept in order.
        let kept: String = spans.iter().filter_map(|span| span.slice(&text)).collect();
        let dense = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(dense(&kept), dense(&text));
    }

    #[test]
    fn splitters_keep_their_promises(
        text in text(),
        size in 2..120_usize,
        overlap in 0..120_usize,
        least in 0..120_usize,
        window in 0..50_usize,
    ) {
        let (overlap, least) = (overlap % size, least % size);
        let splitters: [&dyn Splitter; 4] = [
            &paragraphs(size, overlap, least),
            &headings(size, overlap, least),
            &overlapping(size, overlap, window),
            &WholeDocument,
        ];
        for (which, splitter) in splitters.into_iter().enumerate() {
            let pieces = splitter.split(&text);
            if which == 1 && headings_alone(&text) {
                prop_assert!(pieces.is_empty());
                continue;
            }
            let spans: Vec<Span> = pieces.iter().map(|piece| piece.span).collect();
            check_pieces(&text, &spans)?;
            // Inside a paragraph, a cut repeats on top of what was cut with an overlap.
            let most = [2 * overlap, 2 * overlap, overlap, 0][which];
            check_own(&text, &pieces, most)?;
        }
    }

    #[test]
    fn line_ends_of_every_kind_are_alike(
        text in text(),
        ends in prop::collection::vec(0..5_usize, 1..8),
        size in 2..120_usize,
        overlap in 0..120_usize,
        least in 0..120_usize,
        window in 0..50_usize,
    ) {
        let text = with_line_feeds(&text);
        let (other, places) = with_line_ends(&text, &ends);
        let moved = |span: Span| Span { start: places[span.start], end: places[span.end] };
        let (overlap, least) = (overlap % size, least % size);
        let boundaries = Boundaries::Words;
        let min_chars = Some(least);
        let by_words = ByHeading::new(ByHeadingOptions {
            max_chars: size,
            overlap_chars: overlap,
            min_chars,
            max_level: 6,
            boundaries,
        });
        let splitters: [&dyn Splitter; 5] = [
            &paragraphs(size, overlap, least),
            &headings(size, overlap, least),
            &overlapping(size, overlap, window),
            &WholeDocument,
            &by_words.unwrap(),
        ];
        for splitter in splitters {
            let expected = splitter.split(&text).into_iter().map(|piece| Piece {
                span: moved(piece.span),
                own: moved(piece.own),
                ..piece
            });
            let found = splitter.split(&other).into_iter().map(|piece| Piece {
                text: with_line_feeds(&piece.text),
                ..piece
            });
            prop_assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{:?}", other);
        }
        let expected = spans(&text, size).into_iter().map(moved);
        prop_assert_eq!(spans(&other, size), expected.collect::<Vec<_>>());
        for blocks in [markdown_blocks, plain_blocks] {
            let (ours, theirs) = (blocks(&text), blocks(&other));
            let shown = |blocks: &[Block], moved: &dyn Fn(Span) -> Span| -> Vec<_> {
                let shown = |b: &Block| (b.kind, with_line_feeds(&b.text), b.span.map(moved));
                blocks.iter().map(shown).collect()
            };
            prop_assert_eq!(shown(&theirs, &|span| span), shown(&ours, &moved));
            let shown = |pieces: Vec<Piece>, moved: &dyn Fn(Span) -> Span| -> Vec<_> {
                let shown = |piece: &Piece| (with_line_feeds(&piece.text), moved(piece.span));
                pieces.iter().map(shown).collect()
            };
            prop_assert_eq!(
                shown(structure(&theirs, size).unwrap(), &|span| span),
                shown(structure(&ours, size).unwrap(), &moved)
            );
        }
    }
}
