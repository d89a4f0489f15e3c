//! The filter reaches this leg too, and a leg stays within one partition.

use shelfward_core::filter::key as field;
use shelfward_core::{Filter, Match};

use super::documents::{
    any, document, empty, faq, holding, leg, of_kind, org, search, with_our_words, with_words,
};
use crate::case::Case;
use crate::check::{NONE, NOT_FULL, full, ids, same_ids};
use crate::context::{Context, refused};
use crate::fixture;
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = [
        Case::new("lexical/filter", filter),
        Case::new("lexical/filter-that-nothing-passes", nothing_passes),
        Case::new("lexical/filter-on-a-list", on_a_list),
        Case::new(
            "lexical/partition-pinned-in-other-words",
            pinned_in_other_words,
        ),
        Case::new("lexical/tenants-apart", tenants_apart),
    ]
    .map(with_our_words)
    .into();
    cases.push(
        with_words(Case::new(
            "lexical/full-under-a-filter",
            full_under_a_filter,
        ))
        .only_where(|can| can.lexical.is_none() || full(can), NOT_FULL),
    );
    cases.push(
        Case::new("lexical/partition-must-be-pinned", unpinned)
            .only_where(|can| can.lexical.is_some(), "it has no lexical leg"),
    );
    cases
}

async fn filter(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let note = document("org", "note", "A password", "note")?;
    collection.upsert(&[note]).await?;
    let notes = field("tenant")
        .eq("org")
        .and(field("kind").ne("faq"))
        .build()?;
    let asked = leg(&collection, "password", Match::Any, false, notes)?;
    same_ids(
        "password in notes",
        &ids(&collection.search(&asked).await?),
        &["note"],
    )?;
    let asked = leg(&collection, "password", Match::All, false, of_kind("faq")?)?;
    same_ids(
        "password in the rest",
        &ids(&collection.search(&asked).await?),
        &["faq-1"],
    )
}

/// What holds the word does not pass, and what passes does not hold the word.
async fn nothing_passes(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let note = document("org", "note", "nothing to see", "note")?;
    collection.upsert(&[note]).await?;
    let asked = leg(
        &collection,
        "password reset",
        Match::Any,
        false,
        of_kind("note")?,
    )?;
    let found = collection.search(&asked).await?;
    same_ids("password in notes", &ids(&found), NONE)?;
    let asked = leg(&collection, "see", Match::Any, false, of_kind("note")?)?;
    same_ids(
        "see in notes",
        &ids(&collection.search(&asked).await?),
        &["note"],
    )
}

/// As a scope's groups are.
async fn on_a_list(context: Context) -> Checked {
    let spec = context.spec()?.with_fields(fixture::fields()?);
    let collection = context.make(&spec).await?;
    let records = [
        crate::context::record("a", 0, r#"{"l":["x","y"]}"#)?.with_text("rain"),
        crate::context::record("b", 1, r#"{"l":["z"]}"#)?.with_text("rain"),
        crate::context::record("c", 2, "{}")?.with_text("rain"),
    ];
    collection.upsert(&records).await?;
    for (filter, expected) in [
        (field("l").is_in(["y", "q"]), &["a"][..]),
        (field("l").all(["x", "y"]), &["a"]),
        (field("l").is_in(["q"]), &[]),
    ] {
        let asked = leg(&collection, "rain", Match::Any, false, filter.build()?)?;
        same_ids(
            "by members",
            &ids(&collection.search(&asked).await?),
            expected,
        )?;
    }
    Ok(())
}

async fn tenants_apart(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let other = document("other", "faq-1", "Reset nothing here", "faq")?;
    collection.upsert(&[other]).await?;
    same_ids(
        "ours",
        &ids(&any(&collection, "reset nothing").await?),
        &["faq-1", "faq-4"],
    )?;
    let theirs = field("tenant").eq("other").build()?;
    let asked = leg(&collection, "reset password", Match::Any, false, theirs)?;
    let found = collection.search(&asked).await?;
    same_ids("theirs", &ids(&found), &["faq-1"])?;
    let own = found
        .hits
        .iter()
        .all(|hit| hit.metadata.text("tenant") == Some("other"));
    crate::check::holds(own, || "a hit is of another tenant".into())
}

async fn full_under_a_filter(context: Context) -> Checked {
    let collection = empty(&context).await?;
    let mut documents = Vec::new();
    for n in 0..300 {
        // The many that do not match say the word more often, so they come first.
        documents.push(document(
            "org",
            &format!("near{n}"),
            "rain rain rain",
            "other",
        )?);
    }
    for n in 0..5 {
        let body = "rain and a good many other words beside it";
        documents.push(document("org", &format!("far{n}"), body, "mine")?);
    }
    collection.upsert(&documents).await?;
    let asked = leg(&collection, "rain", Match::Any, false, of_kind("mine")?)?.with_top_k(5);
    same_ids(
        "those that match",
        &ids(&collection.search(&asked).await?),
        &["far0", "far1", "far2", "far3", "far4"],
    )
}

/// A filter that comes to one partition is answered as the plain one is, or refused; the statistics
/// are never those of another.
async fn pinned_in_other_words(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let others = document("other", "o", "password password reset", "faq")?;
    let note = document("org", "note", "A password", "note")?;
    collection.upsert(&[others, note]).await?;
    let plain = any(&collection, "password reset").await?;
    same_ids(
        "the plain filter",
        &ids(&plain),
        &["faq-1", "faq-4", "note"],
    )?;
    for filter in [
        r#"{"tenant":{"$in":["org"]}}"#,
        r#"{"tenant":{"$in":["org","org"]}}"#,
        r#"{"tenant":{"$all":["org"]}}"#,
        r#"{"$and":[{"tenant":{"$in":["org","other"]}},{"tenant":"org"}]}"#,
        r#"{"$or":[{"tenant":"org","kind":"faq"},{"tenant":"org","kind":"note"}]}"#,
        r#"{"$and":[{"tenant":"org"},{"$or":[{"kind":"faq"},{"kind":{"$ne":"faq"}}]}]}"#,
    ] {
        let asked = Filter::from_json(filter)?;
        let asked = leg(&collection, "password reset", Match::Any, false, asked)?;
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
    let asked = leg(&collection, "password", Match::Any, false, nobody)?;
    let found = collection.search(&asked).await?;
    same_ids("of nobody", &ids(&found), NONE)
}

async fn unpinned(context: Context) -> Checked {
    let collection = holding(&context, &[("a", "password")]).await?;
    let unpinned = [
        Filter::everything(),
        field("kind").eq("faq").build()?,
        field("tenant").is_in(["org", "other"]).build()?,
        field("tenant").ne("other").build()?,
        field("tenant").exists(true).build()?,
        shelfward_core::filter::any_of([field("tenant").eq("org"), field("kind").eq("faq")])
            .build()?,
        shelfward_core::filter::not(field("tenant").eq("other")).build()?,
    ];
    for filter in unpinned {
        let asked = leg(&collection, "password", Match::Any, false, filter)?;
        refused(
            collection.search(&asked).await,
            "a lexical leg over several partitions",
        )?;
    }
    let found = search(&collection, "password", Match::Any, false).await?;
    same_ids("a pinned one", &ids(&found), &["a"])?;
    let asked = leg(&collection, "password", Match::Any, false, org()?)?;
    let dense = shelfward_core::Leg::dense([1.0; 4], Filter::everything(), 5);
    let wide = asked.with_filter(Filter::everything());
    refused(
        collection.search_both(&dense, &wide).await,
        "two legs, the lexical one over several partitions",
    )
}
