//! Two legs asked for together are answered as each would be alone.

use shelfward_core::{Collection, Filter, Leg, LegResult};

use super::documents::{
    FAQ, empty, faq, faq_and_note, keys, leg, of_kind, org, with_a_leg, with_our_words,
    with_vectors, with_words,
};
use crate::case::Case;
use crate::check::{NONE, holds, ids, same_ids, same_order};
use crate::context::{Context, refused};
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
    // The words find nothing, and the dense leg is none the worse.
    let alone = [
        ("lexical/a-leg-without-words", "???"),
        ("lexical/a-leg-that-finds-nothing", "nowhere"),
    ];
    cases.extend(alone.map(|(id, query)| {
        with_words(Case::new(id, move |context| async move {
            let collection = faq(&context).await?;
            let all = FAQ.map(|(id, _)| id);
            each(&collection, org()?, &all, query, org()?, NONE).await
        }))
    }));
    let refused = Case::new("lexical/a-leg-that-is-refused", refused_legs);
    cases.push(with_a_leg(refused));
    cases
}

/// What each of two legs finds, under a filter of its own.
async fn each(
    collection: &Collection,
    dense: Filter,
    near: &[&str],
    query: &str,
    lexical: Filter,
    by_word: &[&str],
) -> Checked {
    let dense = Leg::dense([1.0; 4], dense, 20);
    let lexical = leg(collection, query, lexical)?;
    let (dense, lexical) = collection.search_both(&dense, &lexical).await?;
    same_ids("the dense leg", &ids(&dense), near)?;
    same_ids("the lexical leg", &ids(&lexical), by_word)
}

async fn both(context: Context) -> Checked {
    let collection = faq_and_note(&context, "A password").await?;
    let (notes, query) = (of_kind("note")?, "password reset");
    each(
        &collection,
        notes.clone(),
        &["note"],
        query,
        notes,
        &["note"],
    )
    .await
}

async fn own_filters(context: Context) -> Checked {
    let collection = faq_and_note(&context, "A password").await?;
    let (notes, rest) = (of_kind("note")?, of_kind("faq")?);
    each(&collection, notes, &["note"], "password", rest, &["faq-1"]).await
}

async fn after_a_delete(context: Context) -> Checked {
    let collection = faq(&context).await?;
    collection.delete(&keys(&["faq-4", "faq-1"])?).await?;
    let (left, query) = (["faq-2", "faq-3"], "password reset codes");
    each(&collection, org()?, &left, query, org()?, &["faq-3"]).await
}

fn same_found(what: &str, found: &LegResult, alone: &LegResult) -> Checked {
    same_order(what, &ids(found), &ids(alone))?;
    let mut pairs = found.hits.iter().zip(&alone.hits);
    match pairs.find(|(a, b)| a.score.to_bits() != b.score.to_bits()) {
        None => Ok(()),
        Some((a, b)) => holds(false, || {
            let (id, together, alone) = (&a.key.id, a.score, b.score);
            format!("{what}: the score of {id} is {together}, and {alone} where it is asked alone")
        }),
    }
}

async fn as_each_alone(context: Context) -> Checked {
    // Records of which the vectors and the words say different things.
    let records = with_vectors(&[
        ("near", "snow", [1.0, 0.0, 0.0, 0.0]),
        ("nearer", "wind", [1.0, 0.125, 0.0, 0.0]),
        ("far", "rain", [0.25, 1.0, 0.0, 0.0]),
        ("farther", "rain rain and more", [0.0, 1.0, 0.0, 0.0]),
    ])?;
    let collection = empty(&context).await?;
    collection.upsert(&records).await?;
    for top_k in [1, 2, 20] {
        let dense = Leg::dense([1.0, 0.0, 0.0, 0.0], org()?, top_k);
        let lexical = leg(&collection, "rain", org()?)?.with_top_k(top_k);
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

/// Either leg refuses both: half an answer would be taken for a whole one.
async fn refused_legs(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let dense = Leg::dense([1.0; 4], org()?, 20);
    let lexical = leg(&collection, "password", org()?)?;
    let odd = Leg::dense([1.0; 3], org()?, 20);
    let wide = lexical.with_filter(Filter::everything());
    let deep = lexical.with_top_k(1_000_000);
    for (what, dense, lexical) in [
        ("a dense leg of another width", &odd, &lexical),
        ("a lexical leg over every partition", &dense, &wide),
        ("a lexical leg of a million hits", &dense, &deep),
    ] {
        refused(collection.search_both(dense, lexical).await, what)?;
    }
    Ok(())
}
