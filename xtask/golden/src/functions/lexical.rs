//! The lexical indexes: of words, of stems, and of words with an edit.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use shelfward_core::Match;
use shelfward_lexical::fuzzy::{self, FuzzyDocument, FuzzyIndex, FuzzySearch, FuzzySettings};
use shelfward_lexical::{Bm25, Bm25Index, Bm25Tokenizer, LexicalIndex, SearchOptions, Tokenizer};
use shelfward_text::WordRule;

use super::passages::OneText;
use super::{Whole, object, or, some};
use crate::compare::{Tolerance, ranked, same, whole};
use crate::rule::{Answer, Difference};
use crate::utf16::place;

/// `{ id, text, metadata? }`
#[derive(Deserialize)]
pub(super) struct Added {
    id: String,
    text: String,
    metadata: Option<Value>,
}

impl Added {
    pub(super) fn to<T: Tokenizer>(self, index: &mut LexicalIndex<T>) -> Result<(), String> {
        let added = index.add_document(&self.id, &self.text, self.metadata);
        added.map_err(|e| e.to_string())
    }
}

/// The constants of a corpus, each as it is unless given.
#[derive(Default, Deserialize)]
struct Constants {
    k1: Option<f64>,
    b: Option<f64>,
}

impl Constants {
    fn made(&self) -> Result<Bm25, String> {
        let usual = Bm25::default();
        let (k1, b) = (self.k1.unwrap_or(usual.k1()), self.b.unwrap_or(usual.b()));
        Bm25::new(k1, b).map_err(|e| e.to_string())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Query {
    query: String,
    top_k: Option<Whole>,
    #[serde(default)]
    options: QueryOptions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct QueryOptions {
    #[serde(rename = "match")]
    matching: Match,
    prefix: bool,
}

impl Query {
    fn of<T: Tokenizer>(&self, index: &LexicalIndex<T>) -> Answer {
        let QueryOptions { matching, prefix } = self.options;
        let options = SearchOptions::default().matching(matching).prefix(prefix);
        let hits = index.search_with(&self.query, or(self.top_k, 10), &options);
        let shown = hits.map_err(|e| e.to_string())?.into_iter().map(|hit| {
            object([
                ("id", some(hit.id)),
                ("score", some(hit.score)),
                ("metadata", hit.metadata.cloned()),
            ])
        });
        Ok(shown.collect())
    }
}

#[derive(Deserialize)]
pub(super) struct Searched<C> {
    corpus: C,
    #[serde(flatten)]
    query: Query,
}

/// A corpus whose operations run in order.
#[derive(Deserialize)]
pub(super) struct Operations {
    ops: Vec<Operation>,
    #[serde(flatten)]
    constants: Constants,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
enum Operation {
    Add(Added),
    Remove { id: String },
}

impl Operations {
    fn index(self) -> Result<LexicalIndex, String> {
        let mut index = LexicalIndex::with_bm25(WordRule::Seed, self.constants.made()?);
        for step in self.ops {
            match step {
                Operation::Add(document) => document.to(&mut index)?,
                Operation::Remove { id } => drop(index.remove_document(&id)),
            }
        }
        Ok(index)
    }
}

pub(super) fn index_search(input: Searched<Operations>) -> Answer {
    input.query.of(&input.corpus.index()?)
}

#[derive(Deserialize)]
pub(super) struct Stems {
    docs: Vec<Added>,
    #[serde(default)]
    config: Constants,
}

pub(super) fn bm25_search(input: Searched<Stems>) -> Answer {
    let mut index =
        Bm25Index::with_bm25(Bm25Tokenizer::plain_english(), input.corpus.config.made()?);
    for document in input.corpus.docs {
        document.to(&mut index)?;
    }
    input.query.of(&index)
}

pub(super) fn bm25_tokenize(input: OneText) -> Answer {
    Ok(json!(Bm25Tokenizer::plain_english().words(&input.text)))
}

/// What is done with a saved index.
#[derive(Deserialize)]
#[serde(tag = "op")]
pub(super) enum Saved {
    #[serde(rename = "toJSON")]
    To { corpus: Operations },
    #[serde(rename = "fromJSON")]
    From { json: Value },
    #[serde(rename = "fromJSON+search")]
    Search {
        json: Value,
        #[serde(flatten)]
        query: Query,
    },
    #[serde(rename = "addDocument")]
    Add(Added),
}

pub(super) fn index_json(input: Saved) -> Answer {
    let restored = |json| LexicalIndex::from_json(json, WordRule::Seed).map_err(|e| e.to_string());
    match input {
        Saved::To { corpus } => {
            let index = corpus.index()?;
            let stats = index.stats();
            Ok(json!({
                "json": index.to_json(),
                "stats": {
                    "documentCount": stats.document_count,
                    "termCount": stats.term_count,
                    "avgDocLength": stats.average_length,
                },
            }))
        }
        Saved::From { json } => Ok(restored(&json)?.to_json()),
        Saved::Search { json, query } => query.of(&restored(&json)?),
        Saved::Add(document) => {
            let mut index = LexicalIndex::new(WordRule::Seed);
            document.to(&mut index)?;
            Ok(index.to_json())
        }
    }
}

pub(super) fn index_json_differences(
    input: &Value,
    ours: &Value,
    expected: &Value,
) -> Vec<Difference> {
    match input["op"].as_str() {
        Some("fromJSON+search") => ranking(input, ours, expected),
        _ => whole(input, ours, expected),
    }
}

/// Hits stand in their order, equal scores included. Only neighbours whose scores differ, and by
/// less than two runtimes may, stand in either.
pub(super) fn ranking(input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let differ = |a: f64, b: f64| a != b && Tolerance::DOUBLES.equal(a, b);
    let exact = !neighbours(expected, differ) || same(ours, expected, Tolerance::DOUBLES);
    ranked_unless(exact, input, ours, expected)
}

/// Ties stand in the order in which documents were added, so the order is compared too, but for
/// sums that differ in their last bits alone.
pub(super) fn fuzzy_ranking(input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    ranked_unless(neighbours(expected, |a, b| a == b), input, ours, expected)
}

/// Whether two hits that stand beside each other have such scores.
fn neighbours(hits: &Value, such: impl Fn(f64, f64) -> bool) -> bool {
    let score = |hit: &Value| hit["score"].as_f64().unwrap_or(f64::NAN);
    let mut pairs = hits.as_array().map_or(&[][..], Vec::as_slice).windows(2);
    pairs.any(|pair| matches!(pair, [a, b] if such(score(a), score(b))))
}

fn ranked_unless(exact: bool, input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let (Some(ours_list), Some(expected_list)) = (ours.as_array(), expected.as_array()) else {
        return whole(input, ours, expected);
    };
    if exact {
        return whole(input, ours, expected);
    }
    let parted = ranked(ours_list, expected_list, false, Tolerance::DOUBLES).err();
    parted
        .map(|why| Difference::answered(0, why))
        .into_iter()
        .collect()
}

#[derive(Deserialize)]
pub(super) struct Edit {
    a: String,
    b: String,
}

pub(super) fn within_one_edit(input: Edit) -> Answer {
    Ok(json!(fuzzy::within_one_edit(&input.a, &input.b)))
}

#[derive(Deserialize)]
pub(super) struct Fuzzy {
    config: FuzzyConfig,
    documents: Vec<Fields>,
    query: String,
    #[serde(default)]
    options: FuzzyOptions,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FuzzyConfig {
    fields: Map<String, Value>,
    passage_fields: Option<Vec<String>>,
    edit_min_length: Option<Whole>,
    passages: Option<Whole>,
    passage_width: Option<Whole>,
}

#[derive(Deserialize)]
struct Fields {
    id: String,
    fields: Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FuzzyOptions {
    #[serde(rename = "match")]
    matching: Option<Match>,
    /// A number, or that of all.
    top_k: Value,
}

impl FuzzyConfig {
    fn settings(self) -> Result<FuzzySettings, String> {
        let weights = self.fields.into_iter().map(|(name, weight)| {
            let weight = weight.as_f64().ok_or("a weight is no number")?;
            Ok((name, weight))
        });
        let mut settings = FuzzySettings::new(weights.collect::<Result<Vec<_>, String>>()?);
        if let Some(fields) = self.passage_fields {
            settings = settings.passage_fields(fields);
        }
        if let Some(letters) = self.edit_min_length {
            settings = settings.edit_min_length(letters.0);
        }
        if let Some(most) = self.passages {
            settings = settings.passages(most.0);
        }
        if let Some(width) = self.passage_width {
            settings = settings.passage_width(width.0);
        }
        Ok(settings)
    }
}

impl Fields {
    fn document(self) -> Result<FuzzyDocument, String> {
        let mut made = FuzzyDocument::new(self.id);
        for (name, value) in self.fields {
            made = match value {
                Value::String(text) => made.field(&name, text.as_str()),
                texts => made.field(&name, super::read::<Vec<String>>(&texts)?),
            };
        }
        Ok(made)
    }
}

impl Fuzzy {
    fn hits(self) -> Result<Vec<fuzzy::FuzzyHit>, String> {
        let mut index = FuzzyIndex::new(self.config.settings()?).map_err(|e| e.to_string())?;
        for document in self.documents {
            index
                .add_document(document.document()?)
                .map_err(|e| e.to_string())?;
        }
        let search = match self.options.matching {
            None | Some(Match::All) => FuzzySearch::default().matching(fuzzy::Match::All),
            Some(Match::Any) => FuzzySearch::default().matching(fuzzy::Match::Any),
        };
        let search = match self.options.top_k {
            Value::String(every) if every == "Infinity" => search.every_hit(),
            Value::Null => search,
            top_k => search.top_k(super::read::<Whole>(&top_k)?.0),
        };
        Ok(index.search(&self.query, &search))
    }
}

pub(super) fn fuzzy_search(input: Fuzzy) -> Answer {
    let hits = input.hits()?.into_iter();
    Ok(hits
        .map(|hit| json!({ "id": &*hit.id, "score": hit.score }))
        .collect())
}

pub(super) fn fuzzy_example(input: Fuzzy) -> Answer {
    let hits = input.hits()?;
    let first = hits.first().ok_or("nothing is found")?;
    let passages = first.passages.iter().map(|passage| {
        let marks = passage.marks.iter().map(|mark| {
            let (start, end) = (
                place(&passage.text, mark.start)?,
                place(&passage.text, mark.end)?,
            );
            Ok(json!({ "start": start, "end": end }))
        });
        let marks = marks.collect::<Result<Vec<_>, String>>()?;
        Ok(json!({ "text": &*passage.text, "marks": marks }))
    });
    let passages = passages.collect::<Result<Vec<_>, String>>()?;
    Ok(json!({ "firstScore": first.score, "firstPassages": passages }))
}

/// What the case states of the first hit; it need not state everything.
pub(super) fn stated(input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let stated = expected.as_object().into_iter().flatten();
    stated
        .flat_map(|(name, value)| whole(input, &ours[name], value))
        .collect()
}
