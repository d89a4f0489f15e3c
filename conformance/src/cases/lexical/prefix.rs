//! Stored words that begin with a word of the query.

use shelfward_core::Match;
use shelfward_core::capabilities::Scoring;

use super::documents::{
    any, document, empty, faq, holding, leg, org, put, search, with_bm25_and_prefixes,
    with_prefixes,
};
use crate::case::Case;
use crate::check::{NONE, ids, same_ids};
use crate::context::{Context, refused};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = [
        Case::new("lexical/prefix", prefix),
        Case::new("lexical/prefix-of-every-word", of_every_word),
        Case::new("lexical/prefix-of-one-letter", one_letter),
        Case::new("lexical/prefix-of-too-many-words", too_many),
        Case::new("lexical/prefix-of-as-many-as-allowed", as_many_as_allowed),
        Case::new("lexical/prefix-under-a-filter", under_a_filter),
    ]
    .map(with_prefixes)
    .into();
    cases.push(with_bm25_and_prefixes(Case::new(
        "lexical/prefix-counts-by-the-best-word",
        best_word,
    )));
    cases
}

async fn prefix(context: Context) -> Checked {
    let collection = faq(&context).await?;
    for (query, matching, expected) in [
        ("pass", Match::Any, &["faq-1", "faq-2"][..]),
        ("PASS", Match::Any, &["faq-1", "faq-2"]),
        ("password", Match::Any, &["faq-1", "faq-2"]),
        ("password exp", Match::All, &["faq-2"]),
        ("word", Match::Any, &[]),
    ] {
        let found = search(&collection, query, matching, true).await?;
        same_ids(query, &ids(&found), expected)?;
    }
    let found = any(&collection, "pass").await?;
    same_ids("without prefix", &ids(&found), NONE)
}

async fn of_every_word(context: Context) -> Checked {
    let collection = faq(&context).await?;
    for (query, expected) in [
        ("nin cod", &["faq-4"][..]),
        ("nin day", &["faq-2"]),
        ("res pag", &["faq-1", "faq-4"]),
        ("nin nowhere", &[]),
        // Two words of a query may be satisfied by one stored word.
        ("pass passw", &["faq-1", "faq-2"]),
    ] {
        let found = search(&collection, query, Match::All, true).await?;
        same_ids(query, &ids(&found), expected)?;
    }
    Ok(())
}

async fn one_letter(context: Context) -> Checked {
    let collection = faq(&context).await?;
    put(&collection, &[("faq-5", "Not a prefix")]).await?;
    for (query, expected) in [("p", &[][..]), ("a", &["faq-1", "faq-5"]), ("é", &[])] {
        let found = search(&collection, query, Match::Any, true).await?;
        same_ids(query, &ids(&found), expected)?;
    }
    // The one letter exactly, the longer word by its beginning.
    let found = search(&collection, "a pre", Match::All, true).await?;
    same_ids("a pre", &ids(&found), &["faq-5"])
}

/// So many words, all beginning alike.
fn words(n: usize) -> String {
    (0..n).map(|n| format!("word{n} ")).collect()
}

async fn too_many(context: Context) -> Checked {
    let collection = holding(&context, &[("b", "word9999"), ("a", &words(1_100))]).await?;
    let leg = leg(&collection, "word", Match::Any, true, org()?)?;
    let answer = collection.search(&leg).await;
    let scoring = collection.capabilities().lexical.map(|l| l.scoring);
    match answer {
        // An engine that walks its own words may answer; then whole.
        Ok(found) if scoring == Some(Scoring::StoreOwn) => {
            same_ids("a prefix of 1,101 words", &ids(&found), &["a", "b"])?;
        }
        answer => refused(answer, "a prefix of 1,101 words")?,
    }
    let found = search(&collection, "word109", Match::Any, true).await?;
    same_ids("a longer prefix", &ids(&found), &["a"])?;
    let found = any(&collection, "word109").await?;
    same_ids("the word itself", &ids(&found), &["a"])
}

/// Each of 1,024 words is found by what all begin with, the last as well as the first.
async fn as_many_as_allowed(context: Context) -> Checked {
    let collection = empty(&context).await?;
    let first: String = (0..1_000).map(|n| format!("word{n:04} ")).collect();
    let last: String = (1_000..1_024).map(|n| format!("word{n:04} ")).collect();
    put(&collection, &[("first", &first), ("last", &last)]).await?;
    // What another tenant holds does not count.
    collection
        .upsert(&[document("other", "o", &words(1_000), "faq")?])
        .await?;
    let found = search(&collection, "word", Match::Any, true).await?;
    same_ids("1,024 words", &ids(&found), &["first", "last"])
}

async fn under_a_filter(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let note = document("org", "note", "A passport", "note")?;
    collection.upsert(&[note]).await?;
    let notes = super::documents::of_kind("note")?;
    let leg = leg(&collection, "pass", Match::Any, true, notes)?;
    same_ids(
        "pass in notes",
        &ids(&collection.search(&leg).await?),
        &["note"],
    )
}

/// Many words that begin alike make no record better than its best one does.
async fn best_word(context: Context) -> Checked {
    let texts = [
        ("many", "cartel cartoon carton cartridge"),
        ("one", "cart cart cart cart"),
        ("none", "four other words here"),
    ];
    super::scores::judged(&context, &texts, &[("cart", Match::Any, true)]).await
}
