use serde_json::{Value, json};
use shelfward_websearch::{
    Candidate, DEFAULT_K, DEFAULT_THRESHOLD, ProviderWeights, build_tf_vector, build_vocabulary,
    compute_rrf, compute_weighted_rrf, normalize_url, semantic_dedup,
};

use super::{read, text_of};
use crate::compare::whole;
use crate::rule::{Answer, Deviation, Function, Ours};

pub(super) const NORMALIZE_URL: Function = Function {
    name: "normalizeUrl",
    run: |input| Ok(json!(normalize_url(&text_of(input, "url")?))),
    differences: whole,
    deviations: &[],
};

pub(super) const COMPUTE_RRF: Function = Function {
    name: "computeRRF",
    run: |input| {
        shown(compute_rrf(
            read(input, "candidates")?,
            number(input, "k", DEFAULT_K),
        ))
    },
    // Ties stay in the order given, so the order is compared too.
    differences: whole,
    deviations: &[REFUSED_NUMBERS],
};

pub(super) const COMPUTE_WEIGHTED_RRF: Function = Function {
    name: "computeWeightedRRF",
    run: |input| {
        let weights = input.get("weights").and_then(Value::as_object);
        let weights = weights.into_iter().flatten().map(|(provider, weight)| {
            let weight = weight.as_f64().ok_or("a weight is no number")?;
            Ok((provider.as_str(), weight))
        });
        let weights = ProviderWeights::new(weights.collect::<Result<Vec<_>, String>>()?)
            .map_err(|e| e.to_string())?;
        let candidates = read(input, "candidates")?;
        shown(compute_weighted_rrf(
            candidates,
            &weights,
            number(input, "k", DEFAULT_K),
        ))
    },
    differences: whole,
    deviations: &[REFUSED_NUMBERS],
};

pub(super) const SEMANTIC_DEDUP: Function = Function {
    name: "semanticDedup",
    run: |input| {
        let threshold = number(input, "threshold", DEFAULT_THRESHOLD);
        shown(semantic_dedup(read(input, "candidates")?, threshold))
    },
    differences: whole,
    deviations: &[REFUSED_NUMBERS],
};

pub(super) const TF_VECTORS: Function = Function {
    name: "tfVectors",
    run: |input| {
        let texts: Vec<String> = read(input, "texts")?;
        let vocabulary = build_vocabulary(&texts);
        let vectors = texts.iter().map(|text| build_tf_vector(text, &vocabulary));
        Ok(json!({
            "vocabulary": vocabulary.words(),
            "vectors": vectors.collect::<Vec<_>>(),
            // The vector of a text that was not among them.
            "outside": build_tf_vector("zzz budget", &vocabulary),
        }))
    },
    differences: whole,
    deviations: &[UNSEEN],
};

const UNSEEN: Deviation = Deviation {
    name: "unseen-characters-part-no-words",
    why: "a word is the same with and without soft hyphens and zero-width joiners, as under the word \
          rules of the library",
    ours: Ours::Answers,
    applies: |input, _| {
        let texts: Vec<String> = read(input, "texts").unwrap_or_default();
        let unseen = ['\u{AD}', '\u{200C}', '\u{200D}', '\u{2060}'];
        texts.iter().any(|text| text.contains(unseen))
    },
};

const REFUSED_NUMBERS: Deviation = Deviation {
    name: "negative-number-refused",
    why: "a weight, k or threshold below 0 is refused with its name: it would turn a ranking round, \
          or say nothing",
    ours: Ours::Refuses,
    applies: |input, _| {
        let weights = input.get("weights").and_then(Value::as_object);
        let weights = weights.into_iter().flatten().map(|(_, weight)| weight);
        let numbers = ["k", "threshold"].map(|name| input.get(name));
        numbers
            .into_iter()
            .flatten()
            .chain(weights)
            .any(|number| number.as_f64().is_some_and(|number| number < 0.0))
    },
};

fn number(input: &Value, name: &str, default: f64) -> f64 {
    input.get(name).and_then(Value::as_f64).unwrap_or(default)
}

fn shown(answer: Result<Vec<Candidate>, shelfward_websearch::SettingError>) -> Answer {
    let candidates = answer.map_err(|e| e.to_string())?;
    serde_json::to_value(candidates).map_err(|e| e.to_string())
}
