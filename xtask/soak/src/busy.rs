//! Readers and writers at once.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::Poll;
use std::time::{Duration, Instant};

use shelfward::library::{Mode, Passage, PassageId, SearchRequest};
use shelfward::{LibraryIndex, Persistence, SourceId};

use crate::Failure;
use crate::asked::{Asked, random_groups};
use crate::finding::{Findings, Kind};
use crate::judge::Judge;
use crate::model::{Change, Model, Outcome};
use crate::op::{Op, chain};
use crate::source::{
    FOLDERS, Place, SOURCES, Size, Slot, State, TAGS, TENANTS, content, index_source, passages,
    tenant_id,
};
use crate::writer::Writer;

/// What a soak of one store knows.
pub(crate) struct Soak {
    pub(crate) model: Model,
    pub(crate) findings: Findings,
    pub(crate) seed: u64,
    /// Numbers that contents are made of.
    serials: AtomicU64,
    /// How many random generators were made.
    generators: AtomicU64,
    /// How long a write took of late, in microseconds.
    write_takes: AtomicU64,
    /// Whether calls may fail now, for something is being killed.
    pub(crate) faults: AtomicBool,
    pub(crate) stop: AtomicBool,
}

/// Readers and writers that run at once.
const READERS: usize = 5;
const WRITERS: usize = 4;

impl Soak {
    pub(crate) fn new(seed: u64, late_writes: bool) -> Self {
        Self {
            model: Model::new(late_writes),
            findings: Findings::default(),
            seed,
            serials: AtomicU64::new(1),
            generators: AtomicU64::new(0),
            write_takes: AtomicU64::new(1000),
            faults: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        }
    }

    /// The next generator of the seed's.
    pub(crate) fn random(&self) -> fastrand::Rng {
        let nth = self.generators.fetch_add(1, Relaxed);
        fastrand::Rng::with_seed(
            self.seed
                .wrapping_add(nth.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        )
    }

    pub(crate) fn judge(&self) -> Judge<'_> {
        Judge {
            model: &self.model,
            findings: &self.findings,
        }
    }

    /// Reads and writes at random until a time.
    pub(crate) async fn busy(
        self: &Arc<Self>,
        library: Option<&LibraryIndex>,
        writer: &Writer,
        until: Instant,
    ) {
        let mut tasks = tokio::task::JoinSet::new();
        let goes_on = move |soak: &Self| Instant::now() < until && !soak.stop.load(Relaxed);
        for _ in 0..WRITERS {
            let (soak, writer, mut random) = (self.clone(), writer.clone(), self.random());
            tasks.spawn(async move {
                while goes_on(&soak) && soak.write(&writer, &mut random).await {}
            });
        }
        for _ in 0..if library.is_some() { READERS } else { 0 } {
            let (soak, library, mut random) = (self.clone(), library.cloned(), self.random());
            tasks.spawn(async move {
                while let Some(library) = &library
                    && goes_on(&soak)
                {
                    let done = soak.read(library, &mut random).await;
                    soak.failed("read", done);
                    // A store in memory is done within one poll, and others want their turn.
                    tokio::task::yield_now().await;
                }
            });
        }
        while let Some(ended) = tasks.join_next().await {
            if let Err(e) = ended {
                let what = format!("a task ended: {e}");
                self.findings.add(Kind::Call, what, None);
            }
        }
    }

    /// A call that failed though nothing was done to the store is a violation.
    pub(crate) fn failed(&self, what: &str, done: Result<(), Failure>) {
        let Err(failure) = done else { return };
        let store = failure.downcast_ref::<shelfward::library::LibraryError>();
        let temporary = store.is_some_and(|e| e.persistence() == Persistence::Temporary);
        if temporary || self.faults.load(Relaxed) {
            self.findings.did(&format!("{what}s failed"));
        } else {
            let what = format!("a {what} failed: {}", chain(&*failure));
            self.findings.add(Kind::Call, what, None);
        }
    }

    async fn read(
        &self,
        library: &LibraryIndex,
        random: &mut fastrand::Rng,
    ) -> Result<(), Failure> {
        match random.u8(..20) {
            0 => self.refused(library, random).await,
            1..6 => {
                let asked = Asked::random(random);
                let slot = Slot {
                    tenant: asked.tenant,
                    source: random.usize(..SOURCES),
                };
                let upto = random.u32(1..24);
                self.fetch(library, &asked, slot, upto, Kind::NotInForce)
                    .await
            }
            _ => self.search(library, &Asked::random(random)).await,
        }
    }

    pub(crate) async fn search(
        &self,
        library: &LibraryIndex,
        asked: &Asked,
    ) -> Result<(), Failure> {
        let (scope, request) = (asked.scope()?, asked.request()?);
        let reading = self.model.read();
        let answer = library.search(&scope, &request).await?;
        self.judge().answer(asked, &answer, &reading);
        self.findings.did(match asked.mode {
            Mode::Dense => "searches, dense",
            Mode::Lexical => "searches, lexical",
            _ => "searches, hybrid",
        });
        let found = u64::try_from(answer.passages.len()).unwrap_or(0);
        self.findings.did_times("passages judged", found);
        if !answer.complete {
            self.findings.did("answers called incomplete");
        }
        Ok(())
    }

    async fn fetch(
        &self,
        library: &LibraryIndex,
        asked: &Asked,
        slot: Slot,
        upto: u32,
        kind: Kind,
    ) -> Result<(), Failure> {
        let (scope, request) = (asked.scope()?, asked.request()?);
        let source = SourceId::new(slot.id())?;
        let ids: Vec<_> = (0..upto)
            .map(|i| PassageId::new(source.clone(), i))
            .collect();
        let reading = self.model.read();
        let found = library.fetch(&scope, request.reading(), &ids).await?;
        self.judge().fetched(asked, slot, &found, &reading, kind);
        self.findings.did("fetches");
        Ok(())
    }

    /// All of a source, by a reader of everything: it is in a state that its writes can have left.
    pub(crate) async fn look(&self, library: &LibraryIndex, slot: Slot) -> Result<(), Failure> {
        let possible = self.model.read().possible(slot);
        let most = possible.iter().flatten().map(|s| passages(s.content));
        let asked = Asked::everything(slot.tenant);
        let upto = most.max().unwrap_or(0) + 1;
        self.fetch(library, &asked, slot, upto, Kind::LostOrUndone)
            .await
    }

    /// Calls that are refused, and so change nothing.
    async fn refused(
        &self,
        library: &LibraryIndex,
        random: &mut fastrand::Rng,
    ) -> Result<(), Failure> {
        let slot = random_slot(random);
        let state = self.random_state(random);
        let tenant = library.tenant(tenant_id(slot.tenant)?);
        let source = index_source(slot, state)?;
        let refused = match random.u8(..3) {
            0 => tenant.index_source(source.passages([])).await.is_err(),
            1 => {
                let source = source.passages([Passage::new("common"), Passage::new(" ")]);
                tenant.index_source(source).await.is_err()
            }
            _ => {
                let scope = Asked::everything(slot.tenant).scope()?;
                library
                    .search(&scope, &SearchRequest::new(" "))
                    .await
                    .is_err()
            }
        };
        self.findings.did("refusals");
        if !refused {
            let what = "a call that must be refused was not".to_owned();
            self.findings
                .add(Kind::Call, what, Some((&self.model, slot)));
        }
        Ok(())
    }

    /// One write at random; sometimes it is given up. Answers whether the writer still lives.
    async fn write(&self, writer: &Writer, random: &mut fastrand::Rng) -> bool {
        let op = self.random_op(random);
        let takes = self.write_takes.load(Relaxed);
        let patience = (random.u8(..12) == 0).then(|| match random.bool() {
            true => Patience::Polls(random.u32(1..6)),
            false => {
                Patience::Until(Instant::now() + Duration::from_micros(random.u64(..=takes * 2)))
            }
        });
        let outcome = self.do_op(writer, op, patience).await;
        if let (Outcome::GivenUp, Op::Source(slot, _), Writer::Here(library)) =
            (&outcome, op, writer)
        {
            let looked = self.look(library, slot).await;
            self.failed("look", looked);
        }
        !matches!(&outcome, Outcome::Unknown(_)) || writer.lives()
    }

    /// A write, told to the model before and after.
    pub(crate) async fn do_op(
        &self,
        writer: &Writer,
        op: Op,
        patience: Option<Patience>,
    ) -> Outcome {
        let changes = op.changes();
        let begun = changes
            .iter()
            .map(|(slot, change)| self.model.begin(*slot, *change));
        let begun: Vec<u64> = begun.collect();
        let began = Instant::now();
        let outcome = patient(writer.apply(op), patience).await;
        let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        for ((slot, _), id) in changes.iter().zip(begun) {
            if let Some(wrong) = self.model.end(*slot, id, &outcome) {
                let what = format!("{slot}: {wrong}");
                self.findings
                    .add(Kind::Count, what, Some((&self.model, *slot)));
            }
        }
        match &outcome {
            Outcome::Done(_) => {
                self.findings.did("writes done");
                let before = self.write_takes.load(Relaxed);
                self.write_takes
                    .store((before * 7 + took.min(1_000_000)) / 8, Relaxed);
            }
            Outcome::Refused(_) => self.findings.did("writes refused"),
            Outcome::GivenUp => self.findings.did("writes given up"),
            Outcome::Unknown(why) => {
                self.findings.did("writes unknown");
                if !self.faults.load(Relaxed) {
                    let what = format!("a write ended as unknown: {why}");
                    self.findings.add(Kind::Call, what, None);
                }
            }
        }
        outcome
    }

    fn random_state(&self, random: &mut fastrand::Rng) -> State {
        let size = match random.u8(..160) {
            0 => Size::Large,
            1..10 => Size::Middle,
            _ => Size::Small,
        };
        State {
            content: content(self.serials.fetch_add(1, Relaxed), size),
            place: Place {
                groups: random_groups(random),
                folder: random.u8(..=FOLDERS),
                tags: random.u8(..1 << TAGS),
            },
        }
    }

    fn random_op(&self, random: &mut fastrand::Rng) -> Op {
        let slot = random_slot(random);
        let kind = random.u8(..100);
        // A write that may still land is settled by a narrowing or a removal, and by nothing else.
        let kind = if self.model.may_change_late(slot) {
            kind % 40
        } else {
            kind
        };
        match kind {
            0..30 => Op::Source(slot, random_rescope(random)),
            30..40 => Op::Source(slot, Change::Remove),
            40 if random.bool() => Op::RemoveTenant(slot.tenant),
            _ => Op::Source(slot, Change::Index(self.random_state(random))),
        }
    }
}

fn random_slot(random: &mut fastrand::Rng) -> Slot {
    Slot {
        tenant: random.usize(..TENANTS),
        // Some more often than others, so that writers meet.
        source: random.usize(..SOURCES).min(random.usize(..SOURCES)),
    }
}

/// New groups, or a new place, or both.
pub(crate) fn random_rescope(random: &mut fastrand::Rng) -> Change {
    let parts = random.u8(1..8);
    Change::Rescope {
        groups: (parts & 1 != 0).then(|| random_groups(random)),
        folder: (parts & 2 != 0).then(|| random.u8(..=FOLDERS)),
        tags: (parts & 4 != 0).then(|| random.u8(..1 << TAGS)),
    }
}

/// When a caller loses patience with a call and drops it.
pub(crate) enum Patience {
    Polls(u32),
    Until(Instant),
}

async fn patient(call: impl Future<Output = Outcome>, patience: Option<Patience>) -> Outcome {
    let mut call = Box::pin(call);
    let Some(patience) = patience else {
        return call.await;
    };
    let mut polls = 0;
    poll_fn(|context| {
        let polled = call.as_mut().poll(context);
        polls += 1;
        let lost = match patience {
            Patience::Polls(most) => polls >= most,
            Patience::Until(time) => {
                // Timers are coarser than a write.
                context.waker().wake_by_ref();
                Instant::now() >= time
            }
        };
        if polled.is_pending() && lost {
            return Poll::Ready(Outcome::GivenUp);
        }
        polled
    })
    .await
}
