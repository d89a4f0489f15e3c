//! What legs find. A dense search goes through the graph or looks at every record, and is scored exactly
//! in any case.

use shelfward_core::{ErrorKind, Leg, LegQuery, LegResult};
use shelfward_resident::{CancelFlag, RoaringBitmap, RowId};

use crate::config::HnswOptions;
use crate::index::planner::{Plan, PlannerInput, plan};
use crate::state::CollectionState;
use crate::state::contents::{Contents, GraphIndex};

/// The result of one leg on the contents of a collection.
pub(crate) fn search_leg(
    state: &CollectionState,
    contents: &Contents,
    leg: &Leg,
    cancel: CancelFlag<'_>,
) -> Result<LegResult, ErrorKind> {
    let rows = &contents.rows;
    if leg.filter.never_matches() {
        return Ok(LegResult::nothing());
    }
    let among = rows.matching_part(&leg.filter, cancel);
    let LegQuery::Dense(query) = &leg.ask else {
        return rows.search(leg, among.as_ref(), cancel);
    };
    let by_graph = nearest_by_graph(
        contents,
        query,
        among.as_ref(),
        leg.top_k,
        &state.options,
        cancel,
    );
    Ok(rows.hits(match by_graph {
        Some(found) => {
            state.count_graph_search();
            found
        }
        None => rows.nearest(query, among.as_ref(), leg.top_k, cancel),
    }))
}

/// The nearest rows among some, or all, where the graph is the cheaper way to as many as there must be.
fn nearest_by_graph(
    contents: &Contents,
    query: &[f32],
    among: Option<&RoaringBitmap>,
    top_k: usize,
    options: &HnswOptions,
    cancel: CancelFlag<'_>,
) -> Option<Vec<(RowId, f64)>> {
    let index = contents.index.as_ref()?;
    let allowed = among.map_or(contents.rows.len(), count);
    let input = PlannerInput {
        allowed,
        records: contents.rows.len(),
        nodes: index.nodes.len(),
        unindexed: count(&contents.unindexed),
        quantized: options.quantized,
        width: query.len(),
        top_k,
        ef: options.ef_search,
    };
    let Plan::Graph { ef } = plan(&input, &options.costs) else {
        return None;
    };
    let candidates = candidates(contents, index, query, among, ef, top_k, cancel)?;
    let found = contents.rows.scored(query, candidates, top_k);
    // Shorter than it must be: some nodes that count were out of the search's reach.
    (found.len() >= top_k.min(allowed)).then_some(found)
}

fn count(rows: &RoaringBitmap) -> usize {
    usize::try_from(rows.len()).unwrap_or(usize::MAX)
}

/// Rows that may be among the nearest: those of the graph's candidates, and the nearest of those that
/// are in no graph. `None` where the graph does not serve this query.
fn candidates(
    contents: &Contents,
    index: &GraphIndex,
    query: &[f32],
    among: Option<&RoaringBitmap>,
    ef: usize,
    top_k: usize,
    cancel: CancelFlag<'_>,
) -> Option<RoaringBitmap> {
    let point = index.transform.query(query)?;
    let allowed = |row_id: &RowId| among.is_none_or(|among| among.contains(*row_id));
    let counts = |node: u32| index.nodes.rows_of(node).iter().any(allowed);
    let nodes = match among {
        None => unfiltered(index, &point, ef),
        Some(_) => index.graph.search(&point, ef, &counts),
    };
    let mut rows: RoaringBitmap = nodes
        .into_iter()
        .flat_map(|node| index.nodes.rows_of(node).iter().copied().filter(allowed))
        .collect();
    let outside = match among {
        None => contents.unindexed.clone(),
        Some(among) => &contents.unindexed & among,
    };
    if !outside.is_empty() {
        let nearest = contents.rows.nearest(query, Some(&outside), top_k, cancel);
        rows.extend(nearest.into_iter().map(|(row_id, _)| row_id));
    }
    Some(rows)
}

/// Candidates among all. Asking about each node takes twice as long as dropping the dead afterwards,
/// so that is done only where the dead crowd around the query.
fn unfiltered(index: &GraphIndex, point: &[f32], ef: usize) -> Vec<u32> {
    let alive = |node: u32| !index.nodes.rows_of(node).is_empty();
    let dead = index.nodes.dead() > 0;
    let asked = if dead { ef.saturating_add(ef / 3) } else { ef };
    let mut nodes = index.graph.search_all(point, asked);
    nodes.retain(|node| alive(*node));
    if dead && nodes.len() < ef {
        nodes = index.graph.search(point, ef, &alive);
    }
    nodes
}
