//! Pieces cover the text, get ahead, and cut no grapheme; blocks hold every word.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use shelfward_text::{
    BlockKind, Boundaries, ByHeading, ByHeadingOptions, ByParagraph, ByParagraphOptions, FixedWithOverlap,
    FixedWithOverlapOptions, Span, Splitter, WordRule, fixed, markdown_blocks, plain_blocks,
    structure,
};
use unicode_segmentation::UnicodeSegmentation;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    size: u8,
    overlap: u8,
    min: u8,
    window: u8,
    characters: bool,
    text: &'a str,
}

fn check(text: &str, spans: &[Span], covers: bool) {
    let mut edges: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
    edges.push(text.len());
    let (mut covered, mut last) = (0, None);
    for span in spans {
        assert!(span.slice(text).is_some_and(|piece| !piece.is_empty()));
        assert!(last.is_none_or(|last| last < span.start), "starts increase");
        assert!(
            edges.binary_search(&span.start).is_ok(),
            "inside a grapheme"
        );
        assert!(edges.binary_search(&span.end).is_ok(), "inside a grapheme");
        let gap = text.get(covered..span.start).unwrap_or_default();
        assert!(gap.trim().is_empty(), "lost");
        last = Some(span.start);
        covered = covered.max(span.end);
    }
    assert!(
        !covers || text[covered..].trim().is_empty(),
        "lost at the end"
    );
}

fuzz_target!(|input: Input<'_>| {
    let text = input.text;
    let size = usize::from(input.size).max(1);
    let overlap_chars = usize::from(input.overlap) % size;
    let boundaries = if input.characters {
        Boundaries::Characters
    } else {
        Boundaries::Words
    };
    let min_chars = Some(usize::from(input.min) % size);
    let spans = |splitter: &dyn Splitter| -> Vec<Span> {
        splitter
            .split(text)
            .iter()
            .map(|piece| piece.span)
            .collect()
    };

    let pieces = fixed(text, size, boundaries).expect("a size").into_iter();
    check(text, &pieces.map(|piece| piece.span).collect::<Vec<_>>(), true);
    let by_paragraph = ByParagraphOptions {
        max_chars: size,
        overlap_chars,
        min_chars,
        boundaries,
    };
    check(
        text,
        &spans(&ByParagraph::new(by_paragraph).expect("settings")),
        true,
    );
    let by_heading = ByHeadingOptions {
        max_chars: size,
        overlap_chars,
        min_chars,
        max_level: 6,
        boundaries,
    };
    let by_heading = spans(&ByHeading::new(by_heading).expect("settings"));
    // Headings alone give no piece.
    check(text, &by_heading, !by_heading.is_empty());
    let overlapping = FixedWithOverlapOptions {
        chars: size,
        overlap_chars,
        word_window: input.window.into(),
        boundaries,
    };
    check(
        text,
        &spans(&FixedWithOverlap::new(overlapping).expect("settings")),
        true,
    );

    let words = WordRule::Seed.words(text).concat();
    for mut blocks in [markdown_blocks(text), plain_blocks(text)] {
        for block in &mut blocks {
            // A head would come again, and its words with it.
            if block.kind == BlockKind::TableHead {
                block.kind = BlockKind::Row;
            }
        }
        let pieces = structure(&blocks, size).expect("a size");
        let kept: Vec<String> = pieces
            .iter()
            .flat_map(|piece| WordRule::Seed.words(&piece.text))
            .collect();
        // Σ is another letter where a cut makes it the last of its word.
        assert!(
            text.contains('Σ') || kept.concat() == words,
            "words are lost"
        );
    }
});
