use crate::index::graph::GraphParams;

/// What a [`HnswStore`](crate::HnswStore) does.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct HnswOptions {
    /// Whether there is a lexical leg. Default `true`.
    pub lexical: bool,
    /// Links of a node on each layer but the lowest, which has twice as many: 4 to 128.
    /// Default 16.
    pub m: usize,
    /// Candidates that are looked at for a new node's links: `m` to 100,000. Default 128.
    pub ef_construction: usize,
    /// Candidates that a search of the graph brings at least: 2 to 100,000. Default 128.
    pub ef_search: usize,
    /// A collection of fewer records has no graph: each search looks at every record. 1 or more.
    /// Default 200,000.
    pub graph_from: usize,
    /// The share of a graph's nodes that may be dead before it is rebuilt: 0.05 to 0.9. Default 0.3.
    pub rebuild_share: f64,
    /// And at least so many of them. Default 2,000.
    pub rebuild_from: usize,
    /// Whether exact searches read every vector rounded to 8 bits first. Their answers are the same. Default `true`.
    pub quantized: bool,
    /// Whether a write is synced to the disk before it returns, and so survives a power cut. Without
    /// it, a write survives the end of the process, and no more. Default `true`.
    pub sync: bool,
    /// A log of so many bytes is folded into a new snapshot, once it is as long as the snapshot.
    /// Default 64 MiB.
    pub save_from: u64,
    /// What the steps of a search cost.
    pub costs: PlannerCosts,
}

/// What the steps of a search cost beside each other; nanoseconds, as it happens.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlannerCosts {
    /// Looking at one number of one vector while all are looked at in their order, rounded to 8 bits;
    /// four times as much where they are not. Default 0.08.
    pub scan: f64,
    /// Nodes that a search of the graph looks at for each candidate. Default 23.
    pub visits: f64,
    /// Looking at one node. Default 1,800.
    pub visit: f64,
    /// Looking at one number of its point. Default 1.
    pub visit_number: f64,
}

impl Default for PlannerCosts {
    fn default() -> Self {
        Self {
            scan: 0.08,
            visits: 23.0,
            visit: 1_800.0,
            visit_number: 1.0,
        }
    }
}

impl PlannerCosts {
    /// Sets what looking at one number costs while all vectors are looked at. Large, and the graph
    /// is used wherever there is one; 0, and it never is.
    #[must_use]
    pub fn with_scan(mut self, scan: f64) -> Self {
        self.scan = scan;
        self
    }

    /// Sets how many nodes are looked at for each candidate, and what a node and a number of its
    /// point cost.
    #[must_use]
    pub fn with_visits(mut self, visits: f64, visit: f64, visit_number: f64) -> Self {
        (self.visits, self.visit, self.visit_number) = (visits, visit, visit_number);
        self
    }
}

impl Default for HnswOptions {
    fn default() -> Self {
        Self {
            lexical: true,
            m: 16,
            ef_construction: 128,
            ef_search: 128,
            graph_from: 200_000,
            rebuild_share: 0.3,
            rebuild_from: 2_000,
            quantized: true,
            sync: true,
            save_from: 64 << 20,
            costs: PlannerCosts::default(),
        }
    }
}

/// Memory for so many is taken by each search or insertion.
const MOST_CANDIDATES: usize = 100_000;

impl HnswOptions {
    shelfward_adapter::setters! {
        /// Switches the lexical leg on or off.
        with_lexical: lexical bool;
        /// Sets the links of a node.
        with_m: m usize;
        /// Sets the candidates looked at for a new node.
        with_ef_construction: ef_construction usize;
        /// Sets the candidates of a search.
        with_ef_search: ef_search usize;
        /// Sets how many records a collection with a graph has at least.
        with_graph_from: graph_from usize;
        /// Sets the share of dead nodes from which a graph is rebuilt.
        with_rebuild_share: rebuild_share f64;
        /// Sets the number of dead nodes from which a graph is rebuilt.
        with_rebuild_from: rebuild_from usize;
        /// Switches the look at rounded vectors on or off.
        with_quantized: quantized bool;
        /// Sets whether a write waits for the disk.
        with_sync: sync bool;
        /// Sets how long a log is left before it is folded into a snapshot.
        with_save_from: save_from u64;
        /// Sets what the steps of a search cost.
        with_costs: costs PlannerCosts;
    }

    /// Whether there is any collection whose searches go through a graph.
    pub(crate) fn may_use_graph(&self) -> bool {
        self.graph_from < usize::MAX && self.costs.scan > 0.0
    }

    /// Why these options cannot be used; `None` when they can.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let costs = [
            self.costs.scan,
            self.costs.visits,
            self.costs.visit,
            self.costs.visit_number,
        ];
        if !(4..=128).contains(&self.m) {
            Some("m must lie between 4 and 128")
        } else if !(self.m..=MOST_CANDIDATES).contains(&self.ef_construction) {
            Some("ef_construction must lie between m and 100000")
        } else if !(2..=MOST_CANDIDATES).contains(&self.ef_search) {
            Some("ef_search must lie between 2 and 100000")
        } else if self.graph_from == 0 {
            Some("graph_from must be 1 or more")
        } else if !(0.05..=0.9).contains(&self.rebuild_share) {
            Some("rebuild_share must lie between 0.05 and 0.9")
        } else if costs.iter().any(|cost| !cost.is_finite() || *cost < 0.0) {
            Some("the costs must be finite and not negative")
        } else {
            None
        }
    }

    pub(crate) fn graph_params(&self, dimensions: usize) -> GraphParams {
        GraphParams {
            m: self.m,
            ef_construction: self.ef_construction,
            dimensions,
        }
    }
}
