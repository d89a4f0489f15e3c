//! Blocks of plain text.

use super::clause::clause;
use super::lines::{Line, lines};
use super::{Block, BlockKind};

/// The blocks of a text without marks: paragraphs, which blank lines part.
///
/// A paragraph of one line of at most 120 characters that begins with the number of a clause
/// (`3.`, `3.2`, `(a)`) is a heading. The blocks hold everything but white space, in order.
///
/// ```
/// use shelfward_text::{BlockKind, plain_blocks};
///
/// let blocks = plain_blocks("3.2 Annual leave\n\nTwenty days\na year.\n");
/// assert_eq!(blocks[0].kind, BlockKind::Heading(2));
/// assert_eq!(blocks[1].text, "Twenty days\na year.");
/// ```
#[must_use]
pub fn plain_blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(Line<'_>, Line<'_>)> = None;
    let mut close = |paragraph: Option<(Line<'_>, Line<'_>)>| {
        let Some((first, last)) = paragraph else {
            return;
        };
        let one_line = first.start == last.start;
        let heading = one_line.then(|| clause(first.text)).flatten();
        let kind = heading.unwrap_or(BlockKind::Text);
        blocks.extend(block(text, kind, first.start, last.end()));
    };
    for line in lines(text) {
        if line.text.trim().is_empty() {
            close(open.take());
        } else {
            open = Some((open.map_or(line, |(first, _)| first), line));
        }
    }
    close(open);
    blocks
}

/// The block of `text[start..end]`; `None` if it is blank.
pub(super) fn block(text: &str, kind: BlockKind, start: usize, end: usize) -> Option<Block> {
    let span = crate::split::trimmed(text, start, end)?;
    Some(Block {
        kind,
        text: span.slice(text)?.to_owned(),
        span: Some(span),
    })
}
