//! The graph of a collection: a transform under which every metric is Euclidean, nodes that stand
//! for records, and the choice between the graph and looking at every record.

pub(crate) mod distance;
pub(crate) mod graph;
pub(crate) mod graph_file;
pub(crate) mod metric_transform;
pub(crate) mod nodes;
pub(crate) mod planner;
