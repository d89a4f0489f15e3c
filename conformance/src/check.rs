//! Comparing what was got with what was expected.

use std::collections::BTreeSet;

use shelfward_core::capabilities::{Counting, Full, Replace, Writers};
use shelfward_core::{
    Capabilities, Collection, Count, Filter, Include, Key, Leg, LegResult, StoredRecord,
};

use crate::context::key;
use crate::verdict::{Checked, Finding, Verdict};

/// The ids of hits, in order.
pub(crate) fn ids(found: &LegResult) -> Vec<String> {
    let hits = found.hits.iter();
    hits.map(|hit| hit.key.id.to_string()).collect()
}

/// The ids of records, in order.
pub(crate) fn ids_of<'a>(records: impl IntoIterator<Item = &'a StoredRecord>) -> Vec<String> {
    let records = records.into_iter();
    records.map(|record| record.key.id.to_string()).collect()
}

/// No ids, to be expected.
pub(crate) const NONE: &[&str] = &[];

/// A number of things, to be compared with a count.
pub(crate) fn number(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// The same ids, whatever their order: more is widening, less is narrowing.
pub(crate) fn same_ids<S: AsRef<str>>(what: &str, got: &[String], expected: &[S]) -> Checked {
    let wanted: BTreeSet<&str> = expected.iter().map(AsRef::as_ref).collect();
    let there: BTreeSet<&str> = got.iter().map(String::as_str).collect();
    let message = || format!("{what}: expected {wanted:?}, got {there:?}");
    if !there.is_subset(&wanted) {
        return Err(Finding::widens(message()));
    }
    if there != wanted {
        return Err(Finding::narrows(message()));
    }
    if got.len() != there.len() {
        let message = format!("{what}: an id is answered twice in {got:?}");
        return Err(Finding::new(Verdict::Miscounts, message));
    }
    Ok(())
}

/// The same ids in the same order.
pub(crate) fn same_order<S: AsRef<str>>(what: &str, got: &[String], expected: &[S]) -> Checked {
    same_ids(what, got, expected)?;
    let wanted: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
    if got.iter().map(String::as_str).ne(wanted.iter().copied()) {
        let message = format!("{what}: expected in the order {wanted:?}, got {got:?}");
        return Err(Finding::misorders(message));
    }
    Ok(())
}

/// This number, as exactly as the store declares. What is not declared, as where the core composes
/// a delete, may be known less exactly, but what is said must be right.
pub(crate) fn counts(what: &str, declared: Option<Counting>, got: Count, expected: u64) -> Checked {
    let right = match (got, declared) {
        (Count::Exact(n), _) => n == expected,
        (Count::AtLeast(n), None | Some(Counting::AtLeast | Counting::Unknown)) => n <= expected,
        (Count::Unknown, None | Some(Counting::Unknown)) => true,
        _ => false,
    };
    if right {
        return Ok(());
    }
    let message = format!("{what}: expected {expected}, answered {got}");
    Err(Finding::new(Verdict::Miscounts, message))
}

/// A number deleted. How exact one by keys is, no store declares; it is held to what it declares of
/// deletes by filter.
pub(crate) fn counts_deleted(what: &str, can: &Capabilities, got: Count, expected: u64) -> Checked {
    counts(what, can.delete_matching, got, expected)
}

/// A number updated.
pub(crate) fn counts_updated(what: &str, can: &Capabilities, got: Count, expected: u64) -> Checked {
    counts(what, can.update_metadata, got, expected)
}

/// Whether a store changes metadata in place.
pub(crate) fn updates(can: &Capabilities) -> bool {
    can.update_metadata.is_some()
}

/// Whether its replace is one step.
pub(crate) fn atomic(can: &Capabilities) -> bool {
    can.replace == Replace::Atomic
}

/// Whether it orders the writers of all processes, and replaces in one step.
pub(crate) fn ordered(can: &Capabilities) -> bool {
    atomic(can) && can.writers == Writers::AllProcesses
}

/// Why what only ordered writers show is not asked of a store.
pub(crate) const NOT_ORDERED: &str =
    "it does not order writers of other processes, or its replace is not atomic";

/// Whether a store can be asked how many records a filter matches.
pub(crate) fn can_count(can: &Capabilities) -> bool {
    can.scan || can.count.is_some()
}

/// Whether a filtered search must be full.
pub(crate) fn full(can: &Capabilities) -> bool {
    can.full == Full::Guaranteed
}

/// Why what only a full search shows is not asked of a store.
pub(crate) const NOT_FULL: &str = "it does not promise that a filtered search is full";

/// So many records that a filter matches, by the store's count, where it has one.
pub(crate) async fn counted(
    what: &str,
    collection: &Collection,
    filter: &Filter,
    expected: u64,
) -> Checked {
    let can = collection.capabilities();
    if !can_count(can) {
        return Ok(());
    }
    // Without a count of the store's own, the core counts what a scan brings.
    let declared = can.count.unwrap_or(Counting::Exact);
    let got = collection.count(filter).await?;
    counts(what, Some(declared), got, expected)
}

/// So many records in all. A store that does not count exactly is searched for everything.
pub(crate) async fn rows(what: &str, collection: &Collection, expected: u64) -> Checked {
    let everything = Filter::everything();
    counted(what, collection, &everything, expected).await?;
    let can = collection.capabilities();
    if can.count == Some(Counting::Exact) || (can.count.is_none() && can.scan) {
        return Ok(());
    }
    // One more than expected, where a search may ask for so many.
    let top_k = usize::try_from(expected).map_or(10_000, |n| n.saturating_add(1).min(10_000));
    let width = usize::try_from(collection.spec().width).unwrap_or(1);
    let leg = Leg::dense(vec![1.0; width], everything, top_k);
    let found = number(collection.search(&leg).await?.hits.len());
    let (exact, expected) = (Some(Counting::Exact), expected.min(10_000));
    counts(what, exact, Count::Exact(found), expected)
}

/// Something that must hold; if not, an error with these words.
pub(crate) fn holds(condition: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if condition {
        Ok(())
    } else {
        Err(Finding::errors(otherwise()))
    }
}

/// Whether scores are equal within what a 32-bit store can keep.
pub(crate) fn is_same_score(got: f64, expected: f64) -> bool {
    (got - expected).abs() <= 1e-5 * expected.abs().max(1.0)
}

pub(crate) fn same_score(what: &str, got: f64, expected: f64) -> Checked {
    if is_same_score(got, expected) {
        return Ok(());
    }
    let message = format!("{what}: expected the score {expected}, got {got}");
    Err(Finding::misorders(message))
}

/// The ids of what a filter matches, by a search: those of a hundred at most.
pub(crate) async fn found(collection: &Collection, filter: Filter) -> Checked<Vec<String>> {
    let leg = Leg::dense([1.0, 0.5, 0.5, 0.25], filter, 100);
    Ok(ids(&collection.search(&leg).await?))
}

/// These are there, and no others.
pub(crate) async fn left<S: AsRef<str>>(
    what: &str,
    collection: &Collection,
    expected: &[S],
) -> Checked {
    let found = found(collection, Filter::everything()).await?;
    same_ids(what, &found, expected)
}

/// A record, whole.
pub(crate) async fn stored(collection: &Collection, id: &str) -> Checked<StoredRecord> {
    let everything = Filter::everything();
    let fetched = collection
        .fetch(&[key(id)?], &everything, Include::ALL)
        .await?;
    let record = fetched.into_iter().next().flatten();
    record.ok_or_else(|| Finding::errors(format!("{id} is not read by its key")))
}

/// Everything that a filter matches, by a scan in pages of three.
pub(crate) async fn scan_ids(collection: &Collection, filter: &Filter) -> Checked<Vec<String>> {
    Ok(ids_of(&scan(collection, filter, 3).await?))
}

/// Everything that a filter matches, by a scan.
pub(crate) async fn scan(
    collection: &Collection,
    filter: &Filter,
    page: usize,
) -> Checked<Vec<StoredRecord>> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let part = collection
            .scan(filter, after.as_ref(), page, Include::ALL)
            .await?;
        all.extend(part.records);
        match part.next {
            Some(next) if all.len() < 1_000_000 => after = Some(next),
            Some(_) => return Err(Finding::errors("a scan that does not end")),
            None => return Ok(all),
        }
    }
}

/// A filter against the ids that it must find, by every way of reading that the store has: search,
/// fetch, scan and count.
pub(crate) async fn finds<S: AsRef<str>>(
    collection: &Collection,
    all: &[Key],
    filter: Filter,
    expected: &[S],
) -> Checked {
    same_ids(
        "search",
        &found(collection, filter.clone()).await?,
        expected,
    )?;
    let fetched = collection.fetch(all, &filter, Include::METADATA).await?;
    same_ids("fetch", &ids_of(fetched.iter().flatten()), expected)?;
    if collection.capabilities().scan {
        same_ids("scan", &scan_ids(collection, &filter).await?, expected)?;
    }
    counted("count", collection, &filter, number(expected.len())).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_held_to_what_is_declared_and_never_lets_a_wrong_number_pass() {
        use Count::{AtLeast, Exact, Unknown};
        let exact = Some(Counting::Exact);
        let at_least = Some(Counting::AtLeast);
        let unknown = Some(Counting::Unknown);
        let table = [
            (exact, [true, false, false, false, false, false]),
            (at_least, [true, false, true, true, false, false]),
            (unknown, [true, false, true, true, false, true]),
            (None, [true, false, true, true, false, true]),
        ];
        let answers = [
            Exact(3),
            Exact(4),
            AtLeast(3),
            AtLeast(0),
            AtLeast(4),
            Unknown,
        ];
        for (declared, rights) in table {
            for (answer, right) in answers.into_iter().zip(rights) {
                let judged = counts("a count", declared, answer, 3).is_ok();
                assert_eq!(judged, right, "{declared:?} {answer}");
            }
        }
    }
}
