//! The splitters: what they answer, what they refuse, and what holds on any text.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use shelfward_text::{
    ByHeading, ByHeadingOptions, ByParagraph, ByParagraphOptions, Document, FixedWithOverlap,
    FixedWithOverlapOptions, Pages, Piece, Span, SplitError, Splitter, WholeDocument, fixed,
    split_documents,
};
use unicode_segmentation::UnicodeSegmentation;

fn paragraphs(max_chars: usize, overlap_chars: usize, min_chars: usize) -> ByParagraph {
    ByParagraph::new(ByParagraphOptions {
        max_chars,
        overlap_chars,
        min_chars: Some(min_chars),
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
    })
    .unwrap()
}

fn overlapping(chars: usize, overlap_chars: usize, word_window: usize) -> FixedWithOverlap {
    FixedWithOverlap::new(FixedWithOverlapOptions {
        chars,
        overlap_chars,
        word_window,
    })
    .unwrap()
}

fn texts<'a>(text: &'a str, pieces: &[Piece]) -> Vec<&'a str> {
    pieces
        .iter()
        .map(|piece| piece.span.slice(text).unwrap())
        .collect()
}

#[track_caller]
fn check_fixed(text: &str, size: usize, expected: &[&str]) {
    let spans = fixed(text, size).unwrap();
    let pieces: Vec<&str> = spans.iter().map(|span| span.slice(text).unwrap()).collect();
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
    };
    let refusal = FixedWithOverlap::new(options).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "overlap_chars is 7, and the next piece would not get ahead: set it below chars, which is 7"
    );
    assert_eq!(fixed("a", 0), Err(SplitError::NoSize { option: "size" }));
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
    assert_eq!(fixed(&text, 350).unwrap().len(), 6);
    assert_eq!(overlapping(350, 50, 40).split(&text).len(), 6);
    // 350 at a time, 300 characters on: the sixth holds the last 500 with what it repeats.
    assert_eq!(paragraphs(350, 50, 0).split(&text).len(), 7);
}

#[test]
fn headings_in_fences_are_none() {
    let text = "# A\n\n````\n```\n# x\n```\n# y\n````\n\n# B\n~~~\n# never closed\n";
    let pieces = headings(200, 0, 0).split(text);
    let found: Vec<_> = pieces
        .iter()
        .map(|piece| piece.heading.as_deref())
        .collect();
    // Both pieces are short; other headings do not join.
    assert_eq!(found, [Some("A"), Some("B")]);
}

#[test]
fn a_short_first_piece_is_not_repeated_whole() {
    let text = format!("One two three.\n\n{}", "word ".repeat(20));
    let pieces = paragraphs(100, 50, 0).split(&text);
    assert_eq!(pieces[1].span.start, 4);
    assert_eq!(pieces[1].own_start, 16);
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
    assert_eq!((pieces[0].page, pieces[1].text.as_str()), (Some(1), "x"));
    let shown = format!("{pieces:?} {documents:?}");
    assert!(!shown.contains("two"), "{shown}");

    let wrong = |span: Span| {
        move |_: &str| {
            vec![Piece {
                span,
                own_start: 0,
                heading: None,
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
    let texts: [(&str, fn(usize) -> String); 8] = [
        ("words", |n| "word ".repeat(n / 5)),
        ("one word", |n| "x".repeat(n)),
        ("flags", |n| "🇫🇷".repeat(n / 2)),
        ("one grapheme", |n| format!("e{}", "\u{301}".repeat(n))),
        ("blank", |n| " ".repeat(n)),
        ("short lines", |n| "x\n".repeat(n / 2)),
        ("paragraphs", |n| "x\n\n".repeat(n / 3)),
        ("headings", |n| "# A\n".repeat(n / 4)),
    ];
    for (name, text) in texts {
        let count = |n| {
            let text = text(n);
            [
                fixed(&text, 800).unwrap().len(),
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

/// Whether a text has nothing under its headings, and so no pieces.
fn headings_alone(text: &str) -> bool {
    headings(usize::MAX, 0, 0).split(text).is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn fixed_keeps_everything(text in text(), size in 1..40_usize) {
        let spans = fixed(&text, size).unwrap();
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
            let own: Vec<usize> = pieces.iter().map(|piece| piece.own_start).collect();
            prop_assert!(own.is_sorted(), "{:?}", own);
            prop_assert_eq!(texts(&text, &pieces).len(), pieces.len());
        }
    }
}
