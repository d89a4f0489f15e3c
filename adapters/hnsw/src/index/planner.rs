//! Whether a dense search goes through the graph or looks at every record that it may answer.

use crate::config::PlannerCosts;

/// What a search is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannerInput {
    /// How many records may answer.
    pub(crate) allowed: usize,
    /// How many records there are.
    pub(crate) records: usize,
    /// How many nodes the graph has, dead ones included.
    pub(crate) nodes: usize,
    /// How many records are in no graph and are looked at in any case.
    pub(crate) unindexed: usize,
    /// Whether all records are looked at by rounded vectors first.
    pub(crate) quantized: bool,
    /// How many numbers a vector has.
    pub(crate) width: usize,
    pub(crate) top_k: usize,
    /// How many candidates a search of the graph is to bring at least.
    pub(crate) ef: usize,
}

/// How a search is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Every allowed record is looked at.
    Exact,
    /// The graph is asked for so many candidates.
    Graph { ef: usize },
}

pub(crate) fn plan(input: &PlannerInput, costs: &PlannerCosts) -> Plan {
    // An answer that holds most of what is allowed is not looked for, it is made.
    if input.nodes == 0 || input.top_k == 0 || input.allowed <= input.top_k {
        return Plan::Exact;
    }
    let ef = candidates(input);
    if graph_cost(input, ef, costs) < exact_cost(input, costs) {
        Plan::Graph { ef }
    } else {
        Plan::Exact
    }
}

/// Half as many again as are asked for: the last of exactly so many are found least surely.
fn candidates(input: &PlannerInput) -> usize {
    let wanted = input.top_k.saturating_add(input.top_k / 2);
    input.ef.max(wanted)
}

fn exact_cost(input: &PlannerInput, costs: &PlannerCosts) -> f64 {
    number(input.allowed) * row_cost(input, costs)
}

fn row_cost(input: &PlannerInput, costs: &PlannerCosts) -> f64 {
    // Four bytes for one.
    let bytes = if input.quantized { 1.0 } else { 4.0 };
    number(input.width) * costs.scan * bytes
}

fn graph_cost(input: &PlannerInput, ef: usize, costs: &PlannerCosts) -> f64 {
    // Of the nodes that a search passes, only this share counts, so it passes that many more.
    let selectivity = number(input.allowed) / number(input.records.max(input.allowed));
    let alive = number(input.records.saturating_sub(input.unindexed)) / number(input.nodes);
    let share = (selectivity * alive.min(1.0)).max(f64::MIN_POSITIVE);
    let visits = (number(ef) * costs.visits / share).min(number(input.nodes));
    let unindexed = number(input.unindexed) * selectivity;
    let width = number(input.width);
    visits * (costs.visit + costs.visit_number * width) + unindexed * row_cost(input, costs)
}

#[expect(clippy::cast_precision_loss, reason = "an estimate of a cost")]
fn number(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: PlannerInput = PlannerInput {
        allowed: 1_000_000,
        records: 1_000_000,
        nodes: 1_000_000,
        unindexed: 0,
        quantized: true,
        width: 384,
        top_k: 10,
        ef: 100,
    };

    fn planned(input: PlannerInput) -> Plan {
        plan(&input, &PlannerCosts::default())
    }

    #[test]
    fn a_large_collection_is_searched_by_its_graph_and_a_small_one_is_not() {
        assert_eq!(planned(LARGE), Plan::Graph { ef: 100 });
        let small = PlannerInput {
            allowed: 1_000,
            records: 1_000,
            nodes: 1_000,
            ..LARGE
        };
        assert_eq!(planned(small), Plan::Exact);
        assert_eq!(planned(PlannerInput { nodes: 0, ..LARGE }), Plan::Exact);
        assert_eq!(planned(PlannerInput { top_k: 0, ..LARGE }), Plan::Exact);
    }

    #[test]
    fn the_fewer_are_allowed_the_sooner_each_is_looked_at() {
        let plans: Vec<Plan> = [1.0, 0.5, 0.1, 0.01, 0.001, 0.0]
            .map(|share: f64| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "small"
                )]
                let allowed = (share * 1e6) as usize;
                planned(PlannerInput { allowed, ..LARGE })
            })
            .into();
        assert!(matches!(plans[0], Plan::Graph { .. }));
        assert_eq!(plans[3..], [Plan::Exact, Plan::Exact, Plan::Exact]);
        // Once it is exact, it stays so.
        let first_exact = plans.iter().position(|plan| *plan == Plan::Exact).unwrap();
        assert!(plans[first_exact..].iter().all(|plan| *plan == Plan::Exact));
    }

    #[test]
    fn more_candidates_are_asked_for_than_hits_and_never_less_than_set() {
        assert_eq!(
            planned(PlannerInput {
                top_k: 200,
                ..LARGE
            }),
            Plan::Graph { ef: 300 }
        );
        assert_eq!(
            planned(PlannerInput { top_k: 1, ..LARGE }),
            Plan::Graph { ef: 100 }
        );
        assert_eq!(
            planned(PlannerInput {
                top_k: usize::MAX,
                ..LARGE
            }),
            Plan::Exact
        );
    }

    #[test]
    fn dead_nodes_and_records_outside_the_graph_make_it_dearer() {
        let costs = PlannerCosts::default();
        let cost = |input: PlannerInput| graph_cost(&input, 100, &costs);
        let dead = PlannerInput {
            nodes: 3_000_000,
            ..LARGE
        };
        let outside = PlannerInput {
            unindexed: 500_000,
            nodes: 500_000,
            ..LARGE
        };
        assert!(cost(dead) > cost(LARGE));
        assert!(cost(outside) > cost(LARGE));
    }

    #[test]
    fn odd_numbers_give_a_plan_and_no_panic() {
        for allowed in [0, 1, usize::MAX] {
            for records in [0, 1, usize::MAX] {
                for nodes in [0, 1, usize::MAX] {
                    for unindexed in [0, usize::MAX] {
                        let input = PlannerInput {
                            allowed,
                            records,
                            nodes,
                            unindexed,
                            ..LARGE
                        };
                        let _either = planned(input);
                    }
                }
            }
        }
    }
}
