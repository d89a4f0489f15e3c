//! The graph of a collection: a space where nearness is Euclidean for every metric, nodes that stand
//! for records, and the choice between the graph and looking at every record.

pub(crate) mod distance;
pub(crate) mod graph;
pub(crate) mod graph_file;
pub(crate) mod nodes;
pub(crate) mod planner;
pub(crate) mod space;
