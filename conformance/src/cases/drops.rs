//! Writes that are dropped, at every step that they can be dropped at and at random moments: each has
//! happened or has not, and what follows it is in force.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use shelfward_core::library::{ScopeChange, SearchRequest};
use shelfward_core::{LibraryIndex, Scope, SourceId, TenantId};

use super::races::updates;
use crate::context::Context;
use crate::library::{file, open, source};
use crate::oracle::Random;
use crate::verdict::{Checked, Finding, Verdict};

/// How many sources are written to side by side.
const LANES: u64 = 4;

/// A write that gives way more often is dropped at the first so many steps alone.
const MOST_STEPS: u32 = 40;

/// How many writes of each lane are dropped at a random moment.
const MOMENTS: u32 = 16;

/// So long after its drop a late write is waited for.
const A_WHILE: Duration = Duration::from_millis(60);

pub(super) async fn dropped(context: Context) -> Checked {
    let index = open(&context, &context.store().await?).await?;
    let lanes = (0..LANES).map(|n| {
        let (index, tenant) = (index.clone(), format!("org{n}"));
        let random = Random::new(context.seed() + n);
        async move {
            Lane { index, tenant }
                .dropped_again_and_again(random, n)
                .await
        }
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
                return Err(Finding::new(Verdict::Widens, message));
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
            let wider = if follows == "removal" {
                all.len() + few.len()
            } else {
                all.len()
            };
            if wider > 0 {
                let message = format!(
                    "{wider} passages came after a {follows} had returned, of a write that was \
                     dropped before ({moment:?})"
                );
                return Err(Finding::new(Verdict::Widens, message));
            }
        }
        Ok(done)
    }

    async fn write(&self, text: &str) -> Checked {
        let texts = [text; 3];
        file(
            &self.index,
            &self.tenant,
            source("s", ["all", "few"], &texts)?,
        )
        .await
    }

    async fn narrow(&self, group: &str) -> Checked {
        let change = ScopeChange::new().groups([group])?;
        let org = self.index.tenant(TenantId::new(&self.tenant)?);
        org.set_source_scope(&SourceId::new("s")?, &change)
            .await?
            .count();
        Ok(())
    }

    async fn remove(&self) -> Checked {
        let org = self.index.tenant(TenantId::new(&self.tenant)?);
        org.remove_source(&SourceId::new("s")?).await?.count();
        Ok(())
    }

    async fn seen(&self) -> Checked<Seen> {
        let mut seen = Seen::default();
        for (group, seen) in ["all", "few"].into_iter().zip(&mut seen) {
            let scope = Scope::of(&self.tenant, [group])?;
            let request = SearchRequest::new("new").top_k(10);
            let answer = self.index.search(&scope, &request).await?;
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
            if over {
                Poll::Ready(None)
            } else {
                Poll::Pending
            }
        }
    });
    done.await.transpose().map(|done| done.is_some())
}
