//! Work that blocks, off the threads that futures run on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shelfward_core::{ErrorKind, Operation, Result, StoreError};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

/// Runs a job where it may block. The flag that it is given is set when nobody waits for it any more;
/// a job that changes anything takes its turn first and then looks at the flag.
///
/// Without a runtime it runs on the thread that asks.
pub(crate) async fn blocking<T, J>(operation: Operation, job: J) -> Result<T>
where
    T: Send + 'static,
    J: FnOnce(&AtomicBool) -> Result<T> + Send + 'static,
{
    let dropped = Arc::new(AtomicBool::new(false));
    let guard = SetWhenDropped(dropped.clone());
    let done = match Handle::try_current() {
        Ok(_) => {
            let done = spawn_blocking(move || job(&dropped)).await;
            // It panicked, or the runtime ends.
            done.unwrap_or_else(|_| Err(StoreError::new(operation, ErrorKind::Engine)))
        }
        Err(_) => job(&dropped),
    };
    drop(guard);
    done
}

struct SetWhenDropped(Arc<AtomicBool>);

impl Drop for SetWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
