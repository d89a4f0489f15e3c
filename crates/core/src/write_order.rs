//! The order in which writers take their turns.
//!
//! A transaction alone does not order writers: two that read before either commits can leave a mix
//! of both. So a writer claims what it is about to change and holds the claim until its write is in
//! force. A claim is granted whole or not at all, in the order of asking, so claims cannot deadlock
//! and nobody starves.

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::filter::{Filter, NarrowFilter};
use crate::metadata::{Scalar, Text};
use crate::record::Key;
use crate::spec::CollectionSpec;

/// What a writer is about to change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// These units (sources) of one partition (tenant).
    Units {
        /// The partition.
        partition: Text,
        /// The units.
        units: BTreeSet<Text>,
    },
    /// Everything in these partitions.
    Partitions(BTreeSet<Text>),
    /// The whole collection.
    Collection,
}

impl Claim {
    /// What a write by selector changes: units where partition and unit are pinned, else whole
    /// partitions, else the whole collection.
    pub fn of_selector(spec: &CollectionSpec, selector: &NarrowFilter) -> Self {
        let filter = selector.filter();
        let Some(partitions) = spec
            .partition_key()
            .and_then(|key| pinned_texts(filter, key.as_str()))
        else {
            return Self::Collection;
        };
        let units = spec
            .unit_key()
            .and_then(|key| pinned_texts(filter, key.as_str()));
        match (units, partitions.len(), partitions.first()) {
            (Some(units), 1, Some(partition)) => Self::Units {
                partition: partition.clone(),
                units,
            },
            _ => Self::Partitions(partitions),
        }
    }

    /// What a write by keys changes: their partitions, since a key does not name its unit.
    pub fn of_keys<'a>(keys: impl IntoIterator<Item = &'a Key>) -> Self {
        let partitions: Option<BTreeSet<_>> =
            keys.into_iter().map(|key| key.partition.clone()).collect();
        partitions.map_or(Self::Collection, Self::Partitions)
    }

    fn excludes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Collection, _) | (_, Self::Collection) => true,
            (Self::Partitions(a), Self::Partitions(b)) => !a.is_disjoint(b),
            (Self::Partitions(all), Self::Units { partition, .. })
            | (Self::Units { partition, .. }, Self::Partitions(all)) => all.contains(partition),
            (
                Self::Units {
                    partition: p,
                    units: a,
                },
                Self::Units {
                    partition: q,
                    units: b,
                },
            ) => p == q && !a.is_disjoint(b),
        }
    }
}

fn pinned_texts(filter: &Filter, key: &str) -> Option<BTreeSet<Text>> {
    let values = filter.pinned(key)?;
    values
        .into_iter()
        .map(|value| match value {
            Scalar::Text(text) => Some(text),
            _ => None,
        })
        .collect()
}

/// The turns of one collection's writers. A clone is the same order.
///
/// Futures that wait here work under any runtime; a waiting or holding future may be dropped at any
/// time, and its turn passes on.
#[derive(Clone, Default)]
pub struct WriteOrder(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    next_ticket: u64,
    holders: Vec<(u64, Claim)>,
    waiters: VecDeque<Waiter>,
}

struct Waiter {
    ticket: u64,
    claim: Claim,
    waker: Waker,
}

impl WriteOrder {
    /// An order with nobody in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits for a turn on what the claim names. The turn ends when the answer is dropped.
    pub fn turn(&self, claim: Claim) -> impl Future<Output = WriteTurn> + Send + use<> {
        Waiting {
            order: self.clone(),
            claim: Some(claim),
            ticket: None,
        }
    }

    /// How many hold or wait for a turn: for tests, and for shows of load.
    pub fn len(&self) -> usize {
        let queue = self.lock();
        queue.holders.len() + queue.waiters.len()
    }

    /// Whether nobody holds or waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing in here can panic half way, so a poisoned queue is a whole one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self, ticket: u64) {
        let mut queue = self.lock();
        queue.holders.retain(|(held, _)| *held != ticket);
        queue.waiters.retain(|waiter| waiter.ticket != ticket);
        let woken = queue.grant();
        drop(queue);
        woken.into_iter().for_each(Waker::wake);
    }
}

impl Queue {
    /// Whether somebody who holds or waits stands in the way of a claim.
    fn excludes(&self, claim: &Claim) -> bool {
        self.holders.iter().any(|(_, held)| held.excludes(claim))
            || self
                .waiters
                .iter()
                .any(|earlier| earlier.claim.excludes(claim))
    }

    /// Moves every waiter that nobody before it excludes to the holders.
    fn grant(&mut self) -> Vec<Waker> {
        let mut woken = Vec::new();
        let mut still: VecDeque<Waiter> = VecDeque::new();
        for waiter in std::mem::take(&mut self.waiters) {
            let held = |(_, claim): &(u64, Claim)| claim.excludes(&waiter.claim);
            let before = |earlier: &Waiter| earlier.claim.excludes(&waiter.claim);
            if self.holders.iter().any(held) || still.iter().any(before) {
                still.push_back(waiter);
            } else {
                self.holders.push((waiter.ticket, waiter.claim));
                woken.push(waiter.waker);
            }
        }
        self.waiters = still;
        woken
    }
}

/// A writer's turn. It ends when this is dropped.
#[must_use = "the turn ends when this is dropped"]
pub struct WriteTurn {
    order: WriteOrder,
    ticket: u64,
}

impl Drop for WriteTurn {
    fn drop(&mut self) {
        self.order.leave(self.ticket);
    }
}

struct Waiting {
    order: WriteOrder,
    claim: Option<Claim>,
    ticket: Option<u64>,
}

impl Future for Waiting {
    type Output = WriteTurn;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<WriteTurn> {
        let this = &mut *self;
        let mut queue = this.order.lock();
        let ticket = match (this.ticket, this.claim.take()) {
            (None, Some(claim)) => {
                let ticket = queue.next_ticket;
                queue.next_ticket += 1;
                // Only this one is new, so nobody else can have been let through.
                if queue.excludes(&claim) {
                    let waker = context.waker().clone();
                    queue.waiters.push_back(Waiter {
                        ticket,
                        claim,
                        waker,
                    });
                } else {
                    queue.holders.push((ticket, claim));
                }
                this.ticket = Some(ticket);
                ticket
            }
            (Some(ticket), _) => ticket,
            (None, None) => return Poll::Pending,
        };
        if queue.holders.iter().any(|(held, _)| *held == ticket) {
            drop(queue);
            // From here on the turn itself gives the place back.
            this.ticket = None;
            return Poll::Ready(WriteTurn {
                order: this.order.clone(),
                ticket,
            });
        }
        if let Some(waiter) = queue
            .waiters
            .iter_mut()
            .find(|waiter| waiter.ticket == ticket)
        {
            waiter.waker.clone_from(context.waker());
        }
        Poll::Pending
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.order.leave(ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn text(name: &str) -> Text {
        Text::new(name).unwrap()
    }

    fn unit(partition: &str, unit: &str) -> Claim {
        Claim::Units {
            partition: text(partition),
            units: [text(unit)].into(),
        }
    }

    fn partition(name: &str) -> Claim {
        Claim::Partitions([text(name)].into())
    }

    #[test]
    fn claims_exclude_what_they_share() {
        let cases = [
            (unit("a", "s"), unit("a", "s"), true),
            (unit("a", "s"), unit("a", "t"), false),
            (unit("a", "s"), unit("b", "s"), false),
            (unit("a", "s"), partition("a"), true),
            (unit("a", "s"), partition("b"), false),
            (partition("a"), partition("b"), false),
            (partition("a"), partition("a"), true),
            (Claim::Collection, unit("a", "s"), true),
        ];
        for (a, b, expected) in cases {
            assert_eq!(a.excludes(&b), expected, "{a:?} {b:?}");
            assert_eq!(b.excludes(&a), expected, "{b:?} {a:?}");
        }
    }

    #[test]
    fn turns_come_in_the_order_of_asking_and_are_passed_on_by_a_drop() {
        let order = WriteOrder::new();
        let first = order
            .turn(unit("a", "s"))
            .now_or_never()
            .expect("nobody holds");
        let mut second = Box::pin(order.turn(partition("a")));
        let mut third = Box::pin(order.turn(unit("a", "t")));
        let other = order
            .turn(unit("b", "s"))
            .now_or_never()
            .expect("another partition");
        assert!((&mut second).now_or_never().is_none());
        // It shares nothing with the holder, but an earlier waiter would starve if it went first.
        assert!((&mut third).now_or_never().is_none());
        drop(first);
        let second = (&mut second).now_or_never().expect("its turn");
        assert!((&mut third).now_or_never().is_none());
        drop(second);
        drop((&mut third).now_or_never().expect("its turn"));
        drop(other);
        assert!(order.is_empty());
    }

    #[test]
    fn a_dropped_waiter_leaves_no_trace() {
        let order = WriteOrder::new();
        let first = order.turn(Claim::Collection).now_or_never().unwrap();
        let mut second = Box::pin(order.turn(Claim::Collection));
        assert!((&mut second).now_or_never().is_none());
        drop(second);
        drop(first);
        assert!(order.is_empty());
        drop(
            order
                .turn(Claim::Collection)
                .now_or_never()
                .expect("free again"),
        );
    }

    #[test]
    fn a_turn_granted_to_a_future_that_is_then_dropped_passes_on() {
        let order = WriteOrder::new();
        let first = order.turn(Claim::Collection).now_or_never().unwrap();
        let mut second = Box::pin(order.turn(Claim::Collection));
        assert!((&mut second).now_or_never().is_none());
        drop(first); // grants the second, which never looks again
        drop(second);
        assert!(order.is_empty());
    }
}
