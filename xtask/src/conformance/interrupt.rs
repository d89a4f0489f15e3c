//! Signals to this process, which end what it runs.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::signal::unix::{SignalKind, signal};

use crate::run::note;

/// What is running.
pub(super) enum Running {
    /// Cargo and what it has begun, a process group.
    Build(u32),
    /// A harness, by its standard input: when that closes, it removes what it made, reports and ends.
    Suite(ChildStdin),
}

/// Ctrl-C, SIGTERM and SIGHUP. The first ends what runs and keeps anything else from being begun, so that what
/// was found is reported; a second ends this process, and by its pipe the harness.
#[derive(Clone)]
pub(super) struct Interrupt(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    signal: Option<u8>,
    running: Option<Running>,
}

impl Interrupt {
    /// Listens from now on.
    pub(super) fn listen() -> Result<Self, String> {
        let this = Self(Arc::default());
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().map_err(|e| e.to_string())?;
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let entered = runtime.enter();
        let mut signals = Vec::new();
        for kind in kinds {
            let number = u8::try_from(kind.as_raw_value()).unwrap_or_default();
            signals.push((number, signal(kind).map_err(|e| e.to_string())?));
        }
        drop(entered);
        let listener = this.clone();
        std::thread::spawn(move || {
            runtime.block_on(async {
                loop {
                    let waits = signals.iter_mut().map(|(number, signal)| {
                        Box::pin(async move {
                            signal.recv().await;
                            *number
                        })
                    });
                    let (number, ..) = futures_util::future::select_all(waits).await;
                    listener.came(number);
                }
            })
        });
        Ok(this)
    }

    fn came(&self, number: u8) {
        let mut state = self.state();
        if state.signal.replace(number).is_some() {
            std::process::exit(128 + i32::from(number));
        }
        note("stopping; what the run made is removed");
        end(state.running.take());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The signal, if one came.
    pub(super) fn signal(&self) -> Option<u8> {
        self.state().signal
    }

    /// Says what is running from now on, which ends at once where a signal came before.
    pub(super) fn set(&self, running: Option<Running>) {
        let mut state = self.state();
        match state.signal {
            Some(_) => end(running),
            None => state.running = running,
        }
    }

    /// Starts a program that a signal ends with all that it begins.
    pub(super) fn grouped(&self, command: &mut Command) -> Result<Child, String> {
        let child = apart(command).spawn().map_err(|e| e.to_string())?;
        self.set(Some(Running::Build(child.id())));
        Ok(child)
    }
}

/// Puts a program into a process group of its own, so that Ctrl-C in a terminal comes to this process alone,
/// which ends it in its way.
pub(super) fn apart(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

fn end(running: Option<Running>) {
    match running {
        Some(Running::Build(id)) => {
            if let Some(group) = i32::try_from(id).ok().and_then(Pid::from_raw) {
                // One that has ended by itself is ended.
                let _ = kill_process_group(group, Signal::TERM);
            }
        }
        Some(Running::Suite(stdin)) => drop(stdin),
        None => {}
    }
}
