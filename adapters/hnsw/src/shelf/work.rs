//! What is done to a collection in the background: nodes are added to its graph, the graph is built
//! anew, and the log is folded into a new snapshot.
//!
//! Points are put into the graph under no lock. What they stand for is settled afterwards, under the
//! lock, for those rows whose vectors did not change meanwhile.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use shelfward_core::Metric;
use shelfward_resident::{RoaringBitmap, Slot};

use super::Shelf;
use super::state::{Index, State};
use crate::index::graph::Graph;
use crate::index::nodes::{Nodes, hash_of};
use crate::index::space::{Space, length};

pub(super) enum Work {
    /// The log is long.
    Save,
    /// There is no graph where there should be one, or the one that is there holds too much that is
    /// dead or out of its space.
    Build,
    /// Rows are in no graph.
    Extend,
    /// There is a graph where there should be none.
    LetGo,
}

/// How many rows are taken under one lock.
const BATCH: usize = 64;

type Taken = Vec<(Slot, Arc<[f32]>)>;

impl Shelf {
    pub(super) fn work(&self) -> Option<Work> {
        let long_log = self.log_is_long();
        let state = self.read();
        if state.discarded {
            return None;
        }
        if long_log {
            return Some(Work::Save);
        }
        let from = self.options.graph_from.max(1);
        let Some(index) = &state.index else {
            return (state.rows.len() >= from).then_some(Work::Build);
        };
        if state.rows.len() < from / 2 {
            return Some(Work::LetGo);
        }
        if self.is_worn(index) || no_place_for_many(&state, index) {
            return Some(Work::Build);
        }
        (state.unindexed.len() > state.unplaced.len()).then_some(Work::Extend)
    }

    fn log_is_long(&self) -> bool {
        // A writer that is at work looks again when it is done.
        let Ok(kept) = self.writer.try_lock() else {
            return false;
        };
        kept.as_ref()
            .is_some_and(|kept| kept.log.length() >= kept.save_at)
    }

    #[expect(clippy::cast_precision_loss, reason = "a share of a number of nodes")]
    fn is_worn(&self, index: &Index) -> bool {
        let (dead, all) = (index.nodes.dead(), index.nodes.len());
        dead > self.options.rebuild_from && dead as f64 > self.options.rebuild_share * all as f64
    }

    pub(super) fn do_work(&self, work: Work) {
        match work {
            Work::Save => self.save_in_background(),
            Work::Build => self.build(),
            Work::Extend => self.extend(),
            Work::LetGo => {
                let old = {
                    let mut state = self.write();
                    state.unindexed.clear();
                    state.unplaced.clear();
                    state.pending.clear();
                    state.index.take()
                };
                drop(old);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.keeper.is_to_stop()
    }

    /// Puts every row into a new graph, and that in the place of the old one.
    fn build(&self) {
        let Some(longest) = self.longest_vector() else {
            return;
        };
        let (metric, width, expected) = {
            let mut state = self.write();
            state.pending.clear();
            let spec = state.rows.spec();
            (spec.metric, spec.width as usize, state.rows.len())
        };
        let space = Space::around(metric, longest);
        let shape = self.options.shape(space.dimensions(width));
        let graph = Graph::new(shape, expected);
        let mut nodes = Nodes::default();
        let mut no_place = RoaringBitmap::new();
        let mut dice = Dice::new(expected);
        let mut all_taken = 0;
        loop {
            let taken = self.take(|state| state.rows.slots() - &state.pending, &mut dice);
            all_taken += taken.len();
            // Writers may change rows as fast as they are taken. What is left then is added to the
            // graph once it is there.
            let last = taken.len() < BATCH || all_taken > expected + expected / 4;
            for (slot, vector) in taken {
                if self.is_over() {
                    self.write().pending.clear();
                    return;
                }
                let put = space
                    .point(&vector)
                    .and_then(|point| put_point(&graph, &mut nodes, &point));
                match put {
                    Some(node) => {
                        no_place.remove(slot);
                        nodes.attach(node, slot);
                    }
                    None => {
                        nodes.detach(slot);
                        no_place.insert(slot);
                    }
                }
            }
            if last {
                break;
            }
        }
        let index = Index {
            graph: Arc::new(graph),
            space,
            nodes,
            unplaced_at_first: no_place.len(),
        };
        let old = self.publish(index, &no_place);
        drop(old);
    }

    fn publish(&self, mut index: Index, no_place: &RoaringBitmap) -> Option<Index> {
        let mut state = self.write();
        let changed: Vec<Slot> = index
            .nodes
            .slots()
            .filter(|slot| !state.pending.contains(*slot))
            .collect();
        for slot in changed {
            index.nodes.detach(slot);
        }
        let indexed: RoaringBitmap = index.nodes.slots().collect();
        state.unindexed = state.rows.slots() - indexed;
        state.unplaced = no_place & &state.pending;
        state.pending.clear();
        state.index.replace(index)
    }

    /// The length of the longest vector; `None` when there is no time left to find it.
    fn longest_vector(&self) -> Option<f64> {
        let mut longest = 0.0_f64;
        let mut from = 0;
        loop {
            let vectors: Taken = {
                let state = self.read();
                let rest = state.rows.slots().range(from..).take(BATCH);
                rest.filter_map(|slot| Some((slot, state.rows.vector(slot)?)))
                    .collect()
            };
            let Some((last, _)) = vectors.last() else {
                return Some(longest);
            };
            from = last.saturating_add(1);
            for (_, vector) in &vectors {
                let length = length(vector);
                // One of infinite length has no place in any space.
                longest = longest.max(if length.is_finite() { length } else { 0.0 });
            }
            if self.is_over() || from == Slot::MAX {
                return None;
            }
        }
    }

    /// Takes some of the rows that `of` names, and marks them as pending.
    fn take(&self, of: impl FnOnce(&State) -> RoaringBitmap, dice: &mut Dice) -> Taken {
        let mut state = self.write();
        let slots = some_of(&of(&state), dice);
        state.pending.extend(slots.iter().copied());
        slots
            .into_iter()
            .filter_map(|slot| Some((slot, state.rows.vector(slot)?)))
            .collect()
    }

    /// Puts some of the rows that are in no graph into the one there is.
    fn extend(&self) {
        let Some((graph, space)) = ({
            let mut state = self.write();
            state.pending.clear();
            let index = state.index.as_ref();
            index.map(|index| (index.graph.clone(), index.space))
        }) else {
            return;
        };
        let mut dice = Dice::new(graph.len());
        let points: Vec<(Slot, Option<Vec<f32>>)> = self
            .take(|state| &state.unindexed - &state.unplaced, &mut dice)
            .into_iter()
            .map(|(slot, vector)| (slot, space.point(&vector)))
            .collect();

        // Which points have a node already, and the number of the next. This thread alone adds nodes.
        let (mut known, next) = {
            let state = self.read();
            let Some(index) = &state.index else { return };
            let hashes = points
                .iter()
                .flat_map(|(_, point)| point)
                .map(|p| hash_of(p));
            let known: HashMap<u64, u32> = hashes
                .filter_map(|hash| Some((hash, index.nodes.of_point(hash)?)))
                .collect();
            (known, index.nodes.next())
        };
        let Some(mut next) = next else { return };
        let mut added: Vec<u64> = Vec::new();
        let mut placed: Vec<(Slot, Option<u32>)> = Vec::new();
        for (slot, point) in points {
            if self.is_over() {
                break;
            }
            let node = point.and_then(|point| {
                let hash = hash_of(&point);
                if let Some(node) = known.get(&hash) {
                    return Some(*node);
                }
                let node = next;
                // A number that is given is given for good, whatever becomes of the rows.
                let after = next.checked_add(1)?;
                graph.insert(&point, node).then(|| {
                    next = after;
                    added.push(hash);
                    known.insert(hash, node);
                    node
                })
            });
            placed.push((slot, node));
        }

        let mut state = self.write();
        let State {
            index,
            unindexed,
            unplaced,
            pending,
            ..
        } = &mut *state;
        // Everything was deleted meanwhile, and the graph with it.
        if let Some(index) = index
            && Arc::ptr_eq(&index.graph, &graph)
        {
            for hash in added {
                index.nodes.push(Some(hash));
            }
            for (slot, node) in placed
                .into_iter()
                .filter(|(slot, _)| pending.contains(*slot))
            {
                match node {
                    Some(node) => {
                        index.nodes.attach(node, slot);
                        unindexed.remove(slot);
                    }
                    None => {
                        unplaced.insert(slot);
                    }
                }
            }
        }
        pending.clear();
    }

    pub(crate) fn count_graph_search(&self) {
        self.graph_searches.fetch_add(1, Ordering::Relaxed);
    }
}

/// Rows that the space has no place for are looked at in each search. When they become many, a
/// larger space is due; not because of those that no space has a place for.
fn no_place_for_many(state: &State, index: &Index) -> bool {
    let many = 256 + state.rows.slots().len() / 16 + 2 * index.unplaced_at_first;
    state.rows.spec().metric != Metric::Cosine && state.unplaced.len() > many
}

/// Up to [`BATCH`] rows from all over a set. Rows come in the order of their sources, and points that
/// come cluster by cluster make a graph whose clusters hardly lead to each other.
fn some_of(rows: &RoaringBitmap, dice: &mut Dice) -> Vec<Slot> {
    let batch = u32::try_from(BATCH).unwrap_or(u32::MAX);
    let Some(stride) = u32::try_from(rows.len() / u64::from(batch))
        .ok()
        .filter(|n| *n > 1)
    else {
        return rows.iter().take(BATCH).collect();
    };
    (0..batch)
        .filter_map(|n| rows.select(n * stride + dice.below(stride)))
        .collect()
}

/// Numbers without an order; the same ones each time, so that the same rows make the same graph.
struct Dice(u64);

impl Dice {
    fn new(seed: usize) -> Self {
        Self(seed as u64 | 1)
    }

    fn below(&mut self, n: u32) -> u32 {
        // Xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 % u64::from(n)).unwrap_or(0)
    }
}

/// The node of a point in a graph that is being built.
fn put_point(graph: &Graph, nodes: &mut Nodes, point: &[f32]) -> Option<u32> {
    let hash = hash_of(point);
    if let Some(node) = nodes.of_point(hash) {
        return Some(node);
    }
    let node = nodes.next()?;
    graph.insert(point, node).then(|| {
        nodes.push(Some(hash));
        node
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_rows_are_from_all_over_and_each_comes_once() {
        let mut left: RoaringBitmap = (0..10_000).map(|n| n * 3).collect();
        let mut dice = Dice::new(0);
        let first = some_of(&left, &mut dice);
        assert!(first.len() == BATCH && first[BATCH - 1] > 29_000);
        let mut seen = RoaringBitmap::new();
        while !left.is_empty() {
            for slot in some_of(&left, &mut dice) {
                assert!(seen.insert(slot) && left.remove(slot));
            }
        }
        assert_eq!(seen.len(), 10_000);
    }
}
