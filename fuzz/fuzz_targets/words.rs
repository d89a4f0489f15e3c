//! A word asked for is itself, and a text holds every word that is asked for by it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfward_text::WordRule;

fuzz_target!(|text: &str| {
    for rule in WordRule::ALL {
        let words = rule.words(text);
        let mut lent = 0;
        rule.for_each_word(text, |word| {
            assert_eq!(word, words[lent], "{rule:?}");
            lent += 1;
        });
        assert_eq!(lent, words.len(), "{rule:?}");
        let asked = rule.query_words(text);
        assert!(asked.iter().all(|word| words.contains(word)), "{rule:?}");
        assert_eq!(rule.query_words(&asked.join(" ")), asked, "{rule:?}");
    }
});
