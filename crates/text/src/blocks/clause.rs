//! Numbered lines of contracts and rules.

use super::BlockKind;

/// A longer line is a sentence that begins with a number.
const MOST_CHARS: usize = 120;

/// The heading that a line standing alone is if it begins with the number of a clause: `3.`,
/// `3.2`, `(a)`.
///
/// A number has the level of its depth. What stands in brackets is the lowest of headings: how
/// deep it is, it does not say.
pub(super) fn clause(line: &str) -> Option<BlockKind> {
    if line.chars().nth(MOST_CHARS).is_some() {
        return None;
    }
    let line = line.trim();
    let (number, title) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if number.is_empty() {
        return None;
    }
    let level = bracketed(number).or_else(|| numbered(number))?;
    // `1.` and `(a)` may have their title in the next block, a bare `3.2` is just a number.
    if title.is_empty() && !number.ends_with(['.', ')']) {
        return None;
    }
    Some(BlockKind::Heading(level))
}

/// `3.`, `3.2`, `3.2.`, with up to three digits each: a year is no clause.
fn numbered(number: &str) -> Option<u8> {
    let parts = number.strip_suffix('.').unwrap_or(number).split('.');
    let is_part =
        |part: &str| (1..=3).contains(&part.chars().count()) && part.chars().all(char::is_numeric);
    if !number.contains('.') || !parts.clone().all(is_part) {
        return None;
    }
    u8::try_from(parts.count()).ok().map(|depth| depth.min(9))
}

/// `(a)`, `(iv)`, `(12)`.
fn bracketed(number: &str) -> Option<u8> {
    let inside = number.strip_prefix('(')?.strip_suffix(')')?;
    let short = (1..=4).contains(&inside.chars().count());
    (short && inside.chars().all(char::is_alphanumeric)).then_some(9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses() {
        let cases = [
            ("3. Leave", Some(1)),
            ("3.", Some(1)),
            ("3.2 Annual leave", Some(2)),
            ("3.2.1. Carry-over", Some(3)),
            (" (a) in writing", Some(9)),
            ("(iv)", Some(9)),
            ("(א) כותרת", Some(9)),
            ("3 Leave", None),
            ("3.2", None),
            ("2024. A year", None),
            ("3.x Leave", None),
            ("3.. Leave", None),
            (". Leave", None),
            ("(see above) Leave", None),
            ("() Leave", None),
            ("", None),
            (" ", None),
        ];
        for (line, level) in cases {
            assert_eq!(clause(line), level.map(BlockKind::Heading), "{line:?}");
        }
        let title = |chars: usize| format!("3. {}", "x".repeat(chars - 3));
        assert!(clause(&title(120)).is_some() && clause(&title(121)).is_none());
    }
}
