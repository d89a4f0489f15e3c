//! A snippet stands in its text, is no longer than it may be, and finds every word of it.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use shelfward_text::{Highlighter, SnippetAround, WordRule, snippet_around};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    text: &'a str,
    word: &'a str,
    before: u8,
    after: u8,
    max_chars: Option<u8>,
    which: u8,
}

fuzz_target!(|input: Input<'_>| {
    for rule in WordRule::ALL {
        let options = SnippetAround {
            before: input.before.into(),
            after: input.after.into(),
            max_chars: input.max_chars.map(usize::from),
            rule,
        };
        let snippet = snippet_around(input.text, &[input.word], &options);
        assert!(snippet.at.is_none_or(|at| input.text.is_char_boundary(at)));
        if let Some(max_chars) = options.max_chars {
            assert!(snippet.text.chars().count() <= max_chars);
        }
        let query = Highlighter::new(rule, input.word).max_chars(input.before.into());
        let found = query.prefix(input.which % 2 == 0).snippet(input.text);
        assert!(found.span.slice(input.text).is_some());
        let mut end = 0;
        for mark in &found.marks {
            assert!(end <= mark.start && mark.slice(&found.text).is_some_and(|word| !word.is_empty()));
            end = mark.end;
        }
        let words = rule.words(input.text);
        if rule != WordRule::Seed && !words.is_empty() {
            let word = &words[usize::from(input.which) % words.len()];
            let at = snippet_around(input.text, &[word], &options).at;
            let here = rule.query_words(&input.text[at.expect("a word of the text is found")..]);
            assert!(here[0].starts_with(word.as_str()), "{rule:?}");
        }
    }
});
