//! Which records a query's words find.

use shelfward_core::{Match, Record};

use super::documents::{
    any, bare, document, faq, finds, holding, leg, of_kind, search, with_our_words,
};
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
    finds(&collection, "nowhere", &[]).await?;
    // A leg whose filter is dropped shows where the tenant holds the word under another kind too.
    let note = document("org", "note", "reset", "note")?;
    collection.upsert(&[note]).await?;
    let leg = leg(&collection, "reset", Match::Any, false, of_kind("note")?)?;
    let found = collection.search(&leg).await?;
    same_ids("reset in notes", &ids(&found), &["note"])
}

async fn all_words(context: Context) -> Checked {
    let collection = faq(&context).await?;
    for (query, expected) in [
        ("reset page", &["faq-1", "faq-4"][..]),
        ("password expire", &[]),
        ("ninety codes", &["faq-4"]),
        ("ninety codes nowhere", &[]),
    ] {
        let found = search(&collection, query, Match::All, false).await?;
        same_ids(query, &ids(&found), expected)?;
    }
    let leg = leg(
        &collection,
        "reset page",
        Match::All,
        false,
        of_kind("note")?,
    )?;
    let found = collection.search(&leg).await?;
    same_ids("reset page in notes", &ids(&found), NONE)
}

/// To say a word twice is to ask for it, not for texts that say it twice.
async fn all_of_repeated(context: Context) -> Checked {
    let collection = faq(&context).await?;
    for (query, expected) in [
        ("password password", &["faq-1"][..]),
        ("reset page reset", &["faq-1", "faq-4"]),
        ("reset reset password", &["faq-1"]),
    ] {
        let found = search(&collection, query, Match::All, false).await?;
        same_ids(query, &ids(&found), expected)?;
    }
    Ok(())
}

async fn no_words(context: Context) -> Checked {
    let collection = faq(&context).await?;
    for query in ["", "   ", "???", "-", "…", "\"", "*"] {
        for (matching, prefix) in [(Match::Any, false), (Match::All, false)] {
            let found = search(&collection, query, matching, prefix).await?;
            same_ids(query, &ids(&found), NONE)?;
        }
    }
    Ok(())
}

async fn no_text(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let alone = any(&collection, "codes").await?;
    collection.upsert(&[bare("org", "bare", "faq")?]).await?;
    let found = any(&collection, "codes").await?;
    same_ids("by word", &ids(&found), &["faq-3", "faq-4"])?;
    // Nor does it count: where scores are ours, they stay as they were.
    super::statistics::same_scores_where_ours(&collection, &alone, &found)?;
    let dense = shelfward_core::Leg::dense([1.0; 4], super::documents::org()?, 20);
    let found = collection.search(&dense).await?;
    same_ids(
        "by vector",
        &ids(&found),
        &["faq-1", "faq-2", "faq-3", "faq-4", "bare"],
    )
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
    finds(&collection, "ca pet arpe", &[]).await?;
    finds(&collection, "scar", &["c"]).await
}

/// Words are cut at 512 bytes, in texts and in queries alike.
async fn long_words(context: Context) -> Checked {
    let (long, longer) = ("x".repeat(300), "y".repeat(600));
    let collection = holding(
        &context,
        &[("long", &long), ("longer", &longer), ("short", "x")],
    )
    .await?;
    finds(&collection, &long, &["long"]).await?;
    finds(&collection, &longer, &["longer"]).await?;
    finds(&collection, &"y".repeat(700), &["longer"]).await?;
    finds(&collection, &"y".repeat(500), &[]).await
}

/// As many distinct words as a query may have.
async fn many_words(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let mut query: String = (0..255).map(|n| format!("nowhere{n} ")).collect();
    query.push_str("password");
    finds(&collection, &query, &["faq-1"]).await
}

async fn without_partitions(context: Context) -> Checked {
    let texts = [("a", "rain"), ("b", "snow"), ("c", "rain and snow")];
    let records = texts
        .iter()
        .map(|(id, text)| Ok(Record::new(key(id)?, [1.0; 4]).with_text(*text)))
        .collect::<Checked<Vec<_>>>()?;
    let collection = context.holding(&records).await?;
    let everything = shelfward_core::Filter::everything();
    let leg = leg(&collection, "snow", Match::Any, false, everything)?;
    let found = collection.search(&leg).await?;
    same_ids("snow, with no partition to pin", &ids(&found), &["b", "c"])
}
