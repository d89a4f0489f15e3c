//! BM25 where it is declared, by the formula.

use std::collections::BTreeMap;

use proptest::prelude::*;
use shelfward_core::{Collection, Filter, LegResult, Match};

use super::documents::{any, bare, document, empty, holding, leg, of_kind, org, search, with_bm25};
use crate::bm25::{Asked, Partition};
use crate::case::Case;
use crate::check::{holds, ids, same_ids, same_score};
use crate::context::Context;
use crate::oracle::Random;
use crate::verdict::{Checked, Finding, Verdict};

pub(super) fn cases() -> Vec<Case> {
    [
        Case::new("lexical/bm25-by-known-values", known),
        Case::new("lexical/bm25-by-the-formula", by_the_formula),
        Case::new("lexical/bm25-random", random),
        Case::new("lexical/repeated-words-add", repeated),
        Case::new(
            "lexical/scores-do-not-depend-on-the-filter",
            whatever_the_filter,
        ),
        Case::new("lexical/scores-do-not-depend-on-top-k", whatever_the_top_k),
        Case::new("lexical/texts-without-words-count", empty_texts),
        Case::new("lexical/records-without-text-do-not-count", bare_records),
        Case::new("lexical/all-scores-as-any", all_as_any),
    ]
    .map(with_bm25)
    .into()
}

/// The hits have the scores that the formula gives, best first, and are no others.
pub(super) fn same_scores(
    what: &str,
    found: &LegResult,
    expected: &BTreeMap<String, f64>,
) -> Checked {
    let wanted: Vec<&String> = expected.keys().collect();
    same_ids(what, &ids(found), &wanted)?;
    for hit in &found.hits {
        let id = hit.key.id.as_str();
        if let Some(expected) = expected.get(id) {
            same_score(&format!("{what}, {id}"), hit.score, *expected)?;
        }
    }
    if found.hits.is_sorted_by(|a, b| a.score >= b.score) {
        return Ok(());
    }
    Err(Finding::new(
        Verdict::Misorders,
        format!("{what}: scores do not fall"),
    ))
}

/// Searches of what `org` holds, judged by the formula over these texts.
pub(super) async fn judge(
    collection: &Collection,
    texts: &[(&str, &str)],
    queries: &[(&str, Match, bool)],
) -> Checked {
    let records: Vec<_> = texts.iter().map(|(id, text)| (*id, Some(*text))).collect();
    let partition = Partition {
        rule: collection.spec().word_rule,
        records: &records,
    };
    for (query, matching, prefix) in queries {
        let asked = Asked {
            query,
            matching: *matching,
            prefix: *prefix,
        };
        let found = search(collection, query, *matching, *prefix).await?;
        same_scores(query, &found, &partition.scores(asked))?;
    }
    Ok(())
}

/// The same of a collection that holds these texts and nothing else.
pub(super) async fn judged(
    context: &Context,
    texts: &[(&str, &str)],
    queries: &[(&str, Match, bool)],
) -> Checked {
    judge(&holding(context, texts).await?, texts, queries).await
}

/// Values worked out by hand: a word that every text holds, that one of two holds, that the only
/// text holds.
async fn known(context: Context) -> Checked {
    let cases: [(&[(&str, &str)], &str, f64); 4] = [
        (
            &[("a", "pink"), ("b", "pink"), ("c", "pink")],
            "pink",
            0.133_531_4,
        ),
        (
            &[("a", "rain"), ("b", "snow")],
            "rain",
            std::f64::consts::LN_2,
        ),
        (&[("a", "alone")], "alone", 0.287_682_1),
        // Said twice in the query, a word counts twice.
        (
            &[("a", "rain"), ("b", "snow")],
            "rain rain",
            2.0 * std::f64::consts::LN_2,
        ),
    ];
    for (texts, query, expected) in cases {
        let collection = holding(&context, texts).await?;
        let found = any(&collection, query).await?;
        let word = query.split(' ').next().unwrap_or_default();
        let holders: Vec<_> = texts
            .iter()
            .filter(|(_, text)| *text == word)
            .map(|(id, _)| *id)
            .collect();
        same_ids(query, &ids(&found), &holders)?;
        for hit in &found.hits {
            same_score(query, hit.score, expected)?;
        }
    }
    Ok(())
}

const WEATHER: [(&str, &str); 6] = [
    ("a", "rain in the north and rain in the south"),
    ("b", "snow in the north"),
    ("c", "wind"),
    ("d", "rain rain rain rain rain"),
    ("e", "the the the north the the the"),
    (
        "f",
        "a dry day, after all that rain and snow, with little wind",
    ),
];

async fn by_the_formula(context: Context) -> Checked {
    let any = |query| (query, Match::Any, false);
    let all = |query| (query, Match::All, false);
    let queries = [
        any("rain"),
        any("the"),
        any("rain north"),
        any("wind snow rain"),
        all("rain"),
        all("rain snow"),
        all("in the north"),
        any("nowhere rain"),
        any("nowhere"),
    ];
    judged(&context, &WEATHER, &queries).await
}

async fn repeated(context: Context) -> Checked {
    let collection = holding(&context, &WEATHER).await?;
    let queries = [
        ("rain rain", Match::Any, false),
        ("rain north rain rain", Match::Any, false),
        ("north RAIN Rain", Match::All, false),
    ];
    judge(&collection, &WEATHER, &queries).await?;
    let once = any(&collection, "wind").await?;
    let thrice = any(&collection, "wind wind wind").await?;
    for (once, thrice) in once.hits.iter().zip(&thrice.hits) {
        same_score("three times", thrice.score, 3.0 * once.score)?;
    }
    Ok(())
}

async fn whatever_the_filter(context: Context) -> Checked {
    let collection = empty(&context).await?;
    let mut documents = Vec::new();
    for (n, (id, text)) in WEATHER.iter().enumerate() {
        documents.push(document(
            "org",
            id,
            text,
            if n % 2 == 0 { "even" } else { "odd" },
        )?);
    }
    collection.upsert(&documents).await?;
    let all = any(&collection, "rain north").await?;
    for kind in ["even", "odd"] {
        let asked = leg(&collection, "rain north", Match::Any, false, of_kind(kind)?)?;
        let found = collection.search(&asked).await?;
        holds(!found.hits.is_empty(), || format!("no hit is {kind}"))?;
        for hit in &found.hits {
            let same = all.hits.iter().find(|other| other.key == hit.key);
            let unfiltered = same.map_or(f64::NAN, |other| other.score);
            same_score("under a filter", hit.score, unfiltered)?;
        }
    }
    Ok(())
}

async fn whatever_the_top_k(context: Context) -> Checked {
    let collection = holding(&context, &WEATHER).await?;
    let asked = leg(&collection, "rain north", Match::Any, false, org()?)?;
    let all = collection.search(&asked).await?;
    let scores: Vec<f64> = all.hits.iter().map(|hit| hit.score).collect();
    holds(scores.first() > scores.last(), || {
        "all scores are alike".into()
    })?;
    for top_k in 1..scores.len() {
        let found = collection.search(&asked.with_top_k(top_k)).await?;
        for (hit, score) in found.hits.iter().zip(&scores) {
            same_score("of the best", hit.score, *score)?;
        }
    }
    Ok(())
}

/// A text without words counts, with length 0.
async fn empty_texts(context: Context) -> Checked {
    let mut texts = WEATHER.to_vec();
    texts.extend([("g", "…"), ("h", "?!"), ("i", "")]);
    let collection = holding(&context, &texts).await?;
    let queries = [
        ("rain", Match::Any, false),
        ("the north", Match::All, false),
    ];
    judge(&collection, &texts, &queries).await
}

async fn bare_records(context: Context) -> Checked {
    let collection = holding(&context, &WEATHER).await?;
    let bare: Checked<Vec<_>> = ["x", "y", "z"]
        .iter()
        .map(|id| bare("org", id, "faq"))
        .collect();
    collection.upsert(&bare?).await?;
    let queries = [
        ("rain", Match::Any, false),
        ("the north", Match::All, false),
    ];
    judge(&collection, &WEATHER, &queries).await
}

async fn all_as_any(context: Context) -> Checked {
    let collection = holding(&context, &WEATHER).await?;
    let some = any(&collection, "rain north").await?;
    let every = search(&collection, "rain north", Match::All, false).await?;
    same_ids("every word", &ids(&every), &["a"])?;
    let in_both = |hit: &&shelfward_core::Hit| some.hits.iter().any(|h| h.key == hit.key);
    for hit in every.hits.iter().filter(in_both) {
        let other = some.hits.iter().find(|h| h.key == hit.key);
        same_score("as any", hit.score, other.map_or(f64::NAN, |h| h.score))?;
    }
    judge(&collection, &WEATHER, &[("rain north", Match::All, false)]).await
}

/// Texts of few words, so that they share many.
fn texts() -> impl Strategy<Value = Option<String>> {
    let word = prop::sample::select(vec![
        "rain", "rainy", "raining", "snow", "snowy", "wind", "a", "été", "日本", "24",
    ]);
    let text = prop::collection::vec(word, 0..9).prop_map(|words| words.join(" "));
    prop::option::weighted(0.85, text)
}

fn queries() -> impl Strategy<Value = (String, Match, bool)> {
    let word = prop::sample::select(vec![
        "rain", "rainy", "ra", "snow", "sn", "wind", "a", "été", "日本", "24", "nowhere",
    ]);
    let query = prop::collection::vec(word, 1..5).prop_map(|words| words.join("-"));
    let matching = prop::sample::select(vec![Match::Any, Match::All]);
    (query, matching, any_bool())
}

fn any_bool() -> impl Strategy<Value = bool> {
    proptest::bool::ANY
}

/// Sixty random queries on forty random texts, half of them under a filter.
async fn random(context: Context) -> Checked {
    let mut random = Random::new(context.seed());
    let mut records = Vec::new();
    let mut texts_of = Vec::new();
    for n in 0..40 {
        let (id, text) = (format!("r{n:02}"), random.draw(&texts())?);
        let kind = if n % 3 == 0 { "third" } else { "other" };
        let record = bare("org", &id, kind)?;
        records.push(match &text {
            Some(text) => record.with_text(text.as_str()),
            None => record,
        });
        texts_of.push((id, text, kind));
    }
    let collection = empty(&context).await?;
    collection.upsert(&records).await?;
    let pairs: Vec<_> = texts_of
        .iter()
        .map(|(id, text, _)| (id.as_str(), text.as_deref()))
        .collect();
    let partition = Partition {
        rule: collection.spec().word_rule,
        records: &pairs,
    };
    let prefixes = collection.capabilities().lexical.is_some_and(|l| l.prefix);
    let mut hits = 0;
    for n in 0..60 {
        let (query, matching, prefix) = random.draw(&queries())?;
        let asked = Asked {
            query: &query,
            matching,
            prefix: prefix && prefixes,
        };
        let mut expected = partition.scores(asked);
        let filter: Filter = if n % 2 == 0 {
            org()?
        } else {
            of_kind("third")?
        };
        if n % 2 == 1 {
            let third = |id: &String| {
                texts_of
                    .iter()
                    .any(|(i, _, kind)| i == id && *kind == "third")
            };
            expected.retain(|id, _| third(id));
        }
        let asked = leg(&collection, &query, matching, asked.prefix, filter)?.with_top_k(100);
        let found = collection.search(&asked).await?;
        hits += found.hits.len();
        let what = format!(
            "seed {}, {query:?}, {matching:?}, prefix {prefix}",
            context.seed()
        );
        same_scores(&what, &found, &expected)?;
    }
    holds(hits > 100, || {
        "the random queries find next to nothing".into()
    })
}
