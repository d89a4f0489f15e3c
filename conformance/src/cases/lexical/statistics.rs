//! What scores are made of follows every write, and tells of nobody else.

use shelfward_core::capabilities::Scoring;
use shelfward_core::filter::key as field;
use shelfward_core::{Collection, LegResult, MetadataPatch};

use super::documents::{
    document, documents, faq, holding, keys, of_kind, put, search, serves_bm25, units, with_bm25,
    with_words,
};
use super::scores::judge;
use crate::bm25::Query;
use crate::case::Case;
use crate::check::{holds, ids, same_ids, same_order};
use crate::context::{Context, name, text_value};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    let by_filter = "lexical/statistics-follow-deletes-by-filter";
    let no_score = "lexical/other-tenants-change-no-score";
    let mut cases: Vec<Case> = [
        Case::new(no_score, other_tenants_by_the_formula),
        Case::new("lexical/statistics-follow-deletes", deletes),
        Case::new(by_filter, deletes_by_filter),
        Case::new("lexical/statistics-follow-replaces", replaces),
        Case::new("lexical/statistics-follow-overwrites", overwrites),
    ]
    .map(with_bm25)
    .into();
    let update = Case::new("lexical/statistics-after-an-update", updates);
    cases.push(update.only_where(
        |can| serves_bm25(can) && can.update_metadata.is_some(),
        "it changes no metadata in place, or its lexical scores are of its own rule",
    ));
    let others = Case::new("lexical/other-tenants-do-not-show", other_tenants);
    cases.insert(0, with_words(others));
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
    let mut pairs = before.hits.iter().zip(&after.hits);
    let moved = pairs.find(|(a, b)| a.score.to_bits() != b.score.to_bits());
    holds(moved.is_none(), || {
        let moved = moved.map(|(before, after)| (&before.key.id, before.score, after.score));
        format!("a score changes with what it must not depend on (id, before, after): {moved:?}")
    })
}

async fn other_tenants(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let before = search(&collection, "password codes").await?;
    for n in 0..20 {
        let body = "password password codes";
        let other = document("other", &format!("o{n}"), body, "faq")?;
        collection.upsert(&[other]).await?;
    }
    let after = search(&collection, "password codes").await?;
    same_ids("ids", &ids(&after), &ids(&before))?;
    same_scores_where_ours(&collection, &before, &after)?;
    let theirs = field("tenant").eq("other").build()?;
    collection.delete_matching(&theirs.narrow()?).await?;
    let again = search(&collection, "password codes").await?;
    same_scores_where_ours(&collection, &before, &again)
}

const TEXTS: [(&str, &str); 5] = [
    ("a", "rain and more rain"),
    ("b", "rain"),
    ("c", "snow and a good many other words"),
    ("d", "snow and rain"),
    ("e", "nothing of either"),
];

const QUERIES: [Query<'_>; 3] = [
    Query::any("rain"),
    Query::any("rain snow and"),
    Query::all("rain and"),
];

async fn other_tenants_by_the_formula(context: Context) -> Checked {
    let collection = holding(&context, &TEXTS).await?;
    // Under the same ids too: a key is a tenant's.
    let ids = ["a", "b", "c"].map(str::to_owned).into_iter();
    let ids = ids.chain((3..20).map(|n| format!("o{n}")));
    let other = |id: String| document("other", &id, "rain and rain and rain", "faq");
    collection
        .upsert(&ids.map(other).collect::<Checked<Vec<_>>>()?)
        .await?;
    judge(&collection, &TEXTS, &QUERIES).await
}

fn without<'a>(gone: &[&str]) -> Vec<(&'a str, &'a str)> {
    let left = TEXTS.iter().filter(|(id, _)| !gone.contains(id));
    left.copied().collect()
}

async fn deletes(context: Context) -> Checked {
    let collection = holding(&context, &TEXTS).await?;
    collection.delete(&keys(&["b", "d"])?).await?;
    judge(&collection, &without(&["b", "d"]), &QUERIES).await?;
    // Written again, it counts again.
    put(&collection, &[("b", "rain")]).await?;
    judge(&collection, &without(&["d"]), &QUERIES).await
}

async fn deletes_by_filter(context: Context) -> Checked {
    let collection = holding(&context, &TEXTS).await?;
    collection.delete_matching(&units(&["a", "c"])?).await?;
    judge(&collection, &without(&["a", "c"]), &QUERIES).await
}

async fn replaces(context: Context) -> Checked {
    let collection = holding(&context, &TEXTS).await?;
    let texts = [
        ("a", "snow"),
        ("f", "rain and wind and rain"),
        ("g", "wind"),
    ];
    let selector = of_kind("faq")?.narrow()?;
    collection.replace(&selector, &documents(&texts)?).await?;
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
    let patch = MetadataPatch::new().set(name("kind")?, text_value("moved")?);
    collection
        .update_metadata(&units(&["a", "d"])?, &patch)
        .await?;
    judge(&collection, &TEXTS, &QUERIES).await
}
