use shelfward_core::Capabilities;
use shelfward_core::capabilities::Writers;

/// Everything, exactly, on the disk, in step with other processes.
pub(crate) fn capabilities() -> Capabilities {
    let mut can = Capabilities::exact();
    can.writers = Writers::AllProcesses;
    can.durable = true;
    can
}
