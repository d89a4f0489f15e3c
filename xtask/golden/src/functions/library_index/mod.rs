//! The Library Index over the memory store, step by step.

mod embedder;
mod raw;
mod rules;
mod steps;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use shelfward_core::library::LibrarySpec;
use shelfward_core::{CollectionName, LibraryIndex, Store};
use shelfward_memory::{MemoryOptions, MemoryStore};

use super::{count_of, read};
use crate::compare::{Tolerance, cut, parted, ranked, same};
use crate::rule::{Answer, Difference, Function};
use embedder::Table;
use steps::{Failure, Library};

pub(super) const LIBRARY_INDEX: Function = Function {
    name: "libraryIndex",
    run,
    differences,
    deviations: &rules::DEVIATIONS,
};

fn run(input: &Value) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|e| e.to_string())?;
    runtime
        .block_on(run_steps(input))
        .map_err(|e| e.to_string())
}

/// What each step answered, and how often it embedded.
async fn run_steps(input: &Value) -> Result<Value, Failure> {
    let embedder = Arc::new(Table::of(input)?);
    let steps: Vec<Value> = read(input, "steps")?;
    // The original's store has no lexical leg.
    let store = MemoryStore::with_options(MemoryOptions::default().with_lexical(false));
    let name = CollectionName::new("lib")?;
    let checked = Store::new(store.clone());
    let made = input.get("createCollection") != Some(&Value::Bool(false));
    let opened = if made {
        LibraryIndex::ensure(&checked, LibrarySpec::new(name.clone()), embedder.clone()).await
    } else {
        LibraryIndex::open(&checked, &name, embedder.clone()).await
    };
    let mut index = match opened {
        Ok(index) => index,
        // Without a library, no step can be done.
        Err(why) if !made => {
            let nothing = json!({ "error": why.to_string(), "embedCalls": 0, "embedTexts": 0 });
            return Ok(Value::Array(vec![nothing; steps.len()]));
        }
        Err(why) => return Err(why.into()),
    };
    if let Some(size) = batch_size(input) {
        index = index.with_batch_size(size)?;
    }
    let library = Library {
        store,
        name,
        index,
        tenants: tenants(&steps),
    };
    let mut answers = Vec::new();
    for step in &steps {
        let before = embedder.counted();
        let answer = library.step(step).await;
        let after = embedder.counted();
        let (calls, texts) = (after.0 - before.0, after.1 - before.1);
        answers.push(match answer {
            Ok(answer) => json!({ "ok": answer, "embedCalls": calls, "embedTexts": texts }),
            Err(why) => {
                json!({ "error": why.to_string(), "embedCalls": calls, "embedTexts": texts })
            }
        });
    }
    Ok(Value::Array(answers))
}

/// How many texts a call embeds. What is below 0 is 1, as it is there, for the type here cannot hold
/// it.
fn batch_size(input: &Value) -> Option<usize> {
    let below_0 = input.get("batchSize")?.as_f64()? < 0.0;
    let size = count_of(input, "batchSize")?;
    Some(if below_0 { 1 } else { size })
}

/// The tenants that the steps write for.
fn tenants(steps: &[Value]) -> BTreeSet<String> {
    let tenants = steps.iter().filter_map(rules::written_tenant);
    tenants
        .filter(|tenant| !tenant.is_empty())
        .map(str::to_owned)
        .collect()
}

fn differences(input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let lists = ours.as_array().zip(expected.as_array());
    let Some((ours, expected)) = lists.filter(|(ours, expected)| ours.len() == expected.len())
    else {
        return vec![Difference::answered(0, "another number of steps")];
    };
    let mut found = Vec::new();
    for (at, (ours, expected)) in ours.iter().zip(expected).enumerate() {
        found.extend(step_difference(input, at, ours, expected));
        for name in ["embedCalls", "embedTexts"] {
            if ours.get(name) != expected.get(name) {
                let counts = [expected, ours].map(|step| step.get(name).unwrap_or(&Value::Null));
                let what = format!(
                    "step {at}: {name} expected {}, got {}",
                    counts[0], counts[1]
                );
                found.push(Difference::answered(at, what));
            }
        }
    }
    found
}

fn step_difference(input: &Value, at: usize, ours: &Value, expected: &Value) -> Option<Difference> {
    let what = match (ours.get("ok"), expected.get("ok")) {
        (None, None) => return None,
        (None, Some(expected)) => {
            let why = ours
                .get("error")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let what = format!("step {at}: expected {}, failed: {why}", cut(expected));
            return Some(Difference::refused(at, what));
        }
        (Some(ours), None) => format!("expected a failure, got {}", cut(ours)),
        (Some(ours), Some(expected)) => match (ours.as_array(), expected.as_array()) {
            (Some(ours), Some(expected)) => {
                let full = rules::top_k(input, at) == Some(expected.len());
                ranked(ours, expected, full, Tolerance::SINGLES).err()?
            }
            _ if same(ours, expected, Tolerance::SINGLES) => return None,
            _ => parted(ours, expected),
        },
    };
    Some(Difference::answered(at, format!("step {at}: {what}")))
}
