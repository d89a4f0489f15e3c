use std::sync::atomic::{AtomicBool, Ordering};

/// Says when nobody waits for an answer any more: what is under way then ends soon.
///
/// The flag is set for good. A call that was stopped finds nothing, never a part of its answer.
#[derive(Clone, Copy, Debug)]
pub struct Stop<'a>(Option<&'a AtomicBool>);

impl<'a> Stop<'a> {
    /// The answer is waited for to its end.
    pub const NEVER: Stop<'static> = Stop(None);

    /// Due once the flag is set.
    pub fn when(flag: &'a AtomicBool) -> Self {
        Self(Some(flag))
    }

    /// Whether to stop. Cheap enough to be asked for each row that is looked at exactly.
    pub fn is_due(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}
