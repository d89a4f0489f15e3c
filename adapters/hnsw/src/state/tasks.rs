//! Maintenance of a collection in the background: nodes are added to its graph, the graph is rebuilt,
//! and the log is folded into a new snapshot.
//!
//! Points are inserted into the graph under no lock. Which rows they stand for is recorded afterwards,
//! under the lock, for those rows whose vectors did not change meanwhile.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fastrand::Rng;
use shelfward_core::Metric;
use shelfward_resident::{RoaringBitmap, RowId};

use super::CollectionState;
use super::contents::{Contents, GraphIndex};
use crate::index::graph::Graph;
use crate::index::metric_transform::{MetricTransform, length};
use crate::index::nodes::{Nodes, hash_of};

pub(super) enum MaintenanceTask {
    /// The log is long.
    Save,
    /// There is no graph where there should be one, or too many of its nodes are dead, or too many rows
    /// have no point in it.
    Build,
    /// Rows are in no graph.
    Extend,
    /// There are too few rows for the graph.
    DropGraph,
}

/// How many rows are taken under one lock.
const BATCH: usize = 64;

type TakenRows = Vec<(RowId, Arc<[f32]>)>;

impl CollectionState {
    pub(super) fn next_task(&self) -> Option<MaintenanceTask> {
        let long_log = self.log_is_long();
        let contents = self.read();
        if contents.discarded || self.check_whole().is_err() {
            return None;
        }
        if long_log {
            return Some(MaintenanceTask::Save);
        }
        let from = self.options.graph_from.max(1);
        let Some(index) = &contents.index else {
            return (contents.rows.len() >= from).then_some(MaintenanceTask::Build);
        };
        if contents.rows.len() < from / 2 {
            return Some(MaintenanceTask::DropGraph);
        }
        if self.is_worn(index) || many_are_unplaced(&contents, index) {
            return Some(MaintenanceTask::Build);
        }
        (contents.unindexed.len() > contents.unplaced.len()).then_some(MaintenanceTask::Extend)
    }

    fn log_is_long(&self) -> bool {
        // A writer that has the lock checks again when it is done.
        let Ok(files) = self.files.try_lock() else {
            return false;
        };
        (files.as_ref()).is_some_and(|files| files.log.length() >= files.save_at)
    }

    #[expect(clippy::cast_precision_loss, reason = "a share of a number of nodes")]
    fn is_worn(&self, index: &GraphIndex) -> bool {
        let (dead, all) = (index.nodes.dead(), index.nodes.len());
        dead > self.options.rebuild_from && dead as f64 > self.options.rebuild_share * all as f64
    }

    pub(super) fn run_task(&self, task: MaintenanceTask) {
        match task {
            MaintenanceTask::Save => self.save_in_background(),
            MaintenanceTask::Build => self.build(),
            MaintenanceTask::Extend => self.extend(),
            MaintenanceTask::DropGraph => {
                let old = {
                    let mut contents = self.write();
                    contents.unindexed.clear();
                    contents.unplaced.clear();
                    contents.pending.clear();
                    contents.index.take()
                };
                drop(old);
            }
        }
    }

    /// Builds a new graph of every row, and puts it in the place of the old one.
    fn build(&self) {
        let Some(longest) = self.longest_vector() else {
            return;
        };
        let (metric, width, expected) = {
            let mut contents = self.write();
            contents.pending.clear();
            let spec = contents.rows.spec();
            (spec.metric, spec.width as usize, contents.rows.len())
        };
        let transform = MetricTransform::around(metric, longest);
        let params = self.options.graph_params(transform.dimensions(width));
        let graph = Graph::new(params, expected);
        let mut nodes = Nodes::default();
        let mut unplaced = RoaringBitmap::new();
        // Always the same numbers, so that the same rows make the same graph.
        let mut rng = Rng::with_seed(expected as u64);
        let mut all_taken = 0;
        loop {
            let taken = self.take_batch(
                |contents| contents.rows.row_ids() - &contents.pending,
                &mut rng,
            );
            all_taken += taken.len();
            // Writers may change rows as fast as they are taken. What is left then is added to the
            // graph once it is there.
            let last = taken.len() < BATCH || all_taken > expected + expected / 4;
            for (row_id, vector) in taken {
                if self.worker.is_stopping() {
                    self.write().pending.clear();
                    return;
                }
                let put = transform
                    .point(&vector)
                    .and_then(|point| put_point(&graph, &mut nodes, &point));
                match put {
                    Some(node) => {
                        unplaced.remove(row_id);
                        nodes.attach(node, row_id);
                    }
                    None => {
                        nodes.detach(row_id);
                        unplaced.insert(row_id);
                    }
                }
            }
            if last {
                break;
            }
        }
        let index = GraphIndex {
            graph: Arc::new(graph),
            transform,
            nodes,
            unplaced_at_build: unplaced.len(),
        };
        let old = self.publish(index, &unplaced);
        drop(old);
    }

    fn publish(&self, mut index: GraphIndex, unplaced: &RoaringBitmap) -> Option<GraphIndex> {
        let mut contents = self.write();
        let changed: Vec<RowId> = index
            .nodes
            .row_ids()
            .filter(|row_id| !contents.pending.contains(*row_id))
            .collect();
        for row_id in changed {
            index.nodes.detach(row_id);
        }
        let indexed: RoaringBitmap = index.nodes.row_ids().collect();
        contents.unindexed = contents.rows.row_ids() - indexed;
        contents.unplaced = unplaced & &contents.pending;
        contents.pending.clear();
        contents.index.replace(index)
    }

    /// The length of the longest vector; `None` when the worker was stopped.
    fn longest_vector(&self) -> Option<f64> {
        let mut longest = 0.0_f64;
        let mut from = 0;
        loop {
            let vectors: TakenRows = {
                let contents = self.read();
                let rest = contents.rows.row_ids().range(from..).take(BATCH);
                rest.filter_map(|row_id| Some((row_id, contents.rows.vector(row_id)?)))
                    .collect()
            };
            let Some((last, _)) = vectors.last() else {
                return Some(longest);
            };
            from = last.saturating_add(1);
            for (_, vector) in &vectors {
                let length = length(vector);
                // One of infinite length has no point under any bound.
                longest = longest.max(if length.is_finite() { length } else { 0.0 });
            }
            if self.worker.is_stopping() || from == RowId::MAX {
                return None;
            }
        }
    }

    /// Takes some of the rows that `of` names, and marks them as pending.
    fn take_batch(&self, of: impl FnOnce(&Contents) -> RoaringBitmap, rng: &mut Rng) -> TakenRows {
        let mut contents = self.write();
        let row_ids = some_of(&of(&contents), rng);
        contents.pending.extend(row_ids.iter().copied());
        row_ids
            .into_iter()
            .filter_map(|row_id| Some((row_id, contents.rows.vector(row_id)?)))
            .collect()
    }

    /// Adds some of the rows that are in no node to the graph.
    fn extend(&self) {
        let Some((graph, transform)) = ({
            let mut contents = self.write();
            contents.pending.clear();
            let index = contents.index.as_ref();
            index.map(|index| (index.graph.clone(), index.transform))
        }) else {
            return;
        };
        let mut rng = Rng::with_seed(graph.len() as u64);
        let points: Vec<(RowId, Option<Vec<f32>>)> = self
            .take_batch(
                |contents| &contents.unindexed - &contents.unplaced,
                &mut rng,
            )
            .into_iter()
            .map(|(row_id, vector)| (row_id, transform.point(&vector)))
            .collect();

        // Which points have a node already, and the number of the next. This thread alone adds nodes.
        let (mut known, next) = {
            let contents = self.read();
            let Some(index) = &contents.index else { return };
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
        let mut placed: Vec<(RowId, Option<u32>)> = Vec::new();
        for (row_id, point) in points {
            if self.worker.is_stopping() {
                break;
            }
            let node = point.and_then(|point| {
                let hash = hash_of(&point);
                if let Some(node) = known.get(&hash) {
                    return Some(*node);
                }
                let node = next;
                // A node's number is never reused, whatever becomes of the rows.
                let after = next.checked_add(1)?;
                graph.insert(&point, node).then(|| {
                    next = after;
                    added.push(hash);
                    known.insert(hash, node);
                    node
                })
            });
            placed.push((row_id, node));
        }

        let mut contents = self.write();
        let Contents {
            index,
            unindexed,
            unplaced,
            pending,
            ..
        } = &mut *contents;
        // Everything was deleted meanwhile, and the graph with it.
        if let Some(index) = index
            && Arc::ptr_eq(&index.graph, &graph)
        {
            for hash in added {
                index.nodes.push(Some(hash));
            }
            for (row_id, node) in placed
                .into_iter()
                .filter(|(row_id, _)| pending.contains(*row_id))
            {
                match node {
                    Some(node) => {
                        index.nodes.attach(node, row_id);
                        unindexed.remove(row_id);
                    }
                    None => {
                        unplaced.insert(row_id);
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

/// Rows without a point are looked at in each search. When they become many, a transform with a larger
/// bound is due; not because of those that no transform has a point for.
fn many_are_unplaced(contents: &Contents, index: &GraphIndex) -> bool {
    let many = 256 + contents.rows.row_ids().len() / 16 + 2 * index.unplaced_at_build;
    contents.rows.spec().metric != Metric::Cosine && contents.unplaced.len() > many
}

/// Up to [`BATCH`] rows from all over a set. Rows come in the order of their sources, and points that
/// come cluster by cluster make a graph whose clusters hardly lead to each other.
fn some_of(rows: &RoaringBitmap, rng: &mut Rng) -> Vec<RowId> {
    let batch = u32::try_from(BATCH).unwrap_or(u32::MAX);
    let Some(stride) = u32::try_from(rows.len() / u64::from(batch))
        .ok()
        .filter(|n| *n > 1)
    else {
        return rows.iter().take(BATCH).collect();
    };
    (0..batch)
        .filter_map(|n| rows.select(n * stride + rng.u32(..stride)))
        .collect()
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
        let mut rng = Rng::with_seed(0);
        let first = some_of(&left, &mut rng);
        assert!(first.len() == BATCH && first[BATCH - 1] > 29_000);
        let mut seen = RoaringBitmap::new();
        while !left.is_empty() {
            for row_id in some_of(&left, &mut rng) {
                assert!(seen.insert(row_id) && left.remove(row_id));
            }
        }
        assert_eq!(seen.len(), 10_000);
    }
}
