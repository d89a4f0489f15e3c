use serde_json::Value;
use shelfward_lexical::{Bm25Index, Bm25Tokenizer};

use super::lexical_parts::{add, bm25, ranking, search};
use super::read;
use crate::rule::{Answer, Function};

pub(super) const BM25_SEARCH: Function = Function {
    name: "bm25Search",
    run,
    differences: ranking,
    deviations: &[],
};

fn run(input: &Value) -> Answer {
    let corpus = input.get("corpus").ok_or("no corpus")?;
    let config = corpus.get("config").unwrap_or(&Value::Null);
    let mut index = Bm25Index::with_bm25(Bm25Tokenizer::seed(), bm25(config)?);
    for document in read::<Vec<Value>>(corpus, "docs")? {
        add(&mut index, &document)?;
    }
    search(&index, input)
}
