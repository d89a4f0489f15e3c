//! Timing: both sides in one run, in rounds that alternate.

use std::time::{Duration, Instant};

/// What something took: middle and 95th percentile.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Half took no longer.
    pub p50: Duration,
    /// 95 of 100 took no longer.
    pub p95: Duration,
}

/// Times each contender on each item: `rounds` rounds, in each of which all contenders run one
/// after the other on all items. An item counts with the best of its rounds, so that what else the
/// machine did meanwhile counts as little as can be.
pub fn alternate<I>(
    items: &[I],
    rounds: usize,
    contenders: &mut [(&str, &mut dyn FnMut(&I))],
) -> Vec<Times> {
    let mut best = vec![vec![Duration::MAX; items.len()]; contenders.len()];
    for _ in 0..rounds {
        for ((_, run), best) in contenders.iter_mut().zip(&mut best) {
            for (item, best) in items.iter().zip(best) {
                let begun = Instant::now();
                run(item);
                *best = begun.elapsed().min(*best);
            }
        }
    }
    best.into_iter().map(times).collect()
}

/// Times each contender as a whole: `rounds` rounds that alternate, of which the middle one counts.
pub fn whole(rounds: usize, contenders: &mut [(&str, &mut dyn FnMut())]) -> Vec<Times> {
    let mut all = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for ((_, run), taken) in contenders.iter_mut().zip(&mut all) {
            let begun = Instant::now();
            run();
            taken.push(begun.elapsed());
        }
    }
    all.into_iter().map(times).collect()
}

/// The middle and the 95th percentile of what was taken.
pub fn times(mut taken: Vec<Duration>) -> Times {
    taken.sort_unstable();
    let at = |share: usize| {
        taken
            .get((taken.len().saturating_sub(1)) * share / 100)
            .copied()
    };
    Times {
        p50: at(50).unwrap_or_default(),
        p95: at(95).unwrap_or_default(),
    }
}
