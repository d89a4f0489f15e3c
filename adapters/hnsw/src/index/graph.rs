//! The graph of `hnsw_rs`, behind what it needs: points of one width that are numbers, ids that are
//! given once, and a filter that knows which nodes still count.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use hnsw_rs::prelude::{AnnT, FilterT, Hnsw, HnswIo};

use super::distance::SquaredEuclidean;
use crate::error::{FileError, FileResult};

/// What a graph is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GraphParams {
    /// Links of a node, on each layer but the lowest, which has twice as many.
    pub(crate) m: usize,
    /// How many candidates are looked at for the links of a new node.
    pub(crate) ef_construction: usize,
    /// How many numbers a point has.
    pub(crate) dimensions: usize,
}

/// The most layers that `hnsw_rs` has; it saves no graph with another number.
const LAYERS: usize = 16;

pub(crate) struct Graph {
    hnsw: Hnsw<'static, f32, SquaredEuclidean>,
    params: GraphParams,
}

impl Graph {
    /// An empty graph, soon of so many nodes.
    pub(crate) fn new(params: GraphParams, expected: usize) -> Self {
        let mut hnsw = Hnsw::new(
            params.m,
            expected,
            LAYERS,
            params.ef_construction,
            SquaredEuclidean,
        );
        settle(&mut hnsw);
        Self { hnsw, params }
    }

    pub(crate) fn params(&self) -> GraphParams {
        self.params
    }

    /// How many nodes there are, dead ones included.
    pub(crate) fn len(&self) -> usize {
        self.hnsw.get_nb_point()
    }

    /// Adds a node. Each number is given to one node only, and one thread adds at a time.
    ///
    /// Answers whether the point was one.
    #[must_use]
    pub(crate) fn insert(&self, point: &[f32], node: u32) -> bool {
        let sound = point.len() == self.params.dimensions && point.iter().all(|x| x.is_finite());
        if sound {
            self.hnsw.insert((point, node as usize));
        }
        sound
    }

    /// Up to `ef` nodes near a point among those that count, in no order that may be relied on.
    pub(crate) fn search(
        &self,
        query: &[f32],
        ef: usize,
        counts: &dyn Fn(u32) -> bool,
    ) -> Vec<u32> {
        let node = |id: usize| u32::try_from(id).ok();
        let counts = |id: &usize| node(*id).is_some_and(counts);
        self.candidates(query, ef, Some(&counts))
    }

    /// Up to `ef` nodes near a point, whether they count or not, in half the time of a search that
    /// asks about each.
    pub(crate) fn search_all(&self, query: &[f32], ef: usize) -> Vec<u32> {
        self.candidates(query, ef, None)
    }

    fn candidates(&self, query: &[f32], ef: usize, counts: Option<&dyn FilterT>) -> Vec<u32> {
        if query.len() != self.params.dimensions || !query.iter().all(|x| x.is_finite()) {
            return Vec::new();
        }
        // With fewer than two candidates the filtered search of this version can end the thread.
        let ef = ef.max(2);
        self.hnsw
            .search_filter(query, ef, ef, counts)
            .into_iter()
            .filter_map(|found| u32::try_from(found.d_id).ok())
            .collect()
    }

    /// Writes the graph to its two files in a folder, and waits for the disk.
    pub(crate) fn save(&self, folder: &Path, base: &str, parts: [&Path; 2]) -> FileResult<()> {
        // A file that cannot be made is an error here, and the end of the thread there.
        for part in parts {
            File::create(part)?;
        }
        let failed = FileError::Io(std::io::ErrorKind::Other);
        match catch_unwind(AssertUnwindSafe(|| self.hnsw.file_dump(folder, base))) {
            Ok(Ok(name)) if name == base => {}
            _ => return Err(failed),
        }
        let [links, points] = parts.map(|part| OpenOptions::new().write(true).open(part));
        let mut links = links?;
        // The scale of the layers is written as it is and multiplied by its default when it is
        // read, so a graph that was read would grow almost no layers. One keeps the default.
        links.seek(SeekFrom::Start(SCALE_AT))?;
        links.write_all(&1.0_f64.to_ne_bytes())?;
        links.sync_all()?;
        points?.sync_all()?;
        Ok(())
    }

    /// Reads a graph.
    ///
    /// Bytes that `hnsw_rs` did not write end the thread, or the process. So nothing may be given
    /// to this whose checksums were not looked at.
    pub(crate) fn load(folder: &Path, base: &str, params: GraphParams) -> FileResult<Self> {
        const UNLIKE: FileError = FileError::Corrupt("the saved graph is not the one described");
        // What is read borrows this for as long as it lives, although it holds nothing of it. It is
        // two short texts and is given up.
        let io: &'static HnswIo = Box::leak(Box::new(HnswIo::new(folder, base)));
        let read = catch_unwind(AssertUnwindSafe(|| {
            io.load_hnsw_with_dist::<f32, SquaredEuclidean>(SquaredEuclidean)
        }));
        let Ok(Ok(mut hnsw)) = read else {
            return Err(UNLIKE);
        };
        settle(&mut hnsw);
        let alike = usize::from(hnsw.get_max_nb_connection()) == params.m
            && hnsw.get_ef_construction() == params.ef_construction
            && hnsw.get_point_indexation().get_data_dimension() == params.dimensions;
        if alike {
            Ok(Self { hnsw, params })
        } else {
            Err(UNLIKE)
        }
    }
}

/// Behind the mark and two numbers of a byte each.
const SCALE_AT: u64 = 6;

/// Settings that a new graph and one that was read must have alike.
fn settle(hnsw: &mut Hnsw<'static, f32, SquaredEuclidean>) {
    hnsw.set_extend_candidates(false);
    // With it, points that lie close together fill each other's links and are cut off from the rest:
    // of clustered points a third was never found.
    hnsw.set_keeping_pruned(false);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: GraphParams = GraphParams {
        m: 8,
        ef_construction: 60,
        dimensions: 2,
    };

    fn spiral(n: u16) -> [f32; 2] {
        let turn = f32::from(n) * 0.1;
        [turn.cos() * turn, turn.sin() * turn]
    }

    fn nearest(graph: &Graph, n: u16, counts: &dyn Fn(u32) -> bool) -> Vec<u32> {
        let mut found = graph.search(&spiral(n), 40, counts);
        found.sort_unstable();
        found
    }

    #[test]
    fn what_does_not_count_is_never_found_and_the_rest_is() {
        let graph = Graph::new(SHAPE, 500);
        assert!(graph.search(&[0.0, 0.0], 10, &|_| true).is_empty());
        for n in 0..500 {
            assert!(graph.insert(&spiral(n), u32::from(n)));
        }
        assert_eq!(graph.len(), 500);
        assert!(nearest(&graph, 250, &|_| true).contains(&250));
        let odd = nearest(&graph, 250, &|node| node % 2 == 1);
        assert!(odd.len() >= 20 && odd.iter().all(|node| node % 2 == 1));
        assert!(nearest(&graph, 250, &|_| false).is_empty());
        assert_eq!(nearest(&graph, 250, &|node| node == 7), [7]);
        assert!(!graph.search(&spiral(3), 0, &|_| true).is_empty());
    }

    #[test]
    fn what_is_no_point_is_refused_and_changes_nothing() {
        let graph = Graph::new(SHAPE, 4);
        assert!(!graph.insert(&[f32::NAN, 0.0], 0));
        assert!(!graph.insert(&[f32::INFINITY, 0.0], 0));
        assert!(!graph.insert(&[0.0], 0));
        assert!(graph.insert(&[0.0, 0.0], 0));
        assert!(graph.search(&[f32::NAN, 0.0], 4, &|_| true).is_empty());
        assert!(graph.search(&[0.0], 4, &|_| true).is_empty());
        assert_eq!(graph.len(), 1);
    }

    #[test]
    fn a_graph_that_was_read_answers_and_grows_as_the_one_that_was_saved() {
        let folder = tempfile::tempdir().unwrap();
        let graph = Graph::new(SHAPE, 1_000);
        for n in 0..500 {
            assert!(graph.insert(&spiral(n), u32::from(n)));
        }
        let paths = ["c.1.hnsw.graph", "c.1.hnsw.data"].map(|name| folder.path().join(name));
        let parts = [paths[0].as_path(), paths[1].as_path()];
        for _ in 0..2 {
            graph.save(folder.path(), "c.1", parts).unwrap();
        }
        let read = Graph::load(folder.path(), "c.1", SHAPE).unwrap();
        for n in (0..500).step_by(7) {
            let every = |_| true;
            assert_eq!(nearest(&graph, n, &every), nearest(&read, n, &every));
        }
        for n in 500..1_000 {
            assert!(read.insert(&spiral(n), u32::from(n)));
        }
        // Layers go on as they began: 500 more nodes with 8 links make some on the second.
        let second = read.hnsw.get_point_indexation().get_layer_nb_point(1);
        let at_first = graph.hnsw.get_point_indexation().get_layer_nb_point(1);
        assert!(second > at_first + 20, "{at_first} and then {second}");
        for n in (0..1_000).step_by(7) {
            assert!(nearest(&read, n, &|_| true).contains(&u32::from(n)), "{n}");
        }
        let other = GraphParams { m: 9, ..SHAPE };
        assert!(Graph::load(folder.path(), "c.1", other).is_err());
        assert!(Graph::load(folder.path(), "none", SHAPE).is_err());
        let missing = folder.path().join("missing");
        assert!(
            graph
                .save(&missing, "c.1", [&missing.join("a"), &missing.join("b")])
                .is_err()
        );
    }
}
