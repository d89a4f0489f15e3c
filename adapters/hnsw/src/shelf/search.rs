//! A dense search: by the graph or by looking at every record, and scored exactly in any case.

use shelfward_resident::{RoaringBitmap, Slot, Stop};

use super::state::{Index, State};
use crate::config::HnswOptions;
use crate::index::planner::{Plan, Question, plan};

/// The nearest rows among some, or all, and whether the graph was asked for them.
pub(crate) fn nearest(
    state: &State,
    query: &[f32],
    among: Option<&RoaringBitmap>,
    top_k: usize,
    options: &HnswOptions,
    stop: Stop<'_>,
) -> (Vec<(Slot, f64)>, bool) {
    let allowed = among.map_or(state.rows.len(), count);
    if let Some(index) = &state.index {
        let question = Question {
            allowed,
            records: state.rows.len(),
            nodes: index.nodes.len(),
            unindexed: count(&state.unindexed),
            quantized: options.quantized,
            width: query.len(),
            top_k,
            ef: options.ef_search,
        };
        if let Plan::Graph { ef } = plan(&question, &options.costs)
            && let Some(candidates) = candidates(state, index, query, among, ef, top_k, stop)
        {
            let found = state.rows.scored(query, candidates, top_k);
            // Shorter than it must be: some nodes that count were out of the search's reach.
            if found.len() >= top_k.min(allowed) {
                return (found, true);
            }
        }
    }
    (state.rows.nearest(query, among, top_k, stop), false)
}

fn count(rows: &RoaringBitmap) -> usize {
    usize::try_from(rows.len()).unwrap_or(usize::MAX)
}

/// Rows that may be among the nearest: those of the graph's candidates, and the nearest of those that
/// are in no graph. `None` where the graph does not serve this query.
fn candidates(
    state: &State,
    index: &Index,
    query: &[f32],
    among: Option<&RoaringBitmap>,
    ef: usize,
    top_k: usize,
    stop: Stop<'_>,
) -> Option<RoaringBitmap> {
    let point = index.space.query(query)?;
    let allowed = |slot: &Slot| among.is_none_or(|among| among.contains(*slot));
    let counts = |node: u32| index.nodes.holders(node).iter().any(allowed);
    let nodes = match among {
        None => unfiltered(index, &point, ef),
        Some(_) => index.graph.search(&point, ef, &counts),
    };
    let mut rows: RoaringBitmap = nodes
        .into_iter()
        .flat_map(|node| index.nodes.holders(node).iter().copied().filter(allowed))
        .collect();
    let outside = match among {
        None => state.unindexed.clone(),
        Some(among) => &state.unindexed & among,
    };
    if !outside.is_empty() {
        let nearest = state.rows.nearest(query, Some(&outside), top_k, stop);
        rows.extend(nearest.into_iter().map(|(slot, _)| slot));
    }
    Some(rows)
}

/// Candidates among all. Asking about each node takes twice as long as dropping the dead afterwards,
/// so that is done only where the dead crowd around the query.
fn unfiltered(index: &Index, point: &[f32], ef: usize) -> Vec<u32> {
    let alive = |node: u32| !index.nodes.holders(node).is_empty();
    let dead = index.nodes.dead() > 0;
    let asked = if dead { ef.saturating_add(ef / 3) } else { ef };
    let mut nodes = index.graph.search_all(point, asked);
    nodes.retain(|node| alive(*node));
    if dead && nodes.len() < ef {
        nodes = index.graph.search(point, ef, &alive);
    }
    nodes
}
