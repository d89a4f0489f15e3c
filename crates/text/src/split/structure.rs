//! Pieces along the structure of a document.

use super::boundaries::Boundaries;
use super::error::check_size;
use super::fixed;
use super::spans::trimmed;
use super::{Piece, SplitError};
use crate::blocks::{Block, BlockKind};
use crate::span::Span;

/// Cuts a document along its sections into texts of at most `size` characters (Unicode scalar
/// values).
///
/// A section is a heading with the blocks under it, up to the next heading of any level. One that
/// fits is one piece: its heading and blocks, each on lines of its own. A longer one is cut between
/// blocks, and a block that is longer by itself as by [`fixed`](fixed()). Its heading stands in the
/// first piece only; the head of a table stands in front of the rows that the table goes on with,
/// where both fit. Sections are never joined; a heading with nothing under it goes in front of
/// the next section, or behind the last, so that no piece is a heading alone while there is
/// anything else.
///
/// A piece's span covers its blocks in the document that they were read from. Where a block does not
/// say where it stands, as those of a file that is no text, spans are places in the texts of all
/// blocks, joined by line feeds.
///
/// ```
/// use shelfward_text::{markdown_blocks, structure};
///
/// let text = "# Staff\n## Leave\nTwenty days.\n\nFive carry over.\n## Pay\nMonthly.";
/// let pieces = structure(&markdown_blocks(text), 800)?;
/// assert_eq!(pieces[0].text, "Staff\nLeave\nTwenty days.\nFive carry over.");
/// assert_eq!(pieces[1].headings, ["Staff", "Pay"]);
/// assert_eq!(pieces[1].span.slice(text), Some("## Pay\nMonthly."));
/// # Ok::<(), shelfward_text::SplitError>(())
/// ```
///
/// # Errors
///
/// [`SplitError::NoSize`] if `size` is 0.
pub fn structure(blocks: &[Block], size: usize) -> Result<Vec<Piece>, SplitError> {
    check_size("size", size)?;
    let mut packer = Packer {
        size,
        pieces: Vec::new(),
        piece: String::new(),
        parts: Vec::new(),
        chars: 0,
        headings_alone: true,
        above: Vec::new(),
        head: None,
    };
    for section in sections(&placed(blocks)) {
        for block in section {
            packer.add(block);
        }
        packer.close();
        packer.head = None;
    }
    Ok(packer.pieces)
}

/// A block and its place.
#[derive(Clone, Copy)]
struct Placed<'a> {
    kind: BlockKind,
    text: &'a str,
    span: Span,
}

/// The blocks that are not blank, without white space at their ends.
fn placed(blocks: &[Block]) -> Vec<Placed<'_>> {
    let known = blocks.iter().all(|block| block.span.is_some());
    let mut joined = 0;
    let place = |block: &'_ Block| {
        let start = joined;
        joined += block.text.len() + 1;
        let inside = trimmed(&block.text, 0, block.text.len())?;
        let own = block.span.filter(|_| known);
        Some((own, start, inside))
    };
    let places: Vec<_> = blocks.iter().map(place).collect();
    let placed = blocks.iter().zip(places).filter_map(|(block, place)| {
        let (own, start, inside) = place?;
        Some(Placed {
            kind: block.kind,
            text: inside.slice(&block.text)?,
            span: own.unwrap_or(Span {
                start: start + inside.start,
                end: start + inside.end,
            }),
        })
    });
    placed.collect()
}

/// The blocks of a document by section.
fn sections<'a, 'b>(blocks: &'b [Placed<'a>]) -> Vec<Vec<&'b Placed<'a>>> {
    let mut sections: Vec<Vec<&Placed<'a>>> = Vec::new();
    let mut only_headings = true;
    for block in blocks {
        let heading = is_heading(block);
        match sections.last_mut() {
            Some(section) if !heading || only_headings => section.push(block),
            _ => {
                sections.push(vec![block]);
                only_headings = true;
            }
        }
        only_headings &= heading;
    }
    // Headings at the very end have nothing to stand in front of.
    if sections.len() > 1
        && only_headings
        && let Some(headings) = sections.pop()
        && let Some(last) = sections.last_mut()
    {
        last.extend(headings);
    }
    sections
}

fn is_heading(block: &Placed<'_>) -> bool {
    matches!(block.kind, BlockKind::Heading(_))
}

/// How many characters a text has, each line end being one.
fn chars(text: &str) -> usize {
    text.chars().count() - text.matches("\r\n").count()
}

/// Fills pieces with whole blocks.
struct Packer<'a> {
    size: usize,
    pieces: Vec<Piece>,
    piece: String,
    /// Where the blocks of the piece begin in it, and where they stand in the document.
    parts: Vec<(usize, Span)>,
    /// How many the piece has.
    chars: usize,
    /// Whether the piece holds nothing but headings.
    headings_alone: bool,
    /// The headings above, with their levels.
    above: Vec<(u8, &'a str)>,
    /// The head of the table that the last row is of.
    head: Option<&'a str>,
}

impl<'a> Packer<'a> {
    fn add(&mut self, block: &Placed<'a>) {
        let length = chars(block.text);
        let longer = self.chars + usize::from(self.chars > 0) + length;
        // A heading is not left alone: what does not fit behind it is cut with it.
        if longer > self.size && !self.headings_alone {
            self.close();
        }
        match block.kind {
            BlockKind::Heading(level) => {
                self.above.retain(|(above, _)| *above < level);
                self.above.push((level, block.text));
            }
            BlockKind::TableHead => self.head = Some(block.text),
            BlockKind::Row => {
                let head = self.head.filter(|_| self.piece.is_empty());
                if let Some(head) = head.filter(|head| chars(head) + 1 + length <= self.size) {
                    self.push(head);
                }
            }
            BlockKind::Text | BlockKind::Item => self.head = None,
        }
        self.push(block.text);
        let begins = self.piece.len() - block.text.len();
        self.parts.push((begins, block.span));
        self.headings_alone &= is_heading(block);
        if self.chars > self.size && !self.headings_alone {
            self.close();
        }
    }

    fn push(&mut self, text: &str) {
        if !self.piece.is_empty() {
            self.piece.push('\n');
            self.chars += 1;
        }
        self.piece.push_str(text);
        self.chars += chars(text);
    }

    fn close(&mut self) {
        let piece = std::mem::take(&mut self.piece);
        let spans = match self.chars {
            0 => Vec::new(),
            fits if fits <= self.size => vec![Span {
                start: 0,
                end: piece.len(),
            }],
            _ => fixed::spans(&piece, self.size, Boundaries::Words),
        };
        let headings: Vec<String> = self
            .above
            .iter()
            .map(|(_, text)| (*text).to_owned())
            .collect();
        for part in spans {
            let span = self.place(&piece, part);
            self.pieces.push(Piece {
                text: part.slice(&piece).unwrap_or_default().to_owned(),
                span,
                own: span,
                headings: headings.clone(),
                page: None,
            });
        }
        self.parts.clear();
        self.chars = 0;
        self.headings_alone = true;
    }

    /// Where a part of a piece stands in the document: exactly, but for a heading, which is whole.
    fn place(&self, piece: &str, part: Span) -> Span {
        let behind = self
            .parts
            .partition_point(|(begins, _)| *begins <= part.start);
        let first = behind.saturating_sub(1);
        let ends = self
            .parts
            .iter()
            .skip(first + 1)
            .map(|(begins, _)| *begins - 1);
        let ends = ends.chain([piece.len()]);
        let inside = self.parts.iter().skip(first).zip(ends);
        let inside = inside.take_while(|((begins, _), _)| *begins < part.end);
        let places = inside.map(|((begins, span), end)| {
            if end - begins != span.end - span.start {
                return *span;
            }
            Span {
                start: span.start + part.start.saturating_sub(*begins),
                end: span.start + part.end.min(end) - begins,
            }
        });
        let covered = places.reduce(|all, next| Span {
            start: all.start.min(next.start),
            end: all.end.max(next.end),
        });
        covered.unwrap_or(Span { start: 0, end: 0 })
    }
}
