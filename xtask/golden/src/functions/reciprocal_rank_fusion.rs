use serde_json::{Map, Value, json};
use shelfward_core::fusion::{FusionWeights, reciprocal_rank_fusion};

use super::read;
use crate::compare::whole;
use crate::rule::{Answer, Deviation, Function, Ours};
use crate::utf16::has_pairs;

pub(super) const RECIPROCAL_RANK_FUSION: Function = Function {
    name: "reciprocalRankFusion",
    run,
    // Ties are ordered by id, so the order is compared too.
    differences: whole,
    deviations: &[Deviation {
        name: "ids-by-scalar-value",
        why: "texts are ordered by Unicode scalar value, there by UTF-16 code units: the two part \
              where an id has a character beyond U+FFFF",
        ours: Ours::Answers,
        applies: |input, _| {
            let legs = ["dense", "sparse"].map(|leg| input.get(leg).and_then(Value::as_array));
            let hits = legs.into_iter().flatten().flatten();
            hits.filter_map(|hit| hit.get("id")?.as_str())
                .any(has_pairs)
        },
    }],
};

#[derive(serde::Deserialize)]
struct Ranked {
    id: String,
    rank: u32,
}

fn run(input: &Value) -> Answer {
    let list = |name| -> Result<Vec<(String, u32)>, String> {
        let list: Vec<Ranked> = read(input, name)?;
        Ok(list.into_iter().map(|hit| (hit.id, hit.rank)).collect())
    };
    let options = input.get("options").unwrap_or(&Value::Null);
    let or = |name: &str, default| options.get(name).and_then(Value::as_f64).unwrap_or(default);
    // The defaults that the original documents.
    let weights = FusionWeights::new(
        or("denseWeight", 0.7),
        or("sparseWeight", 0.3),
        or("k", 60.0),
    )
    .map_err(|e| e.to_string())?;
    let fused = reciprocal_rank_fusion(&list("dense")?, &list("sparse")?, &weights);
    let hits = fused.into_iter().map(|hit| {
        let mut shown = Map::new();
        shown.insert("id".to_owned(), json!(hit.id));
        shown.insert("score".to_owned(), json!(hit.score));
        for (name, rank) in [
            ("denseRank", hit.dense_rank),
            ("sparseRank", hit.sparse_rank),
        ] {
            if let Some(rank) = rank {
                shown.insert(name.to_owned(), json!(rank));
            }
        }
        Value::Object(shown)
    });
    Ok(hits.collect())
}
