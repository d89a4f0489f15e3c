//! Many documents cut at once, their pieces numbered.

use super::{Pages, SplitError, Splitter};
use crate::span::Span;
use serde::Serialize;

/// A document to be cut.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// What it is cited by.
    pub uri: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Where its pages begin, if it has any.
    pub pages: Option<&'a Pages>,
}

/// A piece of one of several documents.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentPiece {
    /// The document and the number of the piece: `uri#index`.
    pub id: String,
    /// The document's.
    pub uri: String,
    /// The number of the piece in its document, from 0, without gaps.
    pub index: usize,
    /// The part of the document's text that `span` covers. Never empty.
    pub text: String,
    /// Where it stands in the document's text, in byte offsets.
    pub span: Span,
    /// The heading that it stands under, if it is known.
    pub heading: Option<String>,
    /// The number of the page, from 1, on which what it has of its own begins, if it is known.
    pub page: Option<usize>,
}

/// Shows sizes, never text.
impl std::fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document")
            .field("uri", &self.uri)
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

/// Shows ids and sizes, never text.
impl std::fmt::Debug for DocumentPiece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DocumentPiece")
            .field("id", &self.id)
            .field("span", &self.span)
            .finish_non_exhaustive()
    }
}

/// Cuts every document, and numbers the pieces of each from 0. Empty pieces are left out.
///
/// ```
/// use shelfward_text::{Document, WholeDocument, split_documents};
///
/// let documents = [Document { uri: "a.md", text: " Hello.\n", pages: None }];
/// let pieces = split_documents(&documents, &WholeDocument)?;
/// assert_eq!((pieces[0].id.as_str(), pieces[0].text.as_str()), ("a.md#0", "Hello."));
/// # Ok::<(), shelfward_text::SplitError>(())
/// ```
///
/// # Errors
///
/// [`SplitError::OffsetsMismatch`] if a splitter of the caller's answers a span that is not in the
/// text.
pub fn split_documents<S: Splitter + ?Sized>(
    documents: &[Document<'_>],
    splitter: &S,
) -> Result<Vec<DocumentPiece>, SplitError> {
    let mut pieces = Vec::new();
    for document in documents {
        let mut index = 0;
        for (at, piece) in splitter.split(document.text).into_iter().enumerate() {
            let Some(text) = piece.span.slice(document.text) else {
                return Err(SplitError::OffsetsMismatch {
                    uri: document.uri.to_owned(),
                    piece: at,
                    span: piece.span,
                });
            };
            if text.is_empty() {
                continue;
            }
            pieces.push(DocumentPiece {
                id: format!("{}#{index}", document.uri),
                uri: document.uri.to_owned(),
                index,
                text: text.to_owned(),
                span: piece.span,
                heading: piece.heading,
                page: document
                    .pages
                    .and_then(|pages| pages.page_at(piece.own_start)),
            });
            index += 1;
        }
    }
    Ok(pieces)
}
