//! What of a text is whole by itself: paragraphs, code fences, tables.

use super::boundaries::Boundaries;
use super::spans::{Sizes, Stretch, chars, head_chars, paragraphs, slice};
use crate::blocks::fence::{Place, places};
use crate::blocks::lines::{Line, lines};
use crate::blocks::markdown::is_below_head;
use crate::span::Span;

/// The lines of a text, and which of them stand in code fences.
pub(super) struct Layout<'a> {
    text: &'a str,
    lines: Vec<Line<'a>>,
    places: Vec<Place>,
}

impl<'a> Layout<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let lines: Vec<Line<'a>> = lines(text).collect();
        let places = places(&lines);
        Self {
            text,
            lines,
            places,
        }
    }

    /// What of `text[start..end]` is not cut if it fits in a piece: by characters, what stands between
    /// blank lines; else code fences and tables beside. A table that does not fit is several.
    pub(super) fn units<'h>(
        &self,
        start: usize,
        end: usize,
        heading: Option<&'h str>,
        sizes: &Sizes,
    ) -> Vec<Stretch<'h>> {
        if sizes.boundaries == Boundaries::Characters {
            return paragraphs(self.text, start, end, heading);
        }
        let mut units = Units {
            heading,
            done: Vec::new(),
            open: None,
        };
        let mut at = self.lines.partition_point(|line| line.start < start);
        while let Some(line) = self.lines.get(at).filter(|line| line.start < end) {
            let upto = match self.places.get(at) {
                Some(Place::Opens) => self.fence_end(at, sizes),
                Some(Place::Outside) => self.table_end(at),
                _ => None,
            };
            let last = upto.and_then(|upto| self.lines.get(upto.checked_sub(1)?));
            let (Some(upto), Some(last)) = (upto, last) else {
                if line.text.trim().is_empty() {
                    units.close();
                } else {
                    units.extend(line.start, line.end());
                }
                at += 1;
                continue;
            };
            units.close();
            if self.chars(line.start, last.end()) <= sizes.max_chars {
                units.whole(line.start, last.end(), None);
            } else {
                self.rows(at, upto, sizes.max_chars, &mut units);
            }
            at = upto;
        }
        units.close();
        units.done
    }

    fn chars(&self, start: usize, end: usize) -> usize {
        chars(slice(self.text, start, end))
    }

    /// The line behind a code fence that begins with a line and fits in a piece.
    fn fence_end(&self, first: usize, sizes: &Sizes) -> Option<usize> {
        let mut inside = self.places.iter().skip(first + 1);
        let lines = inside.position(|place| *place != Place::Inside);
        let upto = match lines.map(|lines| first + 1 + lines) {
            Some(at) if self.places.get(at) == Some(&Place::Closes) => at + 1,
            Some(at) => at,
            None => self.lines.len(),
        };
        let (start, end) = (
            self.lines.get(first)?.start,
            self.lines.get(upto - 1)?.end(),
        );
        let text = slice(self.text, start, end);
        // Counted no further than it may be long.
        let fits = text.chars().nth(sizes.max_chars).is_none();
        fits.then_some(upto)
    }

    /// The line behind a table whose head a line is.
    fn table_end(&self, head: usize) -> Option<usize> {
        let holds_bar = |line: &Line<'_>| line.text.contains('|');
        let below = self.lines.get(head + 1)?;
        if !self.lines.get(head).is_some_and(holds_bar) || !is_below_head(below.text.trim()) {
            return None;
        }
        let rows = self.lines.iter().zip(&self.places).skip(head + 2);
        let rows = rows.take_while(|(line, place)| **place == Place::Outside && holds_bar(line));
        Some(head + 2 + rows.count())
    }

    /// The rows of a table that is too long: as many as fit, behind its head.
    fn rows(&self, first: usize, upto: usize, max_chars: usize, units: &mut Units<'_>) {
        let (Some(above), Some(below)) = (self.lines.get(first), self.lines.get(first + 1)) else {
            return;
        };
        let head = Span {
            start: above.start,
            end: below.end(),
        };
        let behind_head = head_chars(self.text, head);
        let mut group = head;
        let mut group_chars = behind_head - 1;
        let mut group_head = None;
        for row in self.lines.get(first + 2..upto).unwrap_or_default() {
            let row_chars = chars(row.text) + 1;
            if group_chars + row_chars <= max_chars {
                group.end = row.end();
                group_chars += row_chars;
                continue;
            }
            units.rows(self.text, group, group_head, max_chars);
            // A row is whole first of all.
            let fits = behind_head + row_chars - 1 <= max_chars;
            group_head = fits.then_some(head);
            group_chars = row_chars - 1 + if fits { behind_head } else { 0 };
            group = Span {
                start: row.start,
                end: row.end(),
            };
        }
        units.rows(self.text, group, group_head, max_chars);
    }
}

/// Units as they are found.
struct Units<'h> {
    heading: Option<&'h str>,
    done: Vec<Stretch<'h>>,
    /// A paragraph that may go on.
    open: Option<Span>,
}

impl Units<'_> {
    fn whole(&mut self, start: usize, end: usize, head: Option<Span>) {
        let whole = true;
        let stretch = Stretch::new(start, end, self.heading);
        self.done.push(Stretch {
            head,
            whole,
            ..stretch
        });
    }

    /// Rows of a table; one that is too long by itself is cut like any text.
    fn rows(&mut self, text: &str, rows: Span, head: Option<Span>, max_chars: usize) {
        let Span { start, end } = rows;
        if slice(text, start, end).chars().nth(max_chars).is_some() {
            self.done.push(Stretch::new(start, end, self.heading));
        } else {
            self.whole(start, end, head);
        }
    }

    fn extend(&mut self, start: usize, end: usize) {
        let start = self.open.map_or(start, |open| open.start);
        self.open = Some(Span { start, end });
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            let stretch = Stretch::new(open.start, open.end, self.heading);
            self.done.push(stretch);
        }
    }
}
