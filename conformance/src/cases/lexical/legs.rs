//! Two legs asked for together are answered as each would be alone.

use shelfward_core::{Collection, Key, Leg, LegResult, Match};

use super::documents::{document, faq, holding, leg, of_kind, org, with_our_words, with_words};
use crate::case::Case;
use crate::check::{NONE, holds, ids, same_ids, same_order};
use crate::context::{Context, refused, text};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = [
        Case::new("lexical/both-legs", both),
        Case::new("lexical/both-legs-as-each-alone", as_each_alone),
        Case::new("lexical/both-legs-after-a-delete", after_a_delete),
        Case::new("lexical/both-legs-with-filters-of-their-own", own_filters),
    ]
    .map(with_our_words)
    .into();
    cases.extend(
        [
            Case::new("lexical/a-leg-without-words", without_words),
            Case::new("lexical/a-leg-that-finds-nothing", finds_nothing),
        ]
        .map(with_words),
    );
    cases.push(
        Case::new("lexical/a-leg-that-is-refused", refused_legs)
            .only_where(|can| can.lexical.is_some(), "it has no lexical leg"),
    );
    cases
}

async fn both(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let note = document("org", "note", "A password", "note")?;
    collection.upsert(&[note]).await?;
    let dense = Leg::dense([1.0; 4], of_kind("note")?, 20);
    let lexical = leg(
        &collection,
        "password reset",
        Match::Any,
        false,
        of_kind("note")?,
    )?;
    let (dense, lexical) = collection.search_both(&dense, &lexical).await?;
    same_ids("the dense leg", &ids(&dense), &["note"])?;
    same_ids("the lexical leg", &ids(&lexical), &["note"])
}

fn same_found(what: &str, found: &LegResult, alone: &LegResult) -> Checked {
    same_order(what, &ids(found), &ids(alone))?;
    let pairs = found.hits.iter().zip(&alone.hits);
    let mut same = pairs.map(|(a, b)| a.score.to_bits() == b.score.to_bits());
    holds(same.all(|same| same), || {
        format!("{what}: a score is not that of the leg alone")
    })
}

async fn as_each_alone(context: Context) -> Checked {
    let collection = apart(&context).await?;
    for top_k in [1, 2, 20] {
        let dense = Leg::dense([1.0, 0.0, 0.0, 0.0], org()?, top_k);
        let lexical = leg(&collection, "rain", Match::Any, false, org()?)?.with_top_k(top_k);
        let alone = (
            collection.search(&dense).await?,
            collection.search(&lexical).await?,
        );
        let both = collection.search_both(&dense, &lexical).await?;
        same_found("the dense leg", &both.0, &alone.0)?;
        same_found("the lexical leg", &both.1, &alone.1)?;
    }
    Ok(())
}

/// Records of which the vectors and the words say different things.
async fn apart(context: &Context) -> Checked<Collection> {
    let collection = holding(context, &[]).await?;
    let documents = [
        ("near", "snow", [1.0, 0.0, 0.0, 0.0]),
        ("nearer", "wind", [1.0, 0.125, 0.0, 0.0]),
        ("far", "rain", [0.25, 1.0, 0.0, 0.0]),
        ("farther", "rain rain and more", [0.0, 1.0, 0.0, 0.0]),
    ];
    let mut records = Vec::new();
    for (id, body, vector) in documents {
        let mut record = document("org", id, body, "faq")?;
        record.vector = vector.into();
        records.push(record);
    }
    collection.upsert(&records).await?;
    Ok(collection)
}

async fn after_a_delete(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let keys = ["faq-4", "faq-1"].map(|id| Ok(Key::within(text("org")?, text(id)?)));
    let keys = keys.into_iter().collect::<Checked<Vec<_>>>()?;
    collection.delete(&keys).await?;
    let dense = Leg::dense([1.0; 4], org()?, 20);
    let lexical = leg(
        &collection,
        "password reset codes",
        Match::Any,
        false,
        org()?,
    )?;
    let (dense, lexical) = collection.search_both(&dense, &lexical).await?;
    same_ids("the dense leg", &ids(&dense), &["faq-2", "faq-3"])?;
    same_ids("the lexical leg", &ids(&lexical), &["faq-3"])
}

async fn own_filters(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let note = document("org", "note", "A password", "note")?;
    collection.upsert(&[note]).await?;
    let dense = Leg::dense([1.0; 4], of_kind("note")?, 20);
    let lexical = leg(&collection, "password", Match::Any, false, of_kind("faq")?)?;
    let (dense, lexical) = collection.search_both(&dense, &lexical).await?;
    same_ids("the dense leg", &ids(&dense), &["note"])?;
    same_ids("the lexical leg", &ids(&lexical), &["faq-1"])
}

async fn without_words(context: Context) -> Checked {
    dense_alone(context, "???").await
}

async fn finds_nothing(context: Context) -> Checked {
    dense_alone(context, "nowhere").await
}

/// The words find nothing, and the dense leg is none the worse.
async fn dense_alone(context: Context, query: &str) -> Checked {
    let collection = faq(&context).await?;
    let dense = Leg::dense([1.0; 4], org()?, 20);
    let lexical = leg(&collection, query, Match::Any, false, org()?)?;
    let (dense, lexical) = collection.search_both(&dense, &lexical).await?;
    same_ids("the lexical leg", &ids(&lexical), NONE)?;
    same_ids(
        "the dense leg",
        &ids(&dense),
        &["faq-1", "faq-2", "faq-3", "faq-4"],
    )
}

/// Either leg refuses both: half an answer would be taken for a whole one.
async fn refused_legs(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let dense = Leg::dense([1.0; 4], org()?, 20);
    let lexical = leg(&collection, "password", Match::Any, false, org()?)?;
    let odd = Leg::dense([1.0; 3], org()?, 20);
    refused(
        collection.search_both(&odd, &lexical).await,
        "a dense leg of another width",
    )?;
    let wide = lexical.with_filter(shelfward_core::Filter::everything());
    refused(
        collection.search_both(&dense, &wide).await,
        "a lexical leg over every partition",
    )?;
    let deep = lexical.with_top_k(1_000_000);
    refused(
        collection.search_both(&dense, &deep).await,
        "a lexical leg of a million hits",
    )
}
