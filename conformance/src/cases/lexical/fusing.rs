//! What both legs come to together: ranks of what may be read, fused outside of the store.

use std::sync::Arc;

use shelfward_core::fusion::{FusionWeights, reciprocal_rank_fusion};
use shelfward_core::library::{
    ExecutedMode, LibrarySpec, Mode, ScopeChange, SearchAnswer, SearchRequest,
};
use shelfward_core::{Leg, LegResult, LibraryIndex, Match, Scope, SourceId, TenantId};

use super::documents::{
    document, holding, leg, org, with_bm25, with_our_words, with_two_legs, with_words,
};
use crate::case::Case;
use crate::check::{NONE, full, holds, ids, same_ids, same_order, same_score};
use crate::context::Context;
use crate::embedder::TableEmbedder;
use crate::library::{file, file_texts, source};
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    vec![
        with_bm25(Case::new("lexical/fused-by-weight", by_weight)),
        with_bm25(Case::new("lexical/fused-evenly-in-the-library", evenly)),
        with_two_legs(Case::new(
            "lexical/hybrid-finds-what-one-leg-finds",
            one_leg,
        )),
        with_two_legs(Case::new(
            "lexical/hybrid-with-an-empty-leg-is-the-dense-order",
            empty_leg,
        )),
        with_words(Case::new(
            "lexical/hybrid-without-words-is-dense",
            without_words,
        )),
        with_two_legs(Case::new("lexical/hidden-hits-take-no-rank", no_rank)),
        with_our_words(Case::new("lexical/hybrid-after-a-removal", after_removal)),
        with_our_words(Case::new("lexical/hybrid-after-a-replace", after_replace)),
        with_our_words(Case::new(
            "lexical/hybrid-after-a-narrowing",
            after_narrowing,
        ))
        .needs(|can| can.lexical.is_some() && can.update_metadata.is_some()),
        Case::new(
            "lexical/hybrid-without-a-lexical-leg-is-dense",
            without_a_leg,
        )
        .only_where(|can| can.lexical.is_none(), "it has a lexical leg"),
    ]
}

fn ranks(found: &LegResult) -> Vec<(String, u32)> {
    ids(found).into_iter().zip(1..).collect()
}

/// The dense leg finds p, q, r, the lexical one s, t, r. A leg that did not find a record adds
/// nothing for it.
async fn by_weight(context: Context) -> Checked {
    let collection = holding(&context, &[]).await?;
    let documents = [
        ("p", "one of four words", [1.0, 0.0, 0.0, 0.0]),
        ("q", "one of four words", [1.0, 0.25, 0.0, 0.0]),
        ("r", "rain of four words", [1.0, 0.5, 0.0, 0.0]),
        ("s", "rain rain rain words", [0.0, 1.0, 0.0, 0.0]),
        ("t", "rain rain four words", [0.0, 1.0, 0.25, 0.0]),
    ];
    let mut records = Vec::new();
    for (id, body, vector) in documents {
        let mut record = document("org", id, body, "faq")?;
        record.vector = vector.into();
        records.push(record);
    }
    collection.upsert(&records).await?;
    let dense = Leg::dense([1.0, 0.0, 0.0, 0.0], org()?, 3);
    let lexical = leg(&collection, "rain", Match::Any, false, org()?)?.with_top_k(3);
    let (dense, lexical) = collection.search_both(&dense, &lexical).await?;
    same_order("the dense leg", &ids(&dense), &["p", "q", "r"])?;
    same_order("the lexical leg", &ids(&lexical), &["s", "t", "r"])?;
    for (weights, expected) in [
        (
            FusionWeights::default(),
            [
                ("r", 0.015_873),
                ("p", 0.011_475),
                ("q", 0.011_290),
                ("s", 0.004_918),
                ("t", 0.004_839),
            ],
        ),
        (
            FusionWeights::EQUAL,
            [
                ("r", 2.0 / 63.0),
                ("p", 1.0 / 61.0),
                ("s", 1.0 / 61.0),
                ("q", 1.0 / 62.0),
                ("t", 1.0 / 62.0),
            ],
        ),
    ] {
        let fused = reciprocal_rank_fusion(&ranks(&dense), &ranks(&lexical), &weights);
        let order: Vec<_> = fused.iter().map(|hit| hit.id.clone()).collect();
        same_order("fused", &order, &expected.map(|(id, _)| id))?;
        for (hit, (id, score)) in fused.iter().zip(expected) {
            same_score(id, hit.score, score)?;
        }
    }
    Ok(())
}

/// A library whose vectors are known: the query is nearest to p, then q, r, then fifty and more
/// others; s and t are the farthest.
async fn library(context: &Context) -> Checked<LibraryIndex> {
    let near = |far: f32| [1.0, far, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let mut embedder = TableEmbedder::new("suite-library", 8);
    let texts = [
        ("rain", near(0.0)),
        ("nowhere", near(0.0)),
        ("???", near(0.0)),
        (P, near(0.125)),
        (Q, near(0.25)),
        (R, near(0.375)),
        (S, near(40.0)),
        (T, near(50.0)),
    ];
    for (text, vector) in texts {
        embedder = embedder.with(text, vector);
    }
    let others: Vec<String> = (0..60)
        .map(|n| format!("other words of number{n}"))
        .collect();
    for (text, n) in others.iter().zip(0_u8..) {
        embedder = embedder.with(text.as_str(), near(1.0 + f32::from(n) / 8.0));
    }
    let spec = LibrarySpec::new(context.name()?);
    let index = LibraryIndex::ensure(&context.store().await?, spec, Arc::new(embedder)).await?;
    for (id, text) in [("p", P), ("q", Q), ("r", R), ("s", S), ("t", T)] {
        file_texts(&index, id, ["g"], &[text]).await?;
    }
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    file_texts(&index, "other", ["g"], &others).await?;
    Ok(index)
}

const P: &str = "one text of words";
const Q: &str = "two text of words";
const R: &str = "rain text of words";
const S: &str = "rain rain rain words";
const T: &str = "rain rain of words";

async fn ask(index: &LibraryIndex, request: SearchRequest) -> Checked<SearchAnswer> {
    Ok(index.search(&Scope::of("org1", ["g"])?, &request).await?)
}

fn passages(answer: &SearchAnswer) -> Vec<String> {
    let passages = answer.passages.iter();
    passages.map(|passage| passage.id.clone()).collect()
}

fn ran(answer: &SearchAnswer, expected: ExecutedMode) -> Checked {
    holds(answer.ran == expected, || {
        format!("{:?} ran, and not {expected:?}", answer.ran)
    })
}

/// Each passage's places, 0 where a leg did not find it.
fn places(answer: &SearchAnswer) -> Vec<(String, u32, u32)> {
    let passages = answer.passages.iter();
    let places = passages.map(|p| {
        let rank = |place: Option<shelfward_core::library::LegRank>| place.map_or(0, |p| p.rank);
        (p.id.clone(), rank(p.legs.dense), rank(p.legs.lexical))
    });
    places.collect()
}

fn placed(answer: &SearchAnswer, expected: &[(&str, u32, u32)]) -> Checked {
    let places = places(answer);
    let same = places
        .iter()
        .map(|(id, dense, lexical)| (id.as_str(), *dense, *lexical))
        .eq(expected.iter().copied());
    holds(same, || format!("places {places:?}, expected {expected:?}"))
}

async fn evenly(context: Context) -> Checked {
    let index = library(&context).await?;
    let answer = ask(&index, SearchRequest::new("rain").top_k(5)).await?;
    ran(&answer, ExecutedMode::Hybrid)?;
    let expected = ["r#0", "p#0", "s#0", "q#0", "t#0"];
    same_order("fused", &passages(&answer), &expected)?;
    placed(
        &answer,
        &[
            ("r#0", 3, 3),
            ("p#0", 1, 0),
            ("s#0", 0, 1),
            ("q#0", 2, 0),
            ("t#0", 0, 2),
        ],
    )?;
    let scores = [2.0 / 63.0, 1.0 / 61.0, 1.0 / 61.0, 1.0 / 62.0, 1.0 / 62.0];
    for (passage, score) in answer.passages.iter().zip(scores) {
        same_score(&passage.id, passage.score, score)?;
    }
    Ok(())
}

/// What lies too far for the dense leg is found by its word, and what lacks the word by its vector.
async fn one_leg(context: Context) -> Checked {
    let index = library(&context).await?;
    let answer = ask(&index, SearchRequest::new("rain").top_k(5)).await?;
    same_ids(
        "of either leg",
        &passages(&answer),
        &["p#0", "q#0", "r#0", "s#0", "t#0"],
    )?;
    let places = places(&answer);
    for (id, dense, lexical) in places {
        let right = match id.as_str() {
            "p#0" | "q#0" => dense > 0 && lexical == 0,
            "r#0" => dense > 0 && lexical > 0,
            _ => dense == 0 && lexical > 0,
        };
        holds(right, || format!("{id} is of ranks {dense} and {lexical}"))?;
    }
    Ok(())
}

/// A lexical leg that finds nothing leaves the dense order, by scores of ranks.
async fn empty_leg(context: Context) -> Checked {
    let index = library(&context).await?;
    let answer = ask(&index, SearchRequest::new("nowhere").top_k(3)).await?;
    ran(&answer, ExecutedMode::Hybrid)?;
    same_order("nowhere", &passages(&answer), &["p#0", "q#0", "r#0"])?;
    placed(&answer, &[("p#0", 1, 0), ("q#0", 2, 0), ("r#0", 3, 0)])?;
    for (passage, rank) in answer.passages.iter().zip(1..) {
        same_score(&passage.id, passage.score, 1.0 / (60.0 + f64::from(rank)))?;
    }
    let lexical = SearchRequest::new("nowhere").mode(Mode::Lexical);
    let answer = ask(&index, lexical).await?;
    same_ids("by word alone", &passages(&answer), NONE)
}

/// A query without words has no lexical leg: the answer is the dense one, scores and all.
async fn without_words(context: Context) -> Checked {
    let index = library(&context).await?;
    let answer = ask(&index, SearchRequest::new("???").top_k(3)).await?;
    ran(&answer, ExecutedMode::Dense)?;
    let dense = ask(&index, SearchRequest::new("???").mode(Mode::Dense).top_k(3)).await?;
    same_order("as dense", &passages(&answer), &passages(&dense))?;
    same_order("nearest", &passages(&answer), &["p#0", "q#0", "r#0"])?;
    for (a, b) in answer.passages.iter().zip(&dense.passages) {
        same_score(&a.id, a.score, b.score)?;
    }
    let lexical = ask(&index, SearchRequest::new("???").mode(Mode::Lexical)).await?;
    same_ids("by word alone", &passages(&lexical), NONE)
}

/// Ranks are counted after the check, so they tell nothing of what is hidden, whatever the store
/// answers.
async fn no_rank(context: Context) -> Checked {
    let index = library(&context).await?;
    let before = ask(&index, SearchRequest::new("rain").top_k(5)).await?;
    let hidden = vec!["rain rain rain rain"; 70];
    file_texts(&index, "a-hidden", ["secret"], &hidden).await?;
    let theirs = source("p", ["g"], &["rain"; 3])?;
    file(&index, "org2", theirs).await?;
    let after = ask(&index, SearchRequest::new("rain").top_k(5)).await?;
    if full(index.capabilities()) {
        let expected = passages(&before);
        same_ids("those that may be read", &passages(&after), &expected)?;
    }
    let most = places(&after).iter().map(|(_, _, lexical)| *lexical).max();
    holds(most.is_none_or(|most| most <= 3), || {
        format!("three may be read, and the lexical ranks go to {most:?}")
    })
}

fn tenant(index: &LibraryIndex) -> Checked<shelfward_core::library::TenantLibrary> {
    Ok(index.tenant(TenantId::new("org1")?))
}

/// No mode finds any of these.
async fn gone(index: &LibraryIndex, query: &str, gone: &[&str]) -> Checked {
    for mode in [Mode::Lexical, Mode::Hybrid, Mode::Dense] {
        let answer = ask(index, SearchRequest::new(query).mode(mode).top_k(100)).await?;
        if let Some(id) = passages(&answer)
            .iter()
            .find(|id| gone.contains(&id.as_str()))
        {
            let message = format!("{mode:?} still finds {id}");
            return Err(Finding::new(crate::verdict::Verdict::Widens, message));
        }
    }
    Ok(())
}

async fn after_removal(context: Context) -> Checked {
    let index = library(&context).await?;
    tenant(&index)?
        .remove_source(&SourceId::new("s")?)
        .await?
        .count();
    gone(&index, "rain", &["s#0"]).await?;
    let by_word = ask(&index, SearchRequest::new("rain").mode(Mode::Lexical)).await?;
    same_ids("left", &passages(&by_word), &["r#0", "t#0"])
}

async fn after_replace(context: Context) -> Checked {
    let index = library(&context).await?;
    file_texts(&index, "s", ["g"], &["hail", "sleet"]).await?;
    file_texts(&index, "s", ["g"], &["hail alone"]).await?;
    for (query, expected) in [
        ("rain", &["r#0", "t#0"][..]),
        ("hail", &["s#0"]),
        ("sleet", &[]),
    ] {
        let request = SearchRequest::new(query).mode(Mode::Lexical);
        let answer = ask(&index, request).await?;
        same_ids(query, &passages(&answer), expected)?;
    }
    gone(&index, "sleet", &["s#1"]).await
}

async fn after_narrowing(context: Context) -> Checked {
    let index = library(&context).await?;
    let change = ScopeChange::new().groups(["few"])?;
    let narrowed = SourceId::new("s")?;
    tenant(&index)?
        .set_source_scope(&narrowed, &change)
        .await?
        .count();
    gone(&index, "rain", &["s#0"]).await?;
    let few = Scope::of("org1", ["few"])?;
    let request = SearchRequest::new("rain").mode(Mode::Lexical);
    let answer = index.search(&few, &request).await?;
    same_ids("the few", &passages(&answer), &["s#0"])
}

async fn without_a_leg(context: Context) -> Checked {
    let index = library(&context).await?;
    let hybrid = ask(&index, SearchRequest::new("rain").top_k(3)).await?;
    ran(&hybrid, ExecutedMode::Dense)?;
    let dense = ask(
        &index,
        SearchRequest::new("rain").mode(Mode::Dense).top_k(3),
    )
    .await?;
    same_order("as dense", &passages(&hybrid), &passages(&dense))?;
    same_order("nearest", &passages(&hybrid), &["p#0", "q#0", "r#0"])?;
    for (a, b) in hybrid.passages.iter().zip(&dense.passages) {
        same_score(&a.id, a.score, b.score)?;
    }
    let lexical = SearchRequest::new("rain").mode(Mode::Lexical);
    let answer = ask(&index, lexical).await;
    let refuses = matches!(&answer, Err(f) if f.verdict == crate::verdict::Verdict::Refuses);
    holds(refuses, || {
        "a search by words alone is not refused where there is no lexical leg".into()
    })
}
