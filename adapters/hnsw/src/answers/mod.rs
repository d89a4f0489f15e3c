//! What legs answer.

use shelfward_core::{Ask, End, ErrorKind, Hit, Leg, LegResult, Operation, Result};
use shelfward_resident::{Slot, Stop};

use crate::collection::At;
use crate::shelf::search::nearest;
use crate::shelf::state::State;

/// What one leg finds.
pub(crate) fn found(
    at: &At,
    state: &State,
    leg: &Leg,
    lexical: bool,
    stop: Stop<'_>,
) -> Result<LegResult> {
    let rows = &state.rows;
    if leg.filter.never_matches() {
        return Ok(LegResult::nothing());
    }
    let among = || (!leg.filter.is_everything()).then(|| rows.matching(&leg.filter, stop));
    let best = match &leg.ask {
        Ask::Dense(query) => {
            let options = &at.shelf.options;
            let (best, by_graph) =
                nearest(state, query, among().as_ref(), leg.top_k, options, stop);
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
            rows.best(&leg.filter, words, *matching, among().as_ref(), leg.top_k)
                .map_err(|e| at.error(Operation::Search, e))?
        }
    };
    let hit = |(slot, score): (Slot, f64)| {
        let row = rows.row(slot)?;
        let (text, metadata) = (row.text.clone(), row.metadata.clone());
        Some(Hit::new(row.key.clone(), score, text, metadata))
    };
    let hits = best.into_iter().filter_map(hit).collect();
    Ok(LegResult::new(hits, End::Complete))
}
