//! A search box's index: words typed with a typo, or only begun.
//!
//! [`FuzzyIndex`] is made for records such as a person's notes. It finds a word that was typed with a
//! typo or only begun, ranks a match by the field it is in, and answers each hit with its matched
//! words marked and the sentences that hold them. It keeps the texts.
//!
//! ```
//! use shelfward_lexical::fuzzy::{FuzzyDocument, FuzzyIndex, FuzzySearch, FuzzySettings};
//!
//! let mut index = FuzzyIndex::new(FuzzySettings::new([("title", 10.0), ("body", 1.0)]))?;
//! index.add_documents([
//!     FuzzyDocument::new("refunds")
//!         .field("title", "Refunds")
//!         .field("body", "A refund goes back to the card that paid."),
//!     FuzzyDocument::new("shipping")
//!         .field("title", "Shipping")
//!         .field("body", "Orders ship within two business days."),
//! ])?;
//!
//! // The body's "refund" with two letters swapped: 0.5 times the weight 1.
//! let hits = index.search("refnud", &FuzzySearch::default());
//! assert_eq!(hits[0].score, 0.5);
//!
//! // The title's "Refunds" begins with "ref": 0.75 times the weight 10.
//! assert_eq!(index.search("ref", &FuzzySearch::default())[0].score, 7.5);
//!
//! let passage = &index.search("refund", &FuzzySearch::default())[0].passages[0];
//! assert_eq!(&*passage.text, "A refund goes back to the card that paid.");
//! assert_eq!(passage.words().collect::<Vec<_>>(), ["refund"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What matches, and what it counts
//!
//! | a query word and a stored word | counts |
//! |---|---|
//! | are the same | 1 |
//! | the stored word begins with the query word | 0.75 |
//! | one edit apart, both of `edit_min_length` letters or more | 0.5 |
//!
//! One edit is a letter added, dropped or changed, or two letters side by side swapped; see
//! [`within_one_edit`]. A pair that matches in several ways counts by the best.
//!
//! A document's score is, for each query word, the best of its matches: that of the highest count
//! times the weight of the field. A word that the query repeats adds each time. How rare a word is
//! plays no part.
//!
//! Words are those of [`FuzzyWords`] unless another [`Tokenize`] is given. They are compared composed
//! (NFC), in lower case, and without the accents of U+0300 to U+036F: `resume` finds `Résumé`. The
//! two apostrophes are kept, and are two letters.
//!
//! # Marks and passages
//!
//! A hit has every field of its document, with the whole words marked that any query word matches. A
//! list has marks member by member. Each is a [`Highlight`]: marks are byte spans in the text beside
//! them, which is the text as it was added, or the part of it that its `span` says.
//!
//! Passages are the first sentences or lines of the passage fields that hold marks, in the order of
//! the text and, where there are several such fields, of the settings. Sentences are those of UAX
//! #29; a line break ends one too. A sentence of more than `passage_width` characters is clipped
//! around its first mark, at white space where there is some and never inside a grapheme. A passage
//! is a stretch of the text, without dots where it was clipped. A marked word is never cut, however
//! long it is.
//!
//! # What it costs
//!
//! A look-up reads the stored words that begin with the query word, and, by a table, those near it:
//! never all words. In memory a word of up to 32 letters takes about 25 bytes for each letter, once,
//! and each document 8 bytes or a little more for each of its distinct words, beside its texts.
//! Removed documents leave postings behind until they outnumber the living; their texts go at once.

mod dictionary;
mod document;
mod edit;
mod hit;
mod index;
mod json;
mod marks;
mod neighbours;
mod passages;
mod rank;
mod saved;
mod search;
mod settings;
mod words;

pub use document::{FieldText, FuzzyDocument, FuzzyDocumentError};
pub use edit::within_one_edit;
pub use hit::{FieldHit, FuzzyHit, FuzzyRanked, MarkedField};
pub use index::FuzzyIndex;
pub use saved::FuzzyRestoreError;
pub use search::FuzzySearch;
pub use settings::{FuzzySettings, FuzzySettingsError};
pub use shelfward_core::Match;
pub use shelfward_text::Highlight;
pub use words::{FuzzyWords, Token, Tokenize};
