//! Snippets: where the word is found, and what is shown around it.

use proptest::prelude::*;
use shelfward_text::{Snippet, SnippetAround, WordRule, snippet_around};
use unicode_segmentation::UnicodeSegmentation;

const RULES: [WordRule; 5] = WordRule::ALL;

fn around(before: usize, after: usize) -> SnippetAround {
    SnippetAround {
        before,
        after,
        ..SnippetAround::default()
    }
}

fn under(rule: WordRule) -> SnippetAround {
    SnippetAround {
        rule,
        ..SnippetAround::default()
    }
}

/// Checks what is found and shown.
#[track_caller]
fn check(text: &str, words: &[&str], options: SnippetAround, at: Option<usize>, shown: &str) {
    let expected = Snippet {
        at,
        text: shown.to_owned(),
    };
    let snippet = snippet_around(text, words, &options);
    assert_eq!(snippet, expected, "{words:?} in {text:?}");
}

/// Checks where a word is found, under the three rules: seed, Unicode, Unicode with bigrams.
#[track_caller]
fn check_at(text: &str, word: &str, expected: [Option<usize>; 3]) {
    let rules = [WordRule::Seed, WordRule::Unicode, WordRule::UnicodeBigrams];
    let found = rules.map(|rule| snippet_around(text, &[word], &under(rule)).at);
    assert_eq!(found, expected, "{word:?} in {text:?}");
}

#[test]
fn whole_words_around_the_word() {
    let text = "one two three four five six";
    check(text, &["thr"], around(4, 5), Some(8), "two three");
    check(text, &["thr"], around(3, 5), Some(8), "two three");
    check(text, &["thr"], around(5, 6), Some(8), "two three four");
    check(text, &["thr"], around(1, 0), Some(8), "three");
    check(text, &["thr"], around(0, 1), Some(8), "three");
    check(text, &["one"], around(80, 120), Some(0), text);
    check(text, &["six"], around(0, 120), Some(24), "six");
    check(text, &["absent"], around(4, 5), None, "one two");
    check(text, &[], around(4, 5), None, "one two");
    check("", &["a"], around(4, 5), None, "");
}

#[test]
fn words_are_found_with_what_is_not_seen_in_them() {
    let text = "Die Text\u{ad}datei.";
    for word in ["textdatei", "TEXTDATEI", "text\u{ad}datei", "textda"] {
        for rule in [WordRule::Unicode, WordRule::UnicodeBigrams] {
            let at = snippet_around(text, &[word], &under(rule)).at;
            assert_eq!(at, Some(4), "{word:?} by {rule:?}");
        }
    }
    // Inside a run that is written without spaces, too.
    let run = "昨日図\u{ad}書\u{e0100}館で";
    for word in ["図書", "書館", "書\u{ad}館"] {
        let at = run.find(&word[..3]);
        assert_eq!(
            snippet_around(run, &[word], &under(WordRule::UnicodeBigrams)).at,
            at,
            "{word:?}"
        );
    }
    let text = "\u{1112}\u{ad}\u{1161}漢字";
    let found = snippet_around(text, &["漢字"], &under(WordRule::UnicodeBigrams));
    assert_eq!(found.at, text.find('漢'));
}

#[test]
fn sizes_are_characters() {
    check("é é é x é é é", &["x"], around(2, 2), Some(9), "é x é");
    check(
        "👩 👩 👩 x 👩 👩 👩",
        &["x"],
        around(2, 2),
        Some(15),
        "👩 x 👩",
    );
}

#[test]
fn white_space_is_one_space() {
    check(
        " a\r\n\tb\u{3000}\u{2028} c ",
        &["c"],
        around(80, 120),
        Some(13),
        "a b c",
    );
    check(
        "costs 1\u{a0}200 now",
        &["now"],
        around(5, 9),
        Some(13),
        "1\u{a0}200 now",
    );
    check(" \n ", &["c"], around(80, 120), None, "");
}

#[test]
fn words_are_found_by_their_beginning() {
    check_at("A budget. Budgets", "BUDGETS", [Some(10); 3]);
    check_at("A budget. Budgets", "budg", [Some(2); 3]);
    check_at("the debudget", "budget", [None; 3]);
    check_at("v2.10", "10", [Some(3); 3]);
    // No single word.
    check_at("please sign in here", "sign in", [None; 3]);
    check_at("don't", "don't", [None; 3]);
    check_at("a", "", [None; 3]);
    check_at("a", " ", [None; 3]);
}

#[test]
fn spelling_is_the_rules() {
    // Composed in the query, decomposed in the text, and the other way round.
    check_at("le cafe\u{301}", "café", [None, Some(3), Some(3)]);
    check_at("le café", "cafe\u{301}", [None, Some(3), Some(3)]);
    check_at("हिन्दी में", "में", [None, Some(19), Some(19)]);
    check_at("Straße STRASSE", "strasse", [Some(8); 3]);
    // Lower case that is longer than the letter leaves the offset alone.
    check_at("İ İstanbul", "i\u{307}stanbul", [Some(3); 3]);
}

#[test]
fn letters_without_spaces_are_found_inside_a_run() {
    check_at("東京都庁へ", "京都", [None, None, Some(3)]);
    check_at("東京都庁へ", "都庁へ", [None, None, Some(6)]);
    check_at("東京都庁へ", "東京", [Some(0); 3]);
    check_at("東京都庁へ", "庁", [None, None, Some(9)]);
    check_at("更新v2手順", "v2", [None, None, Some(6)]);
    check_at("更新v2手順", "2", [None; 3]);
    check_at("更新v2手順", "手順", [None, None, Some(8)]);
    // A word with others beside them: the first of its parts.
    check_at("手順 iPhone手機", "iphone手機", [Some(7); 3]);
    check_at("手機 iPhone", "iphone手機", [None, None, Some(0)]);
    // Folding changes lengths ahead of the word: voicing marks, conjoining letters.
    check_at("か\u{3099}か\u{3099}く", "く", [Some(12), None, Some(12)]);
    check_at(
        "x \u{1112}\u{1161}\u{11ab}국어",
        "국어",
        [None, None, Some(11)],
    );
    check_at(
        "x \u{1112}\u{1161}\u{11ab}국어",
        "한국",
        [None, Some(2), Some(2)],
    );
    check_at("สวัสดีครับ", "ครับ", [None, None, Some(18)]);
}

#[test]
fn a_text_without_white_space_comes_whole_unless_it_is_limited() {
    let text = "漢".repeat(1_000);
    check(&text, &["字"], SnippetAround::default(), None, &text);
    let limited = |max_chars| SnippetAround {
        max_chars: Some(max_chars),
        rule: WordRule::UnicodeBigrams,
        ..SnippetAround::default()
    };
    check(&text, &["字"], limited(50), None, &"漢".repeat(50));
    let text = format!("{}字{text}", "漢".repeat(500));
    let shown = format!("{}字{}", "漢".repeat(20), "漢".repeat(29));
    check(&text, &["字"], limited(50), Some(1_500), &shown);
    check(&text, &["字"], limited(0), Some(1_500), "");
}

#[test]
fn a_limit_cuts_words_off_and_never_a_grapheme() {
    let limited = |max_chars, before, after| SnippetAround {
        before,
        after,
        max_chars: Some(max_chars),
        rule: WordRule::Unicode,
    };
    let text = "one two three four five six";
    check(text, &["three"], limited(27, 80, 80), Some(8), text);
    check(
        text,
        &["three"],
        limited(20, 80, 80),
        Some(8),
        "one two three four",
    );
    check(text, &["three"], limited(5, 80, 80), Some(8), "three");
    check(text, &["three"], limited(5, 0, 80), Some(8), "three");
    // What one side does not need, the other gets.
    check(
        text,
        &["one"],
        limited(13, 80, 80),
        Some(0),
        "one two three",
    );
    check(
        text,
        &["six"],
        limited(13, 80, 80),
        Some(24),
        "four five six",
    );
    let family = "👩\u{200d}👩\u{200d}👧";
    check(
        &format!("x{family}"),
        &["x"],
        limited(5, 0, 9),
        Some(0),
        "x",
    );
    check(
        &format!("{family}x"),
        &["x"],
        limited(5, 9, 9),
        Some(18),
        "x",
    );
    check("xe\u{301}", &["x"], limited(2, 0, 9), Some(0), "x");
}

#[test]
fn long_texts_take_linear_time() {
    // Each would take hours if a run were folded, or walked back, once more for each word of it.
    let one_run = "漢".repeat(2_000_000);
    let options = under(WordRule::UnicodeBigrams);
    assert_eq!(snippet_around(&one_run, &["字"], &options).at, None);
    let jamo = "\u{1112}\u{1161}".repeat(500_000) + "x";
    assert_eq!(snippet_around(&jamo, &["x"], &options).at, Some(3_000_000));
    let found_last = format!("{one_run}字");
    assert_eq!(
        snippet_around(&found_last, &["字"], &options).at,
        Some(6_000_000)
    );
    let many = "a b ".repeat(500_000);
    assert_eq!(snippet_around(&many, &["c"], &options).at, None);
    let flags = "🇫🇷".repeat(200_000);
    let limited = SnippetAround {
        max_chars: Some(9),
        ..options
    };
    assert_eq!(
        snippet_around(&flags, &["c"], &limited).text,
        "🇫🇷".repeat(4)
    );
}

#[test]
fn options_in_json_keep_their_defaults() {
    use serde::Deserialize;
    use serde::de::{IntoDeserializer, value::Error, value::MapDeserializer};
    let given: [(&str, usize); 1] = [("before", 7)];
    let options = SnippetAround::deserialize(MapDeserializer::<_, Error>::new(given.into_iter()));
    assert_eq!(options, Ok(around(7, 120)));
    let unknown: [(&str, usize); 1] = [("behind", 7)];
    let refused = SnippetAround::deserialize(MapDeserializer::<_, Error>::new(unknown.into_iter()));
    assert!(refused.is_err());
    let rule: serde::de::value::StrDeserializer<'_, Error> = "unicode".into_deserializer();
    assert_eq!(
        WordRule::deserialize(rule),
        Ok(options.map_or(WordRule::Seed, |o| o.rule))
    );
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "Bc",
        "é",
        "e\u{301}",
        " ",
        " ",
        "\n",
        "\r\n",
        "\u{a0}",
        "\u{feff}",
        "漢",
        "字",
        "か",
        "\u{3099}",
        "\u{1112}",
        "\u{1161}",
        "\u{11ab}",
        "한",
        "กี",
        "\u{301}",
        "👩\u{200d}👧",
        "🇫🇷",
        "שלום",
        "İ",
        "Σ",
        "ς",
        "ß",
        "ﬁ",
        "đ",
        "ｱ",
        "ﾞ",
        "Ａ",
        "ـ",
        "كُ",
        "1",
        ".",
    ]);
    prop_oneof![
        4 => prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_word_of_a_text_is_found(text in text(), which in any::<prop::sample::Index>()) {
        for rule in &RULES[1..] {
            let rule = *rule;
            let words = rule.words(&text);
            if words.is_empty() {
                continue;
            }
            let word = &words[which.index(words.len())];
            let at = snippet_around(&text, &[word], &under(rule)).at;
            prop_assert!(at.is_some(), "{:?}: {:?} in {:?}", rule, word, text);
            // There it is, and not before.
            let here = rule.query_words(&text[at.unwrap_or(0)..]);
            prop_assert!(here[0].starts_with(word.as_str()), "{:?}: {:?} in {:?}", rule, word, text);
        }
    }

    #[test]
    fn snippets_keep_their_promises(
        text in text(),
        word in text(),
        before in 0..12_usize,
        after in 0..12_usize,
        max_chars in prop::option::of(0..20_usize),
    ) {
        for rule in RULES {
            let options = SnippetAround { before, after, max_chars, rule };
            let snippet = snippet_around(&text, &[&word], &options);
            let white = |c: char| c.is_whitespace() && !"\u{a0}\u{2007}\u{202f}".contains(c);
            // What is shown stands in the text, with its white space collapsed.
            let words: Vec<&str> = text.split(white).filter(|word| !word.is_empty()).collect();
            let collapsed = words.join(" ");
            prop_assert!(collapsed.contains(&snippet.text));
            if let Some(max_chars) = max_chars {
                prop_assert!(snippet.text.chars().count() <= max_chars);
            } else {
                // Whole words.
                for shown in snippet.text.split(' ').filter(|shown| !shown.is_empty()) {
                    prop_assert!(words.contains(&shown), "{:?} of {:?}", shown, text);
                }
            }
            if let Some(at) = snippet.at {
                prop_assert!(text.is_char_boundary(at));
            }
        }
    }

    #[test]
    fn a_limit_never_cuts_a_grapheme(text in "[ae\u{301}👩\u{200d}👧🇫🇷漢]{0,20}", max_chars in 0..20_usize) {
        let options = SnippetAround { max_chars: Some(max_chars), ..SnippetAround::default() };
        let snippet = snippet_around(&text, &["a"], &options);
        let graphemes: Vec<&str> = text.graphemes(true).collect();
        let shown: Vec<&str> = snippet.text.graphemes(true).collect();
        prop_assert!(shown.is_empty() || graphemes.windows(shown.len()).any(|part| part == shown));
    }
}
