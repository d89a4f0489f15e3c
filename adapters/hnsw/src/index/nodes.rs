//! Which records a graph's nodes stand for.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use shelfward_resident::RowId;

/// The table of nodes. A node stays for as long as its graph; the records that it stands for come
/// and go. Records whose points are equal share one, and so does a record that was replaced by one
/// with the same vector: equal points in one graph cut each other off from the rest.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    rows: Vec<NodeRows>,
    node_of: HashMap<RowId, u32>,
    /// Nodes by the hash of their point. Should two points have one hash, a record is found less
    /// often than it should be and nothing else: what is found is scored by its own vector.
    by_point: HashMap<u64, u32>,
    dead: usize,
}

/// The records of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NodeRows {
    None,
    One(RowId),
    Many(Vec<RowId>),
}

impl NodeRows {
    fn as_slice(&self) -> &[RowId] {
        match self {
            Self::None => &[],
            Self::One(row_id) => std::slice::from_ref(row_id),
            Self::Many(row_ids) => row_ids,
        }
    }
}

/// The hash of a point in [`Nodes`].
pub(crate) fn hash_of(point: &[f32]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for number in point {
        // Minus zero is no other place than zero.
        hasher.write_u32((number + 0.0).to_bits());
    }
    hasher.finish()
}

impl Nodes {
    /// How many nodes there are, dead ones included.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// How many are dead: without records.
    pub(crate) fn dead(&self) -> usize {
        self.dead
    }

    /// The records that have a node.
    pub(crate) fn row_ids(&self) -> impl Iterator<Item = RowId> {
        self.node_of.keys().copied()
    }

    /// Each node's records.
    pub(crate) fn all(&self) -> impl Iterator<Item = &[RowId]> {
        self.rows.iter().map(NodeRows::as_slice)
    }

    /// The next node id; `None` when `u32` is exhausted.
    pub(crate) fn next(&self) -> Option<u32> {
        u32::try_from(self.rows.len()).ok()
    }

    /// The node of a point, be it alive or dead.
    pub(crate) fn of_point(&self, hash: u64) -> Option<u32> {
        self.by_point.get(&hash).copied()
    }

    /// Adds a node without records. One without a hash is never shared.
    pub(crate) fn push(&mut self, hash: Option<u64>) {
        if let (Some(hash), Some(node)) = (hash, self.next()) {
            self.by_point.entry(hash).or_insert(node);
        }
        self.rows.push(NodeRows::None);
        self.dead += 1;
    }

    /// Lets later records of the same point share a node.
    pub(crate) fn share(&mut self, node: u32, hash: u64) {
        self.by_point.entry(hash).or_insert(node);
    }

    pub(crate) fn rows_of(&self, node: u32) -> &[RowId] {
        usize::try_from(node)
            .ok()
            .and_then(|at| self.rows.get(at))
            .map_or(&[], NodeRows::as_slice)
    }

    pub(crate) fn attach(&mut self, node: u32, row_id: RowId) {
        self.detach(row_id);
        let Some(rows) = self.rows.get_mut(node as usize) else {
            return;
        };
        match rows {
            NodeRows::None => {
                *rows = NodeRows::One(row_id);
                self.dead -= 1;
            }
            NodeRows::One(first) => *rows = NodeRows::Many(vec![*first, row_id]),
            NodeRows::Many(row_ids) => row_ids.push(row_id),
        }
        self.node_of.insert(row_id, node);
    }

    /// Takes a record from its node; answers whether it had one.
    pub(crate) fn detach(&mut self, row_id: RowId) -> bool {
        let Some(node) = self.node_of.remove(&row_id) else {
            return false;
        };
        let Some(rows) = self.rows.get_mut(node as usize) else {
            return false;
        };
        if let NodeRows::Many(row_ids) = rows {
            if let Some(at) = row_ids.iter().position(|held| *held == row_id) {
                row_ids.swap_remove(at);
            }
            if let [last] = row_ids[..] {
                *rows = NodeRows::One(last);
            }
        } else {
            *rows = NodeRows::None;
            self.dead += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_and_go_and_the_dead_are_counted() {
        let mut nodes = Nodes::default();
        let (a, b) = (hash_of(&[1.0]), hash_of(&[2.0]));
        nodes.push(Some(a));
        nodes.push(Some(b));
        nodes.push(None);
        assert_eq!(
            (nodes.len(), nodes.dead(), nodes.row_ids().count()),
            (3, 3, 0)
        );
        assert_eq!((nodes.of_point(a), nodes.of_point(b)), (Some(0), Some(1)));
        for row_id in [10, 11, 12] {
            nodes.attach(0, row_id);
        }
        nodes.attach(1, 13);
        assert_eq!(
            (
                nodes.rows_of(0).len(),
                nodes.dead(),
                nodes.row_ids().count()
            ),
            (3, 1, 4)
        );
        // To another node: out of the first.
        nodes.attach(1, 11);
        assert_eq!((nodes.rows_of(0).len(), nodes.rows_of(1).len()), (2, 2));
        assert!(nodes.detach(10) && !nodes.detach(10));
        assert_eq!(nodes.rows_of(0), [12]);
        assert!(nodes.detach(12));
        assert_eq!(
            (
                nodes.rows_of(0).len(),
                nodes.dead(),
                nodes.row_ids().count()
            ),
            (0, 2, 2)
        );
        // The dead wake.
        nodes.attach(0, 12);
        assert_eq!((nodes.rows_of(0), nodes.dead()), (&[12][..], 1));
        // No such node: nothing happens.
        nodes.attach(9, 20);
        assert_eq!((nodes.rows_of(9).len(), nodes.row_ids().count()), (0, 3));
    }
}
