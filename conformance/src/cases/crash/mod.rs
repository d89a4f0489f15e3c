//! A server that crashes under its writers: what was told `Ok` is in force, what is said to have changed
//! nothing has not, and what is not known is as before or as it was to be.

mod library;
mod records;

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use shelfward_core::library::LibraryError;
use shelfward_core::{ErrorKind, Store, StoreError, async_trait};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::server::interrupted;
use crate::case::{Case, Wanted};
use crate::check::atomic;
use crate::context::Context;
use crate::oracle::Random;
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    let not_atomic = "its replace is not atomic, so one that is cut may leave part of it";
    let cases = [
        Case::new("crash/library-writes-are-in-force", library::case)
            .only_where(atomic, not_atomic),
        Case::new("crash/records-are-in-force", records::case).only_where(atomic, not_atomic),
        Case::new("crash/handles-work-again", records::handles),
    ];
    cases.map(|case| case.server(Wanted::Crash)).into()
}

/// How often the server is crashed in one case, unless `SHELFWARD_CONFORMANCE_CRASHES` says otherwise.
const CRASHES: u32 = 6;

/// So long one may take, with all that is looked at behind it.
pub(crate) const A_CRASH: Duration = Duration::from_secs(4);

/// So often.
pub(crate) fn crashes() -> u32 {
    let crashes = std::env::var("SHELFWARD_CONFORMANCE_CRASHES");
    let crashes = crashes.ok().and_then(|crashes| crashes.parse().ok());
    crashes.unwrap_or(CRASHES)
}

/// How many writers there are, each with something of its own.
const WRITERS: u64 = 9;

/// So long after it serves again a server must answer its clients.
const LONG: Duration = Duration::from_secs(30);

/// So long the writers go on when the server is back, before what they did is looked at: one that asks
/// what became of its write has others beside it meanwhile.
const GOES_ON: Duration = Duration::from_millis(300);

/// What one writer does, and what is there of it.
#[async_trait]
trait Writer: Send + Sync + 'static {
    type State: Clone + Debug + PartialEq + Send;
    type Write: Clone + Debug + Send + Sync;

    fn draw(&self, random: &mut Random, step: u64) -> Checked<Self::Write>;
    fn after(&self, write: &Self::Write, state: &Self::State) -> Self::State;
    async fn write(&self, write: &Self::Write) -> Result<(), LibraryError>;

    /// What is there. A mix is a finding.
    async fn look(&self) -> Checked<Result<Self::State, LibraryError>>;

    /// Whether a write may land when its call has failed.
    fn late_writes(&self) -> bool;
}

/// A writer, and what may be in force of it.
struct Lane<W: Writer> {
    writer: W,
    possible: Vec<W::State>,
    random: Random,
    step: u64,
    /// Its last writes, to be told of.
    last: Vec<String>,
}

impl<W: Writer> Lane<W> {
    fn new(writer: W, first: W::State, random: Random) -> Self {
        Self {
            writer,
            possible: vec![first],
            random,
            step: 0,
            last: Vec::new(),
        }
    }

    /// One write, which is looked at behind it where it met a crash.
    async fn write(&mut self, crashes: &Crashes) -> Checked {
        self.step += 1;
        let crashes_before = crashes.count();
        let write = self.writer.draw(&mut self.random, self.step)?;
        let mut after = Vec::new();
        for state in &self.possible {
            let next = self.writer.after(&write, state);
            if !after.contains(&next) {
                after.push(next);
            }
        }
        let begun = Instant::now();
        let answer = self.writer.write(&write).await;
        let answered = match &answer {
            Ok(()) => "Ok".to_owned(),
            Err(error) => error.to_string(),
        };
        let millis = begun.elapsed().as_millis();
        self.last
            .push(format!("{write:?}: {answered} after {millis} ms"));
        if self.last.len() > 4 {
            self.last.remove(0);
        }
        let Err(error) = answer else {
            self.possible = after;
            return match crashes.met_since(crashes_before) {
                // The next write would hide what became of it.
                true => self.judge().await,
                false => Ok(()),
            };
        };
        let error = of_the_store(error)?;
        if !matches!(error.kind(), ErrorKind::Conflict(_)) {
            interrupted("a write under crashes", &error)?;
        }
        if !error.changed_nothing() {
            after.retain(|state| !self.possible.contains(state));
            self.possible.append(&mut after);
        }
        // What may land later stays possible.
        let stays = self.writer.late_writes().then(|| self.possible.clone());
        self.judge().await?;
        self.possible = stays.unwrap_or(std::mem::take(&mut self.possible));
        Ok(())
    }

    /// What is there is possible, and from now on it is what is in force.
    async fn judge(&mut self) -> Checked {
        let there = again("a look at what is there", || self.writer.look()).await?;
        if !self.possible.contains(&there) {
            let message = format!(
                "{:?} was to be in force, and {there:?} is; the last writes: {:?}",
                self.possible, self.last
            );
            return Err(Finding::widens(message));
        }
        self.possible = vec![there];
        Ok(())
    }
}

/// Counts the beginnings and the ends of crashes.
#[derive(Clone, Default)]
struct Crashes(Arc<AtomicU64>);

impl Crashes {
    fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn one_more(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether the server was crashing at any time since it was `before`.
    fn met_since(&self, before: u64) -> bool {
        !before.is_multiple_of(2) || self.count() != before
    }
}

/// The error of the store; another one is a finding.
fn of_the_store(error: LibraryError) -> Checked<StoreError> {
    match error {
        LibraryError::Store(error) => Ok(error),
        other => Err(other.into()),
    }
}

/// Asks until there is an answer: failures that say that the server was gone are no findings so long.
async fn again<T, F>(what: &str, ask: impl Fn() -> F) -> Checked<T>
where
    F: Future<Output = Checked<Result<T, LibraryError>>>,
{
    let begun = Instant::now();
    loop {
        match ask().await? {
            Ok(answer) => return Ok(answer),
            Err(error) if begun.elapsed() > LONG => {
                let message = format!("{what}: still failing after the server is back: {error}");
                return Err(Finding::errors(message).because(&error));
            }
            Err(error) => interrupted(what, &of_the_store(error)?)?,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A store on the server that may be crashed, opened by itself.
async fn store(context: &Context) -> Checked<Store> {
    Ok(Store::from_arc(crashable(context)?.open().await?))
}

fn crashable(context: &Context) -> Checked<&dyn crate::server::CrashableServer> {
    context.server()?.crashable().map_err(Finding::errors)
}

/// Lets them write while the server crashes again and again, and looks at what is in force each time.
/// `readers` go on until they are dropped.
async fn crashed<W: Writer>(
    context: &Context,
    lanes: Vec<Lane<W>>,
    mut readers: JoinSet<Checked>,
) -> Checked {
    let lanes: Vec<_> = lanes
        .into_iter()
        .map(|lane| Arc::new(Mutex::new(lane)))
        .collect();
    let mut writers = JoinSet::new();
    let counted = Crashes::default();
    for lane in &lanes {
        let (lane, counted) = (lane.clone(), counted.clone());
        writers.spawn(async move {
            loop {
                lane.lock().await.write(&counted).await?;
                tokio::task::yield_now().await;
            }
        });
    }
    let crashes = async {
        let mut random = Random::new(context.seed());
        for nth in 0..crashes() {
            let millis = random.draw(&(80_u64..400))?;
            tokio::time::sleep(Duration::from_millis(millis)).await;
            counted.one_more();
            crashable(context)?.crash(nth).await?;
            counted.one_more();
            tokio::time::sleep(GOES_ON).await;
            for lane in &lanes {
                lane.lock().await.judge().await?;
            }
        }
        Ok::<_, Finding>(())
    };
    tokio::select! {
        done = crashes => done?,
        // None of them ends but with a finding.
        found = ended(&mut writers) => found?,
        found = ended(&mut readers), if !readers.is_empty() => found?,
    }
    Ok(())
}

async fn ended(tasks: &mut JoinSet<Checked>) -> Checked {
    tasks.join_next().await.unwrap_or(Ok(Ok(())))?
}

/// A call of a handle that met a crash is answered in the end, by the same handle.
async fn works<T, F>(what: &str, call: impl Fn() -> F) -> Checked<T>
where
    F: Future<Output = Result<T, StoreError>>,
{
    again(what, || {
        call().map(|answer| Ok(answer.map_err(LibraryError::from)))
    })
    .await
}
