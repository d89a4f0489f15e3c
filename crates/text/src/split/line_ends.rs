//! Line ends of every kind, cut at as line feeds are.

use std::borrow::Cow;

use super::Piece;
use super::spans::Cut;
use crate::blocks::lines::lines;
use crate::span::Span;

/// A text in which every line end is a line feed, and the way back to the text as given.
///
/// What the splitters work on, so that a text is cut alike whichever system wrote it.
pub(super) struct LineFeeds<'a> {
    text: Cow<'a, str>,
    /// Behind each line end that was longer: its place in `text`, and how many bytes all line
    /// ends up to there have lost.
    shortened: Vec<(usize, usize)>,
}

impl<'a> LineFeeds<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut shortened = Vec::new();
        if !text.contains(['\r', '\u{2028}', '\u{2029}']) {
            let text = Cow::Borrowed(text);
            return Self { text, shortened };
        }
        let mut fed = String::with_capacity(text.len());
        let mut before = None;
        for line in lines(text) {
            if before.is_some() {
                fed.push('\n');
            }
            let lost = line.start - fed.len();
            if before.is_some_and(|before| lost > before) {
                shortened.push((fed.len(), lost));
            }
            before = Some(lost);
            fed.push_str(line.text);
        }
        let text = Cow::Owned(fed);
        Self { text, shortened }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where a place of this text is in the text as given.
    fn given(&self, at: usize) -> usize {
        let behind = self.shortened.partition_point(|(place, _)| *place <= at);
        let last = behind.checked_sub(1).and_then(|i| self.shortened.get(i));
        at + last.map_or(0, |(_, lost)| *lost)
    }

    pub(super) fn given_span(&self, span: Span) -> Span {
        Span {
            start: self.given(span.start),
            end: self.given(span.end),
        }
    }

    /// Pieces of this text as pieces of the text as given. `headings` says what stands above a place
    /// of this one.
    pub(super) fn given_pieces(
        &self,
        given: &str,
        cuts: Vec<Cut>,
        headings: impl Fn(usize) -> Vec<String>,
    ) -> Vec<Piece> {
        let piece = |cut: Cut| {
            let span = self.given_span(cut.span);
            let mut text = span.slice(given).unwrap_or_default().to_owned();
            if let Some(head) = cut.head.map(|head| self.given_span(head)) {
                let head = head.slice(given).unwrap_or_default();
                text = format!("{head}\n{text}");
            }
            Piece {
                text,
                span,
                own: Span {
                    start: self.given(cut.own_start),
                    ..span
                },
                headings: headings(cut.stretch_start),
                page: None,
            }
        };
        cuts.into_iter().map(piece).collect()
    }
}
