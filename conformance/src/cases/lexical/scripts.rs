//! Words of every script, under the collection's word rule.

use shelfward_core::WordRule;

use super::documents::{empty_by_rule, faq, finds, holding, put, with_our_words};
use crate::case::Case;
use crate::check::NONE;
use crate::context::Context;
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    [
        Case::new("lexical/scripts", scripts),
        Case::new("lexical/unspaced-runs-are-one-word", runs),
        Case::new("lexical/pairs-of-unspaced-letters", pairs),
        Case::new("lexical/rule-of-the-collection", seed),
        Case::new("lexical/long-text", long_text),
    ]
    .map(with_our_words)
    .into()
}

const LIBRARY: [(&str, &str); 5] = [
    ("ascii", "the library opens at nine"),
    ("ja", "昨日図書館で本を借りた"),
    ("zh", "更新v2手順"),
    ("ko", "도서관 안내"),
    ("th", "ห้องสมุดเปิด"),
];

async fn scripts(context: Context) -> Checked {
    let documents = [
        ("fr", "Un résumé court"),
        ("ru", "Короткий обзор"),
        ("hi", "छोटा सारांश"),
        ("el", "Σύντομη ΠΕΡΊΛΗΨΗ"),
        // Soft hyphens and joiners are not seen, and part no words.
        ("de", "Die Text\u{ad}datei im Gesamt\u{ad}kon\u{ad}zept"),
        ("fa", "کتاب\u{200c}ها"),
    ];
    let collection = holding(&context, &documents).await?;
    for (query, expected) in [
        ("résumé", "fr"),
        ("re\u{301}sume\u{301}", "fr"),
        ("ОБЗОР", "ru"),
        ("सारांश", "hi"),
        ("περίληψη", "el"),
        ("Textdatei", "de"),
        ("gesamt\u{ad}konzept", "de"),
        ("کتاب\u{200c}ها", "fa"),
    ] {
        finds(&collection, query, &[expected]).await?;
    }
    Ok(())
}

/// Under the plain rule an unspaced run is one word, which a part of it does not find.
async fn runs(context: Context) -> Checked {
    let collection = holding(&context, &LIBRARY).await?;
    for (query, expected) in [
        ("図書館", NONE),
        ("昨日図書館で本を借りた", &["ja"]),
        ("도서관", &["ko"]),
        ("更新v2手順", &["zh"]),
        ("v2", NONE),
        ("library", &["ascii"]),
        ("ห้องสมุดเปิด", &["th"]),
    ] {
        finds(&collection, query, expected).await?;
    }
    Ok(())
}

/// Under the rule of pairs, what stands inside a run is found.
async fn pairs(context: Context) -> Checked {
    let collection = empty_by_rule(&context, WordRule::UnicodeBigrams).await?;
    put(&collection, &LIBRARY).await?;
    for (query, expected) in [
        ("図書館", &["ja"][..]),
        ("v2", &["zh"]),
        ("手順", &["zh"]),
        ("書館", &["ja"]),
        ("館図", NONE),
        ("สมุด", &["th"]),
        ("library 図書", &["ascii", "ja"]),
        ("library", &["ascii"]),
    ] {
        finds(&collection, query, expected).await?;
    }
    Ok(())
}

/// Under the seed's rule marks part words, and words are the runs between them.
async fn seed(context: Context) -> Checked {
    let collection = empty_by_rule(&context, WordRule::Seed).await?;
    let texts = [("decomposed", "cafe\u{301}s"), ("plain", "s")];
    put(&collection, &texts).await?;
    finds(&collection, "s", &["decomposed", "plain"]).await?;
    finds(&collection, "cafe", &["decomposed"]).await?;
    finds(&collection, "cafés", NONE).await
}

async fn long_text(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let mut body: String = (0..3_000).map(|n| format!("filler{} ", n % 500)).collect();
    body.push_str("needle");
    put(&collection, &[("long", &body)]).await?;
    finds(&collection, "needle", &["long"]).await?;
    finds(&collection, "filler499", &["long"]).await
}
