//! What holds for any input, against plain references.

use proptest::prelude::*;
use shelfward_websearch::{
    Candidate, build_tf_vector, build_vocabulary, compute_rrf, normalize_url, semantic_dedup,
};

fn candidate() -> impl Strategy<Value = Candidate> {
    let url = "(https://)?(www\\.)?[ab]\\.io/?(\\?ref=x)?";
    let snippet = prop::collection::vec(prop_oneof!["[xyz]", Just("é".to_owned())], 0..5);
    let ranks = prop::collection::vec(("[pqr]", 0..5_u32), 0..3);
    (url, snippet, ranks, any::<bool>()).prop_map(|(url, words, ranks, away)| Candidate {
        // Most pages differ by their address, so that their texts decide.
        url: if away {
            format!("{url}/{}", words.concat())
        } else {
            url
        },
        snippet: words.join(" "),
        provider_ranks: ranks.into(),
        ..Candidate::default()
    })
}

/// The cosine of two texts by their vectors, as whole as they are.
fn cosine(a: &str, b: &str) -> f64 {
    let vocabulary = build_vocabulary([a, b]);
    let (a, b) = (
        build_tf_vector(a, &vocabulary),
        build_tf_vector(b, &vocabulary),
    );
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let lengths = (dot(&a, &a) * dot(&b, &b)).sqrt();
    if lengths == 0.0 {
        0.0
    } else {
        dot(&a, &b) / lengths
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn texts_are_compared_pair_by_pair(
        candidates in prop::collection::vec(candidate(), 2..12),
        // No cosine of so few words lies on these.
        threshold in prop_oneof![Just(0.123), Just(0.456), Just(0.654), Just(0.853), Just(0.987)],
    ) {
        let mut staying: Vec<Candidate> = Vec::new();
        for candidate in &candidates {
            let url = normalize_url(&candidate.url);
            if !staying.iter().any(|there| normalize_url(&there.url) == url) {
                staying.push(candidate.clone());
            }
        }
        let mut expected: Vec<&Candidate> = Vec::new();
        for candidate in &staying {
            let alike = |there: &&Candidate| cosine(&there.snippet, &candidate.snippet) >= threshold;
            if !expected.iter().any(alike) {
                expected.push(candidate);
            }
        }
        let distinct = semantic_dedup(candidates.clone(), threshold).unwrap();
        let urls: Vec<_> = distinct.iter().map(|candidate| &candidate.url).collect();
        let expected: Vec<_> = expected.iter().map(|candidate| &candidate.url).collect();
        prop_assert_eq!(urls, expected);

        // No provider is lost, and none comes twice.
        let providers = |candidates: &[Candidate]| {
            let all = candidates.iter().flat_map(|candidate| candidate.provider_ranks.iter());
            let mut names: Vec<_> = all.map(|(name, _)| name.to_owned()).collect();
            names.sort();
            names.dedup();
            names
        };
        prop_assert_eq!(providers(&distinct), providers(&candidates));
    }

    #[test]
    fn fused_candidates_are_sorted_and_none_is_lost(
        candidates in prop::collection::vec(candidate(), 0..20),
        k in 0.5..100.0_f64,
    ) {
        let fused = compute_rrf(candidates.clone(), k).unwrap();
        prop_assert!(fused.is_sorted_by(|a, b| a.rrf_score >= b.rrf_score));
        let urls = |candidates: &[Candidate]| {
            let mut urls: Vec<_> = candidates.iter().map(|candidate| candidate.url.clone()).collect();
            urls.sort();
            urls
        };
        prop_assert_eq!(urls(&fused), urls(&candidates));
        for candidate in &fused {
            let sum: f64 = candidate.provider_ranks.iter().map(|(_, rank)| 1.0 / (k + f64::from(rank))).sum();
            prop_assert!((candidate.rrf_score - sum).abs() < 1e-12);
        }
    }

    #[test]
    fn any_text_is_an_address(url in ".{0,60}", query in "[?&=a-z_/#]{0,40}") {
        let _ = normalize_url(&url);
        let _ = normalize_url(&format!("https://www.x.io/{query}"));
    }

    #[test]
    fn the_parts_of_a_vector_add_up(texts in prop::collection::vec("[a-d é.]{0,12}", 0..6)) {
        let vocabulary = build_vocabulary(&texts);
        for text in &texts {
            let sum: f64 = build_tf_vector(text, &vocabulary).iter().sum();
            let has_words = text.chars().any(|c| c.is_ascii_alphanumeric());
            prop_assert!((sum - f64::from(u8::from(has_words))).abs() < 1e-12);
        }
    }
}
