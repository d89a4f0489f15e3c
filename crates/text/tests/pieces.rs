//! Pieces that begin and end between words: what the splitters answer unless told otherwise.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use shelfward_text::{
    Boundaries, ByHeading, ByHeadingOptions, ByParagraph, ByParagraphOptions, FixedWithOverlap,
    FixedWithOverlapOptions, InWord, Piece, Span, Splitter, fixed, markdown_blocks, structure,
};
use unicode_segmentation::UnicodeSegmentation;

// From memchr, regex and getrandom, each under the MIT licence as well.
const README: &str = include_str!("fixtures/readme.md");
const CHANGES: &str = include_str!("fixtures/changes.md");
const TABLE: &str = include_str!("fixtures/table.md");

fn headings(max_chars: usize, overlap_chars: usize, min_chars: Option<usize>) -> ByHeading {
    ByHeading::new(ByHeadingOptions {
        max_chars,
        overlap_chars,
        min_chars,
        ..ByHeadingOptions::default()
    })
    .unwrap()
}

fn paragraphs(max_chars: usize, overlap_chars: usize, min_chars: Option<usize>) -> ByParagraph {
    ByParagraph::new(ByParagraphOptions {
        max_chars,
        overlap_chars,
        min_chars,
        ..ByParagraphOptions::default()
    })
    .unwrap()
}

fn overlapping(chars: usize, overlap_chars: usize) -> FixedWithOverlap {
    FixedWithOverlap::new(FixedWithOverlapOptions {
        chars,
        overlap_chars,
        ..FixedWithOverlapOptions::default()
    })
    .unwrap()
}

fn chars(text: &str) -> usize {
    text.replace("\r\n", "\n").chars().count()
}

/// The word that a place is inside of: a run of letters with white space nowhere in it. Scripts
/// without spaces have no such words, so any of their letters ends one.
fn word_around(text: &str, at: usize) -> Option<&str> {
    let part = |c: char| InWord::of(c) != InWord::Gap && !unspaced(c);
    let attached = |c: &char| matches!(InWord::of(*c), InWord::Mark | InWord::LeftOut);
    let (ahead, behind) = text.split_at(at);
    let last = ahead.chars().rev().find(|c| !attached(c))?;
    if !part(last) || !part(behind.chars().next()?) {
        return None;
    }
    let run = ahead.trim_end_matches(part).len();
    let end = at + behind.find(|c| !part(c)).unwrap_or(behind.len());
    let word = text.get(run..end)?.trim_start_matches(|c| attached(&c));
    (end - word.len() < at).then_some(word)
}

/// Letters of Han, Kana and Thai.
fn unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{e01}'..='\u{e4e}' | '\u{3005}'..='\u{30ff}' | '\u{31f0}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{16fe3}' | '\u{1aff0}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3ffff}')
}

/// What holds for pieces of at most `most` characters of their own, cut at words of up to `size`.
fn check(
    text: &str,
    pieces: &[Piece],
    size: usize,
    most: usize,
    overlap: usize,
) -> Result<(), TestCaseError> {
    let mut covered = 0;
    let mut before = None;
    for piece in pieces {
        let Span { start, end } = piece.span;
        for at in [start, end] {
            let word = word_around(text, at);
            prop_assert!(
                word.is_none_or(|word| chars(word) > size),
                "{word:?} is cut at {at} of {text:?}, {size}"
            );
        }
        let lost = text.get(covered..start).unwrap_or_default();
        prop_assert!(lost.trim().is_empty(), "{lost:?} is lost");
        covered = covered.max(end);
        prop_assert!(before < Some(start), "it does not get ahead");
        before = Some(start);
        prop_assert!(piece.own.end == end && start <= piece.own.start && piece.own.start < end);
        let slice = |from: usize, to: usize| chars(&text[from..to]);
        let one_grapheme = text[piece.own.start..end].graphemes(true).count() == 1;
        let own = slice(piece.own.start, end);
        prop_assert!(
            own <= most || one_grapheme,
            "{own} of {most}: {:?}",
            &text[start..end]
        );
        prop_assert!(slice(start, piece.own.start) <= overlap + blanks(text, piece.own.start));
        prop_assert!(piece.text.ends_with(&text[start..end]));
    }
    prop_assert!(text[covered..].trim().is_empty(), "the end is lost");
    Ok(())
}

/// How much white space stands ahead of a place: it parts overlap from what is its own.
fn blanks(text: &str, at: usize) -> usize {
    chars(&text[text[..at].trim_end().len()..at])
}

fn check_all(text: &str, size: usize, overlap: usize, min: usize) -> Result<(), TestCaseError> {
    let scrap = (size / 4).min(50);
    let most = size + min.max(scrap);
    let by_heading = headings(size, overlap, Some(min)).split(text);
    if !by_heading.is_empty() {
        check(text, &by_heading, size, most, overlap)?;
    }
    check(
        text,
        &paragraphs(size, overlap, Some(min)).split(text),
        size,
        most,
        overlap,
    )?;
    check(
        text,
        &overlapping(size, overlap).split(text),
        size,
        size + scrap,
        overlap,
    )?;
    check(
        text,
        &fixed(text, size, Boundaries::Words).unwrap(),
        size,
        size,
        0,
    )?;
    for piece in structure(&markdown_blocks(text), size).unwrap() {
        let one_grapheme = piece.text.graphemes(true).count() == 1;
        prop_assert!(
            chars(&piece.text) <= size || one_grapheme,
            "{:?}",
            piece.text
        );
    }
    Ok(())
}

#[test]
fn documents_are_cut_between_words() {
    for text in [README, CHANGES, TABLE] {
        for size in [20, 60, 150, 333, 1_000, 4_000] {
            for overlap in [0, size / 7, size / 2] {
                check_all(text, size, overlap, (size / 4).min(250)).unwrap();
            }
        }
    }
}

#[test]
fn overlap_begins_at_a_sentence_or_else_at_a_word() {
    let begin = |text: &str, overlap: usize| {
        let pieces = paragraphs(100, overlap, Some(0)).split(text);
        pieces[1].text.split(' ').next().unwrap().to_owned()
    };
    let first =
        "Words that fill the first of two paragraphs. Then there is a second sentence in it.";
    let text = format!("{first}\n\n{}", "more ".repeat(18));
    assert_eq!(begin(&text, 60), "Then");
    // No sentence begins so near.
    assert_eq!(begin(&text, 25), "second");
    assert_eq!(begin(&text, 9), "in");
    assert_eq!(begin(&text, 2), "more");
    // An abbreviation ends no sentence, and neither does the point of a number.
    let text = text.replace("Then there", "e.g. there 3.14");
    assert_eq!(begin(&text, 45), "e.g.");
    assert_eq!(begin(&text, 40), "there");
    // Behind quotes and brackets a sentence has ended all the same.
    let text = text
        .replace("paragraphs.", "paragraphs.”)")
        .replace("e.g. there 3.14", "Yes");
    assert_eq!(begin(&text, 60), "Yes");
    // Without spaces, too.
    let text = format!(
        "{}。次の文章です。\n\n{}",
        "漢字".repeat(35),
        "more ".repeat(18)
    );
    assert_eq!(begin(&text, 30), "次の文章です。\n\nmore");
}

#[test]
fn a_word_is_cut_only_if_it_is_longer_than_a_piece() {
    let texts = |text: &str, size| -> Vec<String> {
        let pieces = fixed(text, size, Boundaries::Words).unwrap();
        pieces.into_iter().map(|piece| piece.text).collect()
    };
    // White space far ahead is better than half a word.
    assert_eq!(texts("a bbbbbbbbb", 10), ["a", "bbbbbbbbb"]);
    // Without any, a path is cut behind its signs, and a number is not.
    assert_eq!(
        texts("https://host/path/file", 14),
        ["https://host/", "path/file"]
    );
    assert_eq!(texts("x=1234.5678,y", 8), ["x=", "1234.", "5678,y"]);
    assert_eq!(texts("snake_case_name", 12), ["snake_case_", "name"]);
    assert_eq!(texts("bbbbbbbbbbbbbbb", 10), ["bbbbbbbbbb", "bbbbb"]);
    // Letters that have no spaces between words are not cut from what ends their sentence.
    assert_eq!(
        texts("これは文です。次です", 6),
        ["これは文で", "す。次です"]
    );
    // Hangul has spaces.
    assert_eq!(texts("가나다 라마바사", 6), ["가나다", "라마바사"]);
}

#[test]
fn a_fence_that_fits_is_in_one_piece() {
    let code = format!(
        "```rust\n{}\n\n{}\n```",
        "let a = 1;\n".repeat(5),
        "let b = 2;\n".repeat(5)
    );
    for before in [0, 40, 80, 140] {
        let text = format!(
            "# A\n\n{}\n{code}\nBehind it.\n\n{}",
            "word ".repeat(before),
            "end ".repeat(60)
        );
        for splitter in [
            &headings(160, 30, Some(40)) as &dyn Splitter,
            &paragraphs(160, 30, Some(40)),
        ] {
            let pieces = splitter.split(&text);
            assert!(
                pieces.iter().any(|piece| piece.text.contains(&code)),
                "{before}: {:?}",
                pieces.iter().map(|piece| &piece.text).collect::<Vec<_>>()
            );
        }
    }
    // One that does not fit is cut, at its blank lines.
    let long = code.replace("\n\n", &format!("\n\n{}\n\n", "x = 1;\n".repeat(20)));
    let pieces = paragraphs(160, 0, Some(0)).split(&long);
    assert!(pieces.len() > 1 && pieces[0].text.ends_with("let a = 1;"));
}

#[test]
fn a_long_table_keeps_its_rows_and_repeats_its_head() {
    let rows: Vec<&str> = TABLE.lines().filter(|line| line.starts_with('|')).collect();
    let below = (1..rows.len()).filter(|at| rows[*at].starts_with("| --"));
    let heads: Vec<String> = below
        .map(|at| format!("{}\n{}", rows[at - 1], rows[at]))
        .collect();
    assert_eq!(heads.len(), 2);
    for size in [700, 1_000, 1_500] {
        for splitter in [
            &headings(size, 150, None) as &dyn Splitter,
            &paragraphs(size, 150, None),
        ] {
            let pieces = splitter.split(TABLE);
            let mut with_head = 0;
            for piece in &pieces {
                for line in piece.text.lines().filter(|line| line.contains('|')) {
                    assert!(rows.contains(&line), "half a row: {line:?}");
                }
                if piece.text.lines().any(|line| line.starts_with('|')) {
                    let head = heads
                        .iter()
                        .find(|head| piece.text.contains(*head))
                        .unwrap();
                    with_head += 1;
                    // What is in front of its place in the text is the head and nothing else.
                    let own = piece.span.slice(TABLE).unwrap();
                    let lead = piece.text.strip_suffix(own).unwrap();
                    assert!(lead.is_empty() || lead == format!("{head}\n"), "{lead:?}");
                }
            }
            assert!(with_head > 2, "{with_head}");
        }
    }
    // A row that does not fit beside the head is whole, without it; one that fits nowhere is cut.
    let row = |letter: &str| format!("| {} |", [letter; 25].join(" "));
    let text = format!(
        "| name | value |\n|---|---|\n{}\n{}\n| {} |\n",
        row("a"),
        row("b"),
        "c ".repeat(100)
    );
    let pieces = paragraphs(60, 0, Some(0)).split(&text);
    assert!(pieces.iter().any(|piece| piece.text == row("b")));
    assert!(pieces.iter().all(|piece| chars(&piece.text) <= 60));
}

#[test]
fn a_piece_names_the_headings_above_it() {
    let text = "Intro.\n# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\ne\n";
    let pieces = headings(100, 0, Some(0)).split(text);
    let paths: Vec<Vec<&str>> = pieces
        .iter()
        .map(|piece| piece.headings.iter().map(String::as_str).collect())
        .collect();
    let expected: [&[&str]; 6] = [
        &[],
        &["A"],
        &["A", "B"],
        &["A", "B", "C"],
        &["A", "D"],
        &["E"],
    ];
    assert_eq!(paths, expected);
    assert_eq!(pieces[3].heading(), Some("C"));
}

#[test]
fn headings_without_text_count_for_the_size_of_a_piece() {
    let text = "# Heading\n".repeat(1_000) + "text";
    for piece in headings(200, 0, None).split(&text) {
        assert!(chars(&piece.text) <= 250, "{}", chars(&piece.text));
    }
    assert!(
        headings(200, 0, None)
            .split(&"# Heading\n".repeat(100))
            .is_empty()
    );
}

#[test]
fn pieces_of_any_text_are_bounded_in_number() {
    // One of each that an algorithm looks back through, over and over, if it looks back too far.
    let texts: [fn(usize) -> String; 12] = [
        |n| "word ".repeat(n / 5),
        |n| "x".repeat(n),
        |n| "🇫🇷".repeat(n / 2),
        |n| format!("e{}", "\u{301}".repeat(n)),
        |n| " ".repeat(n) + "x",
        |n| "x\n".repeat(n / 2),
        |n| "x\n\n".repeat(n / 3),
        |n| "# A\n".repeat(n / 4),
        |n| "漢".repeat(n),
        |n| "...".repeat(n / 3),
        |n| "| a | b |\n|---|---|\n".to_owned() + &"| 1 | 2 |\n".repeat(n / 10),
        |n| "```\n".to_owned() + &"code\n\n".repeat(n / 6),
    ];
    for (which, text) in texts.into_iter().enumerate() {
        let n = 200_000;
        let text = text(n);
        for pieces in [
            fixed(&text, 800, Boundaries::Words).unwrap(),
            overlapping(1_000, 150).split(&text),
            paragraphs(1_000, 150, Some(250)).split(&text),
            headings(1_000, 150, Some(250)).split(&text),
            structure(&markdown_blocks(&text), 800).unwrap(),
        ] {
            assert!(pieces.len() <= n / 400, "{which}: {}", pieces.len());
            let held: usize = pieces.iter().map(|piece| piece.text.len()).sum();
            assert!(held <= 2 * text.len() + 1_000, "{which}: {held}");
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "word",
        "longer-word",
        "snake_case",
        "don't",
        "3.14",
        " ",
        " ",
        " ",
        ". ",
        "! A",
        "\n",
        "\n\n",
        "\r\n",
        "\n \t\n",
        "# A\n",
        "## B ##\n",
        "```\n",
        "- ",
        "| a | b |\n|---|---|\n",
        "| c | d |\n",
        "|",
        "https://host/path",
        "e\u{301}",
        " \u{301}",
        "👩\u{200d}👧",
        "🇫🇷",
        "שלום",
        "\u{feff}",
        "\u{2028}",
        "漢字",
        "。",
        "カタカナ",
        "ภาษา",
        "한국어",
        "नि",
        "क्ष",
        "می\u{200c}خواهم",
        "\u{a0}",
        "…",
        "(",
        ")",
        "\u{ad}",
        "Straße",
        "Привет",
    ]);
    prop_oneof![
        6 => prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn any_text_is_cut_between_words(
        text in text(),
        size in 4..120_usize,
        overlap in 0..120_usize,
        least in 0..120_usize,
    ) {
        check_all(&text, size, overlap % size, least % size)?;
    }
}
