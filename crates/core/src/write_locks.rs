//! Fair, deadlock-free locks of writers on parts of a collection, within one process.
//!
//! A transaction alone does not order writers: two that read before either commits can leave a mix
//! of both. So a writer locks what it is about to change until its write is in force. A lock is
//! granted whole or not at all, in the order of asking, so locks cannot deadlock and nobody starves.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::filter::{Filter, Selector};
use crate::in_flight::InFlight;
use crate::metadata::{Scalar, Text};
use crate::names::CollectionName;
use crate::record::Key;
use crate::spec::CollectionSpec;

/// What a writer is about to change, and locks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockScope {
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

impl LockScope {
    /// What a write by selector changes: units where partition and unit are pinned, else whole
    /// partitions, else the whole collection.
    pub fn of_selector(spec: &CollectionSpec, selector: &Selector) -> Self {
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

    pub(crate) fn excludes(&self, other: &Self) -> bool {
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

/// The locks of writers of all collections of a store. A clone shares the same locks.
///
/// An adapter keeps one in the state that its handles share, so that every handle on a collection in
/// the process meets the same locks.
#[derive(Clone, Default)]
pub struct WriteLocks(Arc<Mutex<HashMap<CollectionName, WriteLock>>>);

impl WriteLocks {
    /// No lock is held.
    pub fn new() -> Self {
        Self::default()
    }

    /// The lock of one collection.
    pub fn of(&self, collection: &CollectionName) -> WriteLock {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.get(collection) {
            return lock.clone();
        }
        // What no handle shares is a lock that nobody can hold.
        locks.retain(|_, lock| Arc::strong_count(&lock.0) > 1);
        locks.entry(collection.clone()).or_default().clone()
    }
}

/// The lock of one collection's writers. A clone is the same lock.
///
/// Futures that wait here work under any runtime; a waiting or holding future may be dropped at any
/// time, and its place passes on.
#[derive(Clone, Default)]
pub struct WriteLock(Arc<Mutex<Queue>>, InFlight);

#[derive(Default)]
struct Queue {
    next_ticket: u64,
    holders: Vec<(u64, LockScope)>,
    waiters: VecDeque<Waiter>,
}

struct Waiter {
    ticket: u64,
    scope: LockScope,
    waker: Waker,
}

impl WriteLock {
    /// A lock that nobody holds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Locks a scope, after those who asked before. The lock is released when the guard is dropped.
    pub fn acquire(&self, scope: LockScope) -> impl Future<Output = WriteGuard> + Send + use<> {
        Waiting {
            lock: self.clone(),
            scope: Some(scope),
            ticket: None,
        }
    }

    /// The writes that are being prepared, which a removal overtakes under its lock.
    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.1
    }

    /// How many hold the lock or wait for it: for tests, and for shows of load.
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
    /// Whether somebody who holds or waits stands in the way of a scope.
    fn excludes(&self, scope: &LockScope) -> bool {
        self.holders.iter().any(|(_, held)| held.excludes(scope))
            || self
                .waiters
                .iter()
                .any(|earlier| earlier.scope.excludes(scope))
    }

    /// Moves every waiter that nobody before it excludes to the holders.
    fn grant(&mut self) -> Vec<Waker> {
        let mut woken = Vec::new();
        let mut still: VecDeque<Waiter> = VecDeque::new();
        for waiter in std::mem::take(&mut self.waiters) {
            let held = |(_, scope): &(u64, LockScope)| scope.excludes(&waiter.scope);
            let before = |earlier: &Waiter| earlier.scope.excludes(&waiter.scope);
            if self.holders.iter().any(held) || still.iter().any(before) {
                still.push_back(waiter);
            } else {
                self.holders.push((waiter.ticket, waiter.scope));
                woken.push(waiter.waker);
            }
        }
        self.waiters = still;
        woken
    }
}

/// A lock that is held. It is released when this is dropped.
#[must_use = "the lock is released when this is dropped"]
pub struct WriteGuard {
    lock: WriteLock,
    ticket: u64,
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        self.lock.leave(self.ticket);
    }
}

struct Waiting {
    lock: WriteLock,
    scope: Option<LockScope>,
    ticket: Option<u64>,
}

impl Future for Waiting {
    type Output = WriteGuard;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<WriteGuard> {
        let this = &mut *self;
        let mut queue = this.lock.lock();
        let ticket = match (this.ticket, this.scope.take()) {
            (None, Some(scope)) => {
                let ticket = queue.next_ticket;
                queue.next_ticket += 1;
                // Only this one is new, so nobody else can have been let through.
                if queue.excludes(&scope) {
                    let waker = context.waker().clone();
                    queue.waiters.push_back(Waiter {
                        ticket,
                        scope,
                        waker,
                    });
                } else {
                    queue.holders.push((ticket, scope));
                }
                this.ticket = Some(ticket);
                ticket
            }
            (Some(ticket), _) => ticket,
            (None, None) => return Poll::Pending,
        };
        if queue.holders.iter().any(|(held, _)| *held == ticket) {
            drop(queue);
            // From here on the guard gives the place back.
            this.ticket = None;
            return Poll::Ready(WriteGuard {
                lock: this.lock.clone(),
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
            self.lock.leave(ticket);
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

    fn unit(partition: &str, unit: &str) -> LockScope {
        LockScope::Units {
            partition: text(partition),
            units: [text(unit)].into(),
        }
    }

    fn partition(name: &str) -> LockScope {
        LockScope::Partitions([text(name)].into())
    }

    #[test]
    fn scopes_exclude_what_they_share() {
        let cases = [
            (unit("a", "s"), unit("a", "s"), true),
            (unit("a", "s"), unit("a", "t"), false),
            (unit("a", "s"), unit("b", "s"), false),
            (unit("a", "s"), partition("a"), true),
            (unit("a", "s"), partition("b"), false),
            (partition("a"), partition("b"), false),
            (partition("a"), partition("a"), true),
            (LockScope::Collection, unit("a", "s"), true),
        ];
        for (a, b, expected) in cases {
            assert_eq!(a.excludes(&b), expected, "{a:?} {b:?}");
            assert_eq!(b.excludes(&a), expected, "{b:?} {a:?}");
        }
    }

    #[test]
    fn locks_are_granted_in_the_order_of_asking_and_passed_on_by_a_drop() {
        let lock = WriteLock::new();
        let first = lock
            .acquire(unit("a", "s"))
            .now_or_never()
            .expect("nobody holds");
        let mut second = Box::pin(lock.acquire(partition("a")));
        let mut third = Box::pin(lock.acquire(unit("a", "t")));
        let other = lock
            .acquire(unit("b", "s"))
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
        assert!(lock.is_empty());
    }

    #[test]
    fn a_dropped_waiter_leaves_no_trace() {
        let lock = WriteLock::new();
        let first = lock.acquire(LockScope::Collection).now_or_never().unwrap();
        let mut second = Box::pin(lock.acquire(LockScope::Collection));
        assert!((&mut second).now_or_never().is_none());
        drop(second);
        drop(first);
        assert!(lock.is_empty());
        drop(
            lock.acquire(LockScope::Collection)
                .now_or_never()
                .expect("free again"),
        );
    }

    #[test]
    fn a_lock_granted_to_a_future_that_is_then_dropped_passes_on() {
        let lock = WriteLock::new();
        let first = lock.acquire(LockScope::Collection).now_or_never().unwrap();
        let mut second = Box::pin(lock.acquire(LockScope::Collection));
        assert!((&mut second).now_or_never().is_none());
        drop(first); // grants the second, which never looks again
        drop(second);
        assert!(lock.is_empty());
    }
}
