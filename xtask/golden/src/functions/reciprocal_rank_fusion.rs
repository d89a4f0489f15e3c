use serde_json::{Map, Value, json};
use shelfward_core::fusion::{FusionWeights, reciprocal_rank_fusion};

use crate::compare::{Compared, answers};

pub(super) fn run(input: &Value, case: &Value) -> Compared {
    answers(case, fused(input), 1e-12)
}

fn fused(input: &Value) -> Result<Value, String> {
    let (dense, sparse) = (list(input, "dense")?, list(input, "sparse")?);
    let given = |name: &str, default: f64| {
        input
            .get("options")
            .and_then(|o| o.get(name))
            .and_then(Value::as_f64)
            .unwrap_or(default)
    };
    let weights = FusionWeights::new(
        given("denseWeight", 0.7),
        given("sparseWeight", 0.3),
        given("k", 60.0),
    );
    let weights = weights.map_err(|e| e.to_string())?;
    let fused = reciprocal_rank_fusion(&dense, &sparse, &weights);
    let shown = fused.into_iter().map(|hit| {
        let mut shown = Map::from_iter([
            ("id".to_owned(), json!(hit.id)),
            ("score".to_owned(), json!(hit.score)),
        ]);
        for (name, rank) in [
            ("denseRank", hit.dense_rank),
            ("sparseRank", hit.sparse_rank),
        ] {
            shown.extend(rank.map(|rank| (name.to_owned(), json!(rank))));
        }
        Value::Object(shown)
    });
    Ok(shown.collect())
}

fn list(input: &Value, name: &str) -> Result<Vec<(String, u32)>, String> {
    let members = input
        .get(name)
        .and_then(Value::as_array)
        .ok_or_else(|| format!("no {name}"))?;
    members
        .iter()
        .map(|member| {
            let id = member.get("id").and_then(Value::as_str);
            let rank = member
                .get("rank")
                .and_then(Value::as_u64)
                .and_then(|rank| u32::try_from(rank).ok());
            id.map(str::to_owned)
                .zip(rank)
                .ok_or_else(|| format!("{member} has no id and rank"))
        })
        .collect()
}
