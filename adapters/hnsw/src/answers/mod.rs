//! What legs and scans answer.

use shelfward_core::{
    Ask, Cursor, End, ErrorKind, Filter, Found, Hit, Key, Leg, Operation, Result, Scalar, Text,
};
use shelfward_resident::{Slot, TooManyExpansions};

use crate::collection::At;
use crate::shelf::search::nearest;
use crate::shelf::state::State;

/// What one leg finds.
pub(crate) fn found(at: &At, state: &State, leg: &Leg, lexical: bool) -> Result<Found> {
    let rows = &state.rows;
    if leg.filter.never_matches() {
        return Ok(Found::nothing());
    }
    let among = || (!leg.filter.is_everything()).then(|| rows.matching(&leg.filter));
    let best = match &leg.ask {
        Ask::Dense(query) => {
            let options = &at.shelf.options;
            let (best, by_graph) = nearest(state, query, among().as_ref(), leg.top_k, options);
            if by_graph {
                at.shelf.count_graph_search();
            }
            best
        }
        Ask::Lexical { words, matching } => {
            if !lexical {
                let unsupported = ErrorKind::Unsupported("lexical search");
                return Err(at.error(Operation::Search, unsupported));
            }
            let partition = pinned_partition(at, &leg.filter)?;
            rows.best(&partition, words, *matching, among().as_ref(), leg.top_k)
                .map_err(|e| at.error(Operation::Search, too_many_expansions(&e)))?
        }
    };
    let hit = |(slot, score): (Slot, f64)| {
        let row = rows.row(slot)?;
        let (text, metadata) = (row.text.clone(), row.metadata.clone());
        Some(Hit::new(row.key.clone(), score, text, metadata))
    };
    let hits = best.into_iter().filter_map(hit).collect();
    Ok(Found::new(hits, End::Complete))
}

/// The one partition that a lexical leg's statistics are of; `None` in a collection without
/// partitions.
fn pinned_partition(at: &At, filter: &Filter) -> Result<Option<Text>> {
    let Some(key) = at.spec.partition_key() else {
        return Ok(None);
    };
    match filter.pinned(key.as_str()).as_deref() {
        Some([Scalar::Text(partition)]) => Ok(Some(partition.clone())),
        _ => {
            let invalid = format!("a lexical search must pin {key} by one $eq");
            Err(at.error(Operation::Search, ErrorKind::Invalid(invalid)))
        }
    }
}

fn too_many_expansions(error: &TooManyExpansions) -> ErrorKind {
    let as_u64 = |n| u64::try_from(n).unwrap_or(u64::MAX);
    ErrorKind::Limit {
        what: "stored words that begin with one word of the query",
        // How many there are would tell of passages that the reader may not see.
        given: as_u64(error.max.saturating_add(1)),
        max: as_u64(error.max),
    }
}

/// The key of the last record seen: the length of its partition, or `-`, a colon, and both texts.
pub(crate) fn cursor_at(key: &Key) -> Cursor {
    Cursor::new(match &key.partition {
        Some(partition) => format!("{}:{partition}{}", partition.as_str().len(), key.id),
        None => format!("-:{}", key.id),
    })
}

pub(crate) fn key_of(at: &At, cursor: &Cursor) -> Result<Key> {
    let read = |cursor: &str| {
        let (length, rest) = cursor.split_once(':')?;
        let text = |part: &str| Text::new(part).ok();
        if length == "-" {
            return Some(Key::new(text(rest)?));
        }
        let length = length.parse().ok()?;
        Some(Key::within(
            text(rest.get(..length)?)?,
            text(rest.get(length..)?)?,
        ))
    };
    read(cursor.as_str()).ok_or_else(|| {
        let invalid = "the cursor is not one of this store's".to_owned();
        at.error(Operation::Scan, ErrorKind::Invalid(invalid))
    })
}
