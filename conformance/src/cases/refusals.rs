//! What is refused, and that no condition is ever dropped.

use shelfward_core::filter::{all_of, any_of, key as field, not};
use shelfward_core::{Filter, Include, Leg, Match, query_words};

use crate::case::Case;
use crate::check::{NONE, found, holds, left, same_ids};
use crate::context::{Context, record, refused};
use crate::fixture;
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("refusals/undeclared-field", undeclared),
        Case::new("refusals/open-fields-where-there-are-none", open_fields),
        Case::new("refusals/lexical-where-there-is-none", lexical),
        Case::new("refusals/filter-over-the-nodes", nodes),
        Case::new("refusals/filter-over-the-values", values),
        Case::new("refusals/top-k-over-the-ceiling", top_k),
        Case::new("refusals/page-of-nothing", page),
        Case::new("refusals/replace-with-a-stray-record", stray),
        Case::new("refusals/malformed-filters", malformed),
        Case::new("refusals/no-condition-is-dropped", no_condition_dropped),
    ]
}

async fn undeclared(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let filter = Filter::from_json(r#"{"unknown":1}"#)?;
    let what = "a filter on an undeclared field";
    refused(collection.count(&filter).await, what)?;
    refused(
        collection.search(&Leg::dense([1.0; 4], filter, 5)).await,
        what,
    )
}

async fn open_fields(context: Context) -> Checked {
    let spec = context.spec()?.with_open_fields(true);
    if context.adapter().await?.capabilities(&spec).open_fields {
        return context.make(&spec).await.map(drop);
    }
    let answer = context.store().await?.ensure(&spec).await;
    refused(answer, "open fields on a store that has none")
}

async fn lexical(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let words = query_words("text", collection.spec().word_rule, false)?;
    let leg = Leg::lexical(words, Match::Any, Filter::everything(), 5);
    let answer = collection.search(&leg).await;
    if collection.capabilities().lexical.is_some() {
        return answer.map(drop).map_err(Finding::from);
    }
    refused(answer, "a lexical leg where there is none")?;
    // The bare adapter refuses too: nobody may reach it with what it excludes.
    let bare = context.bare(&collection.spec().name).await?;
    refused(
        bare.search(&[leg]).await,
        "a lexical leg at the bare adapter",
    )
}

async fn nodes(context: Context) -> Checked {
    let many = any_of((0..5_000).map(|n| field("n").eq(n)));
    holds(many.build().is_err(), || {
        "a filter of 5,001 nodes can be built".into()
    })?;
    let fits = any_of((0..1_000).map(|n| field("n").eq(n + 1_000_000))).build()?;
    let found = found(&fixture::declared(&context).await?, fits).await?;
    same_ids("a filter of 1,001 nodes", &found, NONE)
}

async fn values(_: Context) -> Checked {
    holds(field("n").is_in(0..10_001).build().is_err(), || {
        "10,001 values can be given".into()
    })?;
    let fits = field("n").is_in(0..10_000).build();
    fits.map(drop).map_err(Finding::from)
}

async fn top_k(context: Context) -> Checked {
    let leg = Leg::dense([1.0; 4], Filter::everything(), 1_000_000);
    let answer = fixture::declared(&context).await?.search(&leg).await;
    refused(answer, "a top_k of a million")
}

async fn page(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let everything = Filter::everything();
    let page = collection.scan(&everything, None, 0, Include::METADATA);
    refused(page.await, "a page of 0 records")
}

async fn stray(context: Context) -> Checked {
    let old = record("old", 0, r#"{"t":"mine"}"#)?;
    let collection = fixture::holding(&context, &[old]).await?;
    let selector = field("t").eq("mine").build()?.narrow()?;
    let stray = record("new", 1, r#"{"t":"theirs"}"#)?;
    let answer = collection.replace(&selector, &[stray]).await;
    refused(answer, "a record that the selector does not name")?;
    left("after the refusal", &collection, &["old"]).await
}

async fn malformed(_: Context) -> Checked {
    let malformed = [
        r#"{"t":{"$regex":"a"}}"#,
        r#"{"$nor":[]}"#,
        r#"{"t":{}}"#,
        r#"{"t":null}"#,
        r#"{"t":["a"]}"#,
        r#"{"t":{"$in":"a"}}"#,
        r#"{"t":{"$eq":["a"]}}"#,
        r#"{"t":{"$gt":true}}"#,
        r#"{"t":{"$exists":1}}"#,
        r#"{"t":"a","t":"b"}"#,
        r#"{"t'":"a"}"#,
        r#"{"n":9223372036854775808}"#,
        r#"{"$or":{"t":"a"}}"#,
        r#"{"t":"a"} x"#,
        "[]",
        "",
    ];
    malformed.iter().try_for_each(|json| {
        holds(Filter::from_json(json).is_err(), || {
            format!("the filter {json} is taken")
        })
    })
}

async fn no_condition_dropped(context: Context) -> Checked {
    // To drop any of the first three lets more through, so that it shows.
    let filter = all_of([
        field("t").is_in(["red", "Red", "été"]),
        field("l").all(["a"]),
        any_of([field("b").eq(false), field("t").eq("red")]),
        field("n").lt(100),
        not(field("x").gt(100)),
    ])
    .build()?;
    let found = found(&fixture::declared(&context).await?, filter).await?;
    same_ids("five conditions", &found, &["a"])
}
