//! The maintenance thread of a collection: one at most, there only while there is something to do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use shelfward_adapter::sync::lock;

use super::CollectionState;

const CHECK_AGAIN: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(crate) struct MaintenanceWorker {
    stopping: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
    ended: Condvar,
}

impl MaintenanceWorker {
    fn thread(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        lock(&self.thread)
    }

    pub(super) fn request_stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Stops and waits for what is under way; it ends within the time that one node takes.
    pub(super) fn stop(&self) {
        self.request_stop();
        let thread = self.thread().take();
        if let Some(thread) = thread {
            // It panicked or not: the thread has ended.
            let _ended = thread.join();
        }
    }

    /// Waits until the thread has nothing more to do.
    fn wait(&self) {
        let mut thread = self.thread();
        while thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            // One that panics notifies nobody, so it is looked for.
            let woken = self.ended.wait_timeout(thread, CHECK_AGAIN);
            (thread, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl CollectionState {
    /// Starts the thread if there is a task for it.
    pub(crate) fn start_maintenance(self: &Arc<Self>) {
        if self.worker.is_stopping() || self.next_task().is_none() {
            return;
        }
        let mut thread = self.worker.thread();
        // One that runs takes up the task before it ends. One that panicked is not started again:
        // searches are exact without it.
        if thread.is_none() {
            let state = self.clone();
            let name = "shelfward-hnsw".to_owned();
            // Where no thread can be started, the task is left for the next write.
            *thread = thread::Builder::new()
                .name(name)
                .spawn(move || state.run_tasks())
                .ok();
        }
    }

    fn run_tasks(&self) {
        loop {
            if let Some(task) = self.next_task().filter(|_| !self.worker.is_stopping()) {
                self.run_task(task);
                continue;
            }
            // Whoever finds more to do from here on finds no thread and starts one.
            let mut thread = self.worker.thread();
            if self.worker.is_stopping() || self.next_task().is_none() {
                *thread = None;
                self.worker.ended.notify_all();
                return;
            }
        }
    }

    /// Waits until no task is left.
    pub(crate) fn settle(self: &Arc<Self>) {
        self.start_maintenance();
        self.worker.wait();
    }
}
