//! Building an index, and its bytes, beside tantivy.

use shelfward_bench::report::{Figures, Report, Row};
use shelfward_bench::rounds::{Times, whole};

use super::{FEW_ROUNDS, Run, both};
use crate::ours::{add_all, by_id, by_number};
use crate::peers::tantivy::{Ids, NAME, Tantivy};

const BY_NUMBER: &str = "documents by number";
const BY_ID: &str = "documents by text id";

pub(crate) fn build(run: &Run<'_>, report: &mut Report) {
    let documents = run.documents.as_slice();
    let by_number: (_, &mut dyn FnMut(), _) =
        (BY_NUMBER, &mut || drop(by_number(documents)), Ids::None);
    let by_id: (_, &mut dyn FnMut(), _) = (BY_ID, &mut || drop(by_id(documents)), Ids::Text);
    for (what, ours, ids) in [by_number, by_id] {
        let theirs: &mut dyn FnMut() = &mut || drop(Tantivy::new(documents, ids));
        let times = if run.options.ours_only {
            whole(run.options.rounds, &mut [("ours", ours)])
        } else {
            whole(
                run.options.rounds.min(FEW_ROUNDS + 2),
                &mut [("ours", ours), ("tantivy", theirs)],
            )
        };
        let figures = |times: &Times| Figures::one(times.p50.as_secs_f64());
        let row = Row::times(&format!("build, {what}"), documents.len(), &NAME).goal(0.5);
        report.rows.push(row.measured(both(&times, figures)));
    }
}

/// All documents replaced at once, beside building an index of them.
pub(crate) fn replace(run: &Run<'_>, report: &mut Report) {
    let documents = run.documents.as_slice();
    let there = by_number(documents);
    let replaced: &mut dyn FnMut() = &mut || {
        let mut index = there.clone();
        index.remove_all((0..index.end()).collect());
        add_all(&mut index, documents);
    };
    let built: &mut dyn FnMut() = &mut || drop(by_number(documents));
    let times = whole(
        run.options.rounds.min(FEW_ROUNDS + 2),
        &mut [("replaced", replaced), ("built", built)],
    );
    let figures = |times: &Times| Figures::one(times.p50.as_secs_f64());
    let what = format!("all replaced at once, {BY_NUMBER}");
    let row = Row::times(&what, documents.len(), "building it").goal(2.0);
    report.rows.push(row.measured(both(&times, figures)));
}

pub(crate) fn bytes(run: &Run<'_>, report: &mut Report) {
    let documents = run.documents.as_slice();
    let ours = [
        by_number(documents).memory_bytes(),
        run.ours().memory_bytes(),
    ];
    let theirs = [Ids::None, Ids::Text].map(|ids| Tantivy::new(documents, ids).bytes());
    for ((what, ours), theirs) in [BY_NUMBER, BY_ID].into_iter().zip(ours).zip(theirs) {
        let what = format!("bytes, {what}");
        #[expect(
            clippy::cast_precision_loss,
            reason = "they are printed with three digits"
        )]
        let row = Row::bytes(&what, documents.len(), &NAME, ours as f64, theirs as f64);
        report.rows.push(row.goal(1.3));
    }
}
