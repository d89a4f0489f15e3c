use serde_json::{Map, Value, json};
use shelfward_lexical::fuzzy::{
    FieldText, FuzzyDocument, FuzzyHit, FuzzyIndex, FuzzySearch, FuzzySettings, Marked, Match,
};

use super::{count_of, read, text_of};
use crate::compare::{Tolerance, ranked, whole};
use crate::rule::{Answer, Difference, Function};
use crate::utf16::units;

pub(super) const FUZZY_INDEX_SEARCH: Function = Function {
    name: "fuzzyIndexSearch",
    run: |input| {
        let scores = hits(input)?.into_iter();
        let shown = scores.map(|hit| json!({ "id": &*hit.id, "score": hit.score }));
        Ok(shown.collect())
    },
    differences: ranking,
    deviations: &[],
};

pub(super) const FUZZY_INDEX_SEED_EXAMPLES: Function = Function {
    name: "fuzzyIndexSeedExamples",
    run: |input| {
        let hits = hits(input)?;
        let first = hits.first().ok_or("nothing is found")?;
        let passages = first.passages.iter().map(passage);
        Ok(json!({
            "firstScore": first.score,
            "firstPassages": passages.collect::<Result<Vec<_>, _>>()?,
        }))
    },
    differences: stated,
    deviations: &[],
};

fn hits(input: &Value) -> Result<Vec<FuzzyHit>, String> {
    let config = input.get("config").ok_or("no config")?;
    let mut index = FuzzyIndex::new(settings(config)?).map_err(|e| e.to_string())?;
    let documents: Vec<Value> = read(input, "documents")?;
    for document in &documents {
        let document = document_of(document)?;
        index.add_document(document).map_err(|e| e.to_string())?;
    }
    Ok(index.search(&text_of(input, "query")?, &search(input)?))
}

fn settings(config: &Value) -> Result<FuzzySettings, String> {
    let fields: Map<String, Value> = read(config, "fields")?;
    let weights = fields.into_iter().map(|(name, weight)| {
        let weight = weight.as_f64().ok_or("a weight is no number")?;
        Ok((name, weight))
    });
    let mut settings = FuzzySettings::new(weights.collect::<Result<Vec<_>, String>>()?);
    if config.get("passageFields").is_some() {
        settings = settings.passage_fields(read::<Vec<String>>(config, "passageFields")?);
    }
    if let Some(letters) = count_of(config, "editMinLength") {
        settings = settings.edit_min_length(letters);
    }
    if let Some(most) = count_of(config, "passages") {
        settings = settings.passages(most);
    }
    if let Some(width) = count_of(config, "passageWidth") {
        settings = settings.passage_width(width);
    }
    Ok(settings)
}

fn document_of(document: &Value) -> Result<FuzzyDocument, String> {
    let fields: Map<String, Value> = read(document, "fields")?;
    let mut made = FuzzyDocument::new(text_of(document, "id")?);
    for (name, value) in &fields {
        let text: FieldText = match value {
            Value::String(text) => text.as_str().into(),
            _ => read::<Vec<String>>(document.get("fields").unwrap_or(value), name)?.into(),
        };
        made = made.field(name, text);
    }
    Ok(made)
}

fn search(input: &Value) -> Result<FuzzySearch, String> {
    let options = input.get("options").unwrap_or(&Value::Null);
    let search = match options.get("match").and_then(Value::as_str) {
        None | Some("all") => FuzzySearch::default().matching(Match::All),
        Some("any") => FuzzySearch::default().matching(Match::Any),
        Some(other) => return Err(format!("match is {other}")),
    };
    Ok(match options.get("topK") {
        Some(Value::String(every)) if every == "Infinity" => search.every_hit(),
        _ => count_of(options, "topK").map_or(search, |most| search.top_k(most)),
    })
}

fn passage(passage: &Marked) -> Answer {
    let place = |offset| units(&passage.text, offset).ok_or("an offset inside a character");
    let marks = passage.marks.iter().map(|mark| {
        let (start, end) = (place(mark.start)?, place(mark.end)?);
        Ok(json!({ "start": start, "end": end }))
    });
    Ok(json!({
        "text": &*passage.text,
        "marks": marks.collect::<Result<Vec<_>, String>>()?,
    }))
}

/// Ties stand in the order in which documents were added, so the order is compared too, but for
/// sums that differ in their last bits alone.
fn ranking(input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let lists = (ours.as_array(), expected.as_array());
    let (Some(ours_list), Some(expected_list)) = lists else {
        return whole(input, ours, expected);
    };
    let scores_equal = expected_list.windows(2).any(|pair| match pair {
        [a, b] => a.get("score") == b.get("score"),
        _ => false,
    });
    if scores_equal {
        return whole(input, ours, expected);
    }
    match ranked(ours_list, expected_list, false, Tolerance::DOUBLES) {
        Ok(()) => Vec::new(),
        Err(why) => vec![Difference::answered(0, why)],
    }
}

/// What the case states of the first hit; it need not state everything.
fn stated(input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let stated = expected.as_object().into_iter().flatten();
    let part = |name: &String| ours.get(name).unwrap_or(&Value::Null);
    stated
        .flat_map(|(name, value)| whole(input, part(name), value))
        .collect()
}
