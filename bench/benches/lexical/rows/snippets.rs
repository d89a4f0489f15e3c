//! Snippets beside tantivy's: what they take, and what they do not show.

use std::collections::BTreeSet;
use std::hint::black_box;

use shelfward_bench::report::{Figures, Report, Row};
use shelfward_bench::rounds::alternate;
use shelfward_lexical::SearchOptions;
use shelfward_lexical::inverted::{InvertedIndex, Term};
use shelfward_text::{Highlighter, WordRule};

use super::{Run, both};
use crate::ours::{by_id, by_number};
use crate::peers::tantivy::{Ids, NAME, Tantivy};

/// How many paragraphs a text has: a page, of which a snippet shows a small part.
const PARAGRAPHS: usize = 8;
/// How many paragraphs there are together.
const DOCUMENTS: usize = 20_000;
const MAX_CHARS: usize = 150;

/// A query, and a text that it finds.
struct Found {
    query: String,
    text: String,
}

pub(crate) fn snippets(run: &Run<'_>, report: &mut Report) {
    if run.options.ours_only {
        return;
    }
    let (paragraphs, queries) = run.of(DOCUMENTS.min(run.options.documents));
    let texts: Vec<String> = paragraphs
        .chunks(PARAGRAPHS)
        .map(|page| page.join("\n\n"))
        .collect();
    let (index, peer) = (by_id(&texts), Tantivy::new(&texts, Ids::None));
    let (counts, options) = (by_number(&texts), SearchOptions::default());
    let best = |query: &Vec<String>| {
        let query = query.join(" ");
        let hit = *index.search(&query, 1).first()?;
        let at: usize = hit.id.strip_prefix('d')?.parse().ok()?;
        let text = texts.get(at)?.clone();
        Some(Found { query, text })
    };
    let found: Vec<Found> = queries.iter().filter_map(best).collect();

    let weighed = |found: &Found| {
        let words = index.highlighter(&found.query, &options);
        words.max_chars(MAX_CHARS).snippet(&found.text)
    };
    let plain = |found: &Found| {
        let words = Highlighter::new(WordRule::Unicode, &found.query);
        words.max_chars(MAX_CHARS).snippet(&found.text)
    };
    let theirs = |found: &Found| peer.snippet(&words(&found.query), &found.text, MAX_CHARS);

    let times = alternate(
        &found,
        run.options.rounds,
        &mut [
            ("ours", &mut |found| drop(black_box(weighed(found)))),
            ("tantivy", &mut |found| drop(black_box(theirs(found)))),
        ],
    );
    let row = Row::times("a snippet of a page", texts.len(), &NAME);
    report.rows.push(row.measured(both(&times, Figures::many)));

    let by_tantivy = missed(&counts, &found, |found| theirs(found));
    let ways: [(&str, f64); 2] = [
        (
            "by rarity in the index",
            missed(&counts, &found, |found| weighed(found).text.to_string()),
        ),
        (
            "by the page alone",
            missed(&counts, &found, |found| plain(found).text.to_string()),
        ),
    ];
    for (how, ours) in ways {
        let what = format!("what snippets of a page do not show, {how}");
        report
            .rows
            .push(Row::shares(&what, texts.len(), &NAME, ours, by_tantivy).goal(1.0));
    }
}

fn words(text: &str) -> Vec<String> {
    WordRule::Unicode.words(text)
}

/// How much of what a query's words in a text are worth, by how rare they are, its snippet does not
/// hold; on average.
fn missed(counts: &InvertedIndex, all: &[Found], snippet: impl Fn(&Found) -> String) -> f64 {
    let idf = |text: &String| {
        counts.idf(Term {
            text,
            prefix: false,
        })
    };
    let share = |found: &Found| {
        let query: BTreeSet<String> = words(&found.query).into_iter().collect();
        let worth = |text: &str| -> f64 {
            let there: BTreeSet<String> = words(text).into_iter().collect();
            query.intersection(&there).map(idf).sum()
        };
        1.0 - worth(&snippet(found)) / worth(&found.text)
    };
    #[expect(clippy::cast_precision_loss, reason = "some hundred queries")]
    let count = all.len() as f64;
    all.iter().map(share).sum::<f64>() / count
}
