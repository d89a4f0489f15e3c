//! Work that blocks, off the threads that futures run on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shelfward_core::{ErrorKind, Operation, Result, StoreError};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

/// Told when nobody waits for a job any more.
#[derive(Default)]
pub(crate) struct Stop {
    given_up: AtomicBool,
    /// Held while a job makes its change, so that whoever gives up knows that nothing lands afterwards.
    gate: Mutex<()>,
}

impl Stop {
    /// Returns when the job has made its change, or never will.
    fn give_up(&self) {
        self.given_up.store(true, Ordering::SeqCst);
        drop(self.gate());
    }

    fn gate(&self) -> MutexGuard<'_, ()> {
        // It guards nothing that a panic could leave half done.
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::SeqCst)
    }

    /// Looked at before anything is changed, and held until all of it is. An error when the job was
    /// given up: then it changes nothing.
    pub(crate) fn commit(&self, operation: Operation) -> Result<MutexGuard<'_, ()>> {
        let gate = self.gate();
        self.check(operation)?;
        Ok(gate)
    }

    /// For what looks at many rows.
    pub(crate) fn watched(&self) -> shelfward_resident::Stop<'_> {
        shelfward_resident::Stop::when(&self.given_up)
    }

    /// An error when the job was given up.
    pub(crate) fn check(&self, operation: Operation) -> Result<()> {
        if self.is_given_up() {
            let invalid = "the call was given up before its turn came".to_owned();
            return Err(StoreError::new(operation, ErrorKind::Invalid(invalid)));
        }
        Ok(())
    }
}

/// Runs a job where it may block. When the returned future is dropped, the job finds it given up at
/// its next look; one that is making its change by then is waited for.
///
/// Without a runtime it runs on the thread that asks.
pub(crate) async fn blocking<T, J>(operation: Operation, job: J) -> Result<T>
where
    T: Send + 'static,
    J: FnOnce(&Stop) -> Result<T> + Send + 'static,
{
    let stop = Arc::new(Stop::default());
    let guard = GiveUpOnDrop(stop.clone());
    let done = match Handle::try_current() {
        Ok(_) => {
            let done = spawn_blocking(move || job(&stop)).await;
            // It panicked, or the runtime ends.
            done.unwrap_or_else(|_| Err(StoreError::new(operation, ErrorKind::Engine)))
        }
        Err(_) => job(&stop),
    };
    drop(guard);
    done
}

struct GiveUpOnDrop(Arc<Stop>);

impl Drop for GiveUpOnDrop {
    fn drop(&mut self) {
        self.0.give_up();
    }
}
