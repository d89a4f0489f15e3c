//! Our words as the server's text search takes them.

use std::collections::BTreeMap;

use shelfward_adapter::error::limit;
use shelfward_core::{ErrorKind, Match, QueryWord, Text};

use crate::error::Result;

/// The last position that the server tells from later ones.
const LAST_POSITION: u16 = 16_383;
/// So many positions are kept of a word in one text.
const MAX_POSITIONS: usize = 255;
/// What the words of one text may take, with their positions.
const MAX_BYTES: usize = (1 << 20) - 1;

/// The words of a text with their positions.
fn positions(words: &[Text]) -> Result<BTreeMap<&str, Vec<u16>>> {
    let mut positions: BTreeMap<&str, Vec<u16>> = BTreeMap::new();
    for (at, word) in words.iter().enumerate() {
        let at = u16::try_from(at + 1).unwrap_or(LAST_POSITION);
        let at = at.min(LAST_POSITION);
        let of_word = positions.entry(word.as_str()).or_default();
        if of_word.len() < MAX_POSITIONS && of_word.last() != Some(&at) {
            of_word.push(at);
        }
    }
    // As the server counts: each word, and behind it, aligned, the number of its positions and they.
    let stored = |(word, positions): (&&str, &Vec<u16>)| word.len() + 3 + 2 * positions.len();
    let bytes: usize = positions.iter().map(stored).sum();
    if bytes > MAX_BYTES {
        return Err(limit("bytes of the words of one record", bytes, MAX_BYTES).into());
    }
    Ok(positions)
}

/// The words of a text with their positions, in the server's binary form.
pub(crate) fn vector(words: &[Text]) -> Result<Vec<u8>> {
    let positions = positions(words)?;
    let mut binary = Vec::new();
    let count = u32::try_from(positions.len()).map_err(|_| ErrorKind::Engine)?;
    binary.extend(count.to_be_bytes());
    for (word, positions) in positions {
        binary.extend(word.as_bytes());
        binary.push(0);
        let count = u16::try_from(positions.len()).map_err(|_| ErrorKind::Engine)?;
        binary.extend(count.to_be_bytes());
        for position in positions {
            binary.extend(position.to_be_bytes());
        }
    }
    Ok(binary)
}

/// The same as the server's text of it.
pub(crate) fn vector_text(words: &[Text]) -> Result<String> {
    let mut text = String::new();
    for (word, positions) in positions(words)? {
        text += &quoted(word);
        for (at, position) in positions.into_iter().enumerate() {
            text += if at == 0 { ":" } else { "," };
            text += &position.to_string();
        }
        text.push(' ');
    }
    Ok(text)
}

/// The query that our words make, over the column of our words; `None` where there are none.
pub(crate) fn query(words: &[QueryWord], matching: Match) -> Option<String> {
    joined(words.iter().map(|word| term(word, quoted)), matching)
}

/// The most words of a query under a text search configuration.
const MAX_WORDS: usize = 32;

/// The query that words make under a text search configuration of the server, as `to_tsquery` takes
/// it; `None` where there are none.
///
/// Of more than 32 words, any of the first 32 are looked for.
///
/// # Errors
/// [`ErrorKind::Limit`] where all of more than 32 words are asked for: to drop some would widen the
/// answer.
pub fn text_search_query(
    words: &[QueryWord],
    matching: Match,
) -> Result<Option<String>, ErrorKind> {
    let mut distinct: Vec<&QueryWord> = Vec::new();
    for word in words {
        if !distinct.iter().any(|known| known.text == word.text) {
            distinct.push(word);
        }
    }
    if distinct.len() > MAX_WORDS {
        if matching == Match::All {
            let what = "words of a query that must all match under a text search configuration";
            return Err(limit(what, distinct.len(), MAX_WORDS));
        }
        distinct.truncate(MAX_WORDS);
    }
    let plain = |word: &str| {
        if word.chars().all(char::is_alphanumeric) {
            word.to_owned()
        } else {
            quoted(word)
        }
    };
    Ok(joined(
        distinct.into_iter().map(|word| term(word, plain)),
        matching,
    ))
}

fn term(word: &QueryWord, written: impl Fn(&str) -> String) -> String {
    let mut term = written(word.text.as_str());
    if word.prefix {
        term.push_str(":*");
    }
    term
}

fn joined(terms: impl Iterator<Item = String>, matching: Match) -> Option<String> {
    let terms: Vec<String> = terms.collect();
    let operator = match matching {
        Match::All => " & ",
        _ => " | ",
    };
    (!terms.is_empty()).then(|| terms.join(operator))
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str], prefix: bool) -> Vec<QueryWord> {
        let word = |word: &&str| QueryWord::new(Text::new(*word).unwrap(), prefix);
        words.iter().map(word).collect()
    }

    #[test]
    fn words_as_a_text_are_those_of_the_binary_form() {
        let words = ["b", "it's", "b", "a\\b", " "].map(|word| Text::new(word).unwrap());
        let text = vector_text(&words).unwrap();
        assert_eq!(text, r"' ':5 'a\\b':4 'b':1,3 'it''s':2 ");
        let many = vec![words[0].clone(); 20_000];
        assert_eq!(
            vector_text(&many).unwrap().matches(',').count() + 1,
            MAX_POSITIONS
        );
    }

    #[test]
    fn words_are_quoted_and_joined() {
        let query = |w: &[&str], matching, prefix| query(&words(w, prefix), matching);
        assert_eq!(query(&[], Match::Any, false), None);
        assert_eq!(
            query(&["a'b", "c\\"], Match::All, false).as_deref(),
            Some("'a''b' & 'c\\\\'")
        );
        assert_eq!(
            query(&["plan"], Match::Any, true).as_deref(),
            Some("'plan':*")
        );
    }

    #[test]
    fn under_a_configuration_no_word_is_dropped_from_all() {
        let many: Vec<String> = (0..40).map(|n| format!("w{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let any = text_search_query(&words(&many, false), Match::Any).unwrap();
        assert_eq!(any.unwrap().split(" | ").count(), 32);
        let all = text_search_query(&words(&many, false), Match::All);
        assert!(matches!(all, Err(ErrorKind::Limit { given: 40, .. })));
        let twice = text_search_query(&words(&["ab", "cd", "ab"], true), Match::All).unwrap();
        assert_eq!(twice.as_deref(), Some("ab:* & cd:*"));
    }

    #[test]
    fn words_that_take_too_much_are_refused() {
        let word = |n: usize| Text::new(format!("{n:0>400}")).unwrap();
        let few: Vec<Text> = (0..100).map(word).collect();
        assert!(vector(&few).is_ok());
        let many: Vec<Text> = (0..3_000).map(word).collect();
        let refused = vector(&many).unwrap_err();
        assert!(matches!(
            refused,
            crate::error::Error::Kind(ErrorKind::Limit { .. })
        ));
    }
}
