//! Lexical search beside tantivy in memory, on one thread.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark reports"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails ends")]

mod peer;

use std::time::Duration;

use shelfward_bench::material::{documents, paragraphs, queries};
use shelfward_bench::rounds::{Times, alternate, ratio, whole};
use shelfward_core::Match;
use shelfward_lexical::{LexicalIndex, SearchOptions};
use shelfward_text::WordRule;

const TOP_K: usize = 10;

fn main() {
    let mut count = 100_000;
    let mut only = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--documents" => {
                count = arguments
                    .next()
                    .and_then(|n| n.parse().ok())
                    .unwrap_or(count)
            }
            "--only" => only = arguments.next(),
            _ => {}
        }
    }
    let (paragraphs, source) = paragraphs().unwrap();
    let documents = documents(&paragraphs, count, 1);
    let queries = queries(&documents, 300, 2);
    eprintln!(
        "{count} documents made from {source}, {} queries",
        queries.len()
    );

    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let ours = index(&documents);
    if let Some(name) = only.as_deref().and_then(|only| only.strip_prefix("ours-")) {
        let options = match name {
            "all" => SearchOptions::default().matching(Match::All),
            "prefix" => SearchOptions::default().prefix(true),
            _ => SearchOptions::default(),
        };
        let cut = |w: &String| {
            if name == "prefix" {
                w.chars().take(4).collect()
            } else {
                w.clone()
            }
        };
        let queries: Vec<String> = queries
            .iter()
            .map(|q| q.iter().map(cut).collect::<Vec<String>>().join(" "))
            .collect();
        let t = alternate(
            &queries,
            100,
            &mut [("ours", &mut |q: &String| {
                std::hint::black_box(ours.search_with(q, TOP_K, &options).unwrap());
            })],
        );
        println!("{name} {t:?}");
        return;
    }
    let theirs = peer::Peer::new(&documents);
    println!(
        "bytes: ours {} tantivy {} ratio {:.2}",
        ours.memory_bytes(),
        theirs.bytes(),
        ours.memory_bytes() as f64 / theirs.bytes() as f64
    );
    if wanted("build") {
        let times = whole(
            3,
            &mut [
                ("ours", &mut || drop(index(&documents))),
                ("tantivy", &mut || drop(peer::Peer::new(&documents))),
            ],
        );
        row("build", &times);
    }
    for (name, matching) in [("any", Match::Any), ("all", Match::All)] {
        if !wanted(name) {
            continue;
        }
        let options = SearchOptions::default().matching(matching);
        check(&ours, &queries, &options);
        let times = alternate(
            &queries,
            9,
            &mut [
                ("ours", &mut |query: &Vec<String>| {
                    let found = ours.search_with(&query.join(" "), TOP_K, &options).unwrap();
                    std::hint::black_box(found);
                }),
                ("tantivy", &mut |query: &Vec<String>| {
                    std::hint::black_box(theirs.search(query, matching, TOP_K));
                }),
            ],
        );
        row(name, &times);
    }
    if wanted("prefix") {
        let cut = |query: &Vec<String>| -> Vec<String> {
            query
                .iter()
                .map(|word| word.chars().take(4).collect())
                .collect()
        };
        let queries: Vec<Vec<String>> = queries.iter().map(cut).collect();
        let options = SearchOptions::default().prefix(true);
        check(&ours, &queries, &options);
        let times = alternate(
            &queries,
            5,
            &mut [
                ("ours", &mut |query: &Vec<String>| {
                    let found = ours.search_with(&query.join(" "), TOP_K, &options).unwrap();
                    std::hint::black_box(found);
                }),
                ("tantivy", &mut |query: &Vec<String>| {
                    std::hint::black_box(theirs.search_begun(query, TOP_K));
                }),
            ],
        );
        row("prefix", &times);
    }
}

fn index(documents: &[String]) -> LexicalIndex {
    let mut index = LexicalIndex::new(WordRule::Unicode);
    for (at, document) in documents.iter().enumerate() {
        index
            .add_document(&format!("d{at}"), document, None)
            .unwrap();
    }
    index.shrink_to_fit();
    index
}

/// The answers must be those of the plain formula.
fn check(index: &LexicalIndex, queries: &[Vec<String>], options: &SearchOptions) {
    for query in queries {
        let query = query.join(" ");
        let quick = index.search_with(&query, TOP_K, options).unwrap();
        let plain = index.search_exhaustively(&query, TOP_K, options).unwrap();
        let same = quick.len() == plain.len()
            && quick.iter().zip(&plain).all(|(a, b)| {
                (a.id == b.id || (a.score - b.score).abs() <= 1e-12 * b.score)
                    && (a.score - b.score).abs() <= 1e-12 * b.score
            });
        assert!(same, "{query}: {quick:?} {plain:?}");
    }
}

fn row(name: &str, times: &[Times]) {
    let [ours, theirs] = times else { return };
    let micros = |d: Duration| d.as_secs_f64() * 1e6;
    println!(
        "{name}: p50 {:.1} / {:.1} µs = {:.2}; p95 {:.1} / {:.1} µs = {:.2}",
        micros(ours.p50),
        micros(theirs.p50),
        ratio(ours.p50, theirs.p50),
        micros(ours.p95),
        micros(theirs.p95),
        ratio(ours.p95, theirs.p95)
    );
}
