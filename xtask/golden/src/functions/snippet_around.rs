use serde_json::{Value, json};
use shelfward_text::{SnippetAround, WordRule, snippet_around};

use super::{count_of, read, text_of};
use crate::compare::whole;
use crate::rule::{Answer, Deviation, Function, Ours};
use crate::utf16::{has_pairs, units};

pub(super) const SNIPPET_AROUND: Function = Function {
    name: "snippetAround",
    run,
    differences: whole,
    deviations: &[
        Deviation {
            name: "sizes-in-characters",
            why: "before and after are counted in Unicode scalar values, not in UTF-16 code units: a \
                  character beyond U+FFFF counts once",
            ours: Ours::Answers,
            applies: |input, _| text_of(input, "text").is_ok_and(|text| has_pairs(&text)),
        },
        Deviation {
            name: "no-break-spaces-stay",
            why: "a no-break space is no white space of a snippet: it keeps what it joins whole",
            ours: Ours::Answers,
            applies: |input, _| {
                text_of(input, "text")
                    .is_ok_and(|text| text.contains(['\u{A0}', '\u{2007}', '\u{202F}']))
            },
        },
        Deviation {
            name: "white-space-is-unicodes",
            why: "white space is Unicode's, which has U+0085 and has not U+FEFF",
            ours: Ours::Answers,
            applies: |input, _| {
                text_of(input, "text").is_ok_and(|text| text.contains(['\u{85}', '\u{FEFF}']))
            },
        },
    ],
};

fn run(input: &Value) -> Answer {
    let text = text_of(input, "text")?;
    let words: Vec<String> = read(input, "words")?;
    let given = input.get("options").unwrap_or(&Value::Null);
    let default = SnippetAround::default();
    let options = SnippetAround {
        before: count_of(given, "before").unwrap_or(default.before),
        after: count_of(given, "after").unwrap_or(default.after),
        rule: WordRule::Seed,
        ..default
    };
    let snippet = snippet_around(&text, &words, &options);
    let at = match snippet.at {
        Some(at) => json!(units(&text, at).ok_or("an offset inside a character")?),
        None => json!(-1),
    };
    Ok(json!({ "at": at, "text": snippet.text }))
}
