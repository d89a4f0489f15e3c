//! The documents of these cases, and searches for them by words.

use shelfward_core::capabilities::{Scoring, Words};
use shelfward_core::filter::key as field;
use shelfward_core::{
    Capabilities, Collection, Field, FieldKind, FieldRole, Filter, Key, Leg, LegResult, Metadata,
    MetadataKey, Record, Selector, WordRule, query_words,
};

use crate::bm25::Query;
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

/// Where there is a lexical leg, whatever its words; a store without one is not asked.
pub(super) fn with_a_leg(case: Case) -> Case {
    case.only_where(|can| can.lexical.is_some(), "it has no lexical leg")
}

/// Where words are ours and may match by their beginning. A store without prefixes must refuse.
pub(super) fn with_prefixes(case: Case) -> Case {
    with_our_words(case).needs(|can| can.lexical.is_some_and(|lexical| lexical.prefix))
}

/// Where words are ours and metadata is changed in place. A store that has no such leg, or changes
/// none, must refuse.
pub(super) fn with_updates(case: Case) -> Case {
    with_our_words(case).needs(|can| can.lexical.is_some() && can.update_metadata.is_some())
}

/// Where scores are BM25.
pub(super) fn with_bm25(case: Case) -> Case {
    case.only_where(serves_bm25, "its lexical scores are of its own rule")
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
    let field =
        |(name, role)| Ok(Field::new(MetadataKey::new(name)?, FieldKind::Text).with_role(role));
    fields.into_iter().map(field).collect()
}

pub(super) async fn empty(context: &Context) -> Checked<Collection> {
    context.make(&context.spec()?.with_fields(fields()?)).await
}

pub(super) async fn empty_by_rule(context: &Context, rule: WordRule) -> Checked<Collection> {
    let spec = context.spec()?.with_fields(fields()?);
    context.make(&spec.with_word_rule(rule)).await
}

/// Texts of `org`, all of one kind.
pub(super) fn documents(texts: &[(&str, &str)]) -> Checked<Vec<Record>> {
    let texts = texts.iter();
    texts
        .map(|(id, body)| document("org", id, body, "faq"))
        .collect()
}

/// The same with vectors of their own.
pub(super) fn with_vectors(texts: &[(&str, &str, [f32; 4])]) -> Checked<Vec<Record>> {
    let record = |(id, body, vector): &(&str, &str, [f32; 4])| {
        let mut record = document("org", id, body, "faq")?;
        record.vector = (*vector).into();
        Ok(record)
    };
    texts.iter().map(record).collect()
}

pub(super) async fn put(collection: &Collection, texts: &[(&str, &str)]) -> Checked {
    Ok(collection.upsert(&documents(texts)?).await?)
}

pub(super) async fn holding(context: &Context, texts: &[(&str, &str)]) -> Checked<Collection> {
    let collection = empty(context).await?;
    put(&collection, texts).await?;
    Ok(collection)
}

pub(super) async fn faq(context: &Context) -> Checked<Collection> {
    holding(context, &FAQ).await
}

/// The same beside a note, which says this.
pub(super) async fn faq_and_note(context: &Context, body: &str) -> Checked<Collection> {
    let collection = faq(context).await?;
    collection
        .upsert(&[document("org", "note", body, "note")?])
        .await?;
    Ok(collection)
}

pub(super) fn org() -> Checked<Filter> {
    Ok(field("tenant").eq("org").build()?)
}

pub(super) fn of_kind(kind: &str) -> Checked<Filter> {
    let of_kind = field("tenant").eq("org").and(field("kind").eq(kind));
    Ok(of_kind.build()?)
}

pub(super) fn keys(ids: &[&str]) -> Checked<Vec<Key>> {
    let key = |id: &&str| Ok(Key::within(text("org")?, text(id)?));
    ids.iter().map(key).collect()
}

/// What is of these units of `org`.
pub(super) fn units(ids: &[&str]) -> Checked<Selector> {
    let of_units = match ids {
        [id] => field("unit").eq(*id),
        ids => field("unit").is_in(ids.iter().copied()),
    };
    Ok(field("tenant").eq("org").and(of_units).build()?.narrow()?)
}

pub(super) fn leg<'a>(
    collection: &Collection,
    query: impl Into<Query<'a>>,
    filter: Filter,
) -> Checked<Leg> {
    let query = query.into();
    let words = query_words(query.text, collection.spec().word_rule, query.prefix)?;
    Ok(Leg::lexical(words, query.matching, filter, 20))
}

/// Searches what `org` holds.
pub(super) async fn search<'a>(
    collection: &Collection,
    query: impl Into<Query<'a>>,
) -> Checked<LegResult> {
    Ok(collection.search(&leg(collection, query, org()?)?).await?)
}

/// The query finds these of what `org` holds, whatever their order.
pub(super) async fn finds<'a>(
    collection: &Collection,
    query: impl Into<Query<'a>>,
    expected: &[&str],
) -> Checked {
    finds_within(collection, query, org()?, expected).await
}

/// The query finds these within a filter.
pub(super) async fn finds_within<'a>(
    collection: &Collection,
    query: impl Into<Query<'a>>,
    filter: Filter,
    expected: &[&str],
) -> Checked {
    let query = query.into();
    let what = format!("{query} within {filter}");
    let found = collection.search(&leg(collection, query, filter)?).await?;
    same_ids(&what, &ids(&found), expected)
}

/// Each query finds what stands beside it.
pub(super) async fn each_finds(collection: &Collection, table: &[(Query<'_>, &[&str])]) -> Checked {
    for (query, expected) in table {
        finds(collection, *query, expected).await?;
    }
    Ok(())
}
