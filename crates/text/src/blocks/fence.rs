//! Code fences of Markdown.

/// Whether lines stand in a code fence: what looks like a heading there is none.
///
/// A fence begins with three or more backticks or tildes, and ends with at least as many of the
/// same, or with the text.
#[derive(Default)]
pub(crate) struct Fences {
    open: Option<(char, usize)>,
}

impl Fences {
    /// Whether a fence is open behind the last line.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether `line`, the next of the text, belongs to a fence, the lines that open and close it
    /// included.
    pub(crate) fn hold(&mut self, line: &str) -> bool {
        let mark = mark(line);
        match (self.open, mark) {
            (None, None) => return false,
            // Backticks behind backticks are code in a line of text.
            (None, Some((sign, _, info))) if sign == '`' && info.contains('`') => return false,
            (None, Some((sign, length, _))) => self.open = Some((sign, length)),
            (Some((sign, least)), Some((other, length, info))) => {
                if sign == other && length >= least && info.trim().is_empty() {
                    self.open = None;
                }
            }
            (Some(_), None) => {}
        }
        true
    }
}

/// What a line may open or close a fence with: the sign, how often it stands there, and what
/// stands behind.
fn mark(line: &str) -> Option<(char, usize, &str)> {
    let unindented = line.trim_start_matches(' ');
    // Four spaces make a line code by itself.
    if line.len() - unindented.len() > 3 {
        return None;
    }
    let sign = unindented
        .chars()
        .next()
        .filter(|sign| matches!(sign, '`' | '~'))?;
    let info = unindented.trim_start_matches(sign);
    let length = unindented.len() - info.len();
    (length >= 3).then_some((sign, length, info))
}
