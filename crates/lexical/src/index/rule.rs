//! The word rule that a saved index names.

use std::fmt;

use crate::tokenizer::Tokenizer;

/// A saved index holds the words of another rule, or of another version of it, than it would be
/// searched by. Some words would be found then and some not, and nothing would say so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherWordRule {
    /// The rule and version that it was made by, such as `unicode/3`; `None` if it names none, as one
    /// that was saved before rules had versions.
    pub saved: Option<String>,
    /// Those of the tokenizer that was given.
    pub asked: String,
}

impl fmt::Display for OtherWordRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a saved index must hold words by the rule ")?;
        write!(f, "{}: this one ", self.asked)?;
        match &self.saved {
            Some(saved) => write!(f, "has those of {saved:?}")?,
            None => f.write_str("names no rule, or an older release saved it")?,
        }
        f.write_str("; build it again from its texts")
    }
}

impl std::error::Error for OtherWordRule {}

/// The rule that is not named, since it is the one that a format without rules was made for.
const UNNAMED: &str = "seed/1";

/// What an index names.
pub(super) fn named(tokenizer: &impl Tokenizer) -> Option<String> {
    tokenizer.rule().filter(|rule| rule != UNNAMED)
}

/// Refuses an index of another rule than the tokenizer's.
pub(super) fn check(saved: Option<&str>, tokenizer: &impl Tokenizer) -> Result<(), OtherWordRule> {
    match tokenizer.rule() {
        Some(asked) if asked != saved.unwrap_or(UNNAMED) => Err(OtherWordRule {
            saved: saved.map(str::to_owned),
            asked,
        }),
        _ => Ok(()),
    }
}
