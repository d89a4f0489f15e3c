//! Blocks of Markdown, line by line.

use super::clause::clause;
use super::fence::{Place, places};
use super::lines::{Line, lines};
use super::plain::block;
use super::{Block, BlockKind};

/// The blocks of a Markdown text.
///
/// Headings are lines that begin with one to six `#`, lines underlined with `=` or `-`, and
/// numbered clauses that stand alone (as in [`plain_blocks`](crate::plain_blocks)); none of them
/// in a code fence. A code fence is a block of text, whole, and so is front matter. Entries of
/// lists and rows of tables are blocks each, an entry that begins with a fence up to its end. Rules, underlines and the lines below table heads are
/// left out: the blocks hold every word of the text, in order.
///
/// This is no parser of all of Markdown: quotes, HTML and what marks words inside a line stay as
/// they are.
///
/// ```
/// use shelfward_text::{BlockKind, markdown_blocks};
///
/// let blocks = markdown_blocks("# Leave\n\n```sh\n# no heading\n```\n- one\n- two\n");
/// let kinds: Vec<BlockKind> = blocks.iter().map(|block| block.kind).collect();
/// assert_eq!(
///     kinds,
///     [BlockKind::Heading(1), BlockKind::Text, BlockKind::Item, BlockKind::Item]
/// );
/// assert_eq!(blocks[0].text, "Leave");
/// ```
#[must_use]
pub fn markdown_blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader {
        text,
        blocks: Vec::new(),
        open: None,
        in_list: false,
        in_table: false,
    };
    let lines: Vec<Line<'_>> = lines(text).collect();
    let mut in_fence = false;
    let body = front_matter(&lines);
    if let Some(last) = body.checked_sub(1).and_then(|last| lines.get(last)) {
        reader.push(BlockKind::Text, 0, last.end());
    }
    let body_lines = lines.get(body..).unwrap_or_default();
    for (at, (line, place)) in (body..).zip(body_lines.iter().zip(places(body_lines))) {
        // A fence that was open may have ended with the entry that it stood in.
        if place == Place::Opens || place == Place::Outside && in_fence {
            reader.close();
        }
        in_fence = matches!(place, Place::Opens | Place::Inside);
        if place != Place::Outside {
            let item = place == Place::Opens && is_item(line.text.trim());
            reader.extend(
                if item {
                    BlockKind::Item
                } else {
                    BlockKind::Text
                },
                *line,
            );
            if place == Place::Closes {
                reader.close();
            }
            continue;
        }
        let last = lines.get(at + 1).is_none_or(|next| is_blank(next.text));
        reader.line(*line, last);
    }
    reader.close();
    reader.blocks
}

/// A block that may go on.
struct Open {
    kind: BlockKind,
    start: usize,
    end: usize,
    lines: usize,
}

struct Reader<'a> {
    text: &'a str,
    blocks: Vec<Block>,
    open: Option<Open>,
    /// Whether the last block is an entry of a list: one may follow that stands further in.
    in_list: bool,
    /// Whether the line below a table's head was the last but for rows.
    in_table: bool,
}

impl Reader<'_> {
    /// Reads a line outside code fences. `last` says that nothing follows it directly.
    fn line(&mut self, line: Line<'_>, last: bool) {
        if is_blank(line.text) {
            self.close();
            self.in_table = false;
            return;
        }
        let content = line.text.trim();
        let indented = indentation(line.text) > 3;
        if self.in_list && is_item(content) || !indented && self.begins_item(content, last) {
            self.close();
            self.extend(BlockKind::Item, line);
        } else if indented {
            // Code, or more of what stands before.
            self.more(line);
        } else if let Some((level, title)) = atx(content) {
            self.close();
            self.heading(level, title, line.start, line.end());
        } else if let Some(level) = self.underlined(content) {
            if let Some(open) = self.open.take() {
                let title = self.text.get(open.start..open.end).unwrap_or_default();
                self.heading(level, title.trim(), open.start, line.end());
            }
        } else if is_rule(content) {
            self.close();
        } else if is_below_head(content) && self.begins_table() {
            self.in_table = true;
        } else if content.starts_with('|') || self.in_table && content.contains('|') {
            self.close();
            self.push(BlockKind::Row, line.start, line.end());
        } else if let Some(heading) = clause(line.text).filter(|_| last && self.open.is_none()) {
            self.push(heading, line.start, line.end());
        } else {
            self.more(line);
        }
    }

    /// Whether a line begins an entry of a list, and is no clause that stands alone.
    fn begins_item(&self, content: &str, last: bool) -> bool {
        let alone = last && self.open.is_none();
        is_item(content)
            && !(alone && clause(content).is_some())
            && !is_rule(content)
            && self.underlined(content).is_none()
    }

    /// The level of the heading that the open line is, if `content` underlines it.
    fn underlined(&self, content: &str) -> Option<u8> {
        let open = self.open.as_ref()?;
        if open.kind != BlockKind::Text || open.lines != 1 || content.len() < 2 {
            return None;
        }
        match content.as_bytes().first() {
            Some(b'=') if content.bytes().all(|byte| byte == b'=') => Some(1),
            Some(b'-') if content.bytes().all(|byte| byte == b'-') => Some(2),
            _ => None,
        }
    }

    /// Whether a table's head stands before; one without a bar at its start was taken for text.
    fn begins_table(&mut self) -> bool {
        let head = self.open.take_if(|open| {
            open.lines == 1
                && self
                    .text
                    .get(open.start..open.end)
                    .is_some_and(|line| line.contains('|'))
        });
        if let Some(head) = head {
            self.push(BlockKind::TableHead, head.start, head.end);
            return true;
        }
        let row = self.blocks.last_mut().filter(|_| self.open.is_none());
        let Some(row) = row.filter(|last| last.kind == BlockKind::Row) else {
            return false;
        };
        row.kind = BlockKind::TableHead;
        true
    }

    /// A line that goes on with what is open, or else begins a paragraph.
    fn more(&mut self, line: Line<'_>) {
        self.extend(BlockKind::Text, line);
    }

    /// Adds a line to the open block, or opens one of this kind.
    fn extend(&mut self, kind: BlockKind, line: Line<'_>) {
        match &mut self.open {
            Some(open) => {
                open.end = line.end();
                open.lines += 1;
            }
            None => {
                self.open = Some(Open {
                    kind,
                    start: line.start,
                    end: line.end(),
                    lines: 1,
                });
            }
        }
    }

    /// A heading without its signs, which its span covers.
    fn heading(&mut self, level: u8, title: &str, start: usize, end: usize) {
        self.in_list = false;
        if let Some(block) = block(self.text, BlockKind::Heading(level), start, end)
            && !title.is_empty()
        {
            self.blocks.push(Block {
                text: title.to_owned(),
                ..block
            });
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.push(open.kind, open.start, open.end);
        }
    }

    fn push(&mut self, kind: BlockKind, start: usize, end: usize) {
        self.in_list = kind == BlockKind::Item;
        self.blocks.extend(block(self.text, kind, start, end));
    }
}

/// How many of the first lines are front matter: a block between two lines of `---`.
fn front_matter(lines: &[Line<'_>]) -> usize {
    if lines
        .first()
        .is_none_or(|first| first.text.trim_end() != "---")
    {
        return 0;
    }
    let mut rest = lines.iter().skip(1);
    let ends = |line: &Line<'_>| matches!(line.text.trim_end(), "---" | "...");
    match rest.position(ends) {
        // Nothing in between is two rules.
        Some(length @ 1..) => length + 2,
        _ => 0,
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// How far in a line stands, a tab being four.
fn indentation(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    blanks.map(|blank| if blank == '\t' { 4 } else { 1 }).sum()
}

/// Level and title of a heading that begins with `#`.
fn atx(content: &str) -> Option<(u8, &str)> {
    let behind = content.trim_start_matches('#');
    let level = content.len() - behind.len();
    if !(1..=6).contains(&level) || !(behind.is_empty() || behind.starts_with([' ', '\t'])) {
        return None;
    }
    let title = behind.trim();
    // Signs at the end close the heading if they stand apart.
    let open = title.trim_end_matches('#');
    let title = if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim_end()
    } else {
        title
    };
    Some((u8::try_from(level).ok()?, title))
}

/// `-`, `*`, `+`, `•` or a number with a full stop or bracket, and something behind it.
fn is_item(content: &str) -> bool {
    let (mark, rest) = content.split_once([' ', '\t']).unwrap_or((content, ""));
    if matches!(mark, "-" | "*" | "+" | "•") {
        return !rest.trim().is_empty();
    }
    let number = mark.strip_suffix(['.', ')']);
    let digits = |number: &str| {
        (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    !rest.trim().is_empty() && number.is_some_and(digits)
}

/// Three or more of `*`, `-` or `_`, with blanks between them or not.
pub(super) fn is_rule(content: &str) -> bool {
    let signs = || content.chars().filter(|c| !matches!(c, ' ' | '\t'));
    let Some(sign) = signs()
        .next()
        .filter(|sign| matches!(sign, '*' | '-' | '_'))
    else {
        return false;
    };
    signs().all(|other| other == sign) && signs().count() >= 3
}

/// `|---|:--:|`: the line between the head of a table and its rows.
pub(crate) fn is_below_head(content: &str) -> bool {
    content.contains('|')
        && content.contains('-')
        && content
            .chars()
            .all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}
