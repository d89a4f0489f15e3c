//! The words that an index reads by itself, and where they stand.

use proptest::prelude::*;
use shelfward_lexical::fuzzy::{
    FuzzyDocument, FuzzyIndex, FuzzySearch, FuzzySettings, FuzzyWords, Tokenize,
};
use shelfward_text::WordRule;

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    FuzzyWords.each_word(text, &mut |word, span| {
        assert_eq!(span.slice(text), Some(word));
        words.push(word.to_owned());
    });
    words
}

#[test]
fn apostrophes_inside_words_are_kept() {
    for (text, expected) in [
        ("don't", &["don't"][..]),
        ("don\u{2019}t", &["don\u{2019}t"]),
        ("'quoted' words'", &["quoted", "words"]),
        ("a'b'c", &["a'b'c"]),
        ("a''b", &["a", "b"]),
        ("a'\u{2019}b", &["a", "b"]),
        ("l'e\u{301}te\u{301}", &["l'e\u{301}te\u{301}"]),
        ("e\u{301}'a", &["e\u{301}'a"]),
        ("'\u{301}a", &["a"]),
        ("a'\u{301}b", &["a", "b"]),
        ("90's", &["90's"]),
        ("\u{2018}tis", &["tis"]),
        ("x'", &["x"]),
        ("", &[]),
        ("'", &[]),
        ("\u{301}", &[]),
    ] {
        assert_eq!(words(text), expected, "{text:?}");
    }
}

#[test]
fn what_is_not_seen_stays_in_the_place_and_not_in_the_word() {
    for (text, expected) in [
        ("Text\u{ad}datei.", &["Text\u{ad}datei"][..]),
        ("\u{ad}word\u{ad}, \u{feff}word", &["word", "word"]),
        ("don\u{ad}'\u{ad}t", &["don\u{ad}'\u{ad}t"]),
        ("a\u{200b}b", &["a", "b"]),
    ] {
        assert_eq!(words(text), expected, "{text:?}");
    }
    let mut index = FuzzyIndex::new(FuzzySettings::new([("body", 1.0)])).unwrap();
    let text = "Ein Gesamt\u{ad}kon\u{ad}zept";
    index
        .add_document(FuzzyDocument::new("1").field("body", text))
        .unwrap();
    for query in [
        "Gesamtkonzept",
        "gesamt\u{ad}konzept",
        "gesamtkon",
        "Gesamtkonzebt",
    ] {
        let hits = index.search(query, &FuzzySearch::default());
        let passage = &hits[0].passages[0];
        assert_eq!(
            passage.words().collect::<Vec<_>>(),
            ["Gesamt\u{ad}kon\u{ad}zept"],
            "{query:?}"
        );
    }
}

/// As each character alone decides, and words of one letter show what it is.
#[test]
fn every_character_does_what_it_does_in_the_library_s_rule() {
    // The planes between are empty, and those behind are private.
    let planes = ('\0'..'\u{32400}').chain('\u{E0000}'..'\u{E0200}');
    for character in planes.filter(|c| !matches!(c, '\'' | '\u{2019}')) {
        let text = format!("a{character}b {character}");
        let folded: Vec<String> = words(&text)
            .iter()
            .flat_map(|word| WordRule::Unicode.words(word))
            .collect();
        assert_eq!(
            folded,
            WordRule::Unicode.words(&text),
            "U+{:04X}",
            u32::from(character)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn without_apostrophes_the_words_are_those_of_the_rule(text in ".{0,40}") {
        let text = text.replace(['\'', '\u{2019}'], " ");
        let one_by_one: Vec<String> = words(&text).iter().flat_map(|word| WordRule::Unicode.words(word)).collect();
        prop_assert_eq!(one_by_one.len(), words(&text).len());
        prop_assert_eq!(one_by_one, WordRule::Unicode.words(&text));
    }

    #[test]
    fn a_word_read_again_is_itself(text in "[a'\u{2019} e\u{301}]{0,20}") {
        for word in words(&text) {
            prop_assert_eq!(words(&word), [word]);
        }
    }
}
