//! Words, wrongly read as a query language.

use shelfward_core::{ErrorKind, QueryWord};

/// A word of a query, as a faulty leg has read it.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) text: String,
    pub(super) prefix: bool,
    /// Whether what holds it must not be found.
    pub(super) excluded: bool,
}

/// The words, joined and read as full-text engines read a query.
pub(super) fn read(words: &[QueryWord]) -> Result<Vec<Asked>, ErrorKind> {
    let mut asked = Vec::new();
    let mut excluded = false;
    for word in words {
        let text = word.text.as_str();
        match text {
            "and" | "or" | "near" => continue,
            "not" => {
                excluded = true;
                continue;
            }
            _ if text.contains(['"', '(', ')', '\'']) => return Err(ErrorKind::Engine),
            _ => {}
        }
        let bare = text.strip_prefix('-').unwrap_or(text);
        let of_a_field = bare.split_once(':').map_or(bare, |(_, word)| word);
        let stem = of_a_field.strip_suffix('*').unwrap_or(of_a_field);
        asked.push(Asked {
            text: stem.to_owned(),
            prefix: word.prefix || stem.len() < of_a_field.len(),
            excluded: excluded || bare.len() < text.len(),
        });
        excluded = false;
    }
    Ok(asked)
}
