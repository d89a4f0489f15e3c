//! BM25 where it is declared, by the formula.

use std::collections::BTreeMap;

use proptest::prelude::*;
use shelfward_core::{Collection, LegResult, Match};

use super::documents::{bare, document, empty, holding, leg, of_kind, org, search, with_bm25};
use crate::bm25::{Partition, Query, Score};
use crate::case::Case;
use crate::check::{holds, ids, is_same_score, same_ids, same_score};
use crate::context::Context;
use crate::oracle::Random;
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    let whatever = "lexical/scores-do-not-depend-on-the-filter";
    [
        Case::new("lexical/bm25-by-known-values", known),
        Case::new("lexical/bm25-by-the-formula", by_the_formula),
        Case::new("lexical/bm25-random", random),
        Case::new("lexical/repeated-words-add", repeated),
        Case::new(whatever, whatever_the_filter),
        Case::new("lexical/scores-do-not-depend-on-top-k", whatever_the_top_k),
        Case::new("lexical/texts-without-words-count", empty_texts),
        Case::new("lexical/records-without-text-do-not-count", bare_records),
        Case::new("lexical/all-scores-as-any", all_as_any),
    ]
    .map(with_bm25)
    .into()
}

/// The hits have the scores that the formula gives, best first, and are no others.
fn same_scores(what: &str, found: &LegResult, expected: &BTreeMap<String, Score>) -> Checked {
    let wanted: Vec<&String> = expected.keys().collect();
    same_ids(what, &ids(found), &wanted)?;
    for hit in &found.hits {
        let (id, got) = (hit.key.id.as_str(), hit.score);
        let Some(score) = expected.get(id) else {
            continue;
        };
        if !is_same_score(got, score.value) {
            let expected = score.value;
            return Err(Finding::misorders(format!(
                "{what}: document {id} scores {got}, expected {expected}: with k1 1.2 and b 0.75, {score}"
            )));
        }
    }
    match found.hits.is_sorted_by(|a, b| a.score >= b.score) {
        true => Ok(()),
        false => Err(Finding::misorders(format!("{what}: scores do not fall"))),
    }
}

/// Searches of what `org` holds, judged by the formula over these texts.
pub(super) async fn judge(
    collection: &Collection,
    texts: &[(&str, &str)],
    queries: &[Query<'_>],
) -> Checked {
    let records: Vec<_> = texts.iter().map(|(id, text)| (*id, Some(*text))).collect();
    let partition = Partition {
        rule: collection.spec().word_rule,
        records: &records,
    };
    for query in queries {
        let found = search(collection, *query).await?;
        same_scores(&format!("{query}"), &found, &partition.scores(*query))?;
    }
    Ok(())
}

/// The same of a collection that holds these texts and nothing else.
pub(super) async fn judged(
    context: &Context,
    texts: &[(&str, &str)],
    queries: &[Query<'_>],
) -> Checked {
    judge(&holding(context, texts).await?, texts, queries).await
}

/// Values worked out by hand: a word that every text holds, that one of two holds, that the only
/// text holds.
async fn known(context: Context) -> Checked {
    let two = [("a", "rain"), ("b", "snow")];
    let ln_2 = std::f64::consts::LN_2;
    let cases: [(&[(&str, &str)], &str, f64, &str); 4] = [
        (
            &[("a", "pink"), ("b", "pink"), ("c", "pink")],
            "pink",
            0.133_531_4,
            "N 3, df 3, tf 1",
        ),
        (&two, "rain", ln_2, "N 2, df 1, tf 1"),
        (&[("a", "alone")], "alone", 0.287_682_1, "N 1, df 1, tf 1"),
        // Said twice in the query, a word counts twice.
        (&two, "rain rain", 2.0 * ln_2, "twice N 2, df 1, tf 1"),
    ];
    for (texts, query, expected, parts) in cases {
        let found = search(&holding(&context, texts).await?, query).await?;
        let word = query.split(' ').next().unwrap_or_default();
        let holders = texts.iter().filter(|(_, text)| *text == word);
        let holders: Vec<_> = holders.map(|(id, _)| *id).collect();
        same_ids(query, &ids(&found), &holders)?;
        for hit in &found.hits {
            let what = format!(
                "{query:?}, {} (its length and avgdl 1; {parts})",
                hit.key.id
            );
            same_score(&what, hit.score, expected)?;
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
    let queries = [
        Query::any("rain"),
        Query::any("the"),
        Query::any("rain north"),
        Query::any("wind snow rain"),
        Query::all("rain"),
        Query::all("rain snow"),
        Query::all("in the north"),
        Query::any("nowhere rain"),
        Query::any("nowhere"),
    ];
    judged(&context, &WEATHER, &queries).await
}

async fn repeated(context: Context) -> Checked {
    let collection = holding(&context, &WEATHER).await?;
    let queries = [
        Query::any("rain rain"),
        Query::any("rain north rain rain"),
        Query::all("north RAIN Rain"),
    ];
    judge(&collection, &WEATHER, &queries).await?;
    let once = search(&collection, "wind").await?;
    let thrice = search(&collection, "wind wind wind").await?;
    for (once, thrice) in once.hits.iter().zip(&thrice.hits) {
        let what = format!("\"wind\" three times, {}", thrice.key.id);
        same_score(&what, thrice.score, 3.0 * once.score)?;
    }
    Ok(())
}

/// The hits score as those of another search do.
fn scored_as(what: &str, found: &LegResult, other: &LegResult) -> Checked {
    found.hits.iter().try_for_each(|hit| {
        let same = other.hits.iter().find(|other| other.key == hit.key);
        let expected = same.map_or(f64::NAN, |other| other.score);
        same_score(&format!("{what}, {}", hit.key.id), hit.score, expected)
    })
}

async fn whatever_the_filter(context: Context) -> Checked {
    let collection = empty(&context).await?;
    let mut documents = Vec::new();
    for (n, (id, text)) in WEATHER.iter().enumerate() {
        let kind = if n % 2 == 0 { "even" } else { "odd" };
        documents.push(document("org", id, text, kind)?);
    }
    collection.upsert(&documents).await?;
    let all = search(&collection, "rain north").await?;
    for kind in ["even", "odd"] {
        let asked = leg(&collection, "rain north", of_kind(kind)?)?;
        let found = collection.search(&asked).await?;
        holds(!found.hits.is_empty(), || format!("no hit is {kind}"))?;
        scored_as(
            &format!("under a filter of {kind}, as without it"),
            &found,
            &all,
        )?;
    }
    Ok(())
}

async fn whatever_the_top_k(context: Context) -> Checked {
    let collection = holding(&context, &WEATHER).await?;
    let asked = leg(&collection, "rain north", org()?)?;
    let all = collection.search(&asked).await?;
    let scores: Vec<f64> = all.hits.iter().map(|hit| hit.score).collect();
    holds(scores.first() > scores.last(), || {
        "all scores are alike".into()
    })?;
    for top_k in 1..scores.len() {
        let found = collection.search(&asked.with_top_k(top_k)).await?;
        for (hit, score) in found.hits.iter().zip(&scores) {
            let what = format!("of the best {top_k}, as of all, {}", hit.key.id);
            same_score(&what, hit.score, *score)?;
        }
    }
    Ok(())
}

const RAIN_OR_NORTH: [Query<'_>; 2] = [Query::any("rain"), Query::all("the north")];

/// A text without words counts, with length 0.
async fn empty_texts(context: Context) -> Checked {
    let mut texts = WEATHER.to_vec();
    texts.extend([("g", "…"), ("h", "?!"), ("i", "")]);
    judged(&context, &texts, &RAIN_OR_NORTH).await
}

async fn bare_records(context: Context) -> Checked {
    let collection = holding(&context, &WEATHER).await?;
    let bare = ["x", "y", "z"].map(|id| bare("org", id, "faq"));
    let bare: Checked<Vec<_>> = bare.into_iter().collect();
    collection.upsert(&bare?).await?;
    judge(&collection, &WEATHER, &RAIN_OR_NORTH).await
}

async fn all_as_any(context: Context) -> Checked {
    let collection = holding(&context, &WEATHER).await?;
    let some = search(&collection, "rain north").await?;
    let every = search(&collection, Query::all("rain north")).await?;
    same_ids("every word", &ids(&every), &["a"])?;
    if ids(&some).iter().any(|id| id == "a") {
        scored_as("asked for every word, as for any", &every, &some)?;
    }
    judge(&collection, &WEATHER, &[Query::all("rain north")]).await
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
    (query, matching, proptest::bool::ANY)
}

/// Sixty random queries on forty random texts, half of them under a filter.
async fn random(context: Context) -> Checked {
    let seed = context.seed();
    let mut random = Random::new(seed);
    let (mut records, mut texts_of) = (Vec::new(), Vec::new());
    for n in 0..40 {
        let (id, text) = (format!("r{n:02}"), random.draw(&texts())?);
        let kind = if n % 3 == 0 { "third" } else { "other" };
        let mut record = bare("org", &id, kind)?;
        record.text = text.as_deref().map(Into::into);
        records.push(record);
        texts_of.push((id, text, kind));
    }
    let collection = empty(&context).await?;
    collection.upsert(&records).await?;
    let pairs = texts_of.iter();
    let pairs: Vec<_> = pairs
        .map(|(id, text, _)| (id.as_str(), text.as_deref()))
        .collect();
    let partition = Partition {
        rule: collection.spec().word_rule,
        records: &pairs,
    };
    let prefixes = collection.capabilities().lexical.is_some_and(|l| l.prefix);
    let mut hits = 0;
    for n in 0..60 {
        let (text, matching, prefix) = random.draw(&queries())?;
        let query = Query::new(&text, matching).by_prefix(prefix && prefixes);
        let mut expected = partition.scores(query);
        let mut filter = org()?;
        if n % 2 == 1 {
            filter = of_kind("third")?;
            let third = |id: &String| {
                texts_of
                    .iter()
                    .any(|(i, _, kind)| i == id && *kind == "third")
            };
            expected.retain(|id, _| third(id));
        }
        let asked = leg(&collection, query, filter)?.with_top_k(100);
        let found = collection.search(&asked).await?;
        hits += found.hits.len();
        same_scores(&format!("seed {seed}, {query}"), &found, &expected)?;
    }
    holds(hits > 100, || {
        "the random queries find next to nothing".into()
    })
}

#[cfg(test)]
mod tests {
    use shelfward_core::{Completeness, Hit, Key, Metadata, Text, WordRule};

    use super::*;

    #[test]
    fn a_wrong_score_is_reported_with_the_document_the_words_and_the_parts_of_the_formula() {
        let records = [("a", Some("rain and rain")), ("b", Some("snow"))];
        let partition = Partition {
            rule: WordRule::Unicode,
            records: &records,
        };
        let query = Query::any("rain snow");
        let hit = |id, score| {
            let key = Key::new(Text::new(id).unwrap());
            Hit::new(key, score, None, std::sync::Arc::new(Metadata::new()))
        };
        let hits = vec![hit("a", 0.8), hit("b", 0.7)];
        let found = LegResult::new(hits, Completeness::Complete);
        let finding = same_scores("a query", &found, &partition.scores(query)).unwrap_err();
        let expected = "a query: document a scores 0.8, expected 0.83557";
        assert!(finding.message.starts_with(expected), "{}", finding.message);
        let parts = "N 2, avgdl 2.0000, its length 3; \"rain\": df 1, tf 2, adds 0.835575";
        assert!(finding.message.ends_with(parts), "{}", finding.message);
    }
}
