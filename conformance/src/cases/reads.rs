//! Reading by key.

use shelfward_core::{Filter, Include, Key, Record};

use crate::case::Case;
use crate::check::{can_count, counted, holds, rows};
use crate::context::{Context, key, record, refused};
use crate::fixture;
use crate::fixture::{DECLARED, keys};
use crate::verdict::{Checked, Finding, Verdict};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("reads/present-and-missing", mixed),
        Case::new("reads/in-the-order-asked", order),
        Case::new("reads/none", none),
        Case::new("reads/vector-and-text-when-asked", include),
        Case::new("reads/within-a-filter", within),
        Case::new("reads/beyond-2-53", integers),
        Case::new("reads/count", count).only_where(can_count, "it neither counts nor scans"),
        Case::new("reads/same-key-twice", twice),
        Case::new("reads/key-with-a-partition", partitioned),
    ]
}

async fn read(context: &Context, asked: &[Key], filter: &Filter) -> Checked<Vec<Option<String>>> {
    let fetched = fixture::declared(context)
        .await?
        .fetch(asked, filter, Include::METADATA)
        .await?;
    Ok(fetched
        .into_iter()
        .map(|record| record.map(|record| record.key.id.to_string()))
        .collect())
}

fn answers(got: &[Option<String>], expected: &[Option<&str>]) -> Checked {
    if got
        .iter()
        .map(Option::as_deref)
        .eq(expected.iter().copied())
    {
        return Ok(());
    }
    let more = got
        .iter()
        .zip(expected)
        .any(|(got, expected)| got.is_some() && expected.is_none());
    let verdict = if more {
        Verdict::Widens
    } else {
        Verdict::Narrows
    };
    Err(Finding::new(
        verdict,
        format!("expected {expected:?}, got {got:?}"),
    ))
}

async fn mixed(context: Context) -> Checked {
    let collection = context
        .holding(&[record("a", 0, "{}")?, record("b", 1, "{}")?])
        .await?;
    let asked = [key("a")?, key("missing")?, key("b")?];
    let fetched = collection
        .fetch(&asked, &Filter::everything(), Include::METADATA)
        .await?;
    let fetched: Vec<_> = fetched
        .into_iter()
        .map(|r| r.map(|r| r.key.id.to_string()))
        .collect();
    answers(&fetched, &[Some("a"), None, Some("b")])
}

async fn order(context: Context) -> Checked {
    let asked = [key("j")?, key("a")?, key("e")?];
    answers(
        &read(&context, &asked, &Filter::everything()).await?,
        &[Some("j"), Some("a"), Some("e")],
    )
}

async fn none(context: Context) -> Checked {
    answers(&read(&context, &[], &Filter::everything()).await?, &[])?;
    answers(
        &read(&context, &[key("nobody")?], &Filter::everything()).await?,
        &[None],
    )
}

async fn include(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    for (include, vector, text) in [
        (Include::METADATA, false, false),
        (Include::TEXT, false, true),
        (Include::ALL, true, true),
    ] {
        let fetched = collection
            .fetch(&[key("a")?], &Filter::everything(), include)
            .await?;
        let as_asked = fetched
            .iter()
            .flatten()
            .any(|r| r.vector.is_some() == vector && r.text.is_some() == text);
        holds(as_asked, || {
            format!("{include:?} did not bring what it asks for")
        })?;
    }
    Ok(())
}

async fn within(context: Context) -> Checked {
    let asked = [key("a")?, key("b")?];
    let filter = Filter::from_json(r#"{"t":"red"}"#)?;
    answers(&read(&context, &asked, &filter).await?, &[Some("a"), None])
}

async fn integers(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let fetched = collection
        .fetch(&[key("c")?], &Filter::everything(), Include::METADATA)
        .await?;
    let held = fetched
        .iter()
        .flatten()
        .find_map(|r| r.metadata.get("n")?.as_integer());
    holds(held == Some(9_007_199_254_740_993), || {
        format!("2^53 + 1 is read as {held:?}")
    })
}

async fn count(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let number = u64::try_from(keys(&DECLARED)?.len()).unwrap_or(0);
    rows("everything", &collection, number).await?;
    for (what, filter, expected) in [
        ("a part", r#"{"b":true}"#, 2),
        ("nothing", r#"{"t":"zz"}"#, 0),
    ] {
        counted(what, &collection, &Filter::from_json(filter)?, expected).await?;
    }
    Ok(())
}

async fn twice(context: Context) -> Checked {
    let asked = [key("a")?, key("a")?];
    answers(
        &read(&context, &asked, &Filter::everything()).await?,
        &[Some("a"), Some("a")],
    )
}

async fn partitioned(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    let odd = Key::within(crate::context::text("p")?, crate::context::text("a")?);
    refused(
        collection
            .fetch(
                std::slice::from_ref(&odd),
                &Filter::everything(),
                Include::METADATA,
            )
            .await,
        "a partition where there is none",
    )?;
    refused(
        collection.upsert(&[Record::new(odd, [1.0; 4])]).await,
        "a partition where there is none",
    )
}
