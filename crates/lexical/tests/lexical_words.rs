//! What words texts and queries have, and what is found by them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use shelfward_core::Match;
use shelfward_lexical::{
    Bm25, Bm25Tokenizer, Hit, LexicalIndex, SearchOptions, Stemmer, StopWords, Tokenizer,
    TokenizerFn,
};
use shelfward_text::WordRule;

fn index_of<T: Tokenizer>(tokenizer: T, texts: &[&str]) -> LexicalIndex<T> {
    let mut index = LexicalIndex::new(tokenizer);
    for (at, text) in texts.iter().enumerate() {
        index.add_document(&at.to_string(), text, None).unwrap();
    }
    index
}

fn ids<'a>(hits: &[Hit<'a>]) -> Vec<&'a str> {
    hits.iter().map(|hit| hit.id).collect()
}

#[test]
fn the_seeds_tokenizer() {
    let seed = Bm25Tokenizer::plain_english();
    for (text, words) in [
        (
            "Reset a password from the sign-in page.",
            &["reset", "password", "sign", "page"][..],
        ),
        (
            "x-y_z.ab,cd'ef\"gh/ij\\kl|mn",
            &["ab", "cd", "ef", "gh", "ij", "kl", "mn"],
        ),
        (
            "ab~cd`ef^gh&ij*kl%mn$op#qr@st!uv?wx",
            &[
                "ab", "cd", "ef", "gh", "ij", "kl", "mn", "op", "qr", "st", "uv", "wx",
            ],
        ),
        (
            "(ab)[cd]{ef}<gh>;ij:kl=mn+op",
            &["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op"],
        ),
        (
            "don\u{2019}t re\u{2014}do \u{201C}it\u{201D}",
            &["don\u{2019}t", "re\u{2014}do", "\u{201C}it\u{201D}"],
        ),
        ("C C++ c3", &["c3"]),
        (
            "not no nor us will may self",
            &["not", "no", "nor", "us", "will", "may", "self"],
        ),
        ("get can said must cannot", &[]),
        // One UTF-16 unit goes, a pair of them stays.
        ("図 図書 \u{1F642} é", &["図書", "\u{1F642}"]),
        // White space is ECMAScript's.
        (
            "ab\u{A0}cd\u{3000}ef\u{FEFF}gh\u{2028}ij\u{B}kl",
            &["ab", "cd", "ef", "gh", "ij", "kl"],
        ),
        ("ab\u{85}cd ef\u{200B}gh", &["ab\u{85}cd", "ef\u{200B}gh"]),
        ("ÉTÉ ΟΔΟΣ İx", &["été", "οδος", "i\u{307}x"]),
        ("", &[]),
        (" \t\r\n", &[]),
        ("!?", &[]),
    ] {
        assert_eq!(seed.words(text), words, "{text}");
    }
}

#[test]
fn by_default_no_word_is_dropped() {
    let plain = Bm25Tokenizer::default();
    assert_eq!(plain.words("The C can't"), ["the", "c", "can", "t"]);
    let without = plain.clone().stop_words(StopWords::English);
    assert_eq!(without.words("The C tests"), ["tests"]);
    let stemmed = without.stem(Stemmer::Porter);
    assert_eq!(stemmed.words("running, the RUNS"), ["run", "run"]);
    let mine = StopWords::These(HashSet::from(["tests".to_owned()]));
    assert_eq!(plain.stop_words(mine).words("The Tests"), ["the"]);
    // Porter and Porter2 part.
    let stems = |stemmer: Stemmer| Bm25Tokenizer::default().stem(stemmer).words("generously");
    assert_ne!(stems(Stemmer::Porter), stems(Stemmer::English));
    // Longer than any word of a language.
    let long = "ing".repeat(1_000);
    assert_eq!(Stemmer::Porter.stem(&long), long);
}

/// Every stemmer takes every word: what it is given need not be of its language.
#[test]
fn stemmers_take_any_word() {
    let all = [
        Stemmer::Porter,
        Stemmer::Arabic,
        Stemmer::Danish,
        Stemmer::Dutch,
        Stemmer::English,
        Stemmer::Finnish,
        Stemmer::French,
        Stemmer::German,
        Stemmer::Greek,
        Stemmer::Hindi,
        Stemmer::Hungarian,
        Stemmer::Italian,
        Stemmer::Norwegian,
        Stemmer::Portuguese,
        Stemmer::Romanian,
        Stemmer::Russian,
        Stemmer::Spanish,
        Stemmer::Swedish,
        Stemmer::Tamil,
        Stemmer::Turkish,
    ];
    let words = [
        "",
        "a",
        "s",
        "ing",
        "'",
        "''s",
        "ss",
        "yyy",
        "\u{301}",
        "\u{1F642}",
        "図書館",
        "कुत्ते",
        "الكتاب",
        "οδος",
        "книгами",
        "ev\u{307}lerimizden",
        "தமிழ்",
        "\u{0}",
        "ééés",
    ];
    for stemmer in all {
        for word in words {
            let index = index_of(
                Bm25Tokenizer::default().stem(stemmer),
                &[word, "x"].map(|w| if w.is_empty() { " " } else { w }),
            );
            let hits = index.search(word, 10).len();
            assert_eq!(
                hits,
                WordRule::Unicode.words(word).len().min(1),
                "{stemmer:?} {word}"
            );
            // A stem of a stem need not be the same, but it is one.
            let _ = stemmer.stem(&stemmer.stem(word));
        }
    }
}

#[test]
fn common_words_score_above_0() {
    for (texts, query, idf) in [
        (&["pink", "pink", "pink"][..], "pink", 0.1335),
        (&["rain", "snow"], "rain", std::f64::consts::LN_2),
        (&["only"], "only", 0.2877),
    ] {
        let index = index_of(WordRule::Unicode, texts);
        for hit in index.search(query, 10) {
            // One word, of average length, once: what is left of the formula is the idf.
            assert!((hit.score - idf).abs() < 1e-4, "{query}: {}", hit.score);
        }
    }
    assert!((Bm25::idf(3, 3) - (0.5_f64 / 3.5 + 1.0).ln()).abs() < 1e-15);
    assert!(Bm25::idf(u32::MAX, u32::MAX) > 0.0);
}

#[test]
fn words_inside_an_unspaced_run() {
    let texts = [
        "plain ASCII words",
        "昨日図書館で本を借りた",
        "更新v2手順",
        "words again",
    ];
    for (rule, library, version) in [
        // A run is one word here: what stands inside it is not found.
        (WordRule::Unicode, &[][..], &[][..]),
        (WordRule::Seed, &[], &[]),
        (WordRule::UnicodeBigrams, &["1"], &["2"]),
    ] {
        let index = index_of(rule, &texts);
        let all = SearchOptions::default().matching(Match::All);
        assert_eq!(
            ids(&index.search_with("図書館", 10, &all).unwrap()),
            library,
            "{rule:?}"
        );
        assert_eq!(ids(&index.search("v2", 10)), version, "{rule:?}");
        // Under each rule the beginning of a run is found as a prefix.
        let begun = SearchOptions::default().prefix(true).matching(Match::All);
        assert_eq!(
            ids(&index.search_with("昨日", 10, &begun).unwrap()),
            ["1"],
            "{rule:?}"
        );
        // The others score as the formula says, whatever stands beside them.
        let lengths: Vec<f64> = texts
            .iter()
            .map(|text| f64::from(u32::try_from(rule.words(text).len()).unwrap()))
            .collect();
        let average = lengths.iter().sum::<f64>() / 4.0;
        for hit in index.search("words", 10) {
            let length = lengths[hit.id.parse::<usize>().unwrap()];
            let norm = 1.2 * (0.25 + 0.75 * length / average);
            let right = Bm25::idf(4, 2) * 2.2 / (1.0 + norm);
            assert!(
                (hit.score - right).abs() <= 1e-12 * right,
                "{rule:?} {}",
                hit.id
            );
        }
    }
}

#[test]
fn signs_of_a_query_language_are_no_signs_here() {
    let texts = [
        "I don't know",
        "see POL-358",
        "at 3 GB/s",
        "ubuntu 24.04 LTS",
        "the title: x",
        "it is near",
    ];
    let all = SearchOptions::default().matching(Match::All);
    for tokenizer in [Bm25Tokenizer::default(), Bm25Tokenizer::new(WordRule::Seed)] {
        let index = index_of(tokenizer, &texts);
        for (query, found) in [
            ("don't", &["0"][..]),
            ("POL-358", &["1"]),
            ("GB/s", &["2"]),
            ("\"ubuntu 24.04\"", &["3"]),
            ("title:x", &["4"]),
            ("NEAR(", &["5"]),
            ("-near", &["5"]),
            ("near*", &["5"]),
            ("near AND NOT", &[]),
            ("\"", &[]),
            ("*", &[]),
            ("(((", &[]),
            ("\\", &[]),
            ("%", &[]),
            ("\0", &[]),
            ("-only", &[]),
        ] {
            let hits = index.search_with(query, 10, &all).unwrap();
            assert_eq!(ids(&hits), found, "{query}");
        }
    }
}

#[test]
fn without_words_nothing_is_found() {
    for empty in [false, true] {
        let index = index_of(WordRule::Unicode, if empty { &[] } else { &["a", "..."] });
        for query in [
            "",
            " ",
            "   ",
            "???",
            "\t\n",
            "\u{A0}",
            "\u{301}",
            "\u{200D}",
            "\u{1F642}",
            "z",
        ] {
            for matching in [Match::Any, Match::All] {
                for prefix in [false, true] {
                    let options = SearchOptions::default().matching(matching).prefix(prefix);
                    let hits = index.search_with(query, usize::MAX, &options).unwrap();
                    assert!(hits.is_empty(), "{query:?}");
                }
            }
        }
    }
}

/// Characters that are written in several ways, or are more than one.
#[test]
fn scripts_marks_and_emoji() {
    let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}";
    let texts = [
        "Cafe\u{301} crème",
        "שָׁלוֹם עולם",
        "مرحبا بالعالم",
        "हिन्दी में लिखा",
        family,
        "\u{202E}abc\u{202C} def",
        "\u{301}\u{302} lone",
    ];
    let index = index_of(WordRule::Unicode, &texts);
    for (query, found) in [
        ("CAFÉ", &["0"][..]),
        ("cafe", &[]),
        ("שָׁלוֹם", &["1"]),
        ("مرحبا", &["2"]),
        ("हिन्दी", &["3"]),
        (family, &[]),
        ("abc", &["5"]),
        ("\u{301}", &[]),
        ("lone\u{301}", &[]),
        ("lone", &["6"]),
    ] {
        assert_eq!(ids(&index.search(query, 10)), found, "{query}");
    }
    // Whoever wants to find emoji gives a tokenizer that has them as words.
    let by_space = TokenizerFn(|text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let index = index_of(by_space, &texts);
    assert_eq!(ids(&index.search(family, 10)), ["4"]);
    let begun = SearchOptions::default().prefix(true);
    assert_eq!(
        ids(&index.search_with("\u{1F468}\u{200D}", 10, &begun).unwrap()),
        ["4"]
    );
}

/// A tokenizer may have an empty word. It is whole, as every word that is too short for a prefix.
#[test]
fn the_empty_word_is_a_word() {
    let by_space = TokenizerFn(|text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let index = index_of(by_space, &["a b", "c  d", "e"]);
    assert_eq!(ids(&index.search("", 10)), ["1"]);
    let begun = SearchOptions::default().prefix(true);
    let begun = |query| ids(&index.search_with(query, 10, &begun).unwrap());
    assert_eq!(begun(""), ["1"]);
    assert_eq!(begun("c"), ["1"]);
}

/// A word of one letter is found wherever it stands among letters that are written without spaces, and
/// what is asked for by more letters is not found by one of them.
#[test]
fn one_letter_of_an_unspaced_run_is_a_word() {
    let texts = [
        "本を借りた",
        "日本の本",
        "新しい日本",
        "本",
        "図工の書道",
        "日本語です",
    ];
    for rule in [WordRule::UnicodeBigrams, WordRule::UnicodeBigramsFolded] {
        let index = index_of(rule, &texts);
        for options in [
            SearchOptions::default(),
            SearchOptions::default().prefix(true),
            SearchOptions::default().matching(Match::All),
        ] {
            let found = |query| {
                let mut ids = ids(&index.search_with(query, 10, &options).unwrap());
                ids.sort_unstable();
                ids
            };
            assert_eq!(found("本"), ["0", "1", "2", "3", "5"], "{options:?}");
            assert_eq!(found("日本"), ["1", "2", "5"], "{options:?}");
            assert!(found("図書館").is_empty() && found("猫").is_empty());
        }
        // As often as a text holds it.
        assert_eq!(ids(&index.search("本", 2)), ["3", "1"]);
        let shown = index.highlighter("本", &SearchOptions::default());
        assert_eq!(
            shown.whole(texts[1]).words().collect::<Vec<_>>(),
            ["本", "本"]
        );
    }
}
