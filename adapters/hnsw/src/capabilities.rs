use shelfward_core::Capabilities;
use shelfward_core::capabilities::Dense;

use crate::config::HnswOptions;

/// Everything, and all but nearness through a graph exactly, in one process.
pub(crate) fn capabilities(options: &HnswOptions, durable: bool) -> Capabilities {
    let mut can = Capabilities::exact();
    if options.may_use_graph() {
        can.dense = Dense::Approximate { min_recall: 0.95 };
    }
    if !options.lexical {
        can.lexical = None;
    }
    can.durable = durable;
    can
}
