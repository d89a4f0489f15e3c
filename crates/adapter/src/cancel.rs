//! Work whose caller may be gone: a future can be dropped anywhere, and what runs for it goes on by
//! itself until it looks. Jobs that may block run on the blocking threads of tokio's runtime, and
//! outside of a runtime on the calling thread.
//!
//! Classify [`Cancelled`] and [`Aborted`] as [`ErrorKind::Engine`](shelfward_core::ErrorKind::Engine),
//! the first with nothing done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore};

use crate::sync::lock;

/// The caller is gone: nothing was changed, and nobody reads the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// A job ended without an answer: it panicked, or the runtime is going down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aborted;

/// Set when the caller's future is dropped.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<State>);

#[derive(Debug, Default)]
struct State {
    cancelled: AtomicBool,
    changed: Notify,
    /// Held while a job commits, so that whoever cancels knows that nothing lands afterwards.
    commit: Mutex<()>,
}

impl CancelToken {
    /// Ends the job at its next look. Waits for a commit that has begun.
    pub fn cancel(&self) {
        let _committing = lock(&self.0.commit);
        self.0.cancelled.store(true, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }

    /// Whether the caller is gone.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// The flag itself, for what looks at it in a loop of its own.
    pub fn flag(&self) -> &AtomicBool {
        &self.0.cancelled
    }

    /// Refuses to go on where the caller is gone.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() {
            return Err(Cancelled);
        }
        Ok(())
    }

    /// Begins a commit: while the guard is held nobody cancels, so the commit is not cut in two, and
    /// a caller that is gone before it is never told otherwise by it.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn begin_commit(&self) -> Result<impl Drop + '_, Cancelled> {
        let committing = lock(&self.0.commit);
        self.check().map(|()| committing)
    }

    /// Ends when the caller is gone.
    pub async fn cancelled(&self) {
        loop {
            let changed = self.0.changed.notified();
            if self.is_cancelled() {
                return;
            }
            changed.await;
        }
    }
}

/// Cancels, unless the job was waited for to its end.
struct CancelOnDrop(Option<CancelToken>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(token) = self.0.take() {
            token.cancel();
        }
    }
}

/// Runs a job on a thread where blocking is allowed. When the returned future is dropped, the job is
/// cancelled, and changes nothing after the drop.
///
/// # Errors
/// [`Aborted`].
pub async fn run_blocking<T: Send + 'static>(
    job: impl FnOnce(&CancelToken) -> T + Send + 'static,
) -> Result<T, Aborted> {
    let token = CancelToken::default();
    if Handle::try_current().is_err() {
        return Ok(job(&token));
    }
    let mut guard = CancelOnDrop(Some(token.clone()));
    let ended = tokio::task::spawn_blocking(move || job(&token)).await;
    guard.0 = None;
    ended.map_err(|_| Aborted)
}

/// Runs a future to its end by a task of its own, which nobody drops. When the returned future is
/// dropped, the token is set.
///
/// # Errors
/// [`Aborted`].
pub async fn run_detached<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    job: impl FnOnce(CancelToken) -> F,
) -> Result<T, Aborted> {
    let token = CancelToken::default();
    let mut guard = CancelOnDrop(Some(token.clone()));
    let ended = tokio::spawn(job(token)).await;
    guard.0 = None;
    ended.map_err(|_| Aborted)
}

/// Blocking jobs of one kind, so many at a time. The others wait in line without a thread: the threads
/// for blocking are shared by the whole process, and jobs that wait on them for each other would keep
/// everybody else from working.
#[derive(Clone, Debug)]
pub struct BlockingJobs(Arc<Semaphore>);

impl BlockingJobs {
    /// At least one at a time.
    pub fn new(at_a_time: usize) -> Self {
        let places = at_a_time.clamp(1, Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(places)))
    }

    /// Runs a job in its turn, as [`run_blocking`] does.
    ///
    /// A task of its own waits in line: a call that is neither polled nor dropped would keep its turn from
    /// those behind it.
    ///
    /// # Errors
    /// [`Aborted`].
    pub async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&CancelToken) -> T + Send + 'static,
    ) -> Result<T, Aborted> {
        run_in_turn([self], job).await
    }
}

/// Runs a job once it has a place in each of the lines, in their order: one that waits in the first
/// takes no place in the others.
///
/// A call that waits keeps its turn whether or not it is polled: one that is neither dropped nor
/// polled again would else hold up everybody behind it.
///
/// # Errors
/// [`Aborted`].
pub async fn run_in_turn<T: Send + 'static, const N: usize>(
    lines: [&BlockingJobs; N],
    job: impl FnOnce(&CancelToken) -> T + Send + 'static,
) -> Result<T, Aborted> {
    let free = lines.map(|line| line.0.clone().try_acquire_owned().ok());
    if free.iter().all(Option::is_some) {
        return run_blocking(move |token| {
            // The job's, which may outlive the call.
            let _places = free;
            job(token)
        })
        .await;
    }
    drop(free);
    let lines = lines.map(|line| line.0.clone());
    let in_turn = async move |token: CancelToken| {
        let mut places = Vec::with_capacity(N);
        for line in lines {
            let place = tokio::select! {
                place = line.acquire_owned() => place,
                // Nobody reads the answer.
                () = token.cancelled() => return Err(Aborted),
            };
            // The semaphore is never closed.
            places.push(place.map_err(|_| Aborted)?);
        }
        let work = move || {
            let _places = places;
            job(&token)
        };
        match Handle::try_current() {
            Ok(_) => tokio::task::spawn_blocking(work).await.map_err(|_| Aborted),
            Err(_) => Ok(work()),
        }
    };
    match Handle::try_current() {
        Ok(_) => run_detached(in_turn).await.flatten(),
        Err(_) => in_turn(CancelToken::default()).await,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::sync::mpsc;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn begun<F: Future>(job: &mut std::pin::Pin<Box<F>>) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        matches!(job.as_mut().poll(&mut context), Poll::Pending)
    }

    #[tokio::test]
    async fn a_job_that_is_dropped_is_cancelled() {
        let (go, wait) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        let mut job = Box::pin(run_blocking(move |token| {
            wait.recv().unwrap();
            tell.send(token.check()).unwrap();
        }));
        assert!(begun(&mut job));
        drop(job);
        go.send(()).unwrap();
        assert_eq!(told.recv().unwrap(), Err(Cancelled));
        let (tell, told) = mpsc::channel();
        let mut job = Box::pin(run_detached(|token| async move {
            token.cancelled().await;
            tell.send(()).unwrap();
        }));
        assert!(begun(&mut job));
        drop(job);
        tokio::task::spawn_blocking(move || told.recv().unwrap())
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn whoever_drops_a_job_that_commits_waits_for_it() {
        let (tell, told) = mpsc::channel();
        let (go, wait) = mpsc::channel::<()>();
        let mut job = Box::pin(run_blocking(move |token| {
            let _committing = token.begin_commit().unwrap();
            tell.send("begun").unwrap();
            wait.recv().unwrap();
            tell.send("committed").unwrap();
        }));
        assert!(begun(&mut job));
        assert_eq!(told.recv().unwrap(), "begun");
        let dropping = std::thread::spawn(move || drop(job));
        go.send(()).unwrap();
        dropping.join().unwrap();
        assert_eq!(told.try_recv(), Ok("committed"), "before the drop returned");
    }

    #[tokio::test]
    async fn what_panics_is_told() {
        let ended = run_blocking(|_| panic!("on purpose")).await;
        assert_eq!(ended, Err::<(), _>(Aborted));
    }

    #[test]
    fn jobs_wait_for_their_turn_without_a_thread() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(2)
            .build()
            .unwrap();
        runtime.block_on(async {
            let jobs = BlockingJobs::new(1);
            let (go, wait) = mpsc::channel::<()>();
            let first = tokio::spawn({
                let jobs = jobs.clone();
                async move { jobs.run(move |_| wait.recv().unwrap()).await }
            });
            let others: Vec<_> = (0..100)
                .map(|_| {
                    tokio::spawn({
                        let jobs = jobs.clone();
                        async move { jobs.run(|_| ()).await }
                    })
                })
                .collect();
            tokio::task::yield_now().await;
            // Would never run, if those that wait took threads.
            run_blocking(|_| ()).await.unwrap();
            go.send(()).unwrap();
            first.await.unwrap().unwrap();
            for other in others {
                other.await.unwrap().unwrap();
            }
        });
    }

    #[tokio::test]
    async fn a_call_that_is_forgotten_in_the_line_holds_up_nobody() {
        let jobs = BlockingJobs::new(1);
        let (go, wait) = mpsc::channel::<()>();
        let mut first = Box::pin(jobs.run(move |_| wait.recv().unwrap()));
        assert!(begun(&mut first));
        // Neither polled again nor dropped.
        let mut forgotten = Box::pin(jobs.run(|_| ()));
        assert!(begun(&mut forgotten));
        tokio::task::yield_now().await;
        go.send(()).unwrap();
        first.await.unwrap();
        jobs.run(|_| ()).await.unwrap();
        forgotten.await.unwrap();
    }

    #[tokio::test]
    async fn a_job_that_waits_in_one_line_takes_no_place_in_the_next() {
        let [one, all] = [BlockingJobs::new(1), BlockingJobs::new(2)];
        let (go, wait) = mpsc::channel::<()>();
        let mut first = Box::pin(run_in_turn([&one, &all], move |_| wait.recv().unwrap()));
        assert!(begun(&mut first));
        let mut second = Box::pin(run_in_turn([&one, &all], |token| token.check()));
        assert!(begun(&mut second));
        tokio::task::yield_now().await;
        all.run(|_| ()).await.unwrap();
        drop(second);
        go.send(()).unwrap();
        first.await.unwrap();
        run_in_turn([&one, &all], |_| ()).await.unwrap();
    }

    #[test]
    fn jobs_run_without_a_runtime() {
        let jobs = BlockingJobs::new(1);
        let mut job = Box::pin(jobs.run(|_| 3));
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(job.as_mut().poll(&mut context), Poll::Ready(Ok(3)));
    }
}
