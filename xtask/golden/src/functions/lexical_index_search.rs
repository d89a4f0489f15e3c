use serde_json::Value;
use shelfward_lexical::LexicalIndex;
use shelfward_text::WordRule;

use super::lexical_parts::{add, bm25, ranking, search};
use super::{read, text_of};
use crate::rule::Function;

pub(super) const LEXICAL_INDEX_SEARCH: Function = Function {
    name: "lexicalIndexSearch",
    run: |input| search(&built(input)?, input),
    differences: ranking,
    deviations: &[],
};

/// The index of a corpus, whose operations run in order.
pub(super) fn built(input: &Value) -> Result<LexicalIndex, String> {
    let corpus = input.get("corpus").ok_or("no corpus")?;
    let mut index = LexicalIndex::with_bm25(WordRule::Seed, bm25(corpus)?);
    for step in read::<Vec<Value>>(corpus, "ops")? {
        match text_of(&step, "op")?.as_str() {
            "add" => add(&mut index, &step)?,
            "remove" => {
                index.remove_document(&text_of(&step, "id")?);
            }
            other => return Err(format!("op is {other}")),
        }
    }
    Ok(index)
}
