//! Reciprocal rank fusion, by numbers that were worked out by hand.

use proptest::collection::vec;
use proptest::prelude::*;
use shelfward_core::fusion::{FusionWeights, reciprocal_rank_fusion};

/// Ids, scores, and the ranks in both lists.
type Row = (&'static str, f64, Option<u32>, Option<u32>);

#[track_caller]
fn check(
    dense: &[(&'static str, u32)],
    sparse: &[(&'static str, u32)],
    weights: FusionWeights,
    expected: &[Row],
) {
    let fused = reciprocal_rank_fusion(dense, sparse, &weights);
    let rows: Vec<Row> = fused
        .iter()
        .map(|hit| (hit.id, hit.score, hit.dense_rank, hit.sparse_rank))
        .collect();
    assert_eq!(rows, expected);
}

#[test]
fn a_list_adds_its_weight_over_k_and_rank_for_what_it_holds_and_nothing_for_the_rest() {
    check(
        &[("a", 1), ("b", 2)],
        &[("b", 1), ("c", 2)],
        FusionWeights::default(),
        &[
            ("b", 0.7 / 62.0 + 0.3 / 61.0, Some(2), Some(1)),
            ("a", 0.7 / 61.0, Some(1), None),
            ("c", 0.3 / 62.0, None, Some(2)),
        ],
    );
    // In three decimals, as printed.
    let fused = reciprocal_rank_fusion(
        &[("a", 1), ("b", 2)],
        &[("b", 1), ("c", 2)],
        &FusionWeights::default(),
    );
    let shown: Vec<_> = fused
        .iter()
        .map(|hit| format!("{:.4}", hit.score))
        .collect();
    assert_eq!(shown, ["0.0162", "0.0115", "0.0048"]);
}

#[test]
fn what_both_lists_found_third_is_first() {
    let dense = [("p", 1), ("q", 2), ("r", 3)];
    let lexical = [("s", 1), ("t", 2), ("r", 3)];
    check(
        &dense,
        &lexical,
        FusionWeights::EQUAL,
        &[
            ("r", 2.0 / 63.0, Some(3), Some(3)),
            ("p", 1.0 / 61.0, Some(1), None),
            ("s", 1.0 / 61.0, None, Some(1)),
            ("q", 1.0 / 62.0, Some(2), None),
            ("t", 1.0 / 62.0, None, Some(2)),
        ],
    );
    check(
        &dense,
        &lexical,
        FusionWeights::default(),
        &[
            ("r", 0.7 / 63.0 + 0.3 / 63.0, Some(3), Some(3)),
            ("p", 0.7 / 61.0, Some(1), None),
            ("q", 0.7 / 62.0, Some(2), None),
            ("s", 0.3 / 61.0, None, Some(1)),
            ("t", 0.3 / 62.0, None, Some(2)),
        ],
    );
}

#[test]
fn equal_scores_are_ordered_by_id_whatever_the_order_given() {
    check(
        &[("b", 1), ("a", 1)],
        &[],
        FusionWeights::EQUAL,
        &[
            ("a", 1.0 / 61.0, Some(1), None),
            ("b", 1.0 / 61.0, Some(1), None),
        ],
    );
    // By text: "10" comes before "9".
    check(
        &[],
        &[("9", 4), ("10", 4)],
        FusionWeights::EQUAL,
        &[
            ("10", 1.0 / 64.0, None, Some(4)),
            ("9", 1.0 / 64.0, None, Some(4)),
        ],
    );
}

#[test]
fn odd_lists_have_a_defined_outcome() {
    check(&[], &[], FusionWeights::default(), &[]);
    // Repeated, an id adds each time and keeps its last rank.
    check(
        &[("a", 1), ("a", 3)],
        &[],
        FusionWeights::EQUAL,
        &[("a", 1.0 / 61.0 + 1.0 / 63.0, Some(3), None)],
    );
    let none = FusionWeights::new(0.0, 0.0, 60.0).unwrap();
    check(
        &[("b", 1)],
        &[("a", 1)],
        none,
        &[("a", 0.0, None, Some(1)), ("b", 0.0, Some(1), None)],
    );
    let no_constant = FusionWeights::new(1.0, 1.0, 0.0).unwrap();
    check(
        &[("a", 1), ("b", 2)],
        &[("c", 0)],
        no_constant,
        &[
            ("c", f64::INFINITY, None, Some(0)),
            ("a", 1.0, Some(1), None),
            ("b", 0.5, Some(2), None),
        ],
    );
}

#[test]
fn weights_and_the_constant_are_refused_by_name() {
    for bad in [-1.0, -0.001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (weights, name) in [
            ((bad, 1.0, 60.0), "denseWeight"),
            ((1.0, bad, 60.0), "sparseWeight"),
            ((1.0, 1.0, bad), "k"),
            ((bad, bad, bad), "denseWeight"),
        ] {
            let error = FusionWeights::new(weights.0, weights.1, weights.2).unwrap_err();
            assert_eq!(error.name(), name);
            let told = format!("{name} is {bad}; it must be a finite number of 0 or more");
            assert_eq!(error.to_string(), told);
        }
    }
    assert_eq!(
        FusionWeights::new(0.7, 0.3, 60.0).unwrap(),
        FusionWeights::default()
    );
    assert_eq!(
        FusionWeights::new(1.0, 1.0, 60.0).unwrap(),
        FusionWeights::EQUAL
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_id_is_fused_once_and_the_best_come_first(
        dense in vec(0_u8..20, 0..20),
        sparse in vec(0_u8..20, 0..20),
    ) {
        let ranked = |ids: &[u8]| -> Vec<(u8, u32)> { ids.iter().copied().zip(1..).collect() };
        let (dense, sparse) = (ranked(&dense), ranked(&sparse));
        let fused = reciprocal_rank_fusion(&dense, &sparse, &FusionWeights::default());
        let mut ids: Vec<u8> = dense.iter().chain(&sparse).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut found: Vec<u8> = fused.iter().map(|hit| hit.id).collect();
        found.sort_unstable();
        prop_assert_eq!(found, ids);
        for pair in fused.windows(2) {
            prop_assert!(
                pair[0].score > pair[1].score
                    || (pair[0].score == pair[1].score && pair[0].id < pair[1].id)
            );
        }
        for hit in fused {
            let sum = |list: &[(u8, u32)], weight: f64| {
                list.iter()
                    .filter(|(id, _)| *id == hit.id)
                    .map(|(_, rank)| weight / (60.0 + f64::from(*rank)))
                    .sum::<f64>()
            };
            prop_assert!((hit.score - sum(&dense, 0.7) - sum(&sparse, 0.3)).abs() < 1e-12);
        }
    }
}
