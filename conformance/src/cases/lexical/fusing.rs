//! What both legs come to together: ranks of what may be read, fused outside of the store.

use std::sync::Arc;

use shelfward_core::fusion::{FusionWeights, reciprocal_rank_fusion};
use shelfward_core::library::{ExecutedMode, LegRank, Mode, SearchAnswer, SearchRequest};
use shelfward_core::{Leg, LegResult, LibraryIndex};

use super::documents::{
    empty, leg, org, with_bm25, with_our_words, with_two_legs, with_updates, with_vectors,
    with_words,
};
use crate::case::Case;
use crate::check::{NONE, full, holds, ids, same_ids, same_order, same_score};
use crate::context::Context;
use crate::library::{self, file, file_texts, finds, ids as passages, narrow, remove, source};
use crate::verdict::{Checked, Finding, Verdict};

pub(super) fn cases() -> Vec<Case> {
    let by_one = "lexical/hybrid-finds-what-one-leg-finds";
    let by_none = "lexical/hybrid-with-an-empty-leg-is-the-dense-order";
    let no_words = "lexical/hybrid-without-words-is-dense";
    let no_leg = "lexical/hybrid-without-a-lexical-leg-is-dense";
    let narrowed = "lexical/hybrid-after-a-narrowing";
    vec![
        with_bm25(Case::new("lexical/fused-by-weight", by_weight)),
        with_bm25(Case::new("lexical/fused-evenly-in-the-library", evenly)),
        with_two_legs(Case::new(by_one, one_leg)),
        with_two_legs(Case::new(by_none, empty_leg)),
        with_words(Case::new(no_words, without_words)),
        with_two_legs(Case::new("lexical/hidden-hits-take-no-rank", no_rank)),
        with_our_words(Case::new("lexical/hybrid-after-a-removal", after_removal)),
        with_our_words(Case::new("lexical/hybrid-after-a-replace", after_replace)),
        with_updates(Case::new(narrowed, after_narrowing)),
        Case::new(no_leg, without_a_leg)
            .only_where(|can| can.lexical.is_none(), "it has a lexical leg"),
    ]
}

fn ranks(found: &LegResult) -> Vec<(String, u32)> {
    ids(found).into_iter().zip(1..).collect()
}

/// The dense leg finds p, q, r, the lexical one s, t, r. A leg that did not find a record adds
/// nothing for it.
async fn by_weight(context: Context) -> Checked {
    let collection = empty(&context).await?;
    let records = with_vectors(&[
        ("p", "one of four words", [1.0, 0.0, 0.0, 0.0]),
        ("q", "one of four words", [1.0, 0.25, 0.0, 0.0]),
        ("r", "rain of four words", [1.0, 0.5, 0.0, 0.0]),
        ("s", "rain rain rain words", [0.0, 1.0, 0.0, 0.0]),
        ("t", "rain rain four words", [0.0, 1.0, 0.25, 0.0]),
    ])?;
    collection.upsert(&records).await?;
    let dense = Leg::dense([1.0, 0.0, 0.0, 0.0], org()?, 3);
    let lexical = leg(&collection, "rain", org()?)?.with_top_k(3);
    let (dense, lexical) = collection.search_both(&dense, &lexical).await?;
    same_order("the dense leg", &ids(&dense), &["p", "q", "r"])?;
    same_order("the lexical leg", &ids(&lexical), &["s", "t", "r"])?;
    let by_default = [0.015_873, 0.011_475, 0.011_290, 0.004_918, 0.004_839];
    let evenly = [2.0 / 63.0, 1.0 / 61.0, 1.0 / 61.0, 1.0 / 62.0, 1.0 / 62.0];
    for (weights, order, scores) in [
        (
            FusionWeights::default(),
            ["r", "p", "q", "s", "t"],
            by_default,
        ),
        (FusionWeights::EQUAL, ["r", "p", "s", "q", "t"], evenly),
    ] {
        let fused = reciprocal_rank_fusion(&ranks(&dense), &ranks(&lexical), &weights);
        let found: Vec<_> = fused.iter().map(|hit| hit.id.clone()).collect();
        same_order("fused", &found, &order)?;
        for (hit, score) in fused.iter().zip(scores) {
            same_score(&hit.id, hit.score, score)?;
        }
    }
    Ok(())
}

const P: &str = "one text of words";
const Q: &str = "two text of words";
const R: &str = "rain text of words";
const S: &str = "rain rain rain words";
const T: &str = "rain rain of words";

/// A library whose vectors are known: the query is nearest to p, then q, r, then fifty and more
/// others; s and t are the farthest.
async fn library(context: &Context) -> Checked<LibraryIndex> {
    let near = |far: f32| [1.0, far, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let others: Vec<String> = (0..60)
        .map(|n| format!("other words of number{n}"))
        .collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let queries = ["rain", "nowhere", "???"].map(|query| (query, 0.0));
    let texts = [(P, 0.125), (Q, 0.25), (R, 0.375), (S, 40.0), (T, 50.0)];
    let far = (0_u8..).map(|n| 1.0 + f32::from(n) / 8.0);
    let embedder = (queries.into_iter().chain(texts))
        .chain(others.iter().copied().zip(far))
        .fold(library::embedder(), |all, (text, far)| {
            all.with(text, near(far))
        });
    let index = library::on(context, &context.store().await?, Arc::new(embedder)).await?;
    for (id, text) in [("p", P), ("q", Q), ("r", R), ("s", S), ("t", T)] {
        file_texts(&index, id, ["g"], &[text]).await?;
    }
    file_texts(&index, "other", ["g"], &others).await?;
    Ok(index)
}

async fn ask(index: &LibraryIndex, request: SearchRequest) -> Checked<SearchAnswer> {
    library::ask(index, "org1", ["g"], request).await
}

async fn best(index: &LibraryIndex, query: &str, top_k: usize) -> Checked<SearchAnswer> {
    ask(index, SearchRequest::new(query).top_k(top_k)).await
}

fn by_word(query: &str) -> SearchRequest {
    SearchRequest::new(query).mode(Mode::Lexical)
}

fn ran(answer: &SearchAnswer, expected: ExecutedMode) -> Checked {
    holds(answer.ran == expected, || {
        format!("{:?} ran, and not {expected:?}", answer.ran)
    })
}

/// Each passage's places, 0 where a leg did not find it.
fn places(answer: &SearchAnswer) -> Vec<(String, u32, u32)> {
    let rank = |place: Option<LegRank>| place.map_or(0, |place| place.rank);
    let passages = answer.passages.iter();
    let places = passages.map(|p| (p.id.to_string(), rank(p.legs.dense), rank(p.legs.lexical)));
    places.collect()
}

fn placed(answer: &SearchAnswer, expected: &[(&str, u32, u32)]) -> Checked {
    let places = places(answer);
    let expected: Vec<_> = expected
        .iter()
        .map(|(id, dense, lexical)| ((*id).to_owned(), *dense, *lexical))
        .collect();
    holds(places == expected, || {
        format!("places {places:?}, expected {expected:?}")
    })
}

fn scored(answer: &SearchAnswer, scores: impl IntoIterator<Item = f64>) -> Checked {
    let mut passages = answer.passages.iter().zip(scores);
    passages
        .try_for_each(|(passage, score)| same_score(&passage.id.to_string(), passage.score, score))
}

async fn evenly(context: Context) -> Checked {
    let index = library(&context).await?;
    let answer = best(&index, "rain", 5).await?;
    ran(&answer, ExecutedMode::Hybrid)?;
    let expected = [
        ("r#0", 3, 3),
        ("p#0", 1, 0),
        ("s#0", 0, 1),
        ("q#0", 2, 0),
        ("t#0", 0, 2),
    ];
    same_order("fused", &passages(&answer), &expected.map(|(id, _, _)| id))?;
    placed(&answer, &expected)?;
    scored(
        &answer,
        [2.0 / 63.0, 1.0 / 61.0, 1.0 / 61.0, 1.0 / 62.0, 1.0 / 62.0],
    )
}

/// What lies too far for the dense leg is found by its word, and what lacks the word by its vector.
async fn one_leg(context: Context) -> Checked {
    let index = library(&context).await?;
    let answer = best(&index, "rain", 5).await?;
    let all = ["p#0", "q#0", "r#0", "s#0", "t#0"];
    same_ids("of either leg", &passages(&answer), &all)?;
    for (id, dense, lexical) in places(&answer) {
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
    let answer = best(&index, "nowhere", 3).await?;
    ran(&answer, ExecutedMode::Hybrid)?;
    same_order("nowhere", &passages(&answer), &["p#0", "q#0", "r#0"])?;
    placed(&answer, &[("p#0", 1, 0), ("q#0", 2, 0), ("r#0", 3, 0)])?;
    scored(&answer, (1_u8..).map(|rank| 1.0 / (60.0 + f64::from(rank))))?;
    finds(&index, "org1", by_word("nowhere"), NONE).await
}

/// The answer is the dense one, scores and all.
async fn is_dense(index: &LibraryIndex, query: &str) -> Checked {
    let answer = best(index, query, 3).await?;
    ran(&answer, ExecutedMode::Dense)?;
    let dense = SearchRequest::new(query).mode(Mode::Dense).top_k(3);
    let dense = ask(index, dense).await?;
    same_order("as dense", &passages(&answer), &passages(&dense))?;
    same_order("nearest", &passages(&answer), &["p#0", "q#0", "r#0"])?;
    scored(&answer, dense.passages.iter().map(|passage| passage.score))
}

/// A query without words has no lexical leg.
async fn without_words(context: Context) -> Checked {
    let index = library(&context).await?;
    is_dense(&index, "???").await?;
    finds(&index, "org1", by_word("???"), NONE).await
}

async fn without_a_leg(context: Context) -> Checked {
    let index = library(&context).await?;
    is_dense(&index, "rain").await?;
    let answer = ask(&index, by_word("rain")).await;
    let refuses = matches!(&answer, Err(found) if found.verdict == Verdict::Refuses);
    holds(refuses, || {
        "a search by words alone is not refused where there is no lexical leg".into()
    })
}

/// Ranks are counted after the check, so they tell nothing of what is hidden, whatever the store
/// answers.
async fn no_rank(context: Context) -> Checked {
    let index = library(&context).await?;
    let before = best(&index, "rain", 5).await?;
    file_texts(&index, "a-hidden", ["secret"], &["rain rain rain rain"; 70]).await?;
    file(&index, "org2", source("p", ["g"], &["rain"; 3])?).await?;
    let after = best(&index, "rain", 5).await?;
    if full(index.capabilities()) {
        let expected = passages(&before);
        same_ids("those that may be read", &passages(&after), &expected)?;
    }
    let most = places(&after).iter().map(|(_, _, lexical)| *lexical).max();
    holds(most.is_none_or(|most| most <= 3), || {
        format!("three may be read, and the lexical ranks go to {most:?}")
    })
}

/// No mode finds this.
async fn gone(index: &LibraryIndex, query: &str, gone: &str) -> Checked {
    for mode in [Mode::Lexical, Mode::Hybrid, Mode::Dense] {
        let answer = ask(index, SearchRequest::new(query).mode(mode).top_k(100)).await?;
        if passages(&answer).iter().any(|id| id == gone) {
            return Err(Finding::widens(format!("{mode:?} still finds {gone}")));
        }
    }
    Ok(())
}

async fn after_removal(context: Context) -> Checked {
    let index = library(&context).await?;
    remove(&index, "org1", "s").await?;
    gone(&index, "rain", "s#0").await?;
    finds(&index, "org1", by_word("rain"), &["r#0", "t#0"]).await
}

async fn after_replace(context: Context) -> Checked {
    let index = library(&context).await?;
    file_texts(&index, "s", ["g"], &["hail", "sleet"]).await?;
    file_texts(&index, "s", ["g"], &["hail alone"]).await?;
    finds(&index, "org1", by_word("rain"), &["r#0", "t#0"]).await?;
    finds(&index, "org1", by_word("hail"), &["s#0"]).await?;
    finds(&index, "org1", by_word("sleet"), NONE).await?;
    gone(&index, "sleet", "s#1").await
}

async fn after_narrowing(context: Context) -> Checked {
    let index = library(&context).await?;
    narrow(&index, "org1", "s", "few").await?;
    gone(&index, "rain", "s#0").await?;
    let answer = library::ask(&index, "org1", ["few"], by_word("rain")).await?;
    same_ids("the few", &passages(&answer), &["s#0"])
}
