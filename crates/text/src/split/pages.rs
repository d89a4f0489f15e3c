//! Pages of a text that was joined from them.

/// Where the pages of a text begin, its pages having been joined by a blank line (`\n\n`).
///
/// ```
/// use shelfward_text::Pages;
///
/// let pages = Pages::joined_by_blank_lines([3, 5]); // "one\n\nthree"
/// assert_eq!(pages.page_at(0), Some(1));
/// assert_eq!(pages.page_at(5), Some(2));
/// assert_eq!(Pages::default().page_at(0), None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages {
    starts: Vec<usize>,
}

impl Pages {
    /// Pages of so many bytes each.
    #[must_use]
    pub fn joined_by_blank_lines(bytes: impl IntoIterator<Item = usize>) -> Self {
        let mut start = 0_usize;
        let starts = bytes.into_iter().map(|bytes| {
            let here = start;
            start = start.saturating_add(bytes).saturating_add(2);
            here
        });
        Self {
            starts: starts.collect(),
        }
    }

    /// The number of the page, from 1, that holds a byte offset; the line ends behind a page are
    /// its own, and what lies beyond the last page is on it. `None` if no pages are known.
    #[must_use]
    pub fn page_at(&self, offset: usize) -> Option<usize> {
        match self.starts.partition_point(|start| *start <= offset) {
            0 => None,
            page => Some(page),
        }
    }
}
