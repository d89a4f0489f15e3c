use shelfward_adapter::sql;
use shelfward_core::capabilities::Writers;
use shelfward_core::{Capabilities, CollectionSpec};

use crate::filter_translation::{Access, Tables};

/// Everything, exactly, in step with other processes, and in a file that outlives them.
pub(crate) fn capabilities(spec: &CollectionSpec, in_a_file: bool) -> Capabilities {
    let mut can = Capabilities::exact();
    let (number, access) = (0, Access::ByFilter);
    can.filter = sql::support(spec, &Tables { number, access });
    can.writers = Writers::AllProcesses;
    can.durable = in_a_file;
    can
}
