use std::io::Read as _;

use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::note;

/// What ends a run before its time: Ctrl-C, SIGTERM, SIGHUP, or the end of the program that watches.
#[derive(Clone)]
pub(super) struct Interrupt(watch::Receiver<Option<u8>>);

/// The numbers that shells know these signals by.
const HANGUP: u8 = 1;
const INTERRUPT: u8 = 2;
const TERMINATE: u8 = 15;

impl Interrupt {
    /// Listens from now on: what runs is given up at the first signal, nothing more is begun, and what the
    /// run made is removed. A second one ends the program where it stands.
    pub(super) fn listen(runtime: &Runtime, watched: bool) -> Self {
        let (interrupt, interrupted) = watch::channel(None);
        let by_signal = interrupt.clone();
        // Where there are no such signals the channel says nothing.
        runtime.spawn(async move {
            let mut signals = Signals::new()?;
            let signal = signals.next().await;
            note("stopping; what the run made is removed");
            by_signal.send_replace(Some(signal));
            let again = signals.next().await;
            std::process::exit(128 + i32::from(again));
            #[expect(unreachable_code, reason = "the type of the task")]
            Ok::<(), std::io::Error>(())
        });
        if watched {
            // Not waited for: the thread ends with the program.
            std::thread::spawn(move || {
                let _ = std::io::stdin().read_to_end(&mut Vec::new());
                interrupt.send_if_modified(|signal| signal.replace(TERMINATE).is_none());
            });
        }
        Self(interrupted)
    }

    /// Waits for it.
    pub(super) async fn wait(&self) {
        if self.0.clone().wait_for(Option::is_some).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// The signal, if there was one.
    pub(super) fn signal(&self) -> Option<u8> {
        *self.0.borrow()
    }
}

#[cfg(unix)]
struct Signals([(u8, tokio::signal::unix::Signal); 3]);

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self([
            (INTERRUPT, signal(SignalKind::interrupt())?),
            (TERMINATE, signal(SignalKind::terminate())?),
            (HANGUP, signal(SignalKind::hangup())?),
        ]))
    }

    async fn next(&mut self) -> u8 {
        let [(a, one), (b, two), (c, three)] = &mut self.0;
        tokio::select! {
            _ = one.recv() => *a,
            _ = two.recv() => *b,
            _ = three.recv() => *c,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> u8 {
        match tokio::signal::ctrl_c().await {
            Ok(()) => INTERRUPT,
            Err(_) => std::future::pending().await,
        }
    }
}
