//! The table of rules by which ours answers otherwise than the originals, on purpose.
//!
//! Written from the JSON of the inputs alone, without ours, so that a rule cannot repeat a mistake of
//! what it judges. Of several rules that fit, the first counts.

use std::collections::BTreeMap;

use serde::Deserialize as _;
use serde_json::{Value, json};
use shelfward_core::Match;
use shelfward_text::ChunkTurns;

use crate::functions::{TsWords, Whole};
use crate::rule::{Deviation, Ours};
use crate::utf16::{has_pairs, length};

const SPLITS: &[&str] = &[
    "split_by_heading",
    "split_by_paragraph",
    "split_fixed_with_overlap",
];
const ALL_SPLITS: &[&str] = &[
    "split_by_heading",
    "split_by_paragraph",
    "split_fixed_with_overlap",
    "split_whole_document",
];

pub(crate) static DEVIATIONS: [Deviation; 50] = [
    Deviation {
        of: &["chunkTurns"],
        name: "sizes-in-characters",
        why: "sizes are counted in Unicode scalar values, not in UTF-16 code units: a character \
                  beyond U+FFFF counts once, which shows where a size decides",
        ours: Ours::Answers,
        applies: |input, _| size_decides(input) && turns(input).any(has_pairs),
    },
    Deviation {
        of: &["chunkTurns"],
        name: "next-line-is-white-space",
        why: "white space is Unicode's, which has U+0085: a turn of nothing else is blank",
        ours: Ours::Answers,
        applies: |input, _| {
            let white = |c: char| c.is_whitespace() || c == '\u{FEFF}';
            turns(input).any(|text| text.contains('\u{85}') && text.chars().all(white))
        },
    },
    Deviation {
        of: &["snippetAround"],
        name: "sizes-in-characters",
        why: "before and after are counted in Unicode scalar values, not in UTF-16 code units: a \
                  character beyond U+FFFF counts once",
        ours: Ours::Answers,
        applies: |input, _| has_pairs(text(input)),
    },
    Deviation {
        of: &["snippetAround"],
        name: "no-break-spaces-stay",
        why: "a no-break space is no white space of a snippet: it keeps what it joins whole",
        ours: Ours::Answers,
        applies: |input, _| text(input).contains(['\u{A0}', '\u{2007}', '\u{202F}']),
    },
    Deviation {
        of: &["snippetAround"],
        name: "white-space-is-unicodes",
        why: "white space is Unicode's, which has U+0085 and has not U+FEFF",
        ours: Ours::Answers,
        applies: |input, _| text(input).contains(['\u{85}', '\u{FEFF}']),
    },
    Deviation {
        of: SPLITS,
        name: "overlap-below-size",
        why: "an overlap that is not below the size is refused: the next piece would not get ahead",
        ours: Ours::Refuses,
        applies: |input, _| overlap(input) >= size(input),
    },
    Deviation {
        of: SPLITS,
        name: "sizes-in-characters",
        why: "sizes are counted in Unicode scalar values, not in UTF-16 code units, and no character is \
          cut in two: one beyond U+FFFF counts once, which shows where a size decides",
        ours: Ours::Answers,
        applies: |input, _| has_pairs(text(input)),
    },
    Deviation {
        of: ALL_SPLITS,
        name: "white-space-is-unicodes",
        why: "white space is Unicode's, which has U+0085 and has not U+FEFF",
        ours: Ours::Answers,
        applies: |input, _| text(input).contains(['\u{85}', '\u{FEFF}']),
    },
    Deviation {
        of: SPLITS,
        name: "graphemes-stay-whole",
        why: "no cut falls inside a grapheme",
        ours: Ours::Answers,
        applies: |input, _| !text(input).chars().all(stands_alone),
    },
    Deviation {
        of: SPLITS,
        name: "line-ends-are-line-feeds",
        why: "CR LF, CR, U+2028 and U+2029 end lines and count as one character, so that a text is cut \
              as it is with line feeds",
        ours: Ours::Answers,
        applies: |input, _| text(input).contains(['\r', '\u{2028}', '\u{2029}']),
    },
    Deviation {
        of: &["split_by_heading", "split_by_paragraph"],
        name: "hard-cuts-between-words",
        why: "a paragraph that is too long is cut at white space in the last tenth of the size where \
              there is some, and not behind a joiner; what follows it moves along",
        ours: Ours::Answers,
        applies: |input, _| has_long_paragraph(text(input), size(input)),
    },
    Deviation {
        of: SPLITS,
        name: "starts-increase",
        why: "each piece begins behind where the one before it begins: an overlap that would repeat all \
          of the first piece leaves out its first word, or all of it where that is one word",
        ours: Ours::Answers,
        // A piece further on reaches back no further than to the one before it, so only the second
        // can repeat the first, and the third the second where that has lost its overlap.
        applies: |input, at| (at == 1 || at == 2) && overlap(input) > 0,
    },
    Deviation {
        of: &["split_by_heading"],
        name: "fences-hold-no-headings",
        why: "a line that begins with # inside a code fence is code, and no heading",
        ours: Ours::Answers,
        applies: |input, _| {
            let fence = |line: &str| {
                // Behind the marks of lists, too.
                let marks = |c: char| " \t-*+.)".contains(c) || c.is_ascii_digit();
                let line = line.trim_start_matches(marks);
                line.starts_with("```") || line.starts_with("~~~")
            };
            text(input).lines().any(fence)
        },
    },
    Deviation {
        of: &["hybridSearcher"],
        name: "blank-query",
        why: "a blank query is refused, and nobody is asked; there it is embedded",
        ours: Ours::Refuses,
        applies: |input, _| is_blank(&input["query"]),
    },
    Deviation {
        of: &["hybridSearcher"],
        name: "zero-vectors",
        why: "a vector of zeros has no cosine and is refused, of a document and of a query; \
                  there it scores 0",
        ours: Ours::Refuses,
        applies: |input, _| {
            let zeros = |vector: &Value| {
                vector.is_array() && items(vector).all(|number| number.as_f64() == Some(0.0))
            };
            let mut held = items(&input["store"]["documents"]);
            held.any(|document| zeros(&document["embedding"])) || zeros(&input["queryVector"])
        },
    },
    Deviation {
        of: &["hybridSearcher"],
        name: "filter-on-both-legs",
        why: "a filter reaches both legs; there it narrows the dense leg only",
        ours: Ours::Answers,
        applies: |input, _| input["queryOptions"].get("filter").is_some(),
    },
    Deviation {
        of: &["hybridSearcher"],
        name: "legs-three-times-as-deep",
        why: "each leg is three times as deep as the answer; there a topK among the options of \
                  the store takes the dense leg's place",
        ours: Ours::Answers,
        applies: |input, _| input["queryOptions"].get("topK").is_some(),
    },
    Deviation {
        of: &["hybridSearcher"],
        name: "no-floor",
        why: "fused scores are no similarities, so there is no floor under either leg",
        ours: Ours::Answers,
        applies: |input, _| input["queryOptions"].get("minSimilarityScore").is_some(),
    },
    Deviation {
        of: &["inMemoryFilter"],
        name: "metadata-refused",
        why: "nested objects, mixed lists, lists with null and U+0000 are refused at the door, \
              because no store holds them alike",
        ours: Ours::Refuses,
        applies: |input, _| holds_refused_value(&input["metadata"]),
    },
    Deviation {
        of: &["inMemoryFilter"],
        name: "unknown-operator",
        why: "an unknown operator is an error that names its path; $contains, $textSearch and \
              $regex are unknown",
        ours: Ours::Refuses,
        applies: |input, _| some_operator(input, |name, _, _| !OPERATORS.contains(&name)),
    },
    Deviation {
        of: &["inMemoryFilter"],
        name: "null-operand",
        why: "$eq null, and null wherever a value is due, is refused: $exists asks whether a field \
              is there",
        ours: Ours::Refuses,
        applies: |input, _| {
            conditions(input).any(|(_, condition)| condition.is_null())
                || some_operator(input, |_, operand, _| match operand {
                    Value::Array(list) => list.iter().any(Value::is_null),
                    operand => operand.is_null(),
                })
        },
    },
    Deviation {
        of: &["inMemoryFilter"],
        name: "empty-condition",
        why: "a condition without an operator, {\"f\":{}}, is refused with its path",
        ours: Ours::Refuses,
        applies: |input, _| conditions(input).any(|(_, condition)| *condition == json!({})),
    },
    Deviation {
        of: &["inMemoryFilter"],
        name: "operand-shape",
        why: "a list where a scalar is due, a scalar where a list is due, and a boolean operand of \
              a range are refused with their path",
        ours: Ours::Refuses,
        applies: |input, _| {
            conditions(input).any(|(_, condition)| condition.is_array())
                || some_operator(input, |name, operand, _| misshapen(name, operand))
        },
    },
    Deviation {
        of: &["inMemoryFilter"],
        name: "refused-key",
        why: "a key that some store's query language could misread is refused at the door",
        ours: Ours::Refuses,
        applies: |input, _| conditions(input).any(|(key, _)| is_refused_key(key)),
    },
    Deviation {
        of: &["inMemoryFilter"],
        name: "exact-complement",
        why: "$ne, $nin and $exists false hold exactly where the positive form does not: for a \
              missing field, a null and an empty list too",
        ours: Ours::Answers,
        applies: |input, _| {
            some_operator(input, |name, operand, field| {
                let negative = matches!(name, "$ne" | "$nin")
                    || (name == "$exists" && operand == &Value::Bool(false));
                negative && !has_elements(field)
            })
        },
    },
    Deviation {
        of: &["inMemoryFilter"],
        name: "list-membership",
        why: "a list is the set of its members for every operator: $eq, $ne, $in and $nin ask for \
              membership",
        ours: Ours::Answers,
        applies: |input, _| {
            conditions(input).any(|(key, condition)| {
                let asks = |name: &str| matches!(name, "$eq" | "$ne" | "$in" | "$nin");
                let asked = !condition.is_object() || operators(condition).any(|(n, _)| asks(n));
                input["metadata"][key].is_array() && asked
            })
        },
    },
    Deviation {
        of: &["inMemoryFilter"],
        name: "range-within-one-kind",
        why: "a range compares number with number and text with text, member by member; a boolean, \
              a null and another kind are never converted",
        ours: Ours::Answers,
        applies: |input, _| {
            some_operator(input, |name, operand, field| {
                let range = matches!(name, "$gt" | "$gte" | "$lt" | "$lte");
                let list = field.is_some_and(Value::is_array);
                range && field.is_some() && (list || kinds_of(field) != [kind(operand)])
            })
        },
    },
    Deviation {
        of: &["inMemoryFilter"],
        name: "all-on-any-field",
        why: "$all is the and of $eq, on a plain field as on a list; $all [] matches everything, \
              a missing field included",
        ours: Ours::Answers,
        applies: |input, _| {
            some_operator(input, |name, operand, field| {
                let none = operand.as_array().is_some_and(Vec::is_empty);
                name == "$all" && (none || !field.is_some_and(Value::is_array))
            })
        },
    },
    Deviation {
        of: &["inMemoryFilter"],
        name: "exists-asks-for-elements",
        why: "$exists true asks for at least one element: a null removes its key on the way in, and \
              [] is like a missing field, because not every store can tell them apart",
        ours: Ours::Answers,
        applies: |input, _| {
            some_operator(input, |name, _, field| {
                name == "$exists" && field.is_some() && !has_elements(field)
            })
        },
    },
    Deviation {
        of: &["inMemoryFilter"],
        name: "exists-beside-others",
        why: "operators under one key are all to hold, $exists among them; there $exists decides \
              alone",
        ours: Ours::Answers,
        applies: |input, _| {
            conditions(input).any(|(_, condition)| {
                operators(condition).count() > 1 && condition.get("$exists").is_some()
            })
        },
    },
    Deviation {
        of: &["libraryIndex"],
        name: "top-k-0",
        why: "top_k 0 answers nothing and calls nobody; there the query is embedded",
        ours: Ours::Answers,
        applies: |input, at| query(input, at)["topK"] == 0,
    },
    Deviation {
        of: &["libraryIndex"],
        name: "top-k-is-a-whole-number",
        why: "top_k is a whole number of at most 1,000; what is below 0, broken or larger is refused",
        ours: Ours::Refuses,
        applies: |input, at| {
            let given = query(input, at).get("topK");
            given.is_some_and(|given| given.as_u64().is_none_or(|top_k| top_k > 1_000))
        },
    },
    Deviation {
        of: &["libraryIndex"],
        name: "blank-query",
        why: "a blank query text is refused in every mode, and nobody is asked",
        ours: Ours::Either,
        applies: |input, at| is_blank(&query(input, at)["text"]),
    },
    Deviation {
        of: &["libraryIndex"],
        name: "branches-narrow-only",
        why: "mode, match, prefix and top_k in a branch of any_of are refused",
        ours: Ours::Refuses,
        applies: |input, at| {
            let others = ["mode", "match", "prefix", "topK"];
            let other = |branch: &Value| others.iter().any(|name| branch.get(name).is_some());
            items(&query(input, at)["anyOf"]).any(other)
        },
    },
    Deviation {
        of: &["libraryIndex"],
        name: "batch-size-0",
        why: "batch_size 0 is refused; there it is read as 1",
        ours: Ours::Refuses,
        applies: |input, _| {
            let size = input["batchSize"].as_f64();
            size.is_some_and(|size| (0.0..1.0).contains(&size))
        },
    },
    Deviation {
        of: &["libraryIndex"],
        name: "opening-makes-nothing",
        why: "a library is opened before anything is asked of it, and a missing collection is an \
              error then; there the steps run until the store is asked",
        ours: Ours::Either,
        applies: |input, _| input["createCollection"] == false,
    },
    Deviation {
        of: &["libraryIndex"],
        name: "old-source-stays-whole",
        why: "embedding and its checks come before anything is deleted: a failed call or a vector of \
              another width leaves the old source whole and writes nothing; there part of the new \
              takes the place of the old",
        ours: Ours::Answers,
        applies: |input, at| since(input, at, |step| embedding_fails(input, step)),
    },
    Deviation {
        of: &["libraryIndex"],
        name: "source-of-a-tenant",
        why: "a source is identified by tenant and source id, so one tenant never touches another's; \
              there the later takes the place of the earlier",
        ours: Ours::Answers,
        applies: id_in_two_tenants,
    },
    Deviation {
        of: &["libraryIndex"],
        name: "foreign-records",
        why: "a record without source id, kind or index, or with another kind of value in them, is \
              never returned, nor one whose tenant or status is a list",
        ours: Ours::Answers,
        applies: |input, at| {
            since(input, at, |step| {
                items(&step["documents"]).any(is_no_passage)
            })
        },
    },
    Deviation {
        of: &["libraryIndex"],
        name: "raw-values-refused",
        why: "nested objects, mixed lists, lists with null and U+0000 are refused at the door",
        ours: Ours::Answers,
        applies: |input, at| {
            let refused = |document: &Value| holds_refused_value(&document["metadata"]);
            since(input, at, |step| items(&step["documents"]).any(refused))
        },
    },
    Deviation {
        of: &["libraryIndex"],
        name: "passage-ids",
        why: "the id that people see is always source id, #, index; there it is the record's own",
        ours: Ours::Answers,
        applies: |input, at| {
            let own_id = |document: &Value| !is_no_passage(document);
            let is_search = !query(input, at).is_null();
            is_search && since(input, at, |step| items(&step["documents"]).any(own_id))
        },
    },
    Deviation {
        of: &["libraryIndex"],
        name: "metadata-refused",
        why: "metadata of a source or a passage is checked at the door, before anything is deleted",
        ours: Ours::Either,
        applies: |input, at| {
            since(input, at, |step| {
                let refused = |of: &Value| holds_refused_value(&of["metadata"]);
                refused(&step["source"]) || items(&step["source"]["passages"]).any(refused)
            })
        },
    },
    Deviation {
        of: &["libraryIndex"],
        name: "empty-names",
        why: "an empty source id, kind or access group is refused; there it is not looked at",
        ours: Ours::Either,
        applies: |input, at| since(input, at, has_empty_name),
    },
    Deviation {
        of: &["libraryIndex"],
        name: "scope-changes-in-place",
        why: "the memory store changes metadata in place, so a source can be re-scoped; the \
              original's cannot",
        ours: Ours::Answers,
        applies: |input, at| since(input, at, |step| step["op"] == "setSourceScope"),
    },
    Deviation {
        of: &["reciprocalRankFusion"],
        name: "ids-by-scalar-value",
        why: "texts are ordered by Unicode scalar value, there by UTF-16 code units: the two part \
              where an id has a character beyond U+FFFF",
        ours: Ours::Answers,
        applies: |input, _| {
            let mut hits = items(&input["dense"]).chain(items(&input["sparse"]));
            hits.any(|hit| hit["id"].as_str().is_some_and(has_pairs))
        },
    },
    Deviation {
        of: &["postgresTsQuery"],
        name: "prefix-of-one-letter",
        why: "a word of one letter is looked for whole: as a prefix it finds a large part of \
                  any collection",
        ours: Ours::Answers,
        applies: |input, at| {
            let words = TsWords::of(input).ok().filter(|words| words.prefix);
            let word = words.and_then(|words| words.distinct().ok()?.into_iter().nth(at));
            word.is_some_and(|word| word.text.as_str().chars().count() == 1)
        },
    },
    Deviation {
        of: &["lexicalIndexSearch"],
        name: "prefix-of-one-letter",
        why: "a word of one letter is looked for whole, in every index and store: as a prefix it finds a \
              large part of any collection",
        ours: Ours::Answers,
        applies: |input, _| {
            let query = input["query"].as_str().unwrap_or_default();
            let mut words = query.split(|character: char| !character.is_alphanumeric());
            input["options"]["prefix"] == true && words.any(|word| word.chars().count() == 1)
        },
    },
    Deviation {
        of: &["postgresTsQuery"],
        name: "all-of-many-words",
        why: "all of more than 32 words are refused: the original drops the words behind the \
                  32nd, which widens the answer",
        ours: Ours::Refuses,
        applies: |input, _| {
            let words = TsWords::of(input)
                .ok()
                .filter(|words| words.matching == Match::All);
            words.is_some_and(|words| words.distinct().is_ok_and(|words| words.len() > 32))
        },
    },
    Deviation {
        of: &["computeRRF", "computeWeightedRRF", "semanticDedup"],
        name: "negative-number-refused",
        why: "a weight, k or threshold below 0 is refused with its name: it would turn a ranking round, \
          or say nothing",
        ours: Ours::Refuses,
        applies: |input, _| {
            let weights = input["weights"].as_object().into_iter().flatten();
            let numbers = weights.map(|(_, weight)| weight);
            let mut numbers = numbers.chain([&input["k"], &input["threshold"]]);
            numbers.any(|number| number.as_f64().is_some_and(|number| number < 0.0))
        },
    },
    Deviation {
        of: &["tfVectors"],
        name: "unseen-characters-part-no-words",
        why: "a word is the same with and without soft hyphens and zero-width joiners, as under the \
              word rules of the library",
        ours: Ours::Answers,
        applies: |input, _| {
            let unseen = ['\u{AD}', '\u{200C}', '\u{200D}', '\u{2060}'];
            let mut texts = items(&input["texts"]).filter_map(Value::as_str);
            texts.any(|text| text.contains(unseen))
        },
    },
];

/// The members of a list; of anything else, none.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(input: &Value) -> &str {
    input["text"].as_str().unwrap_or_default()
}

fn is_blank(text: &Value) -> bool {
    text.as_str().is_some_and(|text| text.trim().is_empty())
}

fn count(given: &Value) -> Option<usize> {
    Whole::deserialize(given).ok().map(|count| count.0)
}

// Turns and documents.

fn turns(input: &Value) -> impl Iterator<Item = &str> {
    items(&input["turns"]).filter_map(|turn| turn["text"].as_str())
}

/// Whether the turns do not fit in one passage by the original's count.
fn size_decides(input: &Value) -> bool {
    let all: usize = turns(input).map(|text| length(text) + 1).sum();
    let most = count(&input["options"]["maxChars"]);
    all.saturating_sub(1) > most.unwrap_or(ChunkTurns::default().max_chars)
}

fn size(input: &Value) -> usize {
    let size = |key| count(&input["options"][key]);
    size("maxChars").or_else(|| size("chars")).unwrap_or(1_000)
}

fn overlap(input: &Value) -> usize {
    count(&input["options"]["overlapChars"]).unwrap_or(150)
}

/// Whether a paragraph of several words, with the heading ahead of it, is longer than `size`.
fn has_long_paragraph(text: &str, size: usize) -> bool {
    let mut ahead = 0;
    let mut is_long = |paragraph: &str| {
        let chars = paragraph.chars().count();
        let long = ahead + chars > size && paragraph.contains(char::is_whitespace);
        // The white space between the two counts: a blank line of any length.
        let is_heading = paragraph.starts_with('#');
        ahead = if is_heading { chars + 2 } else { 0 };
        long
    };
    text.split("\n\n")
        .any(|paragraph| is_long(paragraph.trim()))
}

/// Whether a character is surely a grapheme by itself, whatever stands beside it: of what is not
/// ASCII, letters of European scripts and ideographs are enough here.
fn stands_alone(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{2FF}' | '\u{370}'..='\u{482}' | '\u{48A}'..='\u{590}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}'
            | '\u{3000}'..='\u{3029}' | '\u{3030}'..='\u{3098}' | '\u{309B}'..='\u{A66E}' | '\u{AC00}'..='\u{D7A3}'
    ) && !matches!(character, '\u{AD}' | '\u{A9}' | '\u{AE}')
}

// Filters.

/// What a filter says, by key.
fn conditions(input: &Value) -> impl Iterator<Item = (&String, &Value)> {
    input["filter"].as_object().into_iter().flatten()
}

/// The operators of a condition; a plain value has none.
fn operators(condition: &Value) -> impl Iterator<Item = (&String, &Value)> {
    condition.as_object().into_iter().flatten()
}

/// Whether some operator, with its operand and the value of its field, is such a one.
fn some_operator(input: &Value, such: impl Fn(&str, &Value, Option<&Value>) -> bool) -> bool {
    conditions(input).any(|(key, condition)| {
        let field = input["metadata"].get(key);
        operators(condition).any(|(name, operand)| such(name, operand, field))
    })
}

const OPERATORS: [&str; 11] = [
    "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$all", "$exists", "$not",
];

/// Whether a field has at least one element, a missing one and a null having none.
fn has_elements(field: Option<&Value>) -> bool {
    match field {
        None | Some(Value::Null) => false,
        Some(Value::Array(members)) => !members.is_empty(),
        Some(_) => true,
    }
}

/// The kind of a plain value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// The kinds that a field holds, each once.
fn kinds_of(field: Option<&Value>) -> Vec<&'static str> {
    let mut kinds: Vec<_> = match field {
        None => Vec::new(),
        Some(Value::Array(members)) => members.iter().map(kind).collect(),
        Some(value) => vec![kind(value)],
    };
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Whether metadata holds a value that is refused at the door.
fn holds_refused_value(metadata: &Value) -> bool {
    let mut fields = metadata.as_object().into_iter().flatten();
    fields.any(|(key, value)| {
        let kinds = kinds_of(Some(value));
        let plain = |kind: &&str| !matches!(*kind, "null" | "list" | "object");
        let members_refused = value.is_array() && (kinds.len() > 1 || !kinds.iter().all(plain));
        value.is_object() || members_refused || holds_nul(value) || is_refused_key(key)
    })
}

fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(members) => members.iter().any(holds_nul),
        _ => false,
    }
}

/// Whether a key is refused: empty, over 128 bytes, begun by `$` or our prefix, or with a character
/// that quotes, brackets or controls.
fn is_refused_key(key: &str) -> bool {
    let refused = |c: char| {
        c.is_control() || matches!(c, '\'' | '"' | '`' | '[' | ']' | '(' | ')' | '{' | '}')
    };
    let refused_start = key.starts_with('$') || key.starts_with("_shelfward_");
    key.is_empty() || key.len() > 128 || refused_start || key.contains(refused)
}

/// Whether an operand has another shape than its operator takes.
fn misshapen(operator: &str, operand: &Value) -> bool {
    match operator {
        "$in" | "$nin" | "$all" => match operand {
            Value::Array(list) => list.iter().any(|v| v.is_array() || v.is_object()),
            _ => true,
        },
        "$gt" | "$gte" | "$lt" | "$lte" => !(operand.is_number() || operand.is_string()),
        "$exists" => !operand.is_boolean(),
        "$eq" | "$ne" => operand.is_array() || operand.is_object(),
        _ => false,
    }
}

// The steps of a library.

/// The query of a step, where it is a search.
fn query(input: &Value, at: usize) -> &Value {
    &input["steps"][at]["query"]
}

/// Whether a step, or one before it, is such a one.
fn since(input: &Value, at: usize, such: impl Fn(&Value) -> bool) -> bool {
    items(&input["steps"]).take(at + 1).any(such)
}

/// Whether the vectors of a source cannot be had as they must be.
fn embedding_fails(input: &Value, step: &Value) -> bool {
    let has_vector = |passage: &Value| {
        let vector = passage["text"].as_str().map(|text| &input["vectors"][text]);
        vector.is_none_or(|vector| {
            vector
                .as_array()
                .is_some_and(|v| input["dimension"] == v.len())
        })
    };
    let mut passages = items(&step["source"]["passages"]).peekable();
    let one_too_few = input["embedder"] == "short";
    (one_too_few && passages.peek().is_some()) || !passages.all(has_vector)
}

/// Whether, up to a step, sources of one id were indexed for two tenants.
fn id_in_two_tenants(input: &Value, at: usize) -> bool {
    let mut tenants: BTreeMap<&str, &str> = BTreeMap::new();
    items(&input["steps"]).take(at + 1).any(|step| {
        let text = |name: &str| step["source"][name].as_str();
        let named = text("sourceId").zip(text("tenantId"));
        named.is_some_and(|(source, tenant)| *tenants.entry(source).or_insert(tenant) != tenant)
    })
}

/// Whether a raw document lacks what makes it a passage of somebody.
fn is_no_passage(document: &Value) -> bool {
    let held = &document["metadata"];
    let texts = ["sourceId", "kind", "tenantId", "status"];
    !(texts.iter().all(|name| held[name].is_string()) && held["index"].is_u64())
}

fn has_empty_name(step: &Value) -> bool {
    let groups = |of: &Value| items(&of["aclGroups"]).any(|group| group == "");
    let source = &step["source"];
    [&step["sourceId"], &source["sourceId"], &source["kind"]]
        .iter()
        .any(|name| **name == "")
        || [source, &step["query"]["scope"], &step["change"]]
            .into_iter()
            .any(groups)
}
