//! The page of stores as text: written from what is to be said of each store, and read again for the
//! stores that were not run.

/// What the page says of one store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) store: String,
    pub(super) short: String,
    pub(super) does: String,
    /// Each ability and how it is served.
    pub(super) abilities: Vec<(String, String)>,
    /// Each group and how many of its cases were as expected.
    pub(super) found: Vec<(String, String)>,
    /// Case, verdict and reason of each known gap.
    pub(super) gaps: Vec<[String; 3]>,
}

const SHORTFALLS: &str = "| store | where it falls short | what the index does on it |";
const ABILITIES: &str = "| ability |";
const GROUPS: &str = "| group |";
const GAPS: &str = "| store | case | verdict | why |";

/// What a store that is on the page from an earlier run has not been asked since.
const NOT_ASKED: &str = "not run";

/// The page, with the stores in their order. `abilities` are its rows, which a store may lack.
pub(super) fn write(entries: &[Entry], abilities: &[&str], head: &str, reference: &str) -> String {
    let mut page = format!("{head}{SHORTFALLS}\n|---|---|---|\n");
    for entry in entries {
        page += &row([&entry.store, &entry.short, &entry.does]);
    }
    page += reference;
    page += "\n## What each store can do\n\n";
    page += &matrix(ABILITIES, abilities, entries, |entry| &entry.abilities);
    page += "\n## What the suite found\n\nCases as expected, of those that ran.\n\n";
    let found = entries.iter().flat_map(|entry| &entry.found);
    let mut groups: Vec<&str> = found.map(|(group, _)| group.as_str()).collect();
    groups.sort_unstable();
    groups.dedup();
    page += &matrix(GROUPS, &groups, entries, |entry| &entry.found);
    if entries.iter().any(|entry| !entry.gaps.is_empty()) {
        page += &format!("\n## Known gaps\n\n{GAPS}\n|---|---|---|---|\n");
        for entry in entries {
            for [case, verdict, why] in &entry.gaps {
                page += &row([&entry.store, case, verdict, why]);
            }
        }
    }
    page
}

/// A table of a column for each store.
fn matrix(
    header: &str,
    names: &[&str],
    entries: &[Entry],
    cells: impl Fn(&Entry) -> &Vec<(String, String)>,
) -> String {
    let mut table = header.to_owned();
    for entry in entries {
        table += &format!(" {} |", cell(&entry.store));
    }
    table += &format!("\n|---|{}\n", "---|".repeat(entries.len()));
    for name in names {
        let of_store = |entry| {
            let mut there = cells(entry).iter();
            let found = there.find(|(there, _)| there == name);
            found.map_or(NOT_ASKED.to_owned(), |(_, shown)| shown.clone())
        };
        let first = std::iter::once((*name).to_owned());
        table += &row(first.chain(entries.iter().map(of_store)));
    }
    table
}

fn row<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) -> String {
    let mut row = "|".to_owned();
    for text in cells {
        row += &format!(" {} |", cell(text.as_ref()));
    }
    row + "\n"
}

/// A text that stays in its cell.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

impl Entry {
    /// What a page says of a store, if it says anything.
    pub(super) fn read(page: &str, store: &str) -> Option<Self> {
        let [_, short, does] = rows(page, SHORTFALLS)
            .into_iter()
            .find(|row| row.first().is_some_and(|first| first == store))
            .and_then(|row| <[String; 3]>::try_from(row).ok())?;
        let gaps = rows(page, GAPS)
            .into_iter()
            .filter_map(|row| <[String; 4]>::try_from(row).ok())
            .filter(|[of, ..]| of == store)
            .map(|[_, case, verdict, why]| [case, verdict, why]);
        let mut found = column(page, GROUPS, store);
        found.retain(|(_, shown)| shown != NOT_ASKED);
        Some(Self {
            store: store.to_owned(),
            short,
            does,
            abilities: column(page, ABILITIES, store),
            found,
            gaps: gaps.collect(),
        })
    }
}

/// A store's column of a table, with the first of each row.
fn column(page: &str, header: &str, store: &str) -> Vec<(String, String)> {
    let mut rows = rows(page, header).into_iter();
    let at = rows.next().and_then(|header| {
        let mut names = header.iter();
        names.position(|name| name == store)
    });
    let Some(at) = at else {
        return Vec::new();
    };
    rows.filter_map(|row| Some((row.first()?.clone(), row.get(at)?.clone())))
        .collect()
}

/// The rows of the table that begins with a header, that one included.
fn rows(page: &str, header: &str) -> Vec<Vec<String>> {
    page.lines()
        .skip_while(|line| !line.starts_with(header))
        .take_while(|line| line.starts_with('|'))
        .filter(|line| !line.starts_with("|---"))
        .map(cells)
        .collect()
}

/// The cells of a row, as they were before they were put there.
fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in row.trim().trim_start_matches('|').chars() {
        match (c, cells.last_mut()) {
            ('|', Some(last)) if escaped => {
                last.pop();
                last.push('|');
            }
            ('|', _) => cells.push(String::new()),
            (c, Some(last)) => last.push(c),
            _ => {}
        }
        escaped = c == '\\';
    }
    // Nothing comes after the last bar.
    cells.pop();
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: &str, b: &str) -> (String, String) {
        (a.to_owned(), b.to_owned())
    }

    fn entry(store: &str, found: &[(&str, &str)]) -> Entry {
        Entry {
            store: store.to_owned(),
            short: "a | b".to_owned(),
            does: "little".to_owned(),
            abilities: vec![pair("scan", "yes"), pair("count", "exact count")],
            found: found.iter().map(|(a, b)| pair(a, b)).collect(),
            gaps: vec![["eq/text", "narrows", "so | it is"].map(str::to_owned)],
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let entries = [
            entry("one", &[("eq", "3 of 3")]),
            entry("two", &[("eq", "2 of 3"), ("in", "1 of 1")]),
        ];
        let page = write(
            &entries,
            &["scan", "count"],
            "# Stores\n\n",
            "\n| store there |\n",
        );
        for entry in &entries {
            assert_eq!(
                Entry::read(&page, &entry.store).as_ref(),
                Some(entry),
                "{page}"
            );
        }
        assert_eq!(Entry::read(&page, "three"), None);
        assert!(page.contains("| in | not run | 1 of 1 |"), "{page}");
    }
}
