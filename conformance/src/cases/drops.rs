//! Writes that are dropped, at every step that they can be dropped at and at random moments: each has
//! happened or has not, and what follows it is in force.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use shelfward_core::LibraryIndex;
use shelfward_core::library::SearchRequest;

use crate::check::updates;
use crate::context::Context;
use crate::library::{self, ask, file, narrow, remove, source};
use crate::oracle::Random;
use crate::verdict::{Checked, Finding};

/// How many sources are written to side by side.
const LANES: u64 = 4;

/// A write that gives way more often is dropped at the first so many steps alone.
const MOST_STEPS: u32 = 40;

/// How many writes of each lane are dropped at a random moment.
const MOMENTS: u32 = 16;

/// So long after its drop a late write is waited for.
const A_WHILE: Duration = Duration::from_millis(60);

pub(super) async fn dropped(context: Context) -> Checked {
    let index = library::new(&context).await?;
    let lanes = (0..LANES).map(async |n| {
        let (index, tenant) = (index.clone(), format!("org{n}"));
        let random = Random::new(context.seed() + n);
        let lane = Lane { index, tenant };
        lane.dropped_again_and_again(random, n).await
    });
    try_join_all(lanes).await.map(drop)
}

/// One source, of a tenant of its own.
struct Lane {
    index: LibraryIndex,
    tenant: String,
}

/// When a write is dropped.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// When it has given way so often.
    Step(u32),
    /// After so long.
    After(Duration),
}

/// What everybody reads of a source, and what the few do.
type Seen = [Vec<String>; 2];

impl Lane {
    async fn dropped_again_and_again(&self, mut random: Random, lane: u64) -> Checked {
        let begun = Instant::now();
        self.write("old").await?;
        self.write("old").await?;
        let typical = begun.elapsed() / 2;
        // Each lane takes other steps, so that all are taken once.
        let lanes = u32::try_from(LANES).unwrap_or(1);
        let mut step = u32::try_from(lane).unwrap_or(0);
        while step < MOST_STEPS && !self.round(Moment::Step(step), step).await? {
            step += lanes;
        }
        for n in 0..MOMENTS {
            let share = random.draw(&(0.0..1.3_f64))?;
            let moment = Moment::After(typical.mul_f64(share));
            self.round(moment, n).await?;
        }
        Ok(())
    }

    /// One write that is dropped. Whether it was done before.
    async fn round(&self, moment: Moment, n: u32) -> Checked<bool> {
        self.write("old").await?;
        let can = self.index.capabilities();
        let done = match n % 4 {
            1 if updates(can) => until(moment, self.narrow("none")).await?,
            2 => until(moment, self.remove()).await?,
            _ => until(moment, self.write("new")).await?,
        };
        // Every second time it is looked at; else another write follows at once.
        if n % 8 < 4 {
            let at_once = self.seen().await?;
            tokio::time::sleep(A_WHILE).await;
            let later = self.seen().await?;
            if at_once != later && !can.late_writes {
                let message = format!(
                    "a write that was dropped ({moment:?}) landed later: {at_once:?} were to be \
                     read when it was dropped, and then {later:?}"
                );
                return Err(Finding::widens(message));
            }
        }
        let follows = if updates(can) && n.is_multiple_of(2) {
            self.narrow("few").await?;
            "narrowing"
        } else {
            self.remove().await?;
            "removal"
        };
        for after in [Duration::ZERO, A_WHILE] {
            tokio::time::sleep(after).await;
            let [all, few] = self.seen().await?;
            let wider = match follows {
                "removal" => all.len() + few.len(),
                _ => all.len(),
            };
            if wider > 0 {
                let message = format!(
                    "{wider} passages came after a {follows} had returned, of a write that was \
                     dropped before ({moment:?})"
                );
                return Err(Finding::widens(message));
            }
        }
        Ok(done)
    }

    async fn write(&self, text: &str) -> Checked {
        let source = source("s", ["all", "few"], &[text; 3])?;
        file(&self.index, &self.tenant, source).await
    }

    async fn narrow(&self, group: &str) -> Checked {
        let narrowed = narrow(&self.index, &self.tenant, "s", group);
        narrowed.await.map(drop)
    }

    async fn remove(&self) -> Checked {
        remove(&self.index, &self.tenant, "s").await.map(drop)
    }

    async fn seen(&self) -> Checked<Seen> {
        let mut seen = Seen::default();
        for (group, seen) in ["all", "few"].into_iter().zip(&mut seen) {
            let request = SearchRequest::new("new").top_k(10);
            let answer = ask(&self.index, &self.tenant, [group], request).await?;
            let texts = answer.passages.iter().map(|p| p.text.to_string());
            seen.extend(texts);
        }
        Ok(seen)
    }
}

/// Drops a write at a moment. Whether it was done before; a write that fails is a finding.
async fn until(moment: Moment, write: impl Future<Output = Checked>) -> Checked<bool> {
    let mut write = pin!(write);
    let mut steps = 0;
    let end = Instant::now();
    let done = poll_fn(|task| match write.as_mut().poll(task) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => {
            steps += 1;
            let over = match moment {
                Moment::Step(most) => steps > most,
                Moment::After(most) => {
                    // Looked at without a pause: timers are too coarse for the shortest writes.
                    task.waker().wake_by_ref();
                    end.elapsed() >= most
                }
            };
            match over {
                true => Poll::Ready(None),
                false => Poll::Pending,
            }
        }
    });
    done.await.transpose().map(|done| done.is_some())
}
