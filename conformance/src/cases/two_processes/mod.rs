//! Writers of two processes: as those of one, where the store says that it orders all, and refused
//! where it says that one process may have it.

mod exclusive;
mod giving_way;
mod in_between;
mod shared;

use std::time::Duration;

use shelfward_core::capabilities::Writers;

use self::shared::Shared;
use super::open_store::OpenStore;
use super::races::{PAIRS, judge, needs_of, state};
use crate::case::Case;
use crate::check::{NOT_ORDERED, holds, left, ordered, same_ids, updates};
use crate::context::{Context, record};
use crate::library::{file, visible};
use crate::process::{PASSAGES, Task, Write, letter_source, write_source};
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    let pairs = PAIRS.map(|(name, one, other)| {
        let id = format!("races/{name}-two-processes");
        let case = Case::new(id, move |context| pair(context, one, other));
        needs_of(case, [one, other])
    });
    let gives_way = "races/indexing-gives-way-to-another-process";
    let mut of_all = Vec::from(pairs);
    of_all.extend([
        Case::new("races/narrowing-is-in-force-two-processes", narrowing).needs(updates),
        Case::new("races/writes-are-seen-by-another-process", seen),
        Case::new(gives_way, giving_way::gives_way).needs(updates),
    ]);
    let of_all = of_all.into_iter().map(|case| {
        let case = case.only_where(
            |can| can.writers == Writers::AllProcesses,
            "it does not order writers of other processes",
        );
        case.second_process()
    });
    let looks = "races/replace-looks-at-what-it-expects";
    let undoes = "races/replace-does-not-undo-a-narrowing-two-processes";
    let of_ordered = [
        Case::new(looks, giving_way::expects).reopens(),
        Case::new(undoes, in_between::case)
            .needs(updates)
            .second_process(),
    ];
    let dropped = "races/dropped-handles-lock-nobody-out";
    let of_one = [
        Case::new("races/another-process-is-refused", exclusive::refused),
        Case::new(dropped, exclusive::lock_of_the_dropped),
    ];
    let of_one = of_one.map(|case| {
        let case = case.only_where(
            |can| can.writers == Writers::OneProcess,
            "it orders writers of all processes, and lets them in",
        );
        case.second_process()
    });
    let killed = "races/a-killed-process-locks-nobody-out";
    of_all
        .chain(of_ordered.map(|case| case.only_where(ordered, NOT_ORDERED)))
        .chain(of_one)
        .chain([Case::new(killed, exclusive::lock_of_the_dead).second_process()])
        .collect()
}

const ROUNDS: u64 = 24;

/// Two writes at once, the one here and the other in the other process, and the other way round.
async fn pair(context: Context, one: Write, other: Write) -> Checked {
    let mut shared = Shared::new(&context).await?;
    for round in 0..ROUNDS {
        file(&shared.index, "org1", letter_source('a')?).await?;
        let (here, there) = match round % 2 {
            0 => (one, other),
            _ => (other, one),
        };
        let task = shared.write(there);
        shared.peer.tell(task)?;
        // Not always the same one first.
        tokio::time::sleep(Duration::from_micros(150 * (round / 2 % 6))).await;
        let here = write_source(&shared.index, here).await;
        shared.peer.done().await?;
        here?;
        if shared.open.collection.capabilities().scan {
            let there = state(&shared.index, &shared.open.collection).await?;
            judge(&there, one, other)?;
        }
        let here = visible(&shared.index, ["all"]).await?;
        let there = shared.seen_there("all").await?;
        same_ids("what the two processes find", &there, &here)?;
        for write in [one, other] {
            shared.afterwards(write, round % 2 == 1).await?;
        }
    }
    shared.end().await
}

/// A narrowing that returned in one process is in force for the next search of the other.
async fn narrowing(context: Context) -> Checked {
    let mut shared = Shared::new(&context).await?;
    let everybody = |seen: Vec<String>| {
        let seen = seen.len();
        holds(seen == PASSAGES, || {
            format!("of {PASSAGES} passages for everybody another process finds {seen}")
        })
    };
    for round in 0..ROUNDS {
        file(&shared.index, "org1", letter_source('a')?).await?;
        everybody(shared.seen_there("all").await?)?;
        everybody(visible(&shared.index, ["all"]).await?)?;
        let seen = shared.seen_after(Write::Narrow, round % 2 == 0).await?;
        if !seen.is_empty() {
            let message = format!("round {round}: {seen:?} are read after a narrowing returned");
            return Err(Finding::widens(message));
        }
        everybody(visible(&shared.index, ["few"]).await?)?;
        everybody(shared.seen_there("few").await?)?;
    }
    shared.end().await
}

/// Plain writes are seen in the other process when they returned.
async fn seen(context: Context) -> Checked {
    let open = OpenStore::new(&context, &context.spec()?).await?;
    let name = open.name().to_string();
    let mut peer = open.location.peer().await?;
    let mut expected = Vec::new();
    for n in 0..12 {
        let (collection, id) = (name.clone(), format!("r{n}"));
        expected.push(id.clone());
        match n % 2 {
            0 => open.upsert(&[record(&id, 1, "{}")?]).await?,
            _ => drop(peer.ask(Task::Upsert { collection, id }).await?),
        }
        let collection = name.clone();
        let there = peer.ask(Task::Ids { collection }).await?;
        same_ids("in the other process", &there, &expected)?;
        left("here", &open.collection, &expected).await?;
    }
    peer.end().await?;
    open.end().await
}
