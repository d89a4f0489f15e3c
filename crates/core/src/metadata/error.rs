use std::fmt;

/// Why a metadata key or value was refused, and where.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("metadata at {path}: {problem}")]
pub struct MetadataError {
    path: String,
    problem: MetadataProblem,
}

crate::debug_as_chain!(MetadataError);

impl MetadataError {
    /// An error at `path`, which is a key or a key and a list position (`tags[2]`).
    ///
    /// The path is cut after 64 characters, so that a key of ten megabytes cannot fill a log.
    pub fn new(path: impl fmt::Display, problem: MetadataProblem) -> Self {
        Self {
            path: shown(&path.to_string()),
            problem,
        }
    }

    /// The key, or key and position, that was refused.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong there.
    pub fn problem(&self) -> &MetadataProblem {
        &self.problem
    }
}

/// What is wrong with a metadata key or value. Each message says what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataProblem {
    /// The key is empty.
    #[error("a key has at least 1 byte")]
    EmptyKey,
    /// The key is longer than 128 bytes.
    #[error("a key has at most 128 bytes, this one has {bytes}")]
    LongKey {
        /// The length that was given.
        bytes: usize,
    },
    /// The key holds a character that some store's query language could misread.
    #[error(
        "a key holds no {character:?}: control characters, quotes, brackets and back-quotes are refused"
    )]
    KeyCharacter {
        /// The first refused character.
        character: char,
    },
    /// The key begins with `$`, which begins operators.
    #[error("a key does not begin with `$`, which begins operators")]
    OperatorKey,
    /// The key begins with the prefix that this library keeps for itself.
    #[error(
        "keys that begin with `_shelfward_` are kept for the library's own use; choose another name"
    )]
    ReservedKey,
    /// The key is one that the library sets itself.
    #[error("this key is the library's own; {right}")]
    OwnKey {
        /// What would be right.
        right: &'static str,
    },
    /// The same key was given twice.
    #[error("the key is given twice; give it once")]
    RepeatedKey,
    /// A text holds U+0000, which not every store can hold.
    #[error("the text holds U+0000, which not every store can hold; leave it out")]
    Nul,
    /// A number is not finite.
    #[error("a number is finite; NaN and infinities are refused")]
    NotFinite,
    /// An integer is outside the range of a signed 64-bit integer.
    #[error("an integer lies within −2^63 and 2^63 − 1; send larger ones as text")]
    IntegerRange,
    /// A list mixes kinds.
    #[error("a list is all text, all numbers or all booleans; this one holds {first} and {second}")]
    MixedList {
        /// The kind of the first member.
        first: &'static str,
        /// The first other kind.
        second: &'static str,
    },
    /// An object was given as a value, or a list inside a list.
    #[error("a value is a boolean, a number, a text or a list of them; {what} cannot be held")]
    Nested {
        /// What was given.
        what: &'static str,
    },
    /// A null stands inside a list.
    #[error("a list holds no null; leave the member out")]
    NullMember,
    /// The value does not fit the kind that the collection declares for the key.
    #[error("the collection declares this key as {declared}, the value is {given}")]
    DeclaredKind {
        /// The declared kind.
        declared: &'static str,
        /// The kind of the value.
        given: &'static str,
    },
    /// The document is not an object, or not JSON at all.
    #[error("metadata is a JSON object of keys and values: {reason}")]
    NotAnObject {
        /// What the parser said.
        reason: String,
    },
}

/// At most 64 characters of `text`, for use in messages: on one line, and shown in the order that
/// it has.
pub(crate) fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(64).flat_map(escape_unseen).collect();
    if text.chars().nth(64).is_some() {
        out.push('…');
    }
    out
}

/// Escapes what breaks a line or turns the direction of what follows.
fn escape_unseen(c: char) -> Vec<char> {
    let turns = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || turns(c) {
        c.escape_default().collect()
    } else {
        vec![c]
    }
}

impl From<std::convert::Infallible> for MetadataProblem {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}
