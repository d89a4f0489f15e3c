//! The part of a text that answers a query best, and the words that are marked in it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use shelfward_text::{Highlight, Highlighter, InWord, Span, WordPlaces, WordRule};
use std::cell::Cell;

const RULES: [WordRule; 5] = WordRule::ALL;

/// What is shown, with what is marked between brackets.
fn shown(found: &Highlight) -> String {
    let part = |(part, marked): (&str, bool)| {
        if marked {
            format!("[{part}]")
        } else {
            part.to_owned()
        }
    };
    found.parts().map(part).collect()
}

#[track_caller]
fn check(query: &Highlighter, text: &str, expected: &str) {
    let found = query.snippet(text);
    assert_eq!(shown(&found), expected, "{text:?}");
    let dense = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(dense(&found.text), dense(found.span.slice(text).unwrap()));
}

fn unicode(query: &str, max_chars: usize) -> Highlighter {
    Highlighter::new(WordRule::Unicode, query).max_chars(max_chars)
}

#[test]
fn the_part_with_most_of_the_words_is_shown() {
    let text = "It is granted. He is here. This is a text of no use to anyone, as it is. \
                Permission is hereby granted, free of charge, to any person.";
    let query = unicode("permission is hereby granted", 48);
    check(
        &query,
        text,
        "[Permission] [is] [hereby] [granted], free of charge, to",
    );
    // Closer together is better, and of two alike the first.
    let text = "red and far, far away and long behind it blue. Then red blue. Then red blue.";
    check(&unicode("blue red", 16), text, "Then [red] [blue].");
    assert_eq!(unicode("blue red", 16).snippet(text).span.start, 47);
}

#[test]
fn a_rare_word_is_worth_more_than_frequent_ones() {
    let text = "How do I do a thing? It is easy. Somewhere else they parse what there is.";
    let query = unicode("how do I parse", 30);
    check(&query, text, "[How] [do] [I] [do] a thing? It is");
    let rare = |word: &str| if word == "parse" { 5.0 } else { 0.5 };
    check(
        &query.weights(rare),
        text,
        "else they [parse] what there is.",
    );
    // What is no weight counts for nothing, and is marked all the same.
    for nothing in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
        let weigh = |word: &str| if word == "parse" { 1.0 } else { nothing };
        let found = unicode("how do I parse", 30).weights(weigh).snippet(text);
        assert_eq!(shown(&found), "else they [parse] what there is.");
        let found = unicode("how do", 30).weights(weigh).snippet(text);
        assert!(shown(&found).starts_with("[How] [do] I [do]"));
    }
}

#[test]
fn words_are_found_as_the_search_finds_them() {
    let bigrams = |query: &str| Highlighter::new(WordRule::UnicodeBigrams, query).max_chars(14);
    check(
        &bigrams("図書館"),
        "昨日図書館で本を借りた",
        "昨日[図書館]で本を借りた",
    );
    check(
        &bigrams("東京 v2"),
        "新しい東京v2です",
        "新しい[東京][v2]です",
    );
    check(&bigrams("本"), "日本の本です", "日[本]の[本]です");
    check(&bigrams("カナ"), "半角ｶﾅも", "半角[ｶﾅ]も");
    check(&bigrams("ガ"), "半角ｶﾞも", "半角[ｶﾞ]も");
    // One query word is found by its beginning if the search finds it so.
    check(&unicode("pass", 40), "Passwords pass.", "Passwords [pass].");
    check(
        &unicode("pass", 40).prefix(true),
        "Passwords pass.",
        "[Passwords] [pass].",
    );
    check(
        &unicode("é Straße", 40),
        "E\u{301} STRAßE strasse",
        "[E\u{301}] [STRAßE] strasse",
    );
    check(
        &unicode("konzept", 40),
        "Das Kon\u{ad}zept",
        "Das [Kon\u{ad}zept]",
    );
    let folded = |query| Highlighter::new(WordRule::UnicodeFolded, query);
    check(
        &folded("uber strasse"),
        "Über die Straße",
        "[Über] die [Straße]",
    );
    check(&folded("كتب"), "هذه كُتُبٌ", "هذه [كُتُبٌ]");
    // A word of one character is no beginning.
    check(&unicode("p a", 40).prefix(true), "A pass", "[A] pass");
    let seed = |query| Highlighter::new(WordRule::Seed, query);
    check(&seed("οδος"), "Η ΟΔΟΣ εδώ", "Η [ΟΔΟΣ] εδώ");
    check(&seed("stanbul"), "Zu İstanbul", "Zu İ[stanbul]");
}

#[test]
fn nothing_found_shows_the_beginning() {
    let text = " \n The first words of a longer text.";
    for query in ["", "???", "zzz"] {
        check(&unicode(query, 20), text, "The first words of a");
    }
    check(&unicode("a", 9), "", "");
    check(&unicode("a", 9), " \t ", "");
    check(&unicode("a", 0), "a b", "[a]");
    check(&unicode("b", 3), "aaaaaaaa", "aaa");
}

#[test]
fn white_space_is_one_space_and_marks_stay_right() {
    let text = "One  \n\n two\tthree \u{a0} four\u{2028}five";
    check(
        &unicode("two four five", 99),
        text,
        "One [two] three \u{a0} [four] [five]",
    );
    check(&unicode("two", 9), text, "[two] three");
    // The longer word is worth more.
    check(&unicode("two three", 5), text, "[three]");
}

#[test]
fn what_is_shown_begins_with_a_sentence_if_one_is_near() {
    let text = "There was a first one. Then there came the word that was sought, and more after it, at length.";
    check(
        &unicode("sought", 60),
        text,
        "Then there came the word that was [sought], and more after it,",
    );
    check(&unicode("sought", 30), text, "that was [sought], and more");
}

#[test]
fn a_match_that_is_longer_than_a_snippet_is_shown_in_part() {
    let word = "x".repeat(1_000_000);
    let found = unicode(&word, 50).snippet(&format!("a {word} b"));
    assert_eq!(found.text.len(), 50);
    assert_eq!(found.marks, [Span { start: 0, end: 50 }]);
    let text = "字".repeat(300_000);
    let found = Highlighter::new(WordRule::UnicodeBigrams, "字字").snippet(&text);
    assert_eq!(found.text.chars().count(), 200);
    assert_eq!(found.marks.len(), 1);
}

#[test]
fn all_of_a_text_can_be_marked() {
    let found = unicode("b d", 3).whole("a  b c\nd");
    assert_eq!(shown(&found), "a  [b] c\n[d]");
    assert_eq!(found.span, Span { start: 0, end: 8 });
    assert!(!format!("{found:?} {:?}", unicode("secret", 9)).contains("secret"));
}

/// Counts how often a text is cut, and how many words are handed on.
struct Counted<'a> {
    cuts: &'a Cell<usize>,
    words: &'a Cell<usize>,
}

impl WordPlaces for Counted<'_> {
    fn for_each_word_at(&self, text: &str, each: &mut dyn FnMut(&str, Span)) {
        self.cuts.set(self.cuts.get() + 1);
        WordRule::Unicode.for_each_word_at(text, &mut |word, span| {
            self.words.set(self.words.get() + 1);
            each(word, span);
        });
    }
}

#[test]
fn a_text_is_read_once_however_many_words_match() {
    let (cuts, words) = (Cell::new(0), Cell::new(0));
    let counted = Counted {
        cuts: &cuts,
        words: &words,
    };
    let query = Highlighter::new(counted, "a b d ab").prefix(true);
    assert_eq!((cuts.get(), words.get()), (1, 4));
    for text in [
        "a b c d ".repeat(25_000),
        "a ".repeat(100_000),
        "abcd".repeat(250_000),
    ] {
        cuts.set(0);
        words.set(0);
        let found = query.snippet(&text);
        assert!(!found.marks.is_empty() && found.text.chars().count() <= 200);
        assert_eq!(cuts.get(), 1);
        assert!(words.get() <= 100_000);
    }
}

/// A caller's words may overlap, come in any order, and have places that are none.
#[test]
fn any_place_of_a_caller_is_borne() {
    struct Odd;
    impl WordPlaces for Odd {
        fn for_each_word_at(&self, text: &str, each: &mut dyn FnMut(&str, Span)) {
            for (start, end) in [
                (5, 9),
                (0, 4),
                (2, 7),
                (0, text.len()),
                (3, 3),
                (9, 1),
                (0, 99),
                (1, 2),
            ] {
                each("w", Span { start, end });
            }
        }
    }
    for text in ["0123456789", "éééééé", "", "a"] {
        let found = Highlighter::new(Odd, "w").max_chars(4).snippet(text);
        for mark in &found.marks {
            assert!(mark.slice(&found.text).is_some_and(|word| !word.is_empty()));
        }
    }
    let at = |start, end| Span { start, end };
    let odd = [at(0, 1), at(0, 2), at(2, 1), at(3, 99), at(4, 4), at(2, 3)];
    assert_eq!(
        Highlight::whole("abcde".into(), odd).marks,
        [at(0, 1), at(2, 3)]
    );
    assert_eq!(Highlight::at("é", at(1, 2), []), None);
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b",
        "word",
        "Word",
        "words",
        "don't",
        " ",
        " ",
        "  ",
        ". ",
        "\n\n",
        "\u{a0}",
        "e\u{301}",
        "é",
        "漢字",
        "。",
        "カタ",
        "한국",
        "\u{1112}\u{1161}\u{11ab}",
        "Σ",
        "ΑΣ",
        "İ",
        "🇫🇷",
        "\u{ad}",
        "\u{301}",
        "ภาษา",
        "x",
        "か\u{3099}",
        "ｶﾞ",
        "ﾊ",
        "Ａ１",
        "ß",
        "đ",
        "ﬁ",
        "ﻻ",
        "كُـ",
        "й",
        "\u{1112}",
        "\u{1161}",
        "👩\u{200d}👧",
    ]);
    prop_oneof![
        6 => prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_500) })]

    #[test]
    fn words_have_places(text in text()) {
        for rule in RULES {
            let mut found = Vec::new();
            let mut last = 0;
            let mut sound = true;
            rule.for_each_word_at(&text, &mut |word, span| {
                let slice = span.slice(&text).unwrap();
                sound &= last <= span.start && !slice.is_empty();
                last = span.start;
                if rule != WordRule::Seed {
                    sound &= rule.query_words(slice) == [word];
                }
                found.push(word.to_owned());
            });
            prop_assert!(sound, "{rule:?}");
            prop_assert_eq!(found, rule.words(&text), "{:?}", rule);
        }
    }

    #[test]
    fn snippets_are_of_their_text(text in text(), query in text(), max in 0..60_usize, prefix in any::<bool>()) {
        for rule in RULES {
            let query = Highlighter::new(rule, &query).max_chars(max).prefix(prefix);
            let found = query.snippet(&text);
            prop_assert!(found.text.chars().count() <= max.max(longest_grapheme(&text)));
            let source = found.span.slice(&text).unwrap();
            // White space alone differs, and no-break spaces do not.
            let white = |c: char| c.is_whitespace() && c != '\u{a0}' && c != '\u{2007}' && c != '\u{202f}';
            let dense = |text: &str| text.split(white).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(&*found.text, dense(source));
            let mut end = 0;
            for mark in &found.marks {
                prop_assert!(end <= mark.start && mark.start < mark.end);
                prop_assert!(mark.slice(&found.text).is_some());
                end = mark.end;
            }
            let parts: String = found.parts().map(|(part, _)| part).collect();
            prop_assert_eq!(parts, &*found.text);
            // What is found in the text is shown.
            let whole = query.whole(&text);
            prop_assert!(max < 2 || whole.marks.is_empty() == found.marks.is_empty(), "{:?}", whole);
        }
    }

    #[test]
    fn no_part_is_worth_more(text in text(), query in text(), max in 10..60_usize) {
        let words = WordRule::Unicode.words(&query);
        let found = Highlighter::new(WordRule::Unicode, &query).max_chars(max).snippet(&text);
        let worth = |part: &str| {
            let held = WordRule::Unicode.words(part);
            let held: std::collections::BTreeSet<_> = words.iter().filter(|word| held.contains(word)).collect();
            held.iter().map(|word| word.chars().count()).sum::<usize>()
        };
        let mut places = Vec::new();
        WordRule::Unicode.for_each_word_at(&text, &mut |word, span| {
            if words.iter().any(|known| known == word) {
                places.push(span);
            }
        });
        for (at, first) in places.iter().enumerate() {
            for last in &places[at..] {
                let part = &text[first.start..last.end];
                if part.chars().count() <= max {
                    prop_assert!(worth(part) <= worth(&found.text), "{part:?}, not {:?}", &*found.text);
                }
            }
        }
    }

    #[test]
    fn no_word_is_shown_in_part(text in "[a-z]{1,8}([ .,]{1,2}[a-z]{1,8}){0,20}", max in 9..60_usize) {
        let query: String = text.chars().rev().take(3).collect();
        for query in [query.as_str(), "a", "e t"] {
            let found = unicode(query, max).prefix(true).snippet(&text);
            for at in [found.span.start, found.span.end] {
                let (ahead, behind) = text.split_at(at);
                let letter = |c: Option<char>| c.is_some_and(|c| InWord::of(c) == InWord::Letter);
                prop_assert!(!letter(ahead.chars().next_back()) || !letter(behind.chars().next()));
            }
        }
    }
}

fn longest_grapheme(text: &str) -> usize {
    use unicode_segmentation::UnicodeSegmentation;
    text.graphemes(true)
        .map(|one| one.chars().count())
        .max()
        .unwrap_or(0)
}
