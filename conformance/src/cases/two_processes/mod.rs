//! Writers of two processes: as those of one, where the store says that it orders all, and refused
//! where it says that one process may have it.

mod exclusive;
mod giving_way;
mod in_between;
mod shared;

use shelfward_core::capabilities::{Replace, Writers};
use shelfward_core::{Capabilities, Filter, Leg};

use self::shared::Shared;
use super::open_store::OpenStore;
use super::races::{judge, state, updates};
use crate::case::Case;
use crate::check::{holds, same_ids};
use crate::context::{Context, record};
use crate::library::{file, visible};
use crate::process::{PASSAGES, Task, Write, letter_source, write_source};
use crate::verdict::{Checked, Finding, Verdict};

pub(super) fn cases() -> Vec<Case> {
    let (b, c) = (Write::Replace('b'), Write::Replace('c'));
    let pairs = [
        ("replace-replace", b, c),
        ("replace-narrow", b, Write::Narrow),
        ("replace-remove", b, Write::Remove),
        ("narrow-narrow", Write::Narrow, Write::Narrow),
        ("narrow-remove", Write::Narrow, Write::Remove),
        ("remove-remove", Write::Remove, Write::Remove),
    ];
    let mut cases = Vec::new();
    for (name, one, other) in pairs {
        let id = format!("races/{name}-two-processes");
        let case = Case::new(id, move |context| pair(context, one, other));
        let narrows = one == Write::Narrow || other == Write::Narrow;
        cases.push(if narrows { case.needs(updates) } else { case });
    }
    cases.extend([
        Case::new("races/narrowing-is-in-force-two-processes", narrowing).needs(updates),
        Case::new("races/writes-are-seen-by-another-process", seen),
        Case::new(
            "races/indexing-gives-way-to-another-process",
            giving_way::gives_way,
        )
        .needs(updates),
    ]);
    let of_all = |can: &Capabilities| can.writers == Writers::AllProcesses;
    let mut cases: Vec<_> = cases
        .into_iter()
        .map(|case| {
            case.only_where(of_all, "it does not order writers of other processes")
                .second_process()
        })
        .collect();
    cases.push(
        Case::new(
            "races/replace-looks-at-what-it-expects",
            giving_way::expects,
        )
        .only_where(
            |can| can.writers == Writers::AllProcesses && can.replace == Replace::Atomic,
            "it does not order writers of other processes, or its replace is not atomic",
        )
        .reopens(),
    );
    cases.push(
        Case::new(
            "races/replace-does-not-undo-a-narrowing-two-processes",
            in_between::case,
        )
        .needs(updates)
        .only_where(
            |can| can.writers == Writers::AllProcesses && can.replace == Replace::Atomic,
            "it does not order writers of other processes, or its replace is not atomic",
        )
        .second_process(),
    );
    let of_one_process = [
        Case::new("races/another-process-is-refused", exclusive::refused),
        Case::new(
            "races/dropped-handles-lock-nobody-out",
            exclusive::lock_of_the_dropped,
        ),
    ];
    cases.extend(of_one_process.map(|case| {
        case.only_where(
            |can| can.writers == Writers::OneProcess,
            "it orders writers of all processes, and lets them in",
        )
        .second_process()
    }));
    cases.push(
        Case::new(
            "races/a-killed-process-locks-nobody-out",
            exclusive::lock_of_the_dead,
        )
        .second_process(),
    );
    cases
}

const ROUNDS: usize = 24;

/// Two writes at once, the one here and the other in the other process, and the other way round.
async fn pair(context: Context, one: Write, other: Write) -> Checked {
    let mut shared = Shared::new(&context).await?;
    for round in 0..ROUNDS {
        file(&shared.index, "org1", letter_source('a')?).await?;
        let (here, there) = if round % 2 == 0 {
            (one, other)
        } else {
            (other, one)
        };
        let task = shared.write(there);
        shared.peer.tell(task)?;
        // Not always the same one first.
        tokio::time::sleep(std::time::Duration::from_micros(
            150 * (round as u64 / 2 % 6),
        ))
        .await;
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
    let widens = |round, seen: &[String]| {
        let message = format!("round {round}: {seen:?} are read after a narrowing returned");
        Err(Finding::new(Verdict::Widens, message))
    };
    let everybody = |seen: usize| {
        holds(seen == PASSAGES, || {
            format!("of {PASSAGES} passages for everybody another process finds {seen}")
        })
    };
    for round in 0..ROUNDS {
        file(&shared.index, "org1", letter_source('a')?).await?;
        everybody(shared.seen_there("all").await?.len())?;
        everybody(visible(&shared.index, ["all"]).await?.len())?;
        if round % 2 == 0 {
            write_source(&shared.index, Write::Narrow).await?;
            let seen = shared.seen_there("all").await?;
            if !seen.is_empty() {
                return widens(round, &seen);
            }
        } else {
            let task = shared.write(Write::Narrow);
            shared.peer.ask(task).await?;
            let seen = visible(&shared.index, ["all"]).await?;
            if !seen.is_empty() {
                return widens(round, &seen);
            }
        }
        everybody(visible(&shared.index, ["few"]).await?.len())?;
        everybody(shared.seen_there("few").await?.len())?;
    }
    shared.end().await
}

/// Plain writes are seen in the other process when they returned.
async fn seen(context: Context) -> Checked {
    let open = OpenStore::new(&context, &context.spec()?).await?;
    let collection = &open.collection;
    let name = open.name().to_string();
    let mut peer = open.location.peer().await?;
    let mut expected = Vec::new();
    for n in 0..12 {
        let id = format!("r{n}");
        if n % 2 == 0 {
            collection.upsert(&[record(&id, 1, "{}")?]).await?;
        } else {
            let (collection, id) = (name.clone(), id.clone());
            peer.ask(Task::Upsert { collection, id }).await?;
        }
        expected.push(id);
        let collection_there = name.clone();
        let there = Task::Ids {
            collection: collection_there,
        };
        same_ids("in the other process", &peer.ask(there).await?, &expected)?;
        let leg = Leg::dense([1.0; 4], Filter::everything(), 50);
        let found = crate::check::ids(&collection.search(&leg).await?);
        same_ids("here", &found, &expected)?;
    }
    peer.end().await?;
    open.end().await
}
