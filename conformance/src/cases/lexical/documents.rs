//! The documents of these cases, and searches for them by words.

use shelfward_core::capabilities::{Scoring, Words};
use shelfward_core::filter::key as field;
use shelfward_core::{
    Capabilities, Collection, Field, FieldKind, FieldRole, Filter, Key, Leg, LegResult, Match,
    Metadata, MetadataKey, Record, WordRule, query_words,
};

use crate::case::Case;
use crate::check::{ids, same_ids};
use crate::context::{Context, text};
use crate::verdict::Checked;

pub(super) const FAQ: [(&str, &str); 4] = [
    ("faq-1", "Reset a password from the sign-in page."),
    ("faq-2", "Passwords expire after ninety days."),
    ("faq-3", "Two-factor codes arrive by text message."),
    (
        "faq-4",
        "Ninety codes were reset, and the reset page was down.",
    ),
];

/// Where a store has a lexical leg at all; one that has none must refuse.
pub(super) fn with_words(case: Case) -> Case {
    case.needs(|can| can.lexical.is_some())
}

/// Where the words are those of the collection's rule. A store without a lexical leg must refuse.
pub(super) fn with_our_words(case: Case) -> Case {
    with_words(case).only_where(
        |can| can.lexical.is_none_or(|l| l.words != Words::OwnAnalyser),
        "its words are those of an analyser of its own",
    )
}

/// Where a hybrid search has two legs, and the words are ours.
pub(super) fn with_two_legs(case: Case) -> Case {
    case.only_where(
        |can| can.lexical.is_some_and(|l| l.words != Words::OwnAnalyser),
        "it has no lexical leg, or one by an analyser of its own",
    )
}

/// Where words are ours and may match by their beginning. A store without prefixes must refuse.
pub(super) fn with_prefixes(case: Case) -> Case {
    with_our_words(case).needs(|can| can.lexical.is_some_and(|lexical| lexical.prefix))
}

/// Where scores are BM25.
pub(super) fn with_bm25(case: Case) -> Case {
    case.only_where(serves_bm25, "its lexical scores are of its own rule")
}

/// Where scores are BM25 and there are prefixes.
pub(super) fn with_bm25_and_prefixes(case: Case) -> Case {
    case.only_where(
        |can| serves_bm25(can) && can.lexical.is_some_and(|l| l.prefix),
        "it has no prefixes, or its lexical scores are of its own rule",
    )
}

pub(super) fn serves_bm25(can: &Capabilities) -> bool {
    can.lexical
        .is_some_and(|l| l.scoring == Scoring::Bm25 && l.words != Words::OwnAnalyser)
}

pub(super) fn document(tenant: &str, id: &str, body: &str, kind: &str) -> Checked<Record> {
    Ok(bare(tenant, id, kind)?.with_text(body))
}

/// A record without a text.
pub(super) fn bare(tenant: &str, id: &str, kind: &str) -> Checked<Record> {
    let metadata = Metadata::new()
        .with("tenant", tenant)?
        .with("kind", kind)?
        .with("unit", id)?;
    let key = Key::within(text(tenant)?, text(id)?);
    Ok(Record::new(key, [1.0, 0.5, 0.25, 0.125]).with_metadata(metadata))
}

fn fields() -> Checked<Vec<Field>> {
    let fields = [
        ("tenant", FieldRole::Partition),
        ("unit", FieldRole::Unit),
        ("kind", FieldRole::Plain),
    ];
    fields
        .into_iter()
        .map(
            |(name, role)| Ok(Field::new(MetadataKey::new(name)?, FieldKind::Text).with_role(role)),
        )
        .collect()
}

pub(super) async fn empty(context: &Context) -> Checked<Collection> {
    context.make(&context.spec()?.with_fields(fields()?)).await
}

pub(super) async fn empty_by_rule(context: &Context, rule: WordRule) -> Checked<Collection> {
    let spec = context.spec()?.with_fields(fields()?);
    context.make(&spec.with_word_rule(rule)).await
}

/// Writes texts of `org`, all of one kind.
pub(super) async fn put(collection: &Collection, texts: &[(&str, &str)]) -> Checked {
    let documents: Checked<Vec<_>> = texts
        .iter()
        .map(|(id, body)| document("org", id, body, "faq"))
        .collect();
    Ok(collection.upsert(&documents?).await?)
}

pub(super) async fn holding(context: &Context, texts: &[(&str, &str)]) -> Checked<Collection> {
    let collection = empty(context).await?;
    put(&collection, texts).await?;
    Ok(collection)
}

pub(super) async fn faq(context: &Context) -> Checked<Collection> {
    holding(context, &FAQ).await
}

pub(super) fn org() -> Checked<Filter> {
    Ok(field("tenant").eq("org").build()?)
}

pub(super) fn of_kind(kind: &str) -> Checked<Filter> {
    let of_kind = field("tenant").eq("org").and(field("kind").eq(kind));
    Ok(of_kind.build()?)
}

pub(super) fn leg(
    collection: &Collection,
    query: &str,
    matching: Match,
    prefix: bool,
    filter: Filter,
) -> Checked<Leg> {
    let words = query_words(query, collection.spec().word_rule, prefix)?;
    Ok(Leg::lexical(words, matching, filter, 20))
}

/// Searches what `org` holds.
pub(super) async fn search(
    collection: &Collection,
    query: &str,
    matching: Match,
    prefix: bool,
) -> Checked<LegResult> {
    let leg = leg(collection, query, matching, prefix, org()?)?;
    Ok(collection.search(&leg).await?)
}

/// Searches what `org` holds for any of the words.
pub(super) async fn any(collection: &Collection, query: &str) -> Checked<LegResult> {
    search(collection, query, Match::Any, false).await
}

/// Any of the words finds these, whatever their order.
pub(super) async fn finds(collection: &Collection, query: &str, expected: &[&str]) -> Checked {
    same_ids(query, &ids(&any(collection, query).await?), expected)
}
