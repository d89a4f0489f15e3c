//! Where the Library Index answers otherwise than the original's, on purpose. A rule about what was
//! written holds from that step on, for what can be found afterwards is another.

use std::collections::BTreeMap;

use serde_json::Value;

use super::embedder::answers_one_too_few;
use crate::functions::filter_input::holds_refused_value;
use crate::rule::{Deviation, Ours};

pub(super) const DEVIATIONS: [Deviation; 14] = [
    Deviation {
        name: "top-k-0",
        why: "top_k 0 answers nothing and calls nobody; there the query is embedded",
        ours: Ours::Answers,
        applies: |input, at| top_k(input, at) == Some(0),
    },
    Deviation {
        name: "top-k-is-a-whole-number",
        why: "top_k is a whole number of at most 1,000; what is below 0, broken or larger is refused",
        ours: Ours::Refuses,
        applies: |input, at| {
            let given = query(input, at).and_then(|query| query.get("topK"));
            given.is_some_and(|given| given.as_u64().is_none_or(|top_k| top_k > 1_000))
        },
    },
    Deviation {
        name: "blank-query",
        why: "a blank query text is refused in every mode, and nobody is asked",
        ours: Ours::Either,
        applies: |input, at| {
            let text = query(input, at).and_then(|query| query.get("text")?.as_str());
            text.is_some_and(|text| text.trim().is_empty())
        },
    },
    Deviation {
        name: "branches-narrow-only",
        why: "mode, match, prefix and top_k in a branch of any_of are refused",
        ours: Ours::Refuses,
        applies: |input, at| {
            let branches = query(input, at).and_then(|query| query.get("anyOf")?.as_array());
            let other = |branch: &Value| {
                ["mode", "match", "prefix", "topK"]
                    .iter()
                    .any(|name| branch.get(name).is_some())
            };
            branches.into_iter().flatten().any(other)
        },
    },
    Deviation {
        name: "batch-size-0",
        why: "batch_size 0 is refused; there it is read as 1",
        ours: Ours::Refuses,
        applies: |input, _| {
            let size = input.get("batchSize").and_then(Value::as_f64);
            size.is_some_and(|size| (0.0..1.0).contains(&size))
        },
    },
    Deviation {
        name: "opening-makes-nothing",
        why: "a library is opened before anything is asked of it, and a missing collection is an \
              error then; there the steps run until the store is asked",
        ours: Ours::Either,
        applies: |input, _| input.get("createCollection") == Some(&Value::Bool(false)),
    },
    Deviation {
        name: "old-source-stays-whole",
        why: "embedding and its checks come before anything is deleted: a failed call or a vector of \
              another width leaves the old source whole and writes nothing; there part of the new \
              takes the place of the old",
        ours: Ours::Answers,
        applies: |input, at| since(input, at, embedding_fails),
    },
    Deviation {
        name: "source-of-a-tenant",
        why: "a source is identified by tenant and source id, so one tenant never touches another's; \
              there the later takes the place of the earlier",
        ours: Ours::Answers,
        applies: id_in_two_tenants,
    },
    Deviation {
        name: "foreign-records",
        why: "a record without source id, kind or index, or with another kind of value in them, is \
              never returned, nor one whose tenant or status is a list",
        ours: Ours::Answers,
        applies: |input, at| since(input, at, |_, step| documents(step).any(is_no_passage)),
    },
    Deviation {
        name: "raw-values-refused",
        why: "nested objects, mixed lists, lists with null and U+0000 are refused at the door",
        ours: Ours::Answers,
        applies: |input, at| {
            let refused = |document: &Value| holds_refused_value(document.get("metadata"));
            since(input, at, |_, step| documents(step).any(refused))
        },
    },
    Deviation {
        name: "passage-ids",
        why: "the id that people see is always source id, #, index; there it is the record's own",
        ours: Ours::Answers,
        applies: |input, at| {
            let own_id = |document: &Value| !is_no_passage(document);
            query(input, at).is_some() && since(input, at, |_, step| documents(step).any(own_id))
        },
    },
    Deviation {
        name: "metadata-refused",
        why: "metadata of a source or a passage is checked at the door, before anything is deleted",
        ours: Ours::Either,
        applies: |input, at| {
            since(input, at, |_, step| {
                let source = step.get("source");
                let of_source = source.and_then(|source| source.get("metadata"));
                let mut of_passages = passages(step).map(|passage| passage.get("metadata"));
                holds_refused_value(of_source) || of_passages.any(holds_refused_value)
            })
        },
    },
    Deviation {
        name: "empty-names",
        why: "an empty source id, kind or access group is refused; there it is not looked at",
        ours: Ours::Either,
        applies: |input, at| since(input, at, |_, step| has_empty_name(step)),
    },
    Deviation {
        name: "scope-changes-in-place",
        why: "the memory store changes metadata in place, so a source can be re-scoped; the \
              original's cannot",
        ours: Ours::Answers,
        applies: |input, at| since(input, at, |_, step| op(step) == Some("setSourceScope")),
    },
];

fn steps(input: &Value) -> &[Value] {
    let steps = input.get("steps").and_then(Value::as_array);
    steps.map_or(&[], Vec::as_slice)
}

fn op(step: &Value) -> Option<&str> {
    step.get("op").and_then(Value::as_str)
}

/// The query of a step, where it is a search.
fn query(input: &Value, at: usize) -> Option<&Value> {
    steps(input).get(at)?.get("query")
}

/// How many hits a search asks for.
pub(super) fn top_k(input: &Value, at: usize) -> Option<usize> {
    match query(input, at)?.get("topK") {
        None => Some(10),
        Some(given) => given.as_u64().and_then(|top_k| usize::try_from(top_k).ok()),
    }
}

/// The tenant that a step writes for.
pub(super) fn written_tenant(step: &Value) -> Option<&str> {
    step.get("source")?.get("tenantId")?.as_str()
}

fn passages(step: &Value) -> impl Iterator<Item = &Value> {
    let passages = step.get("source").and_then(|source| source.get("passages"));
    passages.and_then(Value::as_array).into_iter().flatten()
}

/// What a step writes past the index.
fn documents(step: &Value) -> impl Iterator<Item = &Value> {
    let documents = step.get("documents").and_then(Value::as_array);
    documents.into_iter().flatten()
}

/// Whether a step, or one before it, is such a one.
fn since(input: &Value, at: usize, such: impl Fn(&Value, &Value) -> bool) -> bool {
    steps(input)
        .iter()
        .take(at + 1)
        .any(|step| such(input, step))
}

/// Whether the vectors of a source cannot be had as they must be.
fn embedding_fails(input: &Value, step: &Value) -> bool {
    let width = input.get("dimension").and_then(Value::as_u64);
    let has_vector = |text: &str| {
        let vector = input.get("vectors").and_then(|vectors| vectors.get(text));
        let given = vector.and_then(Value::as_array).map(Vec::len);
        given.and_then(|given| u64::try_from(given).ok()) == width
    };
    let mut texts = passages(step).filter_map(|passage| passage.get("text")?.as_str());
    let any = passages(step).next().is_some();
    (any && answers_one_too_few(input)) || texts.any(|text| !has_vector(text))
}

/// Whether, up to a step, sources of one id were indexed for two tenants.
fn id_in_two_tenants(input: &Value, at: usize) -> bool {
    let mut tenants: BTreeMap<&str, &str> = BTreeMap::new();
    steps(input).iter().take(at + 1).any(|step| {
        let source = step.get("source").and_then(|source| source.get("sourceId"));
        let named = source.and_then(Value::as_str).zip(written_tenant(step));
        named.is_some_and(|(source, tenant)| *tenants.entry(source).or_insert(tenant) != tenant)
    })
}

/// Whether a raw document lacks what makes it a passage of somebody.
fn is_no_passage(document: &Value) -> bool {
    let held = |name: &str| {
        document
            .get("metadata")
            .and_then(|metadata| metadata.get(name))
    };
    let text = |name| held(name).is_some_and(Value::is_string);
    let index = held("index").is_some_and(|index| index.as_u64().is_some());
    !(["sourceId", "kind", "tenantId", "status"]
        .into_iter()
        .all(text)
        && index)
}

fn has_empty_name(step: &Value) -> bool {
    let empty = |value: Option<&Value>| value.and_then(Value::as_str) == Some("");
    let source = step.get("source").unwrap_or(&Value::Null);
    let groups = |of: &Value| {
        let groups = of.get("aclGroups").and_then(Value::as_array);
        groups.into_iter().flatten().any(|group| empty(Some(group)))
    };
    let scope = step.get("query").and_then(|query| query.get("scope"));
    empty(step.get("sourceId"))
        || ["sourceId", "kind"]
            .iter()
            .any(|name| empty(source.get(name)))
        || groups(source)
        || scope.is_some_and(groups)
        || step.get("change").is_some_and(groups)
}
