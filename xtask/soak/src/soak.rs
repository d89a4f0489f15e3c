//! One store, from its opening to its end: busy and calm phases in turn, and what is killed.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use shelfward::capabilities::Dense;
use shelfward::{CollectionName, LibraryIndex, Store};

use crate::Failure;
use crate::allocator::Checking;
use crate::busy::Soak;
use crate::calm::Recall;
use crate::finding::Kind as Wrong;
use crate::op::{Op, chain};
use crate::report::{Memory, OfStore};
use crate::source::{Slot, TENANTS};
use crate::store::{Kind, Place, library};
use crate::writer::{Process, Writer};

/// How long one busy phase is.
const BUSY: Duration = Duration::from_secs(3);

/// What may be left when all is removed and closed, in bytes: what the runtime and statics keep.
const LEFT: usize = 4 << 20;

/// Soaks a store for some time.
pub(crate) async fn soak(kind: Kind, seed: u64, lasts: Duration, allocator: &Checking) -> OfStore {
    let place = match tokio::task::spawn_blocking(move || Place::new(kind)).await {
        Ok(Ok(place)) => place,
        Ok(Err(why)) => return OfStore::not_run(kind, why.to_string()),
        Err(why) => return OfStore::not_run(kind, why.to_string()),
    };
    run(kind, &place, seed, lasts, allocator).await
}

async fn run(
    kind: Kind,
    place: &Place,
    seed: u64,
    lasts: Duration,
    allocator: &Checking,
) -> OfStore {
    let began = Instant::now();
    let mut memory = Memory::default();
    let mut recall = Recall::default();
    let mut soak = None;
    let done = rounds(
        place,
        seed,
        began + lasts,
        allocator,
        &mut memory,
        &mut recall,
        &mut soak,
    )
    .await;
    let Some(soak) = soak else {
        let why = done.err().map_or_else(String::new, |e| chain(&*e));
        return OfStore::not_run(kind, why);
    };
    if let Err(why) = done {
        let what = format!("the soak could not go on: {}", chain(&*why));
        soak.findings.add(Wrong::Call, what, None);
    }
    OfStore {
        store: kind,
        not_run: None,
        seconds: began.elapsed().as_secs(),
        interrupted: soak.stop.load(Relaxed),
        done: soak.findings.done(),
        recall: recall.share(),
        memory,
        violations: soak.findings.counts(),
        findings: soak.findings.kept(),
    }
}

async fn rounds(
    place: &Place,
    seed: u64,
    end: Instant,
    allocator: &Checking,
    memory: &mut Memory,
    recall: &mut Recall,
    made: &mut Option<Arc<Soak>>,
) -> Result<(), Failure> {
    let (mut store, mut index) = open(place).await?;
    let late_writes = index.capabilities().late_writes;
    let soak = made.insert(Arc::new(Soak::new(seed, late_writes))).clone();
    let stopping = soak.clone();
    let interrupt = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stopping.stop.store(true, Relaxed);
        }
    });
    let held = || allocator.held();
    let before = held();
    let goes_on = || Instant::now() < end && !soak.stop.load(Relaxed);
    let mut round = 0;
    while goes_on() {
        round += 1;
        let until = end.min(Instant::now() + BUSY);
        let kills = place.own_server().is_some() && round % 2 == 0;
        soak.faults.store(kills, Relaxed);
        let writer = Writer::Here(index.clone());
        if kills {
            tokio::join!(
                soak.busy(Some(&index), &writer, until),
                kill_backends(&soak, place, until)
            );
        } else {
            soak.busy(Some(&index), &writer, until).await;
        }
        soak.faults.store(false, Relaxed);
        recovered(&index).await?;
        soak.calm(&index, recall).await?;
        soak.at_rest(&index, &held).await?;
        let now = held();
        if round == 1 {
            memory.first = now;
        }
        memory.last = now;
        memory.most = memory.most.max(now);
        memory.resident = resident();
        if let Some((kind, folder)) = place.for_writers()
            && goes_on()
        {
            drop((writer, index));
            store.close().await?;
            killed(&soak, kind, &folder).await?;
            (store, index) = open(place).await?;
            for slot in Slot::all() {
                soak.look(&index, slot).await?;
            }
        }
    }
    if let (Some(share), Dense::Approximate { min_recall }) =
        (recall.share(), index.capabilities().dense)
        && share < min_recall
    {
        let what = format!("a mean recall of {share}, {min_recall} is promised");
        soak.findings.add(Wrong::Ranking, what, None);
    }
    let writer = Writer::Here(index.clone());
    for tenant in 0..TENANTS {
        soak.do_op(&writer, Op::RemoveTenant(tenant), None).await;
    }
    for slot in Slot::all() {
        soak.look(&index, slot).await?;
    }
    drop((writer, index));
    store
        .drop_collection(&CollectionName::new(place.collection())?)
        .await?;
    store.close().await?;
    drop(store);
    memory.left = held().saturating_sub(before);
    if memory.left > LEFT {
        let what = format!(
            "{} bytes are held after all was removed and closed",
            memory.left
        );
        soak.findings.add(Wrong::Memory, what, None);
    }
    let wrong = allocator.wrong_layouts();
    if wrong > 0 {
        let what =
            format!("{wrong} blocks were given back with another layout than they were taken with");
        soak.findings.add(Wrong::Memory, what, None);
    }
    interrupt.abort();
    Ok(())
}

async fn open(place: &Place) -> Result<(Store, LibraryIndex), Failure> {
    let store = place.open().await?;
    let index = library(&store, &place.collection()).await?;
    Ok((store, index))
}

/// Waits until a server serves again.
async fn recovered(index: &LibraryIndex) -> Result<(), Failure> {
    let asked = crate::asked::Asked::everything(0);
    let mut tries = 0;
    loop {
        match index.search(&asked.scope()?, &asked.request()?).await {
            Ok(_) => return Ok(()),
            Err(_) if tries < 100 => tries += 1,
            Err(e) => return Err(e.into()),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Kills processes of the server now and then.
async fn kill_backends(soak: &Soak, place: &Place, until: Instant) {
    let Some(server) = place.own_server() else {
        return;
    };
    let mut random = soak.random();
    while Instant::now() < until && !soak.stop.load(Relaxed) {
        tokio::time::sleep(Duration::from_millis(random.u64(200..900))).await;
        if server.kill_backend(&mut random) {
            soak.findings.did("kills");
        }
    }
}

/// Another process writes and is killed at a random moment.
async fn killed(soak: &Arc<Soak>, kind: Kind, folder: &str) -> Result<(), Failure> {
    let mut random = soak.random();
    let process = Process::start(kind, folder)?;
    soak.faults.store(true, Relaxed);
    let killing = process.clone();
    let after = Duration::from_micros(random.u64(1_000..400_000));
    let writer = Writer::There(process);
    let far = Instant::now() + Duration::from_secs(60);
    let (killed, ()) = tokio::join!(
        async {
            tokio::time::sleep(after).await;
            tokio::task::spawn_blocking(move || killing.kill()).await
        },
        soak.busy(None, &writer, far),
    );
    killed??;
    soak.faults.store(false, Relaxed);
    soak.findings.did("kills");
    Ok(())
}

/// What the system has given to this process, where it tells.
fn resident() -> Option<usize> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size())
}
