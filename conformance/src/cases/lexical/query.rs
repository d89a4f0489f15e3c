//! Whatever a user types is words: the same as of a text, and never an error.

use shelfward_core::{ErrorKind, Leg, Match, QueryWord, Text};

use super::documents::{each_finds, faq, finds, holding, org, search, with_our_words, with_words};
use crate::bm25::Query;
use crate::case::Case;
use crate::check::{NONE, holds, ids, same_ids};
use crate::context::Context;
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    let elsewhere = "lexical/words-that-are-operators-elsewhere";
    let none = "lexical/what-is-no-word-finds-nothing";
    let mut cases: Vec<Case> = [
        Case::new("lexical/operators-are-words", operators),
        Case::new("lexical/punctuation-parts-words", punctuation),
        Case::new(elsewhere, operator_words),
    ]
    .map(with_our_words)
    .into();
    cases.push(with_words(Case::new(none, no_words_at_all)));
    cases
}

/// What engines read as a query language.
async fn operators(context: Context) -> Checked {
    let collection = faq(&context).await?;
    for query in [
        "\"password",
        "\"password\"",
        "title:password",
        "password*",
        "+password -reset OR",
        "NEAR(password, 1)",
        "(password",
        "pass\\word password",
        "not password",
        "password AND",
        "OR password",
        "password | & ! <-> :*",
        "{password}^2~",
        "password; drop table",
        "';password--",
    ] {
        let found = ids(&search(&collection, query).await?);
        holds(found.iter().any(|id| id == "faq-1"), || {
            format!("{query:?} does not find its word: {found:?}")
        })?;
    }
    // A minus excludes nothing, and a title is no field.
    finds(&collection, "codes -reset", &["faq-1", "faq-3", "faq-4"]).await?;
    for query in ["title:x", "NEAR(", "-only", "*", "\""] {
        finds(&collection, query, NONE).await?;
    }
    Ok(())
}

/// Texts with the characters that user queries hold, each found by itself and by its words.
async fn punctuation(context: Context) -> Checked {
    let texts = [
        ("apostrophe", "I don't know"),
        ("ticket", "see POL-358 first"),
        ("unit", "about 40 GB/s"),
        ("version", "runs on ubuntu 24.04 only"),
        ("field", "title:x"),
        ("call", "NEAR(1)"),
        ("mail", "ann@example.org"),
        ("quoted", "say \"hello\" twice"),
        ("path", "/etc/hosts"),
        ("code", "snake_case"),
    ];
    let collection = holding(&context, &texts).await?;
    for (query, expected) in [
        ("don't", &["apostrophe"][..]),
        ("don", &["apostrophe"]),
        ("POL-358", &["ticket"]),
        ("pol 358", &["ticket"]),
        ("GB/s", &["unit"]),
        ("ubuntu 24.04", &["version"]),
        ("24", &["version"]),
        ("04", &["version"]),
        ("title:x", &["field"]),
        ("NEAR(", &["call"]),
        ("example", &["mail"]),
        ("hello\"", &["quoted"]),
        ("-only", &["version"]),
        ("hosts", &["path"]),
        ("snake", &["code"]),
        ("*", NONE),
        ("\"", NONE),
    ] {
        finds(&collection, query, expected).await?;
        // The words of a query are those of a text, so that every one of them is there.
        finds(&collection, Query::all(query), expected).await?;
    }
    Ok(())
}

async fn operator_words(context: Context) -> Checked {
    let texts = [
        ("a", "to be or not to be"),
        ("b", "near and far"),
        ("c", "be"),
        ("d", "far"),
    ];
    let table: [(_, &[&str]); 8] = [
        (Query::any("not be"), &["a", "c"]),
        (Query::any("or"), &["a"]),
        (Query::any("AND"), &["b"]),
        (Query::any("NOT far"), &["a", "b", "d"]),
        (Query::any("near"), &["b"]),
        (Query::all("not be"), &["a"]),
        (Query::all("be and far"), NONE),
        (Query::all("near OR far"), NONE),
    ];
    each_finds(&holding(&context, &texts).await?, &table).await
}

/// A leg may be handed what the word rule never makes. No stored word is like it, so it finds
/// nothing, or is refused; it is never read as a query.
async fn no_words_at_all(context: Context) -> Checked {
    let collection = faq(&context).await?;
    for odd in [
        "\"",
        "\"password",
        "password*",
        "-nowhere",
        "title:password",
        "near(",
        "'",
        "passw%",
        "password OR reset",
        " ",
        "\\",
    ] {
        let word = QueryWord::new(Text::new(odd)?, false);
        let leg = Leg::lexical(vec![word], Match::Any, org()?, 20);
        match collection.search(&leg).await {
            Ok(found) => same_ids(odd, &ids(&found), NONE)?,
            Err(error) if error.is_refusal() => {
                // A store without a lexical leg refuses, and not because of the word.
                if matches!(error.kind(), ErrorKind::Unsupported(_)) {
                    return Err(error.into());
                }
            }
            Err(error) => return Err(Finding::errors(format!("{odd:?}: {error}")).because(&error)),
        }
    }
    let found = ids(&search(&collection, "password").await?);
    holds(found.iter().any(|id| id == "faq-1"), || {
        "afterwards a word finds nothing".into()
    })
}
