use shelfward_core::Capabilities;

use crate::MemoryOptions;

/// Everything, exactly, in one process.
pub(crate) fn capabilities(options: MemoryOptions) -> Capabilities {
    let mut can = Capabilities::exact();
    if !options.lexical {
        can.lexical = None;
    }
    can
}
