//! Pieces along the structure of a document.

use super::SplitError;
use super::error::check_size;
use super::fixed;
use super::spans::trimmed;
use crate::blocks::{Block, BlockKind};

/// Cuts a document along its sections into texts of at most `size` characters (Unicode scalar
/// values).
///
/// A section is a heading with the blocks under it, up to the next heading of any level. One that
/// fits is one piece: its heading and blocks, each on lines of its own. A longer one is cut between
/// blocks, and a block that is longer by itself as by [`fixed`](fixed()). Its heading stands in the
/// first piece only. Sections are never joined; a heading with nothing under it goes in front of
/// the next section, or behind the last, so that no piece is a heading alone while there is
/// anything else.
///
/// ```
/// use shelfward_text::{markdown_blocks, structure};
///
/// let blocks = markdown_blocks("# Staff\n## Leave\nTwenty days.\n\nFive carry over.\n## Pay\nMonthly.");
/// assert_eq!(
///     structure(&blocks, 800)?,
///     ["Staff\nLeave\nTwenty days.\nFive carry over.", "Pay\nMonthly."]
/// );
/// # Ok::<(), shelfward_text::SplitError>(())
/// ```
///
/// # Errors
///
/// [`SplitError::NoSize`] if `size` is 0.
pub fn structure(blocks: &[Block], size: usize) -> Result<Vec<String>, SplitError> {
    check_size("size", size)?;
    let mut packer = Packer {
        size,
        pieces: Vec::new(),
        piece: String::new(),
        chars: 0,
        headings_alone: true,
    };
    for section in sections(blocks) {
        for block in section {
            packer.add(block);
        }
        packer.close();
    }
    Ok(packer.pieces)
}

/// The blocks of a document by section. Blank ones are left out.
fn sections(blocks: &[Block]) -> Vec<Vec<&Block>> {
    let mut sections: Vec<Vec<&Block>> = Vec::new();
    let mut only_headings = true;
    for block in blocks.iter().filter(|block| !block.text.trim().is_empty()) {
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

fn is_heading(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Heading(_))
}

/// How many characters a text has, each line end being one.
fn chars(text: &str) -> usize {
    text.chars().count() - text.matches("\r\n").count()
}

/// Fills pieces with whole blocks.
struct Packer {
    size: usize,
    pieces: Vec<String>,
    piece: String,
    /// How many the piece has.
    chars: usize,
    /// Whether the piece holds nothing but headings.
    headings_alone: bool,
}

impl Packer {
    fn add(&mut self, block: &Block) {
        let text = block.text.as_str();
        let text = trimmed(text, 0, text.len()).and_then(|span| span.slice(text));
        let text = text.unwrap_or_default();
        let longer = self.chars + usize::from(self.chars > 0) + chars(text);
        // A heading is not left alone: what does not fit behind it is cut with it.
        if longer > self.size && !self.headings_alone {
            self.close();
        }
        if !self.piece.is_empty() {
            self.piece.push('\n');
            self.chars += 1;
        }
        self.piece.push_str(text);
        self.chars += chars(text);
        self.headings_alone &= is_heading(block);
        if self.chars > self.size && !self.headings_alone {
            self.close();
        }
    }

    fn close(&mut self) {
        let piece = std::mem::take(&mut self.piece);
        if self.chars > self.size {
            let spans = fixed::spans(&piece, self.size).into_iter();
            let cut = spans.filter_map(|span| span.slice(&piece));
            self.pieces.extend(cut.map(str::to_owned));
        } else if !piece.is_empty() {
            self.pieces.push(piece);
        }
        self.chars = 0;
        self.headings_alone = true;
    }
}
