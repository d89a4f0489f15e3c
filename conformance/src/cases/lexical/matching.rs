//! Which records a query's words find.

use shelfward_core::{Filter, Leg, Record};

use super::documents::{
    bare, each_finds, faq, faq_and_note, finds, finds_within, holding, of_kind, org, put, search,
    with_our_words,
};
use crate::bm25::Query;
use crate::case::Case;
use crate::check::{NONE, ids, same_ids};
use crate::context::{Context, key};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    [
        Case::new("lexical/any-word", any_word),
        Case::new("lexical/all-words", all_words),
        Case::new("lexical/all-of-a-repeated-word", all_of_repeated),
        Case::new("lexical/no-words", no_words),
        Case::new("lexical/no-text-no-match", no_text),
        Case::new("lexical/case", case),
        Case::new("lexical/whole-words", whole_words),
        Case::new("lexical/long-words", long_words),
        Case::new("lexical/many-words", many_words),
        Case::new("lexical/without-partitions", without_partitions),
    ]
    .map(with_our_words)
    .into()
}

async fn any_word(context: Context) -> Checked {
    let collection = faq(&context).await?;
    finds(&collection, "password reset", &["faq-1", "faq-4"]).await?;
    finds(&collection, "password nowhere", &["faq-1"]).await?;
    finds(&collection, "nowhere", NONE).await?;
    // A leg whose filter is dropped shows where the tenant holds the word under another kind too.
    let collection = faq_and_note(&context, "reset").await?;
    finds_within(&collection, "reset", of_kind("note")?, &["note"]).await
}

async fn all_words(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let table: [(_, &[&str]); 4] = [
        (Query::all("reset page"), &["faq-1", "faq-4"]),
        (Query::all("password expire"), NONE),
        (Query::all("ninety codes"), &["faq-4"]),
        (Query::all("ninety codes nowhere"), NONE),
    ];
    each_finds(&collection, &table).await?;
    finds_within(
        &collection,
        Query::all("reset page"),
        of_kind("note")?,
        NONE,
    )
    .await
}

/// To say a word twice is to ask for it, not for texts that say it twice.
async fn all_of_repeated(context: Context) -> Checked {
    let table: [(_, &[&str]); 3] = [
        (Query::all("password password"), &["faq-1"]),
        (Query::all("reset page reset"), &["faq-1", "faq-4"]),
        (Query::all("reset reset password"), &["faq-1"]),
    ];
    each_finds(&faq(&context).await?, &table).await
}

async fn no_words(context: Context) -> Checked {
    let collection = faq(&context).await?;
    for query in ["", "   ", "???", "-", "…", "\"", "*"] {
        finds(&collection, query, NONE).await?;
        finds(&collection, Query::all(query), NONE).await?;
    }
    Ok(())
}

async fn no_text(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let alone = search(&collection, "codes").await?;
    collection.upsert(&[bare("org", "bare", "faq")?]).await?;
    let found = search(&collection, "codes").await?;
    same_ids("by word", &ids(&found), &["faq-3", "faq-4"])?;
    // Nor does it count: where scores are ours, they stay as they were.
    super::statistics::same_scores_where_ours(&collection, &alone, &found)?;
    let found = collection.search(&Leg::dense([1.0; 4], org()?, 20)).await?;
    let all = ["faq-1", "faq-2", "faq-3", "faq-4", "bare"];
    same_ids("by vector", &ids(&found), &all)
}

async fn case(context: Context) -> Checked {
    let collection = faq(&context).await?;
    for query in ["reset", "RESET", "Reset", "rEsEt"] {
        finds(&collection, query, &["faq-1", "faq-4"]).await?;
    }
    finds(&collection, "PASSWORD TWO", &["faq-1", "faq-3"]).await
}

/// A word is not found by a part of it, and not by one that it is a part of.
async fn whole_words(context: Context) -> Checked {
    let collection = holding(&context, &[("a", "car"), ("b", "carpet"), ("c", "scar")]).await?;
    finds(&collection, "car", &["a"]).await?;
    finds(&collection, "carpet", &["b"]).await?;
    finds(&collection, "ca pet arpe", NONE).await?;
    finds(&collection, "scar", &["c"]).await
}

/// Words are cut at 512 bytes, in texts and in queries alike.
async fn long_words(context: Context) -> Checked {
    let (long, longer) = ("x".repeat(300), "y".repeat(600));
    let collection = holding(&context, &[("long", &long), ("short", "x")]).await?;
    put(&collection, &[("longer", &longer)]).await?;
    finds(&collection, &*long, &["long"]).await?;
    finds(&collection, &*longer, &["longer"]).await?;
    finds(&collection, &*"y".repeat(700), &["longer"]).await?;
    finds(&collection, &*"y".repeat(500), NONE).await
}

/// As many distinct words as a query may have.
async fn many_words(context: Context) -> Checked {
    let mut query: String = (0..255).map(|n| format!("nowhere{n} ")).collect();
    query.push_str("password");
    finds(&faq(&context).await?, &*query, &["faq-1"]).await
}

async fn without_partitions(context: Context) -> Checked {
    let record = |(id, text)| Ok(Record::new(key(id)?, [1.0; 4]).with_text(text));
    let texts = [("a", "rain"), ("b", "snow"), ("c", "rain and snow")].map(record);
    let records: Checked<Vec<_>> = texts.into_iter().collect();
    let collection = context.holding(&records?).await?;
    finds_within(&collection, "snow", Filter::everything(), &["b", "c"]).await
}
