//! Steps and answers as text.

use std::fmt::Write as _;

use shelfward::AccessGroup;
use shelfward::library::{FoundPassage, LegRank};

use crate::story::readers::Reader;
use crate::story::{Seen, Step};

pub(crate) fn reader(reader: &Reader) -> String {
    let (name, tenant) = (reader.name, reader.scope.tenant());
    let groups: Vec<&str> = reader
        .scope
        .groups()
        .iter()
        .map(AccessGroup::as_str)
        .collect();
    format!("{name:<5} of {tenant}, in {}", groups.join(", "))
}

pub(crate) fn step(number: u32, step: &Step) -> String {
    let mut out = format!("{number}. {}\n", step.title);
    for note in &step.notes {
        // Writing into a String cannot fail.
        let _ = writeln!(out, "   {note}");
    }
    let mut question = "";
    for seen in &step.seen {
        if seen.question != question {
            question = seen.question;
            let _ = writeln!(out, "\n   {question}");
        }
        answer(&mut out, seen);
    }
    out
}

fn answer(out: &mut String, seen: &Seen) {
    let mut name = seen.reader;
    if seen.answer.passages.is_empty() {
        let _ = writeln!(out, "     {name:<5} nothing");
    }
    for passage in &seen.answer.passages {
        let _ = writeln!(out, "     {name:<5} {}", line(passage));
        name = "";
    }
}

fn line(passage: &FoundPassage) -> String {
    let place = |leg: &str, place: Option<LegRank>| {
        place.map_or_else(
            || format!("{leg} -"),
            |place| format!("{leg} {}", place.rank),
        )
    };
    let dense = place("dense", passage.legs.dense);
    let lexical = place("lexical", passage.legs.lexical);
    let title = passage.title.as_deref().unwrap_or("untitled");
    let (id, score) = (&passage.id, passage.score);
    format!("{id:<32} {score:>7.4}  {dense:<9} {lexical:<11} {title}")
}
