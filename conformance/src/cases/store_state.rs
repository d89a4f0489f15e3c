//! Everything that a collection holds and answers, compared with what it held before.

use std::collections::BTreeMap;

use shelfward_core::{
    Collection, Filter, Include, Key, Leg, LegResult, Match, Record, StoredRecord, query_words,
};

use crate::check::{counted, full, holds, ids, number, same_ids, same_score, scan};
use crate::oracle::score;
use crate::verdict::{Checked, Finding};

/// Records by their keys, from a scan, or from a fetch where there is no scan.
pub(super) type Records = BTreeMap<Key, StoredRecord>;

pub(super) async fn records(collection: &Collection, keys: &[Key]) -> Checked<Records> {
    let everything = Filter::everything();
    let found = if collection.capabilities().scan {
        scan(collection, &everything, 500).await?
    } else {
        let fetched = collection.fetch(keys, &everything, Include::ALL).await?;
        fetched.into_iter().flatten().collect()
    };
    Ok(found.into_iter().map(|r| (r.key.clone(), r)).collect())
}

/// These records and no others, each to the bit.
pub(super) fn same_records(what: &str, got: &Records, expected: &[Record]) -> Checked {
    let names =
        |keys: Vec<&Key>| -> Vec<String> { keys.iter().map(|k| k.id.to_string()).collect() };
    let expected: BTreeMap<&Key, &Record> = expected.iter().map(|r| (&r.key, r)).collect();
    let expected_ids = names(expected.keys().copied().collect());
    same_ids(what, &names(got.keys().collect()), &expected_ids)?;
    for (stored, record) in got.values().zip(expected.values()) {
        same_record(what, stored, record)?;
    }
    Ok(())
}

/// This record, to the bit.
pub(super) fn same_record(what: &str, stored: &StoredRecord, record: &Record) -> Checked {
    let bits = |vector: &[f32]| -> Vec<u32> { vector.iter().map(|x| x.to_bits()).collect() };
    let vector = stored.vector.as_deref().map(bits) == Some(bits(&record.vector));
    let id = &record.key.id;
    holds(vector, || format!("{what}: the vector of {id} is another"))?;
    holds(stored.text == record.text, || {
        format!("{what}: the text of {id} is another")
    })?;
    holds(stored.metadata == record.metadata, || {
        format!("{what}: the metadata of {id} is another")
    })
}

/// What a collection answers to one leg: each id with the bits of its score.
pub(super) type Answer = Vec<(String, u64)>;

pub(super) fn answer(found: &LegResult) -> Answer {
    let scores = found.hits.iter().map(|hit| hit.score.to_bits());
    ids(found).into_iter().zip(scores).collect()
}

/// That every way of reading tells of the same records.
pub(super) async fn agrees(
    what: &str,
    collection: &Collection,
    there: &Records,
    word: &str,
) -> Checked {
    let there_ids: Vec<_> = there.keys().map(|key| key.id.to_string()).collect();
    let everything = Filter::everything();
    counted(what, collection, &everything, number(there.len())).await?;
    let can = collection.capabilities();
    let top_k = can.max_top_k.unwrap_or(10_000).min(10_000);
    if there.len() > top_k {
        let message = format!("{what}: more records than one search can answer");
        return Err(Finding::errors(message));
    }
    let query = vec![1.0; usize::try_from(collection.spec().width).unwrap_or(1)];
    let leg = Leg::dense(query.clone(), everything.clone(), top_k);
    let found = collection.search(&leg).await?;
    let by_vector = ids(&found);
    // One that promises no full answers may leave some out, and must not find others.
    let expected = there_ids.iter();
    let expected: Vec<_> = expected
        .filter(|id| full(can) || by_vector.contains(id))
        .collect();
    same_ids(&format!("{what}, by vector"), &by_vector, &expected)?;
    for hit in &found.hits {
        let stored = there
            .get(&hit.key)
            .and_then(|record| record.vector.as_ref());
        if let Some(vector) = stored {
            let expected = score(collection.spec().metric, &query, vector);
            same_score(&format!("{what}, {}", hit.key.id), hit.score, expected)?;
        }
    }
    if can.lexical.is_some() {
        let words = query_words(word, collection.spec().word_rule, false)?;
        let leg = Leg::lexical(words, Match::All, everything, top_k);
        let found = collection.search(&leg).await?;
        same_ids(&format!("{what}, by word"), &ids(&found), &there_ids)?;
    }
    Ok(())
}
