//! The thread that looks after a collection: one at most, there only while there is something to do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::Shelf;

const LOOK_AGAIN: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(crate) struct Keeper {
    stop: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
    ended: Condvar,
}

impl Keeper {
    fn thread(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ask_to_stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_to_stop(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Stops and waits for what is under way; it ends within the time that one node takes.
    pub(super) fn stop(&self) {
        self.ask_to_stop();
        let thread = self.thread().take();
        if let Some(thread) = thread {
            // It panicked or not: there is no thread any more.
            let _ended = thread.join();
        }
    }

    /// Waits until the thread has nothing more to do.
    pub(super) fn wait(&self) {
        let mut thread = self.thread();
        while thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            // One that panics says nothing, so it is looked for.
            let woken = self.ended.wait_timeout(thread, LOOK_AGAIN);
            (thread, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Shelf {
    /// Starts the thread if there is work for it.
    pub(crate) fn look_after(self: &Arc<Self>) {
        if self.keeper.is_to_stop() || self.work().is_none() {
            return;
        }
        let mut thread = self.keeper.thread();
        // One that is there takes up the work before it ends. One that panicked is not started
        // again: searches are exact without it.
        if thread.is_none() {
            let shelf = self.clone();
            let name = "shelfward-hnsw".to_owned();
            // Where no thread can be had, the work is left for the next write.
            *thread = thread::Builder::new()
                .name(name)
                .spawn(move || shelf.keep())
                .ok();
        }
    }

    fn keep(&self) {
        loop {
            if let Some(work) = self.work().filter(|_| !self.keeper.is_to_stop()) {
                self.do_work(work);
                continue;
            }
            // Whoever finds more to do from here on finds no thread and starts one.
            let mut thread = self.keeper.thread();
            if self.keeper.is_to_stop() || self.work().is_none() {
                *thread = None;
                self.keeper.ended.notify_all();
                return;
            }
        }
    }

    /// Waits until nothing is left to do in the background.
    pub(crate) fn settle(self: &Arc<Self>) {
        self.look_after();
        self.keeper.wait();
    }
}
