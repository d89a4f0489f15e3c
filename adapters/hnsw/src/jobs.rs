//! Blocking work, off the threads that futures run on.

use shelfward_adapter::cancel::{Aborted, BlockingJobs, CancelToken, run_in_turn};
use shelfward_core::{ErrorKind, Operation, Result, StoreError};
use shelfward_resident::CancelFlag;

/// Runs a job once it has a place in each of the lines.
pub(crate) async fn run<T: Send + 'static, const N: usize>(
    lines: [&BlockingJobs; N],
    operation: Operation,
    job: impl FnOnce(&CancelToken) -> Result<T> + Send + 'static,
) -> Result<T> {
    let ended = run_in_turn(lines, job).await;
    ended.unwrap_or_else(|Aborted| Err(StoreError::new(operation, ErrorKind::Engine)))
}

/// An error where the caller is gone; nobody reads it.
pub(crate) fn check(token: &CancelToken, operation: Operation) -> Result<()> {
    token.check().map_err(|_| cancelled(operation))
}

/// Looked at before anything is changed; the guard is held until all of it is. An error where the caller
/// is gone: then nothing is changed.
pub(crate) fn begin_commit(token: &CancelToken, operation: Operation) -> Result<impl Drop + '_> {
    token.begin_commit().map_err(|_| cancelled(operation))
}

/// For what reads many rows.
pub(crate) fn flag(token: &CancelToken) -> CancelFlag<'_> {
    CancelFlag::of(token.flag())
}

fn cancelled(operation: Operation) -> StoreError {
    StoreError::new(operation, ErrorKind::Engine).nothing_done()
}
