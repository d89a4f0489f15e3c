//! What scores are made of follows every write, and tells of nobody else.

use shelfward_core::capabilities::Scoring;
use shelfward_core::filter::key as field;
use shelfward_core::{
    Collection, Key, LegResult, Match, MetadataKey, MetadataPatch, Scalar, Value,
};

use super::documents::{any, document, faq, holding, put, with_bm25, with_words};
use super::scores::judge;
use crate::case::Case;
use crate::check::{holds, ids, same_order};
use crate::context::{Context, text};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![with_words(Case::new(
        "lexical/other-tenants-do-not-show",
        other_tenants,
    ))];
    cases.extend(
        [
            Case::new(
                "lexical/other-tenants-change-no-score",
                other_tenants_by_the_formula,
            ),
            Case::new("lexical/statistics-follow-deletes", deletes),
            Case::new(
                "lexical/statistics-follow-deletes-by-filter",
                deletes_by_filter,
            ),
            Case::new("lexical/statistics-follow-replaces", replaces),
            Case::new("lexical/statistics-follow-overwrites", overwrites),
            Case::new("lexical/statistics-after-an-update", updates).only_where(
                |can| super::documents::serves_bm25(can) && can.update_metadata.is_some(),
                "it changes no metadata in place, or its lexical scores are of its own rule",
            ),
        ]
        .into_iter()
        .enumerate()
        // The last has a condition of its own.
        .map(|(n, case)| if n < 5 { with_bm25(case) } else { case }),
    );
    cases
}

/// Scores of the same hits are the same; those of a store's own rule, which are never shown, may
/// move.
pub(super) fn same_scores_where_ours(
    collection: &Collection,
    before: &LegResult,
    after: &LegResult,
) -> Checked {
    let lexical = collection.capabilities().lexical;
    if lexical.is_some_and(|l| l.scoring == Scoring::StoreOwn) {
        return Ok(());
    }
    same_order("ids", &ids(after), &ids(before))?;
    let pairs = before.hits.iter().zip(&after.hits);
    let same = pairs.clone().count() == before.hits.len()
        && pairs
            .clone()
            .all(|(a, b)| a.score.to_bits() == b.score.to_bits());
    holds(same, || {
        "a score changes with what it must not depend on".into()
    })
}

async fn other_tenants(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let before = any(&collection, "password codes").await?;
    for n in 0..20 {
        let body = "password password codes";
        let other = document("other", &format!("o{n}"), body, "faq")?;
        collection.upsert(&[other]).await?;
    }
    let after = any(&collection, "password codes").await?;
    crate::check::same_ids("ids", &ids(&after), &ids(&before))?;
    same_scores_where_ours(&collection, &before, &after)?;
    let theirs = field("tenant").eq("other").build()?;
    collection.delete_matching(&theirs.narrow()?).await?;
    let again = any(&collection, "password codes").await?;
    same_scores_where_ours(&collection, &before, &again)
}

const TEXTS: [(&str, &str); 5] = [
    ("a", "rain and more rain"),
    ("b", "rain"),
    ("c", "snow and a good many other words"),
    ("d", "snow and rain"),
    ("e", "nothing of either"),
];

const QUERIES: [(&str, Match, bool); 3] = [
    ("rain", Match::Any, false),
    ("rain snow and", Match::Any, false),
    ("rain and", Match::All, false),
];

async fn other_tenants_by_the_formula(context: Context) -> Checked {
    let collection = holding(&context, &TEXTS).await?;
    let mut others = Vec::new();
    for n in 0..20 {
        // Under the same ids too: a key is a tenant's.
        let id = ["a", "b", "c"]
            .get(n)
            .map_or_else(|| format!("o{n}"), ToString::to_string);
        others.push(document("other", &id, "rain and rain and rain", "faq")?);
    }
    collection.upsert(&others).await?;
    judge(&collection, &TEXTS, &QUERIES).await
}

fn without<'a>(gone: &[&str]) -> Vec<(&'a str, &'a str)> {
    let left = TEXTS.iter().filter(|(id, _)| !gone.contains(id));
    left.copied().collect()
}

async fn deletes(context: Context) -> Checked {
    let collection = holding(&context, &TEXTS).await?;
    let gone = ["b", "d"];
    let keys: Checked<Vec<_>> = gone
        .iter()
        .map(|id| Ok(Key::within(text("org")?, text(id)?)))
        .collect();
    collection.delete(&keys?).await?;
    judge(&collection, &without(&gone), &QUERIES).await?;
    // Written again, it counts again.
    put(&collection, &[("b", "rain")]).await?;
    judge(&collection, &without(&["d"]), &QUERIES).await
}

async fn deletes_by_filter(context: Context) -> Checked {
    let collection = holding(&context, &TEXTS).await?;
    let selector = field("tenant")
        .eq("org")
        .and(field("unit").is_in(["a", "c"]));
    let selector = selector.build()?.narrow()?;
    collection.delete_matching(&selector).await?;
    judge(&collection, &without(&["a", "c"]), &QUERIES).await
}

async fn replaces(context: Context) -> Checked {
    let collection = holding(&context, &TEXTS).await?;
    let selector = field("tenant").eq("org").and(field("kind").eq("faq"));
    let selector = selector.build()?.narrow()?;
    let texts = [
        ("a", "snow"),
        ("f", "rain and wind and rain"),
        ("g", "wind"),
    ];
    let new: Checked<Vec<_>> = texts
        .iter()
        .map(|(id, body)| document("org", id, body, "faq"))
        .collect();
    collection.replace(&selector, &new?).await?;
    judge(&collection, &texts, &QUERIES).await
}

async fn overwrites(context: Context) -> Checked {
    let collection = holding(&context, &TEXTS).await?;
    let new = [
        ("a", "snow alone"),
        ("e", "rain and rain and rain and wind"),
    ];
    put(&collection, &new).await?;
    let mut texts = without(&["a", "e"]);
    texts.extend(new);
    judge(&collection, &texts, &QUERIES).await
}

async fn updates(context: Context) -> Checked {
    let collection = holding(&context, &TEXTS).await?;
    let selector = field("tenant")
        .eq("org")
        .and(field("unit").is_in(["a", "d"]));
    let moved = Value::Scalar(Scalar::text("moved")?);
    let patch = MetadataPatch::new().set(MetadataKey::new("kind")?, moved);
    collection
        .update_metadata(&selector.build()?.narrow()?, &patch)
        .await?;
    judge(&collection, &TEXTS, &QUERIES).await
}
