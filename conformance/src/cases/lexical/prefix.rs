//! Stored words that begin with a word of the query.

use shelfward_core::capabilities::Scoring;

use super::documents::{
    document, each_finds, empty, faq, faq_and_note, finds, finds_within, holding, leg, of_kind,
    org, put, serves_bm25, with_prefixes,
};
use crate::bm25::Query;
use crate::case::Case;
use crate::check::{NONE, ids, same_ids};
use crate::context::{Context, refused};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    let best = "lexical/prefix-counts-by-the-best-word";
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
    cases.push(Case::new(best, best_word).only_where(
        |can| serves_bm25(can) && can.lexical.is_some_and(|l| l.prefix),
        "it has no prefixes, or its lexical scores are of its own rule",
    ));
    cases
}

pub(super) const fn any(text: &str) -> Query<'_> {
    Query::any(text).by_prefix(true)
}

pub(super) const fn all(text: &str) -> Query<'_> {
    Query::all(text).by_prefix(true)
}

async fn prefix(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let table: [(_, &[&str]); 6] = [
        (any("pass"), &["faq-1", "faq-2"]),
        (any("PASS"), &["faq-1", "faq-2"]),
        (any("password"), &["faq-1", "faq-2"]),
        (all("password exp"), &["faq-2"]),
        (any("word"), NONE),
        (Query::any("pass"), NONE),
    ];
    each_finds(&collection, &table).await
}

async fn of_every_word(context: Context) -> Checked {
    let table: [(_, &[&str]); 5] = [
        (all("nin cod"), &["faq-4"]),
        (all("nin day"), &["faq-2"]),
        (all("res pag"), &["faq-1", "faq-4"]),
        (all("nin nowhere"), NONE),
        // Two words of a query may be satisfied by one stored word.
        (all("pass passw"), &["faq-1", "faq-2"]),
    ];
    each_finds(&faq(&context).await?, &table).await
}

async fn one_letter(context: Context) -> Checked {
    let collection = faq(&context).await?;
    put(&collection, &[("faq-5", "Not a prefix")]).await?;
    let table: [(_, &[&str]); 4] = [
        (any("p"), NONE),
        (any("a"), &["faq-1", "faq-5"]),
        (any("é"), NONE),
        // The one letter exactly, the longer word by its beginning.
        (all("a pre"), &["faq-5"]),
    ];
    each_finds(&collection, &table).await
}

/// So many words, all beginning alike.
fn words(n: usize) -> String {
    (0..n).map(|n| format!("word{n} ")).collect()
}

async fn too_many(context: Context) -> Checked {
    let collection = holding(&context, &[("b", "word9999"), ("a", &words(1_100))]).await?;
    let answer = collection
        .search(&leg(&collection, any("word"), org()?)?)
        .await;
    let scoring = collection.capabilities().lexical.map(|l| l.scoring);
    match answer {
        // An engine that walks its own words may answer; then whole.
        Ok(found) if scoring == Some(Scoring::StoreOwn) => {
            same_ids("a prefix of 1,101 words", &ids(&found), &["a", "b"])?;
        }
        answer => refused(answer, "a prefix of 1,101 words")?,
    }
    // A longer prefix, and the word itself.
    finds(&collection, any("word109"), &["a"]).await?;
    finds(&collection, "word109", &["a"]).await
}

/// Each of 1,024 words is found by what all begin with, the last as well as the first.
async fn as_many_as_allowed(context: Context) -> Checked {
    let collection = empty(&context).await?;
    let first: String = (0..1_000).map(|n| format!("word{n:04} ")).collect();
    let last: String = (1_000..1_024).map(|n| format!("word{n:04} ")).collect();
    put(&collection, &[("first", &first), ("last", &last)]).await?;
    // What another tenant holds does not count.
    let other = document("other", "o", &words(1_000), "faq")?;
    collection.upsert(&[other]).await?;
    finds(&collection, any("word"), &["first", "last"]).await
}

async fn under_a_filter(context: Context) -> Checked {
    let collection = faq_and_note(&context, "A passport").await?;
    finds_within(&collection, any("pass"), of_kind("note")?, &["note"]).await
}

/// Many words that begin alike make no record better than its best one does.
async fn best_word(context: Context) -> Checked {
    let texts = [
        ("many", "cartel cartoon carton cartridge"),
        ("one", "cart cart cart cart"),
        ("none", "four other words here"),
    ];
    super::scores::judged(&context, &texts, &[any("cart")]).await
}
