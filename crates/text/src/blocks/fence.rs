//! Code fences of Markdown, those of list entries among them.

use super::lines::Line;
use super::markdown::is_rule;

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In no fence.
    Outside,
    /// It opens a fence.
    Opens,
    /// It stands in a fence that was open.
    Inside,
    /// It closes the fence.
    Closes,
}

/// Where each line of a text stands: what looks like a heading in a code fence is none.
///
/// A fence begins with three or more backticks or tildes, and ends with at least as many of the
/// same, or with the text. It may begin on the line of a list's mark, or further down in an entry,
/// as far in as the entry's text, which is counted as CommonMark does.
///
/// Such a fence ends with its entry if nothing else ends it. But people are seldom exact about how
/// far in code and the end of its fence stand, and to cut a fence in two is worse: what closes it
/// does so from less far in too, and up to there every line is in it.
pub(crate) fn places(lines: &[Line<'_>]) -> Vec<Place> {
    let signs: Vec<(usize, Rest<'_>)> = lines
        .iter()
        .map(|line| Rest::of(line.text).behind_marks())
        .enumerate()
        .filter(|(_, rest)| rest.signs().is_some())
        .collect();
    let mut reader = Reader::default();
    let mut passed = 0;
    let place = |(at, line): (usize, &Line<'_>)| {
        while signs.get(passed).is_some_and(|(sign, _)| *sign <= at) {
            passed += 1;
        }
        reader.place(line.text, signs.get(passed..).unwrap_or_default())
    };
    lines.iter().enumerate().map(place).collect()
}

/// Reads lines one by one.
#[derive(Default)]
struct Reader {
    /// The columns that the texts of the open entries of lists begin at, the outermost first.
    entries: Vec<usize>,
    open: Option<Fence>,
    /// Whether the last line is text that the next one may go on with.
    in_text: bool,
}

struct Fence {
    sign: char,
    length: usize,
    /// The column that the text of its entry begins at, 0 outside of lists.
    base: usize,
    /// Whether a line further down is known to close it.
    is_closed: bool,
}

impl Reader {
    /// Where `line` stands; `ahead` are the lines behind it that may open or close a fence.
    fn place(&mut self, line: &str, ahead: &[(usize, Rest<'_>)]) -> Place {
        let rest = Rest::of(line);
        if let Some(fence) = &mut self.open {
            if fence.is_closed_by(rest) {
                self.open = None;
                return Place::Closes;
            }
            if rest.text.is_empty() || rest.column >= fence.base || fence.will_be_closed(ahead) {
                return Place::Inside;
            }
            self.open = None;
        }
        if rest.text.is_empty() {
            self.in_text = false;
            return Place::Outside;
        }
        let rest = self.enter(rest);
        let opened = rest.opened();
        self.in_text = opened.is_none() && !rest.text.is_empty() && !rest.is_own_block();
        let Some((sign, length)) = opened else {
            return Place::Outside;
        };
        self.open = Some(Fence {
            sign,
            length,
            base: self.entries.last().copied().unwrap_or(0),
            is_closed: false,
        });
        Place::Opens
    }

    /// Leaves the entries that a line outside fences does not stand in and enters those that it
    /// begins. What follows their marks is answered.
    fn enter<'a>(&mut self, mut rest: Rest<'a>) -> Rest<'a> {
        let inside = |content: &&usize| rest.column >= **content;
        let held = self.entries.iter().take_while(inside).count();
        rest.base = self
            .entries
            .iter()
            .take(held)
            .next_back()
            .copied()
            .unwrap_or(0);
        let starts = rest.entry().is_some() || rest.opened().is_some() || rest.is_own_block();
        // Text goes on wherever its next line stands.
        if !self.in_text || starts {
            let mut goes_on = self.in_text && held == self.entries.len();
            self.entries.truncate(held);
            for _ in 0..MOST_MARKS {
                let Some(entry) = rest.entry().filter(|e| !goes_on || e.may_follow_text) else {
                    break;
                };
                self.entries.push(entry.rest.base);
                rest = entry.rest;
                goes_on = false;
            }
        }
        rest
    }
}

impl Fence {
    fn is_closed_by(&self, line: Rest<'_>) -> bool {
        let signs = line.text.trim_end();
        line.column <= self.base + DEEPEST
            && signs.chars().all(|sign| sign == self.sign)
            && signs.chars().count() >= self.length
    }

    /// Whether one of the next lines with signs closes it, ahead of any that would open another.
    fn will_be_closed(&mut self, ahead: &[(usize, Rest<'_>)]) -> bool {
        let decides = |rest: &Rest<'_>| {
            let signs = rest.signs();
            signs.is_some_and(|(sign, length)| sign == self.sign && length >= self.length)
        };
        // No further, so that no text makes this slow.
        let mut ahead = ahead.iter().take(32).map(|(_, rest)| *rest);
        self.is_closed = self.is_closed
            || ahead
                .find(decides)
                .is_some_and(|rest| self.is_closed_by(rest));
        self.is_closed
    }
}

/// Marks of lists that are read on one line, which costs a look at all of it for each.
const MOST_MARKS: usize = 32;

/// What stands further in is code by itself.
const DEEPEST: usize = 3;

/// What is left of a line, from its first character that is no blank.
#[derive(Clone, Copy)]
struct Rest<'a> {
    text: &'a str,
    /// The column of that character; a tab goes to the next multiple of four.
    column: usize,
    /// The column that the text of the entry begins at, 0 outside of lists.
    base: usize,
}

impl<'a> Rest<'a> {
    fn of(line: &'a str) -> Self {
        let whole = Self {
            text: line,
            column: 0,
            base: 0,
        };
        whole.unblanked()
    }

    fn unblanked(self) -> Self {
        let text = self.text.trim_start_matches([' ', '\t']);
        let blanks = self.text.len() - text.len();
        let column = self
            .text
            .bytes()
            .take(blanks)
            .fold(self.column, |column, blank| {
                if blank == b'\t' {
                    column / 4 * 4 + 4
                } else {
                    column + 1
                }
            });
        // White space of other kinds is no text either.
        let text = if text.trim().is_empty() { "" } else { text };
        Self {
            text,
            column,
            ..self
        }
    }

    /// Whether it stands so far in that it is code by itself.
    fn is_code(&self) -> bool {
        self.column > self.base + DEEPEST
    }

    /// The sign and number of signs of a fence that is opened or closed here, however far in.
    fn signs(&self) -> Option<(char, usize)> {
        let sign = self
            .text
            .chars()
            .next()
            .filter(|sign| matches!(sign, '`' | '~'))?;
        let info = self.text.trim_start_matches(sign);
        let length = self.text.len() - info.len();
        // Backticks behind backticks are code in a line of text.
        let inline = sign == '`' && info.contains('`');
        (length >= 3 && !inline).then_some((sign, length))
    }

    /// The sign and number of signs of the fence that is opened here.
    fn opened(&self) -> Option<(char, usize)> {
        self.signs().filter(|_| !self.is_code())
    }

    /// The entry of a list that begins here.
    fn entry(&self) -> Option<Entry<'a>> {
        if self.is_code() || is_rule(self.text) {
            return None;
        }
        let mark = self.text.split([' ', '\t']).next()?;
        let number = mark.strip_suffix(['.', ')']).filter(|number| {
            (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        if !matches!(mark, "-" | "*" | "+" | "•") && number.is_none() {
            return None;
        }
        let wide = self.column + mark.chars().count();
        let behind = Self {
            text: self.text.get(mark.len()..)?,
            column: wide,
            base: wide + 1,
        };
        let mut rest = behind.unblanked();
        // In front of code, or of nothing, the text begins one column behind the mark.
        if !rest.is_code() && !rest.text.is_empty() {
            rest.base = rest.column;
        }
        Some(Entry {
            rest,
            may_follow_text: number.is_none_or(|number| number == "1") && !rest.text.is_empty(),
        })
    }

    /// What stands behind the marks of lists, however far in.
    fn behind_marks(self) -> Self {
        let mut rest = Self {
            base: self.column,
            ..self
        };
        for _ in 0..MOST_MARKS {
            let Some(entry) = rest.entry() else { break };
            rest = entry.rest;
        }
        rest
    }

    /// Whether it is a heading, a rule or a quote, which go on with no text and which no text goes
    /// on with.
    fn is_own_block(&self) -> bool {
        if self.is_code() {
            return false;
        }
        let level = self.text.len() - self.text.trim_start_matches('#').len();
        let behind = self.text.get(level..).unwrap_or_default();
        let heading =
            (1..=6).contains(&level) && (behind.is_empty() || behind.starts_with([' ', '\t']));
        heading || is_rule(self.text) || self.text.starts_with('>')
    }
}

/// The beginning of an entry of a list.
struct Entry<'a> {
    /// What stands behind its mark; its base is the column that the entry's text begins at.
    rest: Rest<'a>,
    /// Whether one that begins so may follow text directly: an empty one may not, and of numbers
    /// only the first.
    may_follow_text: bool,
}
