//! Best first, equal ones in the same order each time, and no more than asked for.

use shelfward_core::library::{Mode, Passage, SearchRequest};

use super::documents::{document, empty, holding, leg, org, search, with_bm25, with_words};
use crate::case::Case;
use crate::check::{ids, same_ids, same_order};
use crate::context::Context;
use crate::library::{self, ask, file, source_of};
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    let ties = "lexical/ties-by-source-and-number";
    vec![
        with_words(Case::new("lexical/scores-fall", scores_fall)),
        with_bm25(Case::new("lexical/rare-words-weigh-more", rare)),
        with_bm25(Case::new("lexical/short-texts-weigh-more", short)),
        with_words(Case::new("lexical/tie-of-equal-texts", equal_texts)),
        with_words(Case::new("lexical/top-k", top_k)),
        with_bm25(Case::new("lexical/top-k-keeps-the-best", best)),
        with_words(Case::new(ties, in_the_library)),
    ]
}

/// Five texts of one length that say a word ever more often.
const RAIN: [(&str, &str); 5] = [
    ("a1", "rain b c d e"),
    ("b3", "rain rain rain d e"),
    ("c2", "rain rain c d e"),
    ("d5", "rain rain rain rain rain"),
    ("e4", "rain rain rain rain e"),
];

/// By the store's own scores, whatever their rule.
async fn scores_fall(context: Context) -> Checked {
    let mut texts = RAIN.to_vec();
    let longer = "rain in a text that is a good deal longer than the others";
    texts.push(("f", longer));
    let found = search(&holding(&context, &texts).await?, "rain").await?;
    same_ids("rain", &ids(&found), &["a1", "b3", "c2", "d5", "e4", "f"])?;
    let scores: Vec<f64> = found.hits.iter().map(|hit| hit.score).collect();
    if scores.is_sorted_by(|a, b| a >= b) {
        return Ok(());
    }
    Err(Finding::misorders(format!(
        "scores do not fall: {scores:?}"
    )))
}

async fn rare(context: Context) -> Checked {
    let collection = empty(&context).await?;
    // By its key the document with the rare word would come last.
    let mut documents = vec![document("org", "z-rare", "zebra other filler", "faq")?];
    for n in 0..9 {
        let body = "common other filler";
        documents.push(document("org", &format!("c{n}"), body, "faq")?);
    }
    collection.upsert(&documents).await?;
    let found = search(&collection, "common zebra").await?;
    let first = ids(&found).into_iter().next();
    let all = found.hits.iter().all(|hit| hit.score > 0.0);
    if first.as_deref() == Some("z-rare") && all {
        return Ok(());
    }
    let scores: Vec<_> = found
        .hits
        .iter()
        .map(|hit| (&hit.key.id, hit.score))
        .collect();
    Err(Finding::misorders(format!(
        "of ten documents one says \"zebra\" (df 1) and nine \"common\" (df 9), so that z-rare is to be \
         first and no score 0; found {scores:?}"
    )))
}

async fn short(context: Context) -> Checked {
    let long = "snow among a great many other words of a longer text";
    let texts = [
        ("a-long", long),
        ("b-middle", "snow among other words"),
        ("c-short", "snow"),
    ];
    let found = search(&holding(&context, &texts).await?, "snow").await?;
    same_order("snow", &ids(&found), &["c-short", "b-middle", "a-long"])
}

async fn equal_texts(context: Context) -> Checked {
    let texts = ["c", "a", "b"].map(|id| (id, "the same"));
    let collection = holding(&context, &texts).await?;
    let first = ids(&search(&collection, "same").await?);
    same_ids("the same", &first, &["a", "b", "c"])?;
    for _ in 0..5 {
        same_order("again", &ids(&search(&collection, "same").await?), &first)?;
    }
    Ok(())
}

async fn top_k(context: Context) -> Checked {
    let collection = holding(&context, &RAIN).await?;
    let asked = leg(&collection, "rain", org()?)?;
    for (top_k, expected) in [(0, 0), (1, 1), (4, 4), (5, 5), (500, 5)] {
        let found = collection
            .search(&asked.with_top_k(top_k))
            .await?
            .hits
            .len();
        let message = format!("{found} of {expected} for a top_k of {top_k}");
        if found > expected {
            return Err(Finding::widens(message));
        }
        if found < expected {
            return Err(Finding::narrows(message));
        }
    }
    Ok(())
}

async fn best(context: Context) -> Checked {
    let collection = holding(&context, &RAIN).await?;
    let asked = leg(&collection, "rain", org()?)?;
    let best = ["d5", "e4", "b3", "c2", "a1"];
    for (top_k, expected) in (1..=best.len()).filter_map(|k| Some((k, best.get(..k)?))) {
        let found = collection.search(&asked.with_top_k(top_k)).await?;
        same_order("the best", &ids(&found), expected)?;
    }
    Ok(())
}

/// Whatever order a store gives equal scores, readers see them by source, then by number.
async fn in_the_library(context: Context) -> Checked {
    let index = library::new(&context).await?;
    for id in ["b", "a:1", "a"] {
        let same = (0..12).map(|_| Passage::new("the same"));
        file(
            &index,
            "org1",
            source_of("document", id, ["g"])?.passages(same),
        )
        .await?;
    }
    let expected: Vec<String> = ["a", "a:1", "b"]
        .iter()
        .flat_map(|id| (0..12).map(move |n| format!("{id}#{n}")))
        .collect();
    for mode in [Mode::Lexical, Mode::Hybrid, Mode::Dense] {
        let request = SearchRequest::new("the same").mode(mode).top_k(36);
        let answer = ask(&index, "org1", ["g"], request).await?;
        same_order(&format!("{mode:?}"), &library::ids(&answer), &expected)?;
    }
    Ok(())
}
