use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the caller of a search has cancelled it.
///
/// The flag is set for good. A call that was cancelled finds nothing, never a part of its answer.
#[derive(Clone, Copy, Debug)]
pub struct CancelFlag<'a>(Option<&'a AtomicBool>);

impl<'a> CancelFlag<'a> {
    /// Never cancelled.
    pub const NEVER: CancelFlag<'static> = CancelFlag(None);

    /// Cancelled once the flag is set.
    pub fn of(flag: &'a AtomicBool) -> Self {
        Self(Some(flag))
    }

    /// Whether it is cancelled. Cheap enough to be asked for each row that is scored exactly.
    pub fn is_cancelled(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}
