//! Restoring a saved index, beside indexing the documents again.

use shelfward_bench::report::{Figures, Report, Row};
use shelfward_bench::rounds::{Times, whole};
use shelfward_lexical::LexicalIndex;
use shelfward_text::WordRule;

use super::{FEW_ROUNDS, Run, both};
use crate::ours::by_id;

type Save = fn(&LexicalIndex) -> Vec<u8>;
type Restore = fn(&[u8]) -> LexicalIndex;

/// The saved forms.
const FORMS: [(&str, Save, Restore); 2] = [
    ("bytes", to_bytes, from_bytes),
    ("JSON", to_json, from_json),
];

pub(crate) fn saved(run: &Run<'_>, report: &mut Report) {
    for (form, save, restore) in FORMS {
        let bytes = save(run.ours());
        assert_eq!(restore(&bytes).len(), run.documents.len());
        let times = whole(
            FEW_ROUNDS,
            &mut [
                ("restored", &mut || drop(restore(&bytes))),
                ("indexed again", &mut || drop(by_id(&run.documents))),
            ],
        );
        let what = format!("restore from {form}");
        let row = Row::times(&what, run.documents.len(), "ours, indexing again");
        let figures = |times: &Times| Figures::one(times.p50.as_secs_f64());
        report.rows.push(row.measured(both(&times, figures)));
    }
}

fn to_bytes(index: &LexicalIndex) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.write_to(&mut bytes).unwrap();
    bytes
}

fn from_bytes(saved: &[u8]) -> LexicalIndex {
    LexicalIndex::from_bytes(saved, WordRule::Unicode).unwrap()
}

fn to_json(index: &LexicalIndex) -> Vec<u8> {
    serde_json::to_vec(&index.to_json()).unwrap()
}

fn from_json(saved: &[u8]) -> LexicalIndex {
    let text = std::str::from_utf8(saved).unwrap();
    LexicalIndex::from_json_text(text, WordRule::Unicode).unwrap()
}
