//! The tables of the page about languages say what is so.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use shelfward::lexical::{LexicalIndex, SearchOptions};
use shelfward::text::{SnippetAround, WordRule, snippet_around};

const PAGE: &str = include_str!("../../../docs/languages.md");

/// The rows of the table whose head begins with this cell, without the line under the head.
fn table(first: &str) -> Vec<Vec<&'static str>> {
    let head = format!("| {first} |");
    let rows = PAGE.lines().skip_while(|line| !line.starts_with(&head));
    let rows = rows.take_while(|line| line.starts_with('|'));
    let cells = |row: &'static str| -> Vec<&str> {
        let cells = row.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().trim_matches('`')).collect()
    };
    let mut rows: Vec<_> = rows.map(cells).collect();
    assert!(rows.len() > 2, "the table {first:?}");
    rows.remove(1);
    rows
}

fn finds(rule: WordRule, text: &str, query: &str) -> bool {
    let mut index = LexicalIndex::new(rule);
    index.add_document("a", text, None).unwrap();
    index.add_document("b", "zzz", None).unwrap();
    // Texts of two words are asked for whole.
    let options = SearchOptions::default().matching(shelfward::Match::All);
    let found = !index.search_with(query, 10, &options).unwrap().is_empty();
    let begun = index.search_with(query, 10, &options.prefix(true)).unwrap();
    assert!(
        !found || !begun.is_empty(),
        "{query} as prefixes under {rule:?}"
    );
    if found {
        let shown = index.highlighter(query, &options).whole(text);
        assert!(!shown.marks.is_empty(), "{query} in {text} under {rule:?}");
        let around = SnippetAround {
            rule,
            ..SnippetAround::default()
        };
        let snippet = snippet_around(text, &rule.query_words(query), &around);
        assert!(snippet.at.is_some(), "{query} in {text} under {rule:?}");
    }
    found
}

#[test]
fn every_row_is_found_as_the_page_says() {
    let rows = table("script");
    let (head, rows) = rows.split_first().unwrap();
    let rule = |name: &&str| WordRule::ALL.into_iter().find(|rule| rule.name() == *name);
    let rules: Vec<_> = head[3..].iter().map(|name| rule(name).unwrap()).collect();
    assert_eq!(rules.len(), WordRule::ALL.len());
    for row in rows {
        let [script, text, query, marks @ ..] = row.as_slice() else {
            panic!("{row:?}")
        };
        assert_eq!(marks.len(), rules.len(), "{script}");
        for (rule, mark) in rules.iter().zip(marks) {
            let says = match *mark {
                "✓" => true,
                "—" => false,
                other => panic!("{other}"),
            };
            let found = finds(*rule, text, query);
            assert_eq!(found, says, "{script}: {query} in {text} under {rule:?}");
        }
    }
}

#[test]
fn letters_are_folded_as_the_page_says() {
    for row in &table("written")[1..] {
        let [written, compared] = row[..] else {
            panic!("{row:?}")
        };
        for rule in [WordRule::UnicodeFolded, WordRule::UnicodeBigramsFolded] {
            assert_eq!(rule.words(written), [compared], "{written} under {rule:?}");
        }
    }
}
