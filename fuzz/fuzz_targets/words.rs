//! A word cut again is itself, and words are the same in any spelling of a text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfward_text::WordRule;

fuzz_target!(|text: &str| {
    for rule in [WordRule::Seed, WordRule::Unicode, WordRule::UnicodeBigrams] {
        let words = rule.words(text);
        let mut lent = 0;
        rule.for_each_word(text, |word| {
            assert_eq!(word, words[lent], "{rule:?}");
            lent += 1;
        });
        assert_eq!(lent, words.len(), "{rule:?}");
        assert_eq!(rule.words(&words.join(" ")), words, "{rule:?}");
    }
});
