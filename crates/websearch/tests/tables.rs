//! Addresses, vectors, fusion and de-duplication: tables of cases.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use shelfward_websearch::{
    Candidate, DEFAULT_K, DEFAULT_THRESHOLD, FoundPage, MergeSettings, ProviderRanks,
    ProviderWeights, build_tf_vector, build_vocabulary, compute_rrf, compute_weighted_rrf,
    merge_results, normalize_url, semantic_dedup,
};

#[test]
fn addresses() {
    for (url, expected) in [
        ("", ""),
        ("https://www.example.com/", "example.com"),
        ("http://www.www.example.com", "www.example.com"),
        ("HTTP://www.example.com", "HTTP://www.example.com"),
        ("https://example.com/a//", "example.com/a"),
        ("//example.com", "//example.com"),
        ("https://", ""),
        ("https://http://x", "http://x"),
        // Parameters that tell where a visitor came from.
        ("x.io/a?utm_source=x&utm_medium=y", "x.io/a"),
        ("x.io/a?fbclid=1&gclid=2", "x.io/a"),
        ("x.io/a?id=2&gclid=2", "x.io/a?id=2"),
        ("x.io/a?ref=1&id=2", "x.io/a&id=2"),
        ("x.io/a?source=1&id=2&ref=", "x.io/a&id=2"),
        // Not those.
        ("x.io/a?reference=1", "x.io/a?reference=1"),
        ("x.io/a?xref=1", "x.io/a?xref=1"),
        ("x.io/a?utm_=1", "x.io/a?utm_=1"),
        ("x.io/a?UTM_SOURCE=1", "x.io/a?UTM_SOURCE=1"),
        ("x.io/a?utm_a-b=1", "x.io/a?utm_a-b=1"),
        ("x.io/a?utm_é=1", "x.io/a?utm_é=1"),
        ("x.io/a?ref", "x.io/a?ref"),
        ("x.io/ref=1", "x.io/ref=1"),
        ("x.io/?q=a%26ref=1", "x.io/?q=a%26ref=1"),
        // A value reaches to the next ampersand, whatever is in it.
        ("x.io/a?ref=1#frag", "x.io/a"),
        ("x.io/a?ref=1?ref=2", "x.io/a"),
        ("x.io/a?ref=a=b/", "x.io/a"),
        // Slashes before a query stay, and one question mark goes.
        ("x.io/a/?id=1", "x.io/a/?id=1"),
        ("x.io/a/?", "x.io/a/"),
        ("x.io/???", "x.io/??"),
        ("?ref=1", ""),
        ("&&ref=1", "&"),
        ("https://例え.jp/パス/", "例え.jp/パス"),
    ] {
        assert_eq!(normalize_url(url), expected, "{url}");
    }
}

#[test]
fn vectors() {
    let texts = ["café résumé", "foo_bar-baz 12 foo_bar", "…"];
    let vocabulary = build_vocabulary(texts);
    let words = ["caf", "r", "sum", "foo_bar", "baz", "12"];
    assert_eq!(vocabulary.words(), words);
    assert_eq!(
        (vocabulary.place("12"), vocabulary.place("13")),
        (Some(5), None)
    );
    let third = 1.0 / 3.0;
    for (text, expected) in [
        (texts[0], [third, third, third, 0.0, 0.0, 0.0]),
        (texts[1], [0.0, 0.0, 0.0, 0.5, 0.25, 0.25]),
        (texts[2], [0.0; 6]),
        // Words outside of the vocabulary count as words.
        ("12 zebras BAZ 12", [0.0, 0.0, 0.0, 0.0, 0.25, 0.5]),
    ] {
        assert_eq!(build_tf_vector(text, &vocabulary), expected, "{text}");
    }
    let unseen = build_vocabulary([
        "Text\u{ad}datei",
        "textdatei",
        "to\u{200c}day",
        "to\u{2060}day",
    ]);
    assert_eq!(unseen.words(), ["textdatei", "today"]);
}

fn found(url: &str, ranks: &[(&str, u32)]) -> Candidate {
    Candidate {
        url: url.to_owned(),
        provider_ranks: ranks.iter().copied().collect(),
        ..Candidate::default()
    }
}

fn scores(candidates: &[Candidate]) -> Vec<(&str, f64)> {
    let pairs = candidates.iter();
    pairs
        .map(|candidate| (candidate.url.as_str(), candidate.rrf_score))
        .collect()
}

/// One that both legs found is best; a leg that lacks a document gives it nothing.
#[test]
fn a_missing_rank_adds_nothing() {
    let candidates = vec![
        found("p", &[("dense", 1)]),
        found("q", &[("dense", 2)]),
        found("r", &[("dense", 3), ("lexical", 3)]),
        found("s", &[("lexical", 1)]),
        found("t", &[("lexical", 2)]),
    ];
    let weights = ProviderWeights::new([("dense", 0.7), ("lexical", 0.3)]).unwrap();
    let fused = compute_weighted_rrf(candidates.clone(), &weights, DEFAULT_K).unwrap();
    let expected = [
        ("r", 0.015873),
        ("p", 0.011475),
        ("q", 0.011290),
        ("s", 0.004918),
        ("t", 0.004839),
    ];
    for ((url, score), (expected_url, expected)) in scores(&fused).into_iter().zip(expected) {
        assert_eq!(url, expected_url);
        assert!((score - expected).abs() < 5e-7, "{url} {score}");
    }
    let equal = compute_rrf(candidates, DEFAULT_K).unwrap();
    assert_eq!(scores(&equal)[0], ("r", 1.0 / 63.0 + 1.0 / 63.0));
}

#[test]
fn fusion() {
    let candidates = || {
        vec![
            found("none", &[]),
            found("a", &[("x", 0)]),
            found("b", &[("y", 0)]),
            found("c", &[("z", 0)]),
        ]
    };
    // Equals stay in the order given.
    let fused = compute_rrf(candidates(), 60.0).unwrap();
    let first = 1.0 / 60.0;
    assert_eq!(
        scores(&fused),
        [("a", first), ("b", first), ("c", first), ("none", 0.0)]
    );
    // A provider that is not named weighs 1; one of weight 0 adds nothing, at k 0 too.
    let weights = ProviderWeights::new([("y", 2.0), ("x", 0.0)]).unwrap();
    let fused = compute_weighted_rrf(candidates(), &weights, 60.0).unwrap();
    assert_eq!(
        scores(&fused),
        [("b", 2.0 / 60.0), ("c", first), ("none", 0.0), ("a", 0.0)]
    );
    let fused = compute_weighted_rrf(candidates(), &weights, 0.0).unwrap();
    let endless = f64::INFINITY;
    assert_eq!(
        scores(&fused),
        [("b", endless), ("c", endless), ("none", 0.0), ("a", 0.0)]
    );
    assert!(compute_rrf(Vec::new(), 60.0).unwrap().is_empty());
}

#[test]
fn numbers_that_are_refused_are_named() {
    for (given, shown) in [(f64::NAN, "NaN"), (-1.0, "-1"), (f64::INFINITY, "inf")] {
        let right = "it must be a finite number of 0 or more";
        let settings = MergeSettings {
            k: given,
            ..MergeSettings::default()
        };
        let nothing = Vec::<(&str, Vec<FoundPage>)>::new();
        for (error, name) in [
            (compute_rrf(Vec::new(), given).unwrap_err(), "k"),
            (semantic_dedup(Vec::new(), given).unwrap_err(), "threshold"),
            (
                ProviderWeights::new([("a b", given)]).unwrap_err(),
                "weights.a b",
            ),
            (merge_results(nothing, &settings).unwrap_err(), "k"),
        ] {
            assert_eq!(error.setting(), name);
            assert_eq!(error.to_string(), format!("{name} is {shown}; {right}"));
        }
    }
}

fn page(url: &str, snippet: &str) -> Candidate {
    Candidate {
        url: url.to_owned(),
        snippet: snippet.to_owned(),
        ..Candidate::default()
    }
}

/// The addresses of those that stay.
fn staying(candidates: Vec<Candidate>, threshold: f64) -> Vec<String> {
    let distinct = semantic_dedup(candidates, threshold).unwrap();
    distinct
        .into_iter()
        .map(|candidate| candidate.url)
        .collect()
}

#[test]
fn candidates_alike() {
    let chain = || {
        vec![
            page("a", "x x y"),
            page("b", "x y y"),
            page("c", "y y y y x"),
        ]
    };
    for (candidates, threshold, expected) in [
        (vec![], DEFAULT_THRESHOLD, &[][..]),
        (
            vec![page("https://a/", "x")],
            DEFAULT_THRESHOLD,
            &["https://a/"],
        ),
        (
            vec![page("https://a/", "x"), page("http://www.a", "y")],
            0.85,
            &["https://a/"],
        ),
        // The same words in another order and case; and others.
        (
            vec![
                page("a", "red Tea"),
                page("b", "tea, RED!"),
                page("c", "tea"),
            ],
            0.85,
            &["a", "c"],
        ),
        (
            vec![page("a", "one two three"), page("b", "one two three")],
            1.0,
            &["a"],
        ),
        (vec![page("a", "one"), page("b", "one")], 1.5, &["a", "b"]),
        // Each is compared with those that stay: c is like b, but b has gone into a.
        (chain(), 0.8, &["a", "c"]),
        (chain(), 0.6, &["a"]),
        // Texts without words are alike to nothing, but at 0 to everything.
        (
            vec![page("a", ""), page("b", "..."), page("c", "x")],
            0.1,
            &["a", "b", "c"],
        ),
        (
            vec![page("a", "x"), page("b", ""), page("c", "y")],
            0.0,
            &["a"],
        ),
        (
            vec![page("a", "図書館"), page("b", "図書館")],
            0.0,
            &["a", "b"],
        ),
    ] {
        let shown = format!("{candidates:?} {threshold}");
        assert_eq!(staying(candidates, threshold), expected, "{shown}");
    }
}

#[test]
fn a_merged_candidate_keeps_what_each_said() {
    let mut first = page("https://www.a.io/", "first");
    first.title = "First".to_owned();
    first.provider_ranks = [("p", 4)].into_iter().collect();
    first.provider_sources = vec!["p".to_owned()];
    first.content = Some(String::new());
    let mut second = page("a.io", "second");
    second.title = "Second".to_owned();
    second.provider_ranks = [("p", 0), ("q", 1)].into_iter().collect();
    second.provider_sources = vec!["q".to_owned(), "p".to_owned()];
    second.content = Some("whole".to_owned());
    second.relevance_score = Some(0.2);
    let mut third = page("elsewhere.io", "third");
    third.normalized_url = Some("a.io".to_owned());
    third.content = Some("another".to_owned());
    third.relevance_score = Some(0.9);
    let mut fourth = page("http://a.io?ref=x", "");
    fourth.relevance_score = Some(0.0);
    fourth.normalized_url = Some(String::new());

    let merged = semantic_dedup(vec![first, second, third, fourth], 0.85).unwrap();
    let [merged] = merged.as_slice() else {
        panic!("{merged:?}");
    };
    assert_eq!(
        (merged.title.as_str(), merged.snippet.as_str()),
        ("First", "first")
    );
    let ranks: Vec<_> = merged.provider_ranks.iter().collect();
    assert_eq!(ranks, [("p", 4), ("q", 1)]);
    assert_eq!(merged.provider_sources, ["p", "q"]);
    assert_eq!(merged.content.as_deref(), Some("whole"));
    assert_eq!(merged.relevance_score, Some(0.9));
    assert_eq!(merged.normalized_url.as_deref(), Some("a.io"));

    // A 0 says nothing.
    let mut told = page("a", "x");
    told.relevance_score = Some(0.0);
    let merged = semantic_dedup(vec![page("a", "x"), told], 0.85).unwrap();
    assert_eq!(merged[0].relevance_score, None);
}

#[test]
fn from_answers_to_one_list() {
    let found = |url: &str, snippet: &str| FoundPage {
        url: url.to_owned(),
        snippet: snippet.to_owned(),
        ..FoundPage::default()
    };
    let answers = [
        (
            "p",
            vec![
                found("https://one.io", "red tea"),
                found("https://two.io", "green cups"),
            ],
        ),
        (
            "q",
            vec![
                found("two.io/", "anything"),
                found("other.io", "tea, red"),
                found("two.io", ""),
            ],
        ),
    ];
    let settings = MergeSettings {
        weights: ProviderWeights::new([("q", 3.0)]).unwrap(),
        ..MergeSettings::default()
    };
    let merged = merge_results(answers, &settings).unwrap();
    let expected = [
        ("https://two.io", 1.0 / 61.0 + 3.0 / 60.0),
        ("https://one.io", 1.0 / 60.0 + 3.0 / 61.0),
    ];
    assert_eq!(scores(&merged), expected);
    let ranks: Vec<_> = merged[0].provider_ranks.iter().collect();
    assert_eq!(ranks, [("p", 1), ("q", 0)]);
}

#[test]
fn ranks_are_one_for_each_provider() {
    let mut ranks = ProviderRanks::default();
    assert!(ranks.add("p", 3));
    assert!(!ranks.add("p", 0));
    assert_eq!((ranks.rank("p"), ranks.rank("q")), (Some(3), None));
    let read: ProviderRanks = serde_json::from_str(r#"[["p",3],["p",0]]"#).unwrap();
    assert_eq!(read, ranks);
}

#[test]
fn in_json_what_is_not_there_is_left_out() {
    let json = r#"{"url":"a","title":"","snippet":"s","providerRanks":[["p",0]],"providerSources":[],"rrfScore":0.5}"#;
    let candidate: Candidate = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&candidate).unwrap(), json);
    assert!(!format!("{candidate:?}").contains("snippet:"));
}

/// Thousands of one page, of one text, and of texts with no word in common.
#[test]
fn thousands_of_candidates() {
    const MANY: u32 = 20_000;
    let one_page = (0..MANY).map(|i| found("x.io", &[(&format!("p{i}"), i)]));
    let merged = semantic_dedup(one_page.collect(), 0.85).unwrap();
    assert_eq!(
        (merged.len(), merged[0].provider_ranks.iter().count()),
        (1, 20_000)
    );
    let one_text = (0..MANY).map(|i| page(&format!("x.io/{i}"), "the same words"));
    assert_eq!(staying(one_text.collect(), 0.85).len(), 1);
    let many_texts = (0..MANY).map(|i| page(&format!("x.io/{i}"), &format!("word{i} other{i}")));
    assert_eq!(staying(many_texts.collect(), 0.85).len(), 20_000);
}
