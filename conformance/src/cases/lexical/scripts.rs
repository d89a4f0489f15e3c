//! Words of every script, under the collection's word rule.

use shelfward_core::WordRule;

use super::documents::{empty_by_rule, faq, finds, holding, put, with_our_words};
use super::prefix::{all, any};
use crate::case::Case;
use crate::check::NONE;
use crate::context::Context;
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    [
        Case::new("lexical/scripts", scripts),
        Case::new("lexical/unspaced-runs-are-one-word", runs),
        Case::new("lexical/pairs-of-unspaced-letters", pairs),
        Case::new("lexical/words-of-one-letter", one_letter),
        Case::new("lexical/width-forms", width),
        Case::new("lexical/folding-of-the-rule", folding),
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

/// Under the rule of pairs a word of one letter is found wherever it stands in a run, also as a prefix,
/// and a query of more letters asks for none of its own.
async fn one_letter(context: Context) -> Checked {
    let collection = empty_by_rule(&context, WordRule::UnicodeBigrams).await?;
    let texts = [
        ("first", "本を借りた"),
        ("last", "新しい日本"),
        ("inside", "これは日本語です"),
        ("lone", "v2 本 a"),
        ("ko", "새책을 읽다"),
        ("shop", "日曜の本屋ではない木"),
        ("other", "図工の書道と館内"),
    ];
    put(&collection, &texts).await?;
    let holding_it = &["first", "last", "inside", "lone", "shop"][..];
    for (query, expected) in [
        ("本", holding_it),
        ("책", &["ko"]),
        ("木", &["shop"]),
        ("猫", NONE),
        // Its letters stand in a text, but no pair of them.
        ("図書館", NONE),
        ("日本", &["last", "inside"]),
    ] {
        finds(&collection, query, expected).await?;
    }
    if collection.capabilities().lexical.is_some_and(|l| l.prefix) {
        finds(&collection, any("本"), holding_it).await?;
        finds(&collection, all("本 日"), &["last", "inside", "shop"]).await?;
    }
    Ok(())
}

/// Full-width and half-width letters are the ordinary ones, in texts and in queries.
async fn width(context: Context) -> Checked {
    let collection = empty_by_rule(&context, WordRule::UnicodeBigrams).await?;
    let texts = [
        ("wide", "ＡＢＣ１２３"),
        ("half", "ﾊﾟｿｺﾝ"),
        ("plain", "abc123 パソコン"),
    ];
    put(&collection, &texts).await?;
    for (query, expected) in [
        ("abc123", &["wide", "plain"]),
        ("ＡＢＣ１２３", &["wide", "plain"]),
        ("パソコン", &["half", "plain"]),
        ("ﾊﾟｿｺﾝ", &["half", "plain"]),
    ] {
        finds(&collection, query, expected).await?;
    }
    Ok(())
}

/// Accents and special letters are folded under the rules that fold, and under no other.
async fn folding(context: Context) -> Checked {
    let texts = [
        ("de", "Die Straße über den Fluss"),
        ("vi", "Đại học"),
        ("el", "η οδός"),
        ("tr", "İstanbul"),
        ("ar", "كُتُبٌ"),
        ("hi", "किताब"),
    ];
    let folded = empty_by_rule(&context, WordRule::UnicodeFolded).await?;
    put(&folded, &texts).await?;
    let plain = holding(&context, &texts).await?;
    for (query, expected) in [
        ("strasse", "de"),
        ("uber", "de"),
        ("dai hoc", "vi"),
        ("ΟΔΟΣ", "el"),
        ("istanbul", "tr"),
        ("كتب", "ar"),
    ] {
        finds(&folded, query, &[expected]).await?;
        finds(&plain, query, NONE).await?;
    }
    for collection in [&folded, &plain] {
        for (query, expected) in [("straße ÜBER", "de"), ("كُتُبٌ", "ar"), ("किताब", "hi")]
        {
            finds(collection, query, &[expected]).await?;
        }
        finds(collection, "कताब", NONE).await?;
    }
    let pairs = empty_by_rule(&context, WordRule::UnicodeBigramsFolded).await?;
    put(&pairs, &[("mixed", "Café日本"), ("other", "cafe")]).await?;
    finds(&pairs, "cafe", &["mixed", "other"]).await?;
    finds(&pairs, "本", &["mixed"]).await
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
