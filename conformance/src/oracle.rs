//! Random records and filters, from a seed that is printed, and the answers that they must have.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use shelfward_core::{Filter, Record};

use crate::check::{finds, holds};
use crate::context::{Context, record};
use crate::verdict::{Checked, Finding};

/// A source of random values that gives the same for the same seed.
pub(crate) struct Random(TestRunner);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().zip(seed.to_le_bytes().iter().cycle()) {
            *place = *byte;
        }
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        Self(TestRunner::new_with_rng(Config::default(), rng))
    }

    pub(crate) fn draw<S: Strategy>(&mut self, strategy: &S) -> Checked<S::Value> {
        let tree = strategy.new_tree(&mut self.0);
        Ok(tree.map_err(|e| Finding::errors(e.to_string()))?.current())
    }
}

fn texts() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        "a", "b", "A", "ab", "été", "5", "", "true", "a'b", "日本",
    ])
    .prop_map(Value::from)
}

fn integers() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-3_i64..6).prop_map(Value::from),
        Just(json!(9_007_199_254_740_993_i64))
    ]
}

fn floats() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![-1.5, 0.0, 2.0, 2.5, 5.0]).prop_map(Value::from)
}

/// Metadata under the declared fields of the filter fixture.
pub(crate) fn metadata() -> impl Strategy<Value = Value> {
    let list = prop::collection::vec(texts(), 0..4).prop_map(Value::from);
    let maybe = |strategy: BoxedStrategy<Value>| prop::option::weighted(0.8, strategy);
    (
        maybe(texts().boxed()),
        maybe(list.boxed()),
        maybe(integers().boxed()),
        maybe(floats().boxed()),
        maybe(any::<bool>().prop_map(Value::from).boxed()),
    )
        .prop_map(|(t, l, n, x, b)| {
            let fields = [("t", t), ("l", l), ("n", n), ("x", x), ("b", b)];
            fields
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), value?)))
                .collect()
        })
}

/// Conditions on one field, three of four operands of the kind that it holds: those of another find
/// nothing and tell nothing apart.
fn conditions(own: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let other = prop_oneof![
        texts(),
        integers(),
        floats(),
        any::<bool>().prop_map(Value::from)
    ];
    let operand = prop_oneof![3 => own.clone(), 1 => other].boxed();
    let ordered = prop_oneof![texts(), integers(), floats()];
    let ordered =
        prop_oneof![3 => own.prop_filter("has an order", |v| !v.is_boolean()), 1 => ordered];
    let list = prop::collection::vec(operand.clone(), 0..4).prop_map(Value::from);
    prop_oneof![
        operand.clone(),
        operand.prop_map(|v| json!({ "$ne": v })),
        (prop::sample::select(vec!["$in", "$nin", "$all"]), list)
            .prop_map(|(op, vs)| json!({ op: vs })),
        (
            prop::sample::select(vec!["$gt", "$gte", "$lt", "$lte"]),
            ordered
        )
            .prop_map(|(op, v)| json!({ op: v })),
        any::<bool>().prop_map(|v| json!({ "$exists": v })),
    ]
}

/// Filters on those fields.
pub(crate) fn filters() -> impl Strategy<Value = Value> {
    let on = |key: &'static str, own: BoxedStrategy<Value>| {
        conditions(own).prop_map(move |condition| json!({ key: condition }))
    };
    // A range has no boolean operand, so the field of booleans is asked for texts and numbers there.
    let booleans = prop_oneof![3 => any::<bool>().prop_map(Value::from), 1 => texts()];
    let test = prop_oneof![
        2 => on("t", texts().boxed()),
        2 => on("l", texts().boxed()),
        1 => on("n", integers().boxed()),
        1 => on("x", floats().boxed()),
        1 => on("b", booleans.boxed()),
    ];
    test.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (
                prop::sample::select(vec!["$and", "$or"]),
                prop::collection::vec(inner.clone(), 0..4)
            )
                .prop_map(|(op, filters)| json!({ op: filters })),
            inner.prop_map(|filter| json!({ "$not": filter })),
        ]
    })
}

/// Sixty random filters on forty random records, judged by the reference meaning.
pub(crate) async fn agrees_with_the_reference(context: Context) -> Checked {
    let mut random = Random::new(context.seed());
    let mut records: Vec<Record> = Vec::new();
    for n in 0..40_u8 {
        let json = random.draw(&metadata())?.to_string();
        records.push(record(&format!("r{n}"), n, &json)?);
    }
    let keys: Vec<_> = records.iter().map(|record| record.key.clone()).collect();
    let collection = crate::fixture::holding(&context, &records).await?;
    let mut neither_all_nor_none = 0;
    for _ in 0..60 {
        let json = random.draw(&filters())?.to_string();
        let filter = Filter::from_json(&json)?;
        let matching = |record: &&Record| filter.matches(&record.metadata);
        let expected = records.iter().filter(matching);
        let expected: Vec<_> = expected.map(|r| r.key.id.to_string()).collect();
        neither_all_nor_none += usize::from(!expected.is_empty() && expected.len() < records.len());
        let found = finds(&collection, &keys, filter, &expected).await;
        found.map_err(|finding| {
            let (seed, what) = (context.seed(), &finding.message);
            let message = format!("seed {seed}, filter {json}: {what}");
            Finding { message, ..finding }
        })?;
    }
    holds(neither_all_nor_none > 10, || {
        "the random filters tell nothing apart".to_owned()
    })
}

/// The score of two vectors under a metric, in 64 bits: the suite's own, not an adapter's.
pub(crate) fn score(metric: shelfward_core::Metric, a: &[f32], b: &[f32]) -> f64 {
    let pairs = || a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)));
    let dot: f64 = pairs().map(|(a, b)| a * b).sum();
    let length = |v: &[f32]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    match metric {
        shelfward_core::Metric::Dot => dot,
        shelfward_core::Metric::Euclidean => {
            -pairs().map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        }
        _ => dot / (length(a) * length(b)),
    }
}
