//! Capabilities in words.

use serde::{Deserialize, Serialize};
use shelfward_core::capabilities::{
    Counting, Dense, Full, Lexical, Replace, Scoring, Words, Writers,
};
use shelfward_core::filter::FilterSupport;
use shelfward_core::{Capabilities, Metric};

/// One thing that a store can or cannot do, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Ability {
    /// What it is about.
    pub name: String,
    /// How far the store can.
    pub value: String,
}

/// What a store declares, in words, always of the same things in the same order.
pub fn abilities(can: &Capabilities) -> Vec<Ability> {
    let lexical = |told: fn(Lexical) -> &'static str| can.lexical.map_or("no", told);
    let metrics: Vec<&str> = can.metrics.iter().map(|metric| named(*metric)).collect();
    let abilities = [
        ("filters evaluated by the engine", filters(&can.filter)),
        ("filters on undeclared fields", yes(can.open_fields)),
        ("dense search", dense(can.dense)),
        ("metrics", metrics.join(", ")),
        (
            "filtered searches are full",
            match can.full {
                Full::Guaranteed => "always".to_owned(),
                Full::NotPromised => "not promised".to_owned(),
            },
        ),
        (
            "lexical search",
            lexical(|lexical| match lexical.words {
                Words::Exact => "whole words, exactly",
                Words::Superset => "whole words, checked again by the library",
                _ => "by the engine's own analyser",
            })
            .to_owned(),
        ),
        (
            "prefixes",
            lexical(|lexical| if lexical.prefix { "yes" } else { "no" }).to_owned(),
        ),
        (
            "lexical scores",
            lexical(|lexical| match lexical.scoring {
                Scoring::Bm25 => "BM25",
                _ => "the engine's own",
            })
            .to_owned(),
        ),
        (
            "replace",
            match can.replace {
                Replace::Atomic => "atomic".to_owned(),
                _ => "deletes, then writes".to_owned(),
            },
        ),
        ("delete by filter", counted(can.delete_matching)),
        ("metadata in place", counted(can.update_metadata)),
        ("scan", yes(can.scan)),
        ("count", counted(can.count)),
        (
            "ordered writers",
            match can.writers {
                Writers::AllProcesses => "those of all processes".to_owned(),
                _ => "those of one process".to_owned(),
            },
        ),
        ("cancelled writes may land later", yes(can.late_writes)),
        ("kept after the process ends", yes(can.durable)),
        ("limits", limits(can)),
    ];
    let abilities = abilities.into_iter();
    abilities
        .map(|(name, value)| Ability {
            name: name.to_owned(),
            value,
        })
        .collect()
}

fn named(metric: Metric) -> &'static str {
    match metric {
        Metric::Cosine => "cosine",
        Metric::Dot => "dot product",
        _ => "Euclidean",
    }
}

fn dense(dense: Dense) -> String {
    match dense {
        Dense::Approximate { min_recall } => {
            let percent = (min_recall * 1000.0).round() / 10.0;
            format!("approximate, at least {percent} % of the nearest on average")
        }
        _ => "exact".to_owned(),
    }
}

fn filters(support: &FilterSupport) -> String {
    if *support == FilterSupport::full() {
        return "all".to_owned();
    }
    let parts = [
        ("`$ne`", support.ne),
        ("`$nin`", support.nin),
        ("number ranges", support.number_ranges),
        ("text ranges", support.text_ranges),
        ("`$exists`", support.exists),
        ("`$or`", support.or),
        ("`$not`", support.not),
    ];
    let served = parts.iter().filter(|(_, serves)| *serves);
    let served = served.map(|(name, _)| *name);
    let all: Vec<&str> = ["`$eq` `$in` `$all`"].into_iter().chain(served).collect();
    all.join(", ")
}

fn yes(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

fn counted(counting: Option<Counting>) -> String {
    match counting {
        None => "no",
        Some(Counting::Exact) => "yes, with an exact count",
        Some(Counting::AtLeast) => "yes, counting at least so many",
        Some(_) => "yes, without a count",
    }
    .to_owned()
}

fn limits(can: &Capabilities) -> String {
    let width = can.max_width.map(|width| format!("{width} dimensions"));
    let others = [
        (can.max_top_k, "hits of a search"),
        (can.max_batch, "records in a batch"),
        (can.max_metadata_bytes, "bytes of metadata"),
        (can.max_text_bytes, "bytes of text"),
    ];
    let others = others.into_iter();
    let others = others.filter_map(|(limit, of)| Some(format!("{} {of}", limit?)));
    let all: Vec<String> = width.into_iter().chain(others).collect();
    if all.is_empty() {
        "none".to_owned()
    } else {
        all.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_told_in_words_and_not_as_code() {
        let mut can = Capabilities::exact();
        can.dense = Dense::Approximate { min_recall: 0.95 };
        can.max_width = Some(2_000);
        can.lexical = None;
        let told = abilities(&can);
        let of = |name: &str| {
            &told
                .iter()
                .find(|ability| ability.name == name)
                .unwrap()
                .value
        };
        assert_eq!(
            of("dense search"),
            "approximate, at least 95 % of the nearest on average"
        );
        assert_eq!(of("lexical search"), "no");
        assert_eq!(of("limits"), "2000 dimensions");
        assert!(
            told.iter()
                .all(|ability| !ability.value.contains(['{', '_']))
        );
    }
}
