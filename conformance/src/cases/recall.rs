//! How many of the nearest vectors a search finds among some thousand: all of them on an exact store,
//! as many as it declares on an approximate one. Small collections are asked for exactly everywhere.

use std::collections::BTreeSet;
use std::ops::Range;

use fastrand::Rng;
use shelfward_core::capabilities::Dense;
use shelfward_core::{
    Collection, Completeness, Filter, Key, Leg, LegResult, Metadata, Metric, Record,
};

use super::metrics::{UNDECLARED, declares};
use crate::case::Case;
use crate::check::{full, same_score};
use crate::context::{Context, key};
use crate::fixture;
use crate::oracle::score;
use crate::verdict::{Checked, Finding, Verdict};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for metric in [Metric::Cosine, Metric::Dot, Metric::Euclidean] {
        let id = format!("search/recall-{metric}");
        cases.push(
            Case::new(id, move |context| unfiltered(context, metric))
                .only_where(declares(metric), UNDECLARED),
        );
    }
    cases.extend([
        Case::new("search/recall-under-filters", filtered),
        Case::new("search/recall-after-changes", changed),
        Case::new("search/ties-at-the-cut", ties_at_the_cut),
    ]);
    cases
}

const WIDTH: usize = 16;

/// How many records there are: of an approximate store more, so that its index has work to do.
fn many(collection: &Collection) -> u32 {
    match collection.capabilities().dense {
        Dense::Approximate { .. } => 3_000,
        _ => 600,
    }
}

const QUERIES: u32 = 50;
const TOP_K: usize = 10;

/// From -1 to 1.
fn unit(random: &mut Rng) -> f32 {
    random.f32() * 2.0 - 1.0
}

fn vector(random: &mut Rng) -> [f32; WIDTH] {
    std::array::from_fn(|_| unit(random))
}

/// A vector beside another.
fn beside(vector: &[f32], spread: f32, random: &mut Rng) -> Vec<f32> {
    vector.iter().map(|x| x + spread * unit(random)).collect()
}

/// Records around forty middles, as texts of one subject lie, some far off, some twice.
fn records(random: &mut Rng, ids: Range<u32>) -> Checked<Vec<Record>> {
    let mut of_all = Rng::with_seed(7);
    let middles: Vec<_> = (0..40).map(|_| vector(&mut of_all)).collect();
    let mut records: Vec<Record> = Vec::new();
    for n in ids {
        let spread = if n % 9 == 0 { 1.5 } else { 0.35 };
        let middle = random.choice(&middles).copied().unwrap_or([1.0; WIDTH]);
        let mut vector = beside(&middle, spread, random);
        if n % 50 == 49
            && let Some(earlier) = records.last()
        {
            vector.copy_from_slice(&earlier.vector);
        }
        let metadata = format!(r#"{{"n":{},"t":"s{}"}}"#, n % 500, n % 2);
        let record = Record::new(key(&format!("r{n:05}"))?, vector);
        records.push(record.with_metadata(Metadata::from_json(&metadata)?));
    }
    Ok(records)
}

async fn make(context: &Context, metric: Metric) -> Checked<Collection> {
    let mut spec = fixture::spec(context)?;
    spec.width = u32::try_from(WIDTH).unwrap_or(1);
    spec.metric = metric;
    context.make(&spec).await
}

/// The least share of the nearest that a store must find.
fn least(collection: &Collection) -> f64 {
    match collection.capabilities().dense {
        Dense::Approximate { min_recall } => min_recall,
        _ => 1.0,
    }
}

/// The mean share of the nearest over many queries. Every score must be right, and the order that of
/// the scores; of equal scores at the cut any is one of the nearest.
async fn recall(
    what: &str,
    collection: &Collection,
    there: &[Record],
    filter: &Filter,
    random: &mut Rng,
) -> Checked<f64> {
    let metric = collection.spec().metric;
    let matching: Vec<&Record> = there
        .iter()
        .filter(|record| filter.matches(&record.metadata))
        .collect();
    let wanted = TOP_K.min(matching.len());
    // What the engine does not filter itself may come short, and says so.
    let promised = full(collection.capabilities()) && served(collection, filter);
    let mut found_in_all = 0_u32;
    for query in 0..QUERIES {
        // Half of the queries lie beside a record, as those of users do.
        let vector = match random.choice(there) {
            Some(near) if query % 2 == 0 => beside(&near.vector, 0.1, random),
            _ => vector(random).to_vec(),
        };
        let leg = Leg::dense(&*vector, filter.clone(), TOP_K);
        let found = collection.search(&leg).await?;
        let what = format!("{what}, query {query}");
        honest(&what, collection, &matching, &vector, &found)?;
        if promised && found.hits.len() != wanted {
            let message = format!("{what}: {} hits, not {wanted}", found.hits.len());
            return Err(Finding::narrows(message));
        }
        if found.end == Completeness::Complete && found.hits.len() < wanted {
            let message = format!("{what}: short, and it says that it is complete");
            return Err(Finding::narrows(message));
        }
        let mut scores: Vec<f64> = matching
            .iter()
            .map(|record| score(metric, &vector, &record.vector))
            .collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        let Some(cut) = wanted.checked_sub(1).and_then(|at| scores.get(at)) else {
            continue;
        };
        let near = |hit: f64| hit >= cut - 1e-5 * cut.abs().max(1.0);
        let near = found.hits.iter().filter(|hit| near(hit.score)).count();
        found_in_all += u32::try_from(near).unwrap_or(0);
    }
    let of = f64::from(QUERIES) * f64::from(u32::try_from(wanted).unwrap_or(1).max(1));
    Ok(f64::from(found_in_all) / of)
}

/// Hits are records that match, each once, with their scores, the best first.
fn honest(
    what: &str,
    collection: &Collection,
    matching: &[&Record],
    query: &[f32],
    found: &LegResult,
) -> Checked {
    let mut seen: BTreeSet<&Key> = BTreeSet::new();
    for hit in &found.hits {
        let id = &hit.key.id;
        let at = matching.binary_search_by(|record| record.key.cmp(&hit.key));
        let strange = || Finding::widens(format!("{what}: {id} is not there or does not match"));
        let record = at
            .ok()
            .and_then(|at| matching.get(at))
            .ok_or_else(strange)?;
        if !seen.insert(&hit.key) {
            let message = format!("{what}: {id} is answered twice");
            return Err(Finding::new(Verdict::Miscounts, message));
        }
        let expected = score(collection.spec().metric, query, &record.vector);
        same_score(&format!("{what}, {id}"), hit.score, expected)?;
    }
    if found.hits.is_sorted_by(|a, b| a.score >= b.score) {
        return Ok(());
    }
    Err(Finding::misorders(format!("{what}: scores do not fall")))
}

/// Whether the engine filters all of it by itself.
fn served(collection: &Collection, filter: &Filter) -> bool {
    let support = &collection.capabilities().filter;
    support.split(filter).residual.is_none()
}

fn enough(what: &str, collection: &Collection, recall: f64) -> Checked {
    let least = least(collection);
    if recall >= least {
        return Ok(());
    }
    let message = format!("{what}: a mean recall of {recall:.3}, {least} is declared");
    Err(Finding::narrows(message))
}

/// A collection of many records, and they.
async fn filled(
    context: &Context,
    metric: Metric,
    random: &mut Rng,
) -> Checked<(Collection, Vec<Record>)> {
    let collection = make(context, metric).await?;
    let there = records(random, 0..many(&collection))?;
    collection.upsert(&there).await?;
    Ok((collection, there))
}

async fn unfiltered(context: Context, metric: Metric) -> Checked {
    let mut random = Rng::with_seed(context.seed());
    let (collection, there) = filled(&context, metric, &mut random).await?;
    let everything = Filter::everything();
    let found = recall("all", &collection, &there, &everything, &mut random).await?;
    enough("all", &collection, found)
}

/// One in two to one in five hundred, by classes and by ranges.
async fn filtered(context: Context) -> Checked {
    let mut random = Rng::with_seed(context.seed());
    let (collection, there) = filled(&context, Metric::Cosine, &mut random).await?;
    let filters = [
        ("one in two", r#"{"t":"s0"}"#),
        ("three in ten", r#"{"n":{"$lt":150}}"#),
        ("one in ten", r#"{"n":{"$gte":100,"$lt":150}}"#),
        (
            "one in fifty",
            r#"{"n":{"$in":[3,97,105,133,180,255,301,342,488,499]}}"#,
        ),
        ("one in five hundred", r#"{"n":50}"#),
        ("all but one in fifty", r#"{"$not":{"n":{"$lt":10}}}"#),
    ];
    for (what, json) in filters {
        let filter = Filter::from_json(json)?;
        let found = recall(what, &collection, &there, &filter, &mut random).await?;
        if full(collection.capabilities()) && served(&collection, &filter) {
            enough(what, &collection, found)?;
        }
    }
    Ok(())
}

/// A third is deleted, a fifth is written over by vectors of another place, more is added.
async fn changed(context: Context) -> Checked {
    let mut random = Rng::with_seed(context.seed());
    let (collection, mut there) = filled(&context, Metric::Cosine, &mut random).await?;
    let gone: Vec<Key> = there.iter().step_by(3).map(|r| r.key.clone()).collect();
    collection.delete(&gone).await?;
    let mut at = 0;
    there.retain(|_| {
        at += 1;
        (at - 1) % 3 != 0
    });
    let mut over = Vec::new();
    for record in there.iter_mut().step_by(5) {
        record.vector = vector(&mut random).into();
        over.push(record.clone());
    }
    collection.upsert(&over).await?;
    let many = many(&collection);
    let new = records(&mut random, many..many + many / 5)?;
    collection.upsert(&new).await?;
    there.extend(new);
    let everything = Filter::everything();
    let found = recall("changed", &collection, &there, &everything, &mut random).await?;
    enough("changed", &collection, found)
}

/// Of twelve or more equal ones ten are asked for, among many others.
async fn ties_at_the_cut(context: Context) -> Checked {
    let mut random = Rng::with_seed(context.seed());
    let collection = make(&context, Metric::Cosine).await?;
    let mut there = records(&mut random, 0..many(&collection))?;
    let same = vector(&mut random);
    for record in there.iter_mut().skip(5).step_by(50) {
        record.vector = same.into();
    }
    collection.upsert(&there).await?;
    let leg = Leg::dense(same, Filter::everything(), TOP_K);
    let matching: Vec<&Record> = there.iter().collect();
    for _ in 0..3 {
        let found = collection.search(&leg).await?;
        honest("equal ones", &collection, &matching, &same, &found)?;
        let best = found.hits.iter().filter(|hit| hit.score > 0.999_99).count();
        // They lie in one place, so that an index that finds one finds them all.
        let least = (least(&collection) * 10.0).floor();
        if found.hits.len() != TOP_K || f64::from(u32::try_from(best).unwrap_or(0)) < least {
            let message = format!("of the equal ones {best} are among the best {TOP_K}");
            return Err(Finding::narrows(message));
        }
    }
    Ok(())
}
