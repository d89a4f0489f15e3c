//! Scores under each metric: known values, and the suite's own scorer on random vectors.

use proptest::prelude::*;
use shelfward_core::{Capabilities, Filter, Leg, Metric, Record};

use crate::case::Case;
use crate::check::{same_order, same_score};
use crate::context::{Context, key, refused};
use crate::oracle::{Random, score};
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    let known = [
        (Metric::Cosine, [1.0, 0.0, -1.0]),
        (Metric::Dot, [2.0, 0.0, -1.0]),
        (Metric::Euclidean, [-1.0, -std::f64::consts::SQRT_2, -2.0]),
    ];
    let mut cases = Vec::new();
    for (metric, expected) in known {
        let id = format!("metrics/{metric}");
        let random = format!("{id}-random");
        let of_metric = [
            Case::new(id, move |context| values(context, metric, expected)),
            Case::new(random, move |context| against_the_scorer(context, metric)),
        ];
        cases.extend(of_metric.map(|case| case.only_where(declares(metric), UNDECLARED)));
    }
    cases.push(
        Case::new("metrics/cosine-ignores-length", length)
            .only_where(declares(Metric::Cosine), UNDECLARED),
    );
    cases.push(Case::new("metrics/undeclared-is-refused", undeclared));
    cases
}

pub(super) const UNDECLARED: &str = "it does not declare this metric";

pub(super) fn declares(metric: Metric) -> fn(&Capabilities) -> bool {
    match metric {
        Metric::Dot => |can| can.metrics.contains(&Metric::Dot),
        Metric::Euclidean => |can| can.metrics.contains(&Metric::Euclidean),
        _ => |can| can.metrics.contains(&Metric::Cosine),
    }
}

/// Each metric can be had exactly where it is declared.
async fn undeclared(context: Context) -> Checked {
    for metric in [Metric::Cosine, Metric::Dot, Metric::Euclidean] {
        let mut spec = context.spec()?;
        spec.metric = metric;
        let declared = context.adapter().await?.capabilities(&spec).metrics;
        let made = context.store().await?.ensure(&spec).await;
        if declared.contains(&metric) {
            made?;
        } else {
            refused(made, "a metric that is not declared")?;
        }
    }
    Ok(())
}

async fn scored(
    context: &Context,
    metric: Metric,
    records: &[Record],
    query: [f32; 4],
) -> Checked<Vec<(String, f64)>> {
    let mut spec = context.spec()?;
    spec.metric = metric;
    let collection = context.make(&spec).await?;
    collection.upsert(records).await?;
    let leg = Leg::dense(query, Filter::everything(), 100);
    let hits = collection.search(&leg).await?.hits.into_iter();
    Ok(hits
        .map(|hit| (hit.key.id.to_string(), hit.score))
        .collect())
}

async fn values(context: Context, metric: Metric, expected: [f64; 3]) -> Checked {
    let records = [
        Record::new(key("same")?, [2.0, 0.0, 0.0, 0.0]),
        Record::new(key("across")?, [0.0, 1.0, 0.0, 0.0]),
        Record::new(key("against")?, [-1.0, 0.0, 0.0, 0.0]),
    ];
    let found = scored(&context, metric, &records, [1.0, 0.0, 0.0, 0.0]).await?;
    let order: Vec<_> = found.iter().map(|(id, _)| id.clone()).collect();
    same_order("order", &order, &["same", "across", "against"])?;
    let mut pairs = found.iter().zip(expected);
    pairs.try_for_each(|((id, got), expected)| same_score(id, *got, expected))
}

async fn length(context: Context) -> Checked {
    let records = [
        Record::new(key("a")?, [3.0, 4.0, 0.0, 0.0]),
        Record::new(key("b")?, [0.3, 0.4, 0.0, 0.0]),
    ];
    let found = scored(&context, Metric::Cosine, &records, [1.0, 0.0, 0.0, 0.0]).await?;
    let mut found = found.iter();
    found.try_for_each(|(id, got)| same_score(id, *got, 0.6))
}

async fn against_the_scorer(context: Context, metric: Metric) -> Checked {
    let mut random = Random::new(context.seed());
    let vectors =
        prop::array::uniform4(-8_i8..=8).prop_filter("no direction", |v| v.iter().any(|x| *x != 0));
    let vectors = vectors.prop_map(|v| v.map(|x| f32::from(x) / 4.0));
    let mut records = Vec::new();
    for n in 0..50 {
        records.push(Record::new(key(&format!("r{n}"))?, random.draw(&vectors)?));
    }
    let query = random.draw(&vectors)?;
    let found = scored(&context, metric, &records, query).await?;
    if found.len() != records.len() {
        let (seed, found, all) = (context.seed(), found.len(), records.len());
        let message = format!("{found} of {all} are found, seed {seed}");
        return Err(Finding::narrows(message));
    }
    for (id, got) in &found {
        let record = records.iter().find(|record| record.key.id.as_str() == id);
        let strange = || Finding::widens(format!("{id} was never written"));
        let record = record.ok_or_else(strange)?;
        same_score(id, *got, score(metric, &query, &record.vector))?;
    }
    match found.is_sorted_by(|(_, a), (_, b)| a >= b) {
        true => Ok(()),
        false => Err(Finding::misorders("scores do not fall")),
    }
}
