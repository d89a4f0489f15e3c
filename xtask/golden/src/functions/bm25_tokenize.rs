use serde_json::json;
use shelfward_lexical::{Bm25Tokenizer, Tokenizer};

use super::text_of;
use crate::compare::whole;
use crate::rule::Function;

pub(super) const BM25_TOKENIZE: Function = Function {
    name: "bm25Tokenize",
    run: |input| Ok(json!(Bm25Tokenizer::seed().words(&text_of(input, "text")?))),
    differences: whole,
    deviations: &[],
};
