//! TableNames that may stand in SQL.

use std::fmt;

use shelfward_core::ErrorKind;

/// A name that may stand in SQL: lower-case letters, digits and `_`, not first a digit, at most 63
/// bytes. It is shown in double quotes, so a keyword is a name like any other.
///
/// Everything that this crate formats into a statement is one of these, a number or a quoted
/// literal; everything else is bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Identifier(String);

/// What the server keeps of a name.
const MAX_BYTES: usize = 63;

impl Identifier {
    /// A name.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] with what a name is made of.
    pub fn new(name: &str) -> Result<Self, ErrorKind> {
        let first = |c: char| c.is_ascii_lowercase() || c == '_';
        let rest = |c: char| first(c) || c.is_ascii_digit();
        if name.len() <= MAX_BYTES && name.starts_with(first) && name.chars().all(rest) {
            return Ok(Self(name.to_owned()));
        }
        Err(ErrorKind::Invalid(
            "a name in the database is 1 to 63 lower-case letters, digits and _, not first a digit"
                .to_owned(),
        ))
    }

    /// The name without quotes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Identifier {
    type Error = ErrorKind;

    fn try_from(name: String) -> Result<Self, ErrorKind> {
        Self::new(&name)
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

/// A text as SQL writes it, for statements that people run by hand. Statements of this crate bind.
pub(crate) fn literal(text: &str) -> String {
    // With a backslash, the form that means the same whatever `standard_conforming_strings` is.
    let quoted = text.replace('\'', "''");
    if quoted.contains('\\') {
        format!("E'{}'", quoted.replace('\\', "\\\\"))
    } else {
        format!("'{quoted}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_or_refused() {
        for name in ["a", "_x9", "select", &"a".repeat(63)] {
            assert_eq!(
                Identifier::new(name).unwrap().to_string(),
                format!("\"{name}\"")
            );
        }
        for name in ["", "9a", "A", "a b", "a\"", "ä", "a;", &"a".repeat(64)] {
            assert!(Identifier::new(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_literal_ends_where_it_should() {
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("a\\'b"), "E'a\\\\''b'");
    }
}
