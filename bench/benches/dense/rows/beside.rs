//! Ours beside a peer in another process.

use std::time::{Duration, Instant};

use shelfward_bench::report::{Figures, Report, Row};
use shelfward_bench::rounds::times;

use super::Run;

/// A row of ours beside a peer: rounds alternate, a query counts with the best of its rounds.
pub(crate) fn row(
    run: &Run<'_>,
    report: &mut Report,
    what: &str,
    peer: &'static str,
    goal: Option<f64>,
    mut ours: impl FnMut(&Vec<f32>),
) {
    let documents = run.vectors.len();
    let mut measured = || {
        let mut peers = run.peers()?;
        let version = peers.version(peer)?;
        let mut best = [(); 2].map(|()| vec![Duration::MAX; run.queries.len()]);
        for _ in 0..run.options.rounds {
            for (query, best) in run.queries.iter().zip(&mut best[0]) {
                let begun = Instant::now();
                ours(query);
                *best = begun.elapsed().min(*best);
            }
            for (taken, best) in peers.round(peer)?.into_iter().zip(&mut best[1]) {
                *best = taken.min(*best);
            }
        }
        Ok::<_, String>((version, best.map(times)))
    };
    let row = match measured() {
        Ok((version, both)) => {
            let row = Row::times(what, documents, &format!("{peer} {version}"));
            row.measured([Some(Figures::many(&both[0])), Some(Figures::many(&both[1]))])
        }
        Err(why) => Row {
            not_run: Some(why),
            ..Row::times(what, documents, peer)
        },
    };
    report.rows.push(Row { goal, ..row });
}
