//! Words: any, all and prefix, the filter on this leg too, and what scores must not tell.

use std::sync::Arc;

use shelfward_core::capabilities::{Scoring, Words};
use shelfward_core::filter::key as field;
use shelfward_core::{
    Capabilities, Collection, Field, FieldKind, FieldRole, Filter, Found, Key, Leg, Match,
    Metadata, MetadataKey, Record, query_words,
};

use crate::case::Case;
use crate::check::{counts, holds, ids, same_ids, same_order, same_score};
use crate::context::{Context, refused, text};
use crate::faulty::Fault;
use crate::verdict::{Checked, Finding, Verdict};

pub(super) fn cases() -> Vec<Case> {
    let cases = vec![
        Case::new("lexical/any-word", any_word).kills(&[Fault::FiltersDenseOnly]),
        Case::new("lexical/all-words", all_words).kills(&[Fault::FiltersDenseOnly]),
        Case::new("lexical/no-words", no_words).of_the_handle(),
        Case::new("lexical/operators-are-words", operators).kills(&[Fault::AnyMeansAll]),
        Case::new("lexical/filter", filter).kills(&[Fault::FiltersDenseOnly, Fault::IgnoresFilter]),
        Case::new("lexical/full-under-a-filter", full)
            .kills(&[Fault::FiltersDenseOnly, Fault::FiltersAfterTopK]),
        Case::new("lexical/both-legs", both)
            .kills(&[Fault::FiltersDenseOnly, Fault::IgnoresFilter]),
        Case::new("lexical/after-delete", after_delete)
            .kills(&[Fault::ForgetsLexicalOnDelete, Fault::DeletesFirstKeyOnly]),
        Case::new("lexical/after-replace", after_replace)
            .kills(&[Fault::ForgetsLexicalOnDelete, Fault::LeavesStaleTail]),
        Case::new("lexical/overwritten-text", overwritten).kills(&[Fault::KeepsOldRecord]),
        Case::new("lexical/other-tenants-do-not-show", other_tenants)
            .kills(&[Fault::SharesStatistics]),
        Case::new("lexical/partition-must-be-pinned", unpinned).of_the_handle(),
        Case::new("lexical/no-text-no-match", no_text).kills(&[Fault::LosesLastOfBatch]),
        Case::new("lexical/rare-words-weigh-more", rare).kills(&[Fault::FlatLexicalScores]),
        Case::new("lexical/scripts", scripts).kills(&[Fault::LosesLastOfBatch]),
        Case::new("lexical/tie-of-equal-texts", ties).kills(&[Fault::UnstableTies]),
    ];
    let mut cases: Vec<Case> = cases
        .into_iter()
        .map(|case| case.needs(|can| can.lexical.is_some()))
        .collect();
    cases.push(
        Case::new("lexical/prefix", prefix)
            .kills(&[Fault::OffByOneTopK])
            .needs(serves_prefixes),
    );
    cases.push(
        Case::new("lexical/prefix-of-one-letter", one_letter)
            .kills(&[Fault::OffByOneTopK])
            .needs(serves_prefixes),
    );
    cases.push(
        Case::new("lexical/prefix-of-too-many-words", too_many)
            .kills(&[Fault::LosesLastOfBatch])
            .needs(serves_prefixes),
    );
    cases.push(
        Case::new("lexical/bm25-by-known-values", known_scores)
            .kills(&[Fault::FlatLexicalScores])
            .only_where(serves_bm25, "its lexical scores are of its own rule"),
    );
    cases
}

fn serves_prefixes(can: &Capabilities) -> bool {
    can.lexical.is_some_and(|lexical| lexical.prefix)
}

fn serves_bm25(can: &Capabilities) -> bool {
    can.lexical
        .is_some_and(|lexical| lexical.scoring == Scoring::Bm25)
}

const FAQ: [(&str, &str); 4] = [
    ("faq-1", "Reset a password from the sign-in page."),
    ("faq-2", "Passwords expire after ninety days."),
    ("faq-3", "Two-factor codes arrive by text message."),
    (
        "faq-4",
        "Ninety codes were reset, and the reset page was down.",
    ),
];

fn document(tenant: &str, id: &str, body: &str, kind: &str) -> Checked<Record> {
    let metadata = Metadata::new()
        .with("tenant", tenant)?
        .with("kind", kind)?
        .with("unit", id)?;
    Ok(Record::new(
        Key::within(text(tenant)?, text(id)?),
        [1.0, 0.5, 0.25, 0.125],
    )
    .with_text(body)
    .with_metadata(metadata))
}

async fn library(context: &Context) -> Checked<Arc<dyn Collection>> {
    let fields = [
        ("tenant", FieldRole::Partition),
        ("unit", FieldRole::Unit),
        ("kind", FieldRole::Plain),
    ];
    let fields = fields
        .into_iter()
        .map(
            |(name, role)| Ok(Field::new(MetadataKey::new(name)?, FieldKind::Text).with_role(role)),
        )
        .collect::<Checked<Vec<_>>>()?;
    context.make(&context.spec()?.with_fields(fields)).await
}

async fn faq(context: &Context) -> Checked<Arc<dyn Collection>> {
    let collection = library(context).await?;
    let documents: Checked<Vec<_>> = FAQ
        .iter()
        .map(|(id, body)| document("org", id, body, "faq"))
        .collect();
    collection.upsert(&documents?).await?;
    Ok(collection)
}

fn leg(
    collection: &Arc<dyn Collection>,
    query: &str,
    matching: Match,
    prefix: bool,
    filter: Filter,
) -> Checked<Leg> {
    let words = query_words(query, collection.spec().word_rule, prefix)?;
    Ok(Leg::lexical(words, matching, filter, 20))
}

fn org() -> Checked<Filter> {
    Ok(field("tenant").eq("org").build()?)
}

async fn search(
    collection: &Arc<dyn Collection>,
    query: &str,
    matching: Match,
    prefix: bool,
) -> Checked<Found> {
    Ok(collection
        .search(&leg(collection, query, matching, prefix, org()?)?)
        .await?)
}

async fn any_word(context: Context) -> Checked {
    let collection = faq(&context).await?;
    same_ids(
        "password reset",
        &ids(&search(&collection, "password reset", Match::Any, false).await?),
        &["faq-1", "faq-4"],
    )?;
    // The case catches a leg whose filter is dropped by asking for a tenant that holds nothing else.
    collection
        .upsert(&[document("org", "note", "reset", "note")?])
        .await?;
    let notes = field("tenant")
        .eq("org")
        .and(field("kind").eq("note"))
        .build()?;
    let found = collection
        .search(&leg(&collection, "reset", Match::Any, false, notes)?)
        .await?;
    same_ids("reset in notes", &ids(&found), &["note"])
}

async fn all_words(context: Context) -> Checked {
    let collection = faq(&context).await?;
    for (query, expected) in [
        ("reset page", &["faq-1", "faq-4"][..]),
        ("password expire", &[]),
        ("ninety codes", &["faq-4"]),
    ] {
        same_ids(
            query,
            &ids(&search(&collection, query, Match::All, false).await?),
            expected,
        )?;
    }
    let notes = field("tenant")
        .eq("org")
        .and(field("kind").eq("note"))
        .build()?;
    let found = collection
        .search(&leg(&collection, "reset page", Match::All, false, notes)?)
        .await?;
    same_ids("reset page in notes", &ids(&found), &[] as &[&str])
}

async fn no_words(context: Context) -> Checked {
    let collection = faq(&context).await?;
    for query in ["???", "-", "…"] {
        same_ids(
            query,
            &ids(&search(&collection, query, Match::Any, false).await?),
            &[] as &[&str],
        )?;
        same_ids(
            query,
            &ids(&search(&collection, query, Match::All, true).await?),
            &[] as &[&str],
        )?;
    }
    Ok(())
}

async fn operators(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let queries = [
        "\"password",
        "title:password",
        "password*",
        "+password -reset OR",
        "NEAR(password, 1)",
        "(password",
        "pass\\word password",
    ];
    for query in queries {
        let found = ids(&search(&collection, query, Match::Any, false).await?);
        holds(found.iter().any(|id| id == "faq-1"), || {
            format!("{query:?} does not find its word: {found:?}")
        })?;
    }
    Ok(())
}

async fn filter(context: Context) -> Checked {
    let collection = faq(&context).await?;
    collection
        .upsert(&[document("org", "note", "A password", "note")?])
        .await?;
    let notes = field("tenant")
        .eq("org")
        .and(field("kind").ne("faq"))
        .build()?;
    let found = collection
        .search(&leg(&collection, "password", Match::Any, false, notes)?)
        .await?;
    same_ids("password in notes", &ids(&found), &["note"])
}

async fn full(context: Context) -> Checked {
    let collection = library(&context).await?;
    let mut documents = Vec::new();
    for n in 0..300 {
        // The many that do not match say the word more often, so they come first.
        documents.push(document(
            "org",
            &format!("near{n}"),
            "rain rain rain",
            "other",
        )?);
    }
    for n in 0..5 {
        documents.push(document(
            "org",
            &format!("far{n}"),
            "rain and a good many other words beside it",
            "mine",
        )?);
    }
    collection.upsert(&documents).await?;
    let mine = field("tenant")
        .eq("org")
        .and(field("kind").eq("mine"))
        .build()?;
    let found = collection
        .search(&leg(&collection, "rain", Match::Any, false, mine)?.with_top_k(5))
        .await?;
    same_ids(
        "those that match",
        &ids(&found),
        &["far0", "far1", "far2", "far3", "far4"],
    )
}

async fn both(context: Context) -> Checked {
    let collection = faq(&context).await?;
    collection
        .upsert(&[document("org", "note", "A password", "note")?])
        .await?;
    let notes = field("tenant")
        .eq("org")
        .and(field("kind").eq("note"))
        .build()?;
    let dense = Leg::dense([1.0; 4], notes.clone(), 20);
    let lexical = leg(&collection, "password reset", Match::Any, false, notes)?;
    let (dense, lexical) = collection.search_both(&dense, &lexical).await?;
    same_ids("the dense leg", &ids(&dense), &["note"])?;
    same_ids("the lexical leg", &ids(&lexical), &["note"])
}

async fn after_delete(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let keys = [
        Key::within(text("org")?, text("faq-2")?),
        Key::within(text("org")?, text("faq-1")?),
    ];
    counts("deleted", collection.delete(&keys).await?, 2)?;
    same_ids(
        "by word",
        &ids(&search(&collection, "password passwords", Match::Any, false).await?),
        &[] as &[&str],
    )?;
    let found = collection.search(&Leg::dense([1.0; 4], org()?, 20)).await?;
    same_ids("by vector", &ids(&found), &["faq-3", "faq-4"])
}

async fn after_replace(context: Context) -> Checked {
    let collection = library(&context).await?;
    let mut parts = Vec::new();
    for n in 0..3 {
        let mut part = document("org", &format!("part{n}"), "old words", "faq")?;
        part.metadata = Arc::new(Metadata::clone(&part.metadata).with("unit", "source")?);
        parts.push(part);
    }
    collection.upsert(&parts).await?;
    let selector = field("tenant")
        .eq("org")
        .and(field("unit").eq("source"))
        .build()?
        .narrow()?;
    let mut new = parts.into_iter().take(1).collect::<Vec<_>>();
    new.iter_mut()
        .for_each(|part| part.text = Some("new words".into()));
    collection.replace(&selector, &new).await?;
    same_ids(
        "by an old word",
        &ids(&search(&collection, "old", Match::Any, false).await?),
        &[] as &[&str],
    )?;
    same_ids(
        "by a new word",
        &ids(&search(&collection, "new", Match::Any, false).await?),
        &["part0"],
    )
}

async fn overwritten(context: Context) -> Checked {
    let collection = faq(&context).await?;
    collection
        .upsert(&[document("org", "faq-1", "something else", "faq")?])
        .await?;
    same_ids(
        "an old word",
        &ids(&search(&collection, "password", Match::Any, false).await?),
        &[] as &[&str],
    )?;
    same_ids(
        "a new word",
        &ids(&search(&collection, "something", Match::Any, false).await?),
        &["faq-1"],
    )
}

async fn other_tenants(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let before = search(&collection, "password codes", Match::Any, false).await?;
    for n in 0..20 {
        collection
            .upsert(&[document(
                "other",
                &format!("o{n}"),
                "password password codes",
                "faq",
            )?])
            .await?;
    }
    let after = search(&collection, "password codes", Match::Any, false).await?;
    same_order("ids", &ids(&after), &ids(&before))?;
    let own = collection
        .capabilities()
        .lexical
        .is_some_and(|l| l.scoring == Scoring::StoreOwn);
    if own {
        // Such scores are never shown, so what they tell stays with us.
        return Ok(());
    }
    let same = before
        .hits
        .iter()
        .zip(&after.hits)
        .all(|(a, b)| a.score.to_bits() == b.score.to_bits());
    holds(same, || {
        "a score changes with what another tenant holds".into()
    })
}

async fn unpinned(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let unpinned = [
        Filter::everything(),
        field("kind").eq("faq").build()?,
        field("tenant").is_in(["org", "other"]).build()?,
        field("tenant").ne("other").build()?,
    ];
    for filter in unpinned {
        let leg = leg(&collection, "password", Match::Any, false, filter)?;
        refused(
            collection.search(&leg).await,
            "a lexical leg over several partitions",
        )?;
    }
    Ok(())
}

async fn no_text(context: Context) -> Checked {
    let collection = faq(&context).await?;
    let mut bare = document("org", "bare", "", "faq")?;
    bare.text = None;
    collection.upsert(&[bare]).await?;
    same_ids(
        "by word",
        &ids(&search(&collection, "codes", Match::Any, false).await?),
        &["faq-3", "faq-4"],
    )
}

async fn rare(context: Context) -> Checked {
    if context
        .adapter()
        .await?
        .capabilities(&context.spec()?)
        .lexical
        .is_some_and(|l| l.words == Words::OwnAnalyser)
    {
        return Ok(());
    }
    let collection = library(&context).await?;
    let mut documents = vec![document("org", "rare", "zebra common filler", "faq")?];
    for n in 0..9 {
        documents.push(document(
            "org",
            &format!("c{n}"),
            "common other filler",
            "faq",
        )?);
    }
    collection.upsert(&documents).await?;
    let found = search(&collection, "common zebra", Match::Any, false).await?;
    let first = ids(&found).into_iter().next();
    if first.as_deref() == Some("rare") {
        return Ok(());
    }
    Err(Finding::new(
        Verdict::Misorders,
        format!("the document with the rare word is not first but {first:?}"),
    ))
}

async fn scripts(context: Context) -> Checked {
    let collection = library(&context).await?;
    let documents = [
        ("fr", "Un résumé court"),
        ("ru", "Короткий обзор"),
        ("hi", "छोटा सारांश"),
        ("el", "Σύντομη ΠΕΡΊΛΗΨΗ"),
    ];
    let documents: Checked<Vec<_>> = documents
        .iter()
        .map(|(id, body)| document("org", id, body, "faq"))
        .collect();
    collection.upsert(&documents?).await?;
    for (query, expected) in [
        ("résumé", "fr"),
        ("re\u{301}sume\u{301}", "fr"),
        ("ОБЗОР", "ru"),
        ("सारांश", "hi"),
        ("περίληψη", "el"),
    ] {
        same_ids(
            query,
            &ids(&search(&collection, query, Match::Any, false).await?),
            &[expected],
        )?;
    }
    Ok(())
}

async fn ties(context: Context) -> Checked {
    let collection = library(&context).await?;
    let documents: Checked<Vec<_>> = ["c", "a", "b"]
        .iter()
        .map(|id| document("org", id, "the same", "faq"))
        .collect();
    collection.upsert(&documents?).await?;
    let first = ids(&search(&collection, "same", Match::Any, false).await?);
    for _ in 0..5 {
        same_order(
            "again",
            &ids(&search(&collection, "same", Match::Any, false).await?),
            &first,
        )?;
    }
    Ok(())
}

async fn prefix(context: Context) -> Checked {
    let collection = faq(&context).await?;
    for (query, matching, expected) in [
        ("pass", Match::Any, &["faq-1", "faq-2"][..]),
        ("password exp", Match::All, &["faq-2"]),
        ("word", Match::Any, &[]),
    ] {
        same_ids(
            query,
            &ids(&search(&collection, query, matching, true).await?),
            expected,
        )?;
    }
    same_ids(
        "without prefix",
        &ids(&search(&collection, "pass", Match::Any, false).await?),
        &[] as &[&str],
    )
}

async fn one_letter(context: Context) -> Checked {
    let collection = faq(&context).await?;
    collection
        .upsert(&[document("org", "faq-5", "Not a prefix", "faq")?])
        .await?;
    same_ids(
        "p",
        &ids(&search(&collection, "p", Match::Any, true).await?),
        &[] as &[&str],
    )?;
    same_ids(
        "a",
        &ids(&search(&collection, "a", Match::Any, true).await?),
        &["faq-1", "faq-5"],
    )
}

async fn too_many(context: Context) -> Checked {
    let collection = library(&context).await?;
    let body: String = (0..1_100).map(|n| format!("word{n} ")).collect();
    collection
        .upsert(&[document("org", "a", &body, "faq")?])
        .await?;
    let leg = leg(&collection, "word", Match::Any, true, org()?)?;
    refused(collection.search(&leg).await, "a prefix of 1,100 words")?;
    same_ids(
        "a longer prefix",
        &ids(&search(&collection, "word109", Match::Any, true).await?),
        &["a"],
    )
}

async fn known_scores(context: Context) -> Checked {
    let collection = library(&context).await?;
    collection
        .upsert(&[
            document("org", "rain", "rain", "faq")?,
            document("org", "snow", "snow", "faq")?,
        ])
        .await?;
    let found = search(&collection, "rain", Match::Any, false).await?;
    same_ids("rain", &ids(&found), &["rain"])?;
    let score = found.hits.first().map_or(0.0, |hit| hit.score);
    same_score("one of two", score, std::f64::consts::LN_2)?;
    // Said twice in the query, a word counts twice.
    let twice = search(&collection, "rain rain", Match::Any, false).await?;
    same_score(
        "twice",
        twice.hits.first().map_or(0.0, |hit| hit.score),
        2.0 * std::f64::consts::LN_2,
    )
}
