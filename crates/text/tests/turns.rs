//! Passages of a transcript: the seed's rules, and its guarantees on random transcripts.

use proptest::prelude::*;
use shelfward_text::{ChunkTurns, Span, Turn, TurnPassage, chunk_turns};

/// Turns numbered from 1, the n-th from n seconds to half a second later.
fn transcript<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Vec<Turn> {
    (1..)
        .zip(texts)
        .map(|(seq, text)| Turn {
            seq,
            item_id: format!("item_{seq}"),
            text: text.into(),
            start_ms: Some(seq * 1_000),
            end_ms: Some(seq * 1_000 + 500),
        })
        .collect()
}

fn options(max_chars: usize, overlap_turns: usize) -> ChunkTurns {
    ChunkTurns {
        max_chars,
        overlap_turns,
    }
}

/// Checks the passages' texts.
#[track_caller]
fn check(turns: &[&str], max_chars: usize, overlap_turns: usize, passages: &[&str]) {
    let answer = chunk_turns(
        &transcript(turns.iter().copied()),
        &options(max_chars, overlap_turns),
    );
    let texts: Vec<&str> = answer.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(
        texts, passages,
        "{turns:?} at {max_chars} with {overlap_turns}"
    );
}

#[test]
fn defaults() {
    assert_eq!(ChunkTurns::default(), options(1_200, 1));
    assert_eq!(
        ChunkTurns::default().max_chars(9).overlap_turns(0),
        options(9, 0)
    );
}

#[test]
fn turns_fill_a_passage_to_the_last_character() {
    check(&["aaaa", "bbbb"], 9, 0, &["aaaa\nbbbb"]);
    check(&["aaaa", "bbbb"], 8, 0, &["aaaa", "bbbb"]);
    // Characters, not bytes and not UTF-16 units.
    check(&["éééé", "👩👩👩👩"], 9, 0, &["éééé\n👩👩👩👩"]);
    check(&["a", "b", "c"], 0, 5, &["a", "b", "c"]);
    check(&[], 9, 1, &[]);
}

#[test]
fn a_long_turn_stands_alone() {
    check(&["a", "bbbbbbbbbb", "c"], 4, 1, &["a", "bbbbbbbbbb", "c"]);
}

#[test]
fn overlap_is_what_fits_with_the_next_turn() {
    check(&["aa", "bb", "cc"], 5, 1, &["aa\nbb", "bb\ncc"]);
    check(&["aa", "bb", "ccc"], 5, 1, &["aa\nbb", "ccc"]);
    check(&["a", "b", "c", "d"], 5, 2, &["a\nb\nc", "b\nc\nd"]);
    check(&["a", "b", "c", "ddd"], 5, 2, &["a\nb\nc", "c\nddd"]);
    // Never the first turn, however much overlap is asked for.
    check(&["aa", "b", "c"], 4, 99, &["aa\nb", "b\nc"]);
    check(&["aaaa", "b"], 5, 99, &["aaaa", "b"]);
    check(&["aa", "bb", "cc"], 5, 0, &["aa\nbb", "cc"]);
}

#[test]
fn blank_turns_are_left_out_and_others_are_kept_as_given() {
    let blank = [
        "",
        " ",
        "\u{feff}",
        "\n\t",
        "\u{a0}\u{3000}\u{2028}\u{85}",
        " \u{feff} ",
    ];
    check(&blank, 9, 1, &[]);
    check(&[" a ", "\u{feff}", "b\n"], 9, 1, &[" a \nb\n"]);
    // Invisible, but not white space.
    check(&["\u{200b}"], 9, 1, &["\u{200b}"]);
}

#[test]
fn a_passage_says_where_it_comes_from() {
    let mut turns = transcript(["Hé", " ", "yes", "no"]);
    turns[3].item_id = "item_3".to_owned();
    turns[3].end_ms = None;
    let passages = chunk_turns(&turns, &options(6, 1));
    assert_eq!(passages.len(), 2);
    let TurnPassage {
        index,
        text,
        first_seq,
        last_seq,
        item_ids,
        start_ms,
        end_ms,
        turns,
    } = &passages[0];
    assert_eq!((*index, text.as_str()), (0, "Hé\nyes"));
    assert_eq!((*first_seq, *last_seq), (1, 3));
    assert_eq!(item_ids, &["item_1", "item_3"]);
    assert_eq!((*start_ms, *end_ms), (Some(1_000), Some(3_500)));
    let spans: Vec<Span> = turns.iter().map(|turn| turn.span).collect();
    assert_eq!(
        spans,
        [Span { start: 0, end: 3 }, Span { start: 4, end: 7 }]
    );
    // The last turn does not say when it ended, and no other answers for it. An id that two
    // turns share is there for each.
    assert_eq!(passages[1].item_ids, ["item_3", "item_3"]);
    assert_eq!(
        (passages[1].start_ms, passages[1].end_ms),
        (Some(3_000), None)
    );
}

#[test]
fn a_span_of_another_text_gives_nothing() {
    assert_eq!(Span { start: 0, end: 2 }.slice("é"), Some("é"));
    assert_eq!(Span { start: 1, end: 1 }.slice("a"), Some(""));
    assert_eq!(Span { start: 0, end: 1 }.slice("é"), None);
    assert_eq!(Span { start: 0, end: 9 }.slice("é"), None);
    assert_eq!(Span { start: 2, end: 0 }.slice("é"), None);
    assert_eq!(
        Span {
            start: usize::MAX,
            end: usize::MAX
        }
        .slice("é"),
        None
    );
}

#[test]
fn a_boundless_overlap_stays_linear() {
    let turns = transcript((0..100_000).map(|n| format!("{n:0100}")));
    // Ten turns fit. Weighing all turns so far at each passage would take minutes.
    let passages = chunk_turns(&turns, &options(1_009, 1_000_000));
    assert_eq!(passages.len(), 100_000 - 9);
    assert_eq!(
        chunk_turns(&turns, &options(usize::MAX, 1_000_000)).len(),
        1
    );
    assert_eq!(chunk_turns(&turns, &options(0, 1_000_000)).len(), 100_000);
    // A long passage before each long turn, none of it to be kept.
    let turns =
        transcript((0..100_000).map(|n| "x".repeat(if n % 1_000 == 999 { 2_000 } else { 1 })));
    assert_eq!(chunk_turns(&turns, &options(2_000, 1_000_000)).len(), 200);
}

fn turn_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,8}",
        2 => "[a-zé👩\u{301}\n ]{0,12}",
        1 => "[ \n\u{feff}\u{85}]{0,3}",
        1 => "x{20,60}",
        1 => any::<String>(),
    ]
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = (
        turn_text(),
        any::<i64>(),
        any::<Option<i64>>(),
        any::<Option<i64>>(),
        0..4_u8,
    );
    prop::collection::vec(turn, 0..24).prop_map(|turns| {
        turns
            .into_iter()
            .map(|(text, seq, start_ms, end_ms, id)| Turn {
                seq,
                item_id: format!("item_{id}"),
                text,
                start_ms,
                end_ms,
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn guarantees(turns in turns(), max_chars in 0..80_usize, overlap_turns in 0..30_usize) {
        let passages = chunk_turns(&turns, &options(max_chars, overlap_turns));

        // Every turn that says something, in order.
        let kept: Vec<&Turn> = turns
            .iter()
            .filter(|turn| !turn.text.chars().all(|c| c.is_whitespace() || c == '\u{feff}'))
            .collect();
        // Where in `kept` the passage before began and ended.
        let (mut before_start, mut before_end) = (0, 0);
        for (index, passage) in passages.iter().enumerate() {
            prop_assert_eq!(passage.index, index);
            let count = passage.turns.len();
            prop_assert!(count > 0);

            // The passage ends with new turns; how many, its neighbours' rules must agree on:
            // it is a stretch of `kept` that begins no later than where the last one ended.
            let place = (before_start..=before_end).find(|start| {
                let stretch = kept.get(*start..*start + count);
                stretch.is_some_and(|stretch| {
                    let opens_anew = index == 0 || *start > before_start;
                    let has_a_new_turn = *start + count > before_end;
                    let overlap = before_end - *start;
                    opens_anew
                        && has_a_new_turn
                        && overlap <= overlap_turns
                        && stretch.iter().zip(&passage.turns).all(|(turn, place)| {
                            turn.seq == place.seq
                                && turn.item_id == place.item_id
                                && place.span.slice(&passage.text) == Some(turn.text.as_str())
                        })
                })
            });
            prop_assert!(place.is_some(), "passage {} follows from none before it", index);
            let start = place.unwrap();
            let end = start + count;
            let stretch = &kept[start..end];

            // The text is the turns and nothing else.
            let texts: Vec<&str> = stretch.iter().map(|turn| turn.text.as_str()).collect();
            prop_assert_eq!(&passage.text, &texts.join("\n"));
            let chars = passage.text.chars().count();
            prop_assert!(chars <= max_chars || count == 1);

            // As many turns as fit: the next would not, nor would one more of the overlap.
            if let Some(next) = kept.get(end) {
                prop_assert!(chars + 1 + next.text.chars().count() > max_chars);
            }
            if index > 0 && before_end - start < overlap_turns && start - 1 > before_start {
                let with_next: usize =
                    kept[start - 1..=before_end].iter().map(|t| t.text.chars().count() + 1).sum();
                prop_assert!(with_next - 1 > max_chars);
            }

            prop_assert_eq!(passage.first_seq, stretch[0].seq);
            prop_assert_eq!(passage.last_seq, stretch[count - 1].seq);
            prop_assert_eq!(passage.start_ms, stretch[0].start_ms);
            prop_assert_eq!(passage.end_ms, stretch[count - 1].end_ms);
            let ids: Vec<&str> = stretch.iter().map(|turn| turn.item_id.as_str()).collect();
            prop_assert_eq!(&passage.item_ids, &ids);

            (before_start, before_end) = (start, end);
        }
        prop_assert_eq!(before_end, kept.len(), "the last passage holds the last turn");
    }
}
