//! Many documents cut at once, their pieces numbered.

use super::{Pages, Piece, SplitError, Splitter};
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
    /// What was cut, with its page.
    #[serde(flatten)]
    pub piece: Piece,
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
            .field("piece", &self.piece)
            .finish()
    }
}

/// Cuts every document, and numbers the pieces of each from 0. Empty pieces are left out.
///
/// ```
/// use shelfward_text::{Document, WholeDocument, split_documents};
///
/// let documents = [Document { uri: "a.md", text: " Hello.\n", pages: None }];
/// let pieces = split_documents(&documents, &WholeDocument)?;
/// assert_eq!((pieces[0].id.as_str(), pieces[0].piece.text.as_str()), ("a.md#0", "Hello."));
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
        for (at, mut piece) in splitter.split(document.text).into_iter().enumerate() {
            if piece.span.slice(document.text).is_none() {
                return Err(SplitError::OffsetsMismatch {
                    uri: document.uri.to_owned(),
                    piece: at,
                    span: piece.span,
                });
            }
            if piece.text.is_empty() {
                continue;
            }
            if let Some(pages) = document.pages {
                piece.page = pages.page_at(piece.own.start);
            }
            pieces.push(DocumentPiece {
                id: format!("{}#{index}", document.uri),
                uri: document.uri.to_owned(),
                index,
                piece,
            });
            index += 1;
        }
    }
    Ok(pieces)
}
