//! The places of matched words in a text.

use shelfward_text::Span;

use super::words::{Tokenize, fold};

/// The places of the words of `text` whose folded form is matched, in order, with those that
/// overlap made one. A tokenizer of pairs of letters answers such places.
pub(super) fn marks(
    text: &str,
    tokenizer: &dyn Tokenize,
    matched: impl Fn(&str) -> bool,
) -> Vec<Span> {
    let mut places = Vec::new();
    let mut folded = String::new();
    tokenizer.each_word(text, &mut |word, span| {
        fold(word, &mut folded);
        let real = span.slice(text).is_some_and(|stretch| !stretch.is_empty());
        if real && matched(&folded) {
            places.push(span);
        }
    });
    places.sort_unstable();
    let mut joined: Vec<Span> = Vec::with_capacity(places.len());
    for place in places {
        match joined.last_mut() {
            Some(last) if place.start < last.end => last.end = last.end.max(place.end),
            _ => joined.push(place),
        }
    }
    joined
}
