use shelfward_core::Capabilities;
use shelfward_core::capabilities::Writers;

/// Everything, exactly, in step with other processes, and in a file that outlives them.
pub(crate) fn capabilities(in_a_file: bool) -> Capabilities {
    let mut can = Capabilities::exact();
    can.writers = Writers::AllProcesses;
    can.durable = in_a_file;
    can
}
