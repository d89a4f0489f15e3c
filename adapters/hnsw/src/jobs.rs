//! Blocking work, off the threads that futures run on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shelfward_core::{ErrorKind, Operation, Result, StoreError};
use shelfward_resident::CancelFlag;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

/// Set when the caller's future is dropped.
#[derive(Default)]
pub(crate) struct CancelToken {
    cancelled: AtomicBool,
    /// Locked while a job commits, so that whoever cancels knows that nothing lands afterwards.
    gate: Mutex<()>,
}

impl CancelToken {
    /// Returns when the job has committed, or never will.
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        drop(self.gate());
    }

    fn gate(&self) -> MutexGuard<'_, ()> {
        // It guards nothing that a panic could leave half done.
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checked before anything is changed; the guard is held until all of it is. An error when the job
    /// was cancelled: then it changes nothing.
    pub(crate) fn commit(&self, operation: Operation) -> Result<MutexGuard<'_, ()>> {
        let gate = self.gate();
        self.check(operation)?;
        Ok(gate)
    }

    /// For what reads many rows.
    pub(crate) fn flag(&self) -> CancelFlag<'_> {
        CancelFlag::of(&self.cancelled)
    }

    /// An error when the job was cancelled.
    pub(crate) fn check(&self, operation: Operation) -> Result<()> {
        if self.cancelled.load(Ordering::SeqCst) {
            let invalid = "the call was given up before its turn came".to_owned();
            return Err(StoreError::new(operation, ErrorKind::Invalid(invalid)));
        }
        Ok(())
    }
}

struct CancelOnDrop(Arc<CancelToken>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Limits how many jobs of a kind have a thread. The others wait without one, so they keep neither
/// other kinds of jobs nor the runtime's own from their threads.
#[derive(Clone)]
pub(crate) struct JobQueue(Arc<Semaphore>);

impl JobQueue {
    pub(crate) fn with_threads(threads: usize) -> Self {
        Self(Arc::new(Semaphore::new(threads)))
    }

    /// A place among those that have a thread. It belongs to the job, which may outlive its call.
    pub(crate) async fn place(&self, operation: Operation) -> Result<OwnedSemaphorePermit> {
        let place = self.0.clone().acquire_owned().await;
        // The semaphore is never closed.
        place.map_err(|_| StoreError::new(operation, ErrorKind::Engine).nothing_done())
    }

    /// Runs a job as [`blocking`] does, once there is a place for it.
    pub(crate) async fn run<T, J>(&self, operation: Operation, job: J) -> Result<T>
    where
        T: Send + 'static,
        J: FnOnce(&CancelToken) -> Result<T> + Send + 'static,
    {
        let place = self.place(operation).await?;
        blocking(operation, move |token| {
            let _place = place;
            job(token)
        })
        .await
    }
}

/// Runs a job where it may block. Dropping the returned future cancels the job at its next check; a
/// job that is committing by then is waited for.
///
/// Without a runtime it runs on the calling thread.
pub(crate) async fn blocking<T, J>(operation: Operation, job: J) -> Result<T>
where
    T: Send + 'static,
    J: FnOnce(&CancelToken) -> Result<T> + Send + 'static,
{
    let token = Arc::new(CancelToken::default());
    let guard = CancelOnDrop(token.clone());
    let done = match Handle::try_current() {
        Ok(_) => {
            let done = spawn_blocking(move || job(&token)).await;
            // It panicked, or the runtime ends.
            done.unwrap_or_else(|_| Err(StoreError::new(operation, ErrorKind::Engine)))
        }
        Err(_) => job(&token),
    };
    drop(guard);
    done
}
