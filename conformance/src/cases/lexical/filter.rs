//! The filter reaches this leg too, and a leg stays within one partition.

use shelfward_core::filter::{any_of, key as field, not};
use shelfward_core::{Filter, Leg};

use super::documents::{
    document, empty, faq, faq_and_note, finds, finds_within, holding, leg, of_kind, org, search,
    with_a_leg, with_our_words, with_words,
};
use crate::bm25::Query;
use crate::case::Case;
use crate::check::{NONE, NOT_FULL, full, holds, ids, same_ids};
use crate::context::{Context, record, refused};
use crate::fixture;
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    let pinned = "lexical/partition-pinned-in-other-words";
    let mut cases: Vec<Case> = [
        Case::new("lexical/filter", filter),
        Case::new("lexical/filter-that-nothing-passes", nothing_passes),
        Case::new("lexical/filter-on-a-list", on_a_list),
        Case::new(pinned, pinned_in_other_words),
        Case::new("lexical/tenants-apart", tenants_apart),
    ]
    .map(with_our_words)
    .into();
    let full_case = with_words(Case::new(
        "lexical/full-under-a-filter",
        full_under_a_filter,
    ));
    cases.push(full_case.only_where(|can| can.lexical.is_none() || full(can), NOT_FULL));
    let unpinned = Case::new("lexical/partition-must-be-pinned", unpinned);
    cases.push(with_a_leg(unpinned));
    cases
}

async fn filter(context: Context) -> Checked {
    let collection = faq_and_note(&context, "A password").await?;
    let notes = field("tenant").eq("org").and(field("kind").ne("faq"));
    finds_within(&collection, "password", notes.build()?, &["note"]).await?;
    finds_within(
        &collection,
        Query::all("password"),
        of_kind("faq")?,
        &["faq-1"],
    )
    .await
}

/// What holds the word does not pass, and what passes does not hold the word.
async fn nothing_passes(context: Context) -> Checked {
    let collection = faq_and_note(&context, "nothing to see").await?;
    finds_within(&collection, "password reset", of_kind("note")?, NONE).await?;
    finds_within(&collection, "see", of_kind("note")?, &["note"]).await
}

/// As a scope's groups are.
async fn on_a_list(context: Context) -> Checked {
    let records = [
        record("a", 0, r#"{"l":["x","y"]}"#)?.with_text("rain"),
        record("b", 1, r#"{"l":["z"]}"#)?.with_text("rain"),
        record("c", 2, "{}")?.with_text("rain"),
    ];
    let collection = fixture::holding(&context, &records).await?;
    for (filter, expected) in [
        (field("l").is_in(["y", "q"]), &["a"][..]),
        (field("l").all(["x", "y"]), &["a"]),
        (field("l").is_in(["q"]), NONE),
    ] {
        finds_within(&collection, "rain", filter.build()?, expected).await?;
    }
    Ok(())
}

async fn tenants_apart(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let other = document("other", "faq-1", "Reset nothing here", "faq")?;
    collection.upsert(&[other]).await?;
    finds(&collection, "reset nothing", &["faq-1", "faq-4"]).await?;
    let theirs = field("tenant").eq("other").build()?;
    let found = collection
        .search(&leg(&collection, "reset password", theirs)?)
        .await?;
    same_ids("theirs", &ids(&found), &["faq-1"])?;
    let mut hits = found.hits.iter();
    let own = hits.all(|hit| hit.metadata.text("tenant") == Some("other"));
    holds(own, || "a hit is of another tenant".into())
}

async fn full_under_a_filter(context: Context) -> Checked {
    let collection = empty(&context).await?;
    let mut documents = Vec::new();
    for n in 0..300 {
        // The many that do not match say the word more often, so they come first.
        let id = format!("near{n}");
        documents.push(document("org", &id, "rain rain rain", "other")?);
    }
    for n in 0..5 {
        let body = "rain and a good many other words beside it";
        documents.push(document("org", &format!("far{n}"), body, "mine")?);
    }
    collection.upsert(&documents).await?;
    let asked = leg(&collection, "rain", of_kind("mine")?)?.with_top_k(5);
    let found = ids(&collection.search(&asked).await?);
    let expected = ["far0", "far1", "far2", "far3", "far4"];
    same_ids("those that match", &found, &expected)
}

/// A filter that comes to one partition is answered as the plain one is, or refused; the statistics
/// are never those of another.
async fn pinned_in_other_words(context: Context) -> Checked {
    let collection = faq_and_note(&context, "A password").await?;
    let others = document("other", "o", "password password reset", "faq")?;
    collection.upsert(&[others]).await?;
    let plain = search(&collection, "password reset").await?;
    let expected = ["faq-1", "faq-4", "note"];
    same_ids("the plain filter", &ids(&plain), &expected)?;
    for filter in [
        r#"{"tenant":{"$in":["org"]}}"#,
        r#"{"tenant":{"$in":["org","org"]}}"#,
        r#"{"tenant":{"$all":["org"]}}"#,
        r#"{"$and":[{"tenant":{"$in":["org","other"]}},{"tenant":"org"}]}"#,
        r#"{"$or":[{"tenant":"org","kind":"faq"},{"tenant":"org","kind":"note"}]}"#,
        r#"{"$and":[{"tenant":"org"},{"$or":[{"kind":"faq"},{"kind":{"$ne":"faq"}}]}]}"#,
    ] {
        let asked = leg(&collection, "password reset", Filter::from_json(filter)?)?;
        match collection.search(&asked).await {
            Ok(found) => {
                same_ids(filter, &ids(&found), &ids(&plain))?;
                super::statistics::same_scores_where_ours(&collection, &plain, &found)?;
            }
            Err(error) if error.is_refusal() => {}
            Err(error) => return Err(error.into()),
        }
    }
    let nobody = Filter::from_json(r#"{"tenant":{"$in":[]}}"#)?;
    finds_within(&collection, "password", nobody, NONE).await
}

async fn unpinned(context: Context) -> Checked {
    let collection = holding(&context, &[("a", "password")]).await?;
    for filter in [
        Filter::everything(),
        field("kind").eq("faq").build()?,
        field("tenant").is_in(["org", "other"]).build()?,
        field("tenant").ne("other").build()?,
        field("tenant").exists(true).build()?,
        any_of([field("tenant").eq("org"), field("kind").eq("faq")]).build()?,
        not(field("tenant").eq("other")).build()?,
    ] {
        let answer = collection
            .search(&leg(&collection, "password", filter)?)
            .await;
        refused(answer, "a lexical leg over several partitions")?;
    }
    finds(&collection, "password", &["a"]).await?;
    let dense = Leg::dense([1.0; 4], Filter::everything(), 5);
    let wide = leg(&collection, "password", org()?)?.with_filter(Filter::everything());
    let answer = collection.search_both(&dense, &wide).await;
    refused(answer, "two legs, the lexical one over several partitions")
}
