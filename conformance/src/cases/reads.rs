//! Reading by key.

use shelfward_core::{Collection, Filter, Include, Key};

use crate::case::Case;
use crate::check::{can_count, counted, holds, number, rows, stored};
use crate::context::{Context, key, refused, text};
use crate::fixture::{self, DECLARED, records};
use crate::verdict::{Checked, Finding};

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

/// What keys bring, within a filter: each id, where it is to be there.
async fn brings(
    collection: &Collection,
    within: &Filter,
    asked: &[&str],
    expected: &[Option<&str>],
) -> Checked {
    let keys: Checked<Vec<_>> = asked.iter().map(|id| key(id)).collect();
    let fetched = collection.fetch(&keys?, within, Include::METADATA).await?;
    let got = fetched.iter();
    let got: Vec<_> = got
        .map(|record| Some(record.as_ref()?.key.id.as_str()))
        .collect();
    if got == expected {
        return Ok(());
    }
    let message = format!("expected {expected:?}, got {got:?}");
    let mut pairs = got.iter().zip(expected);
    match pairs.any(|(got, expected)| got.is_some() && expected.is_none()) {
        true => Err(Finding::widens(message)),
        false => Err(Finding::narrows(message)),
    }
}

/// The same of the documents, within everything.
async fn reads(context: Context, asked: &[&str], expected: &[Option<&str>]) -> Checked {
    let collection = fixture::declared(&context).await?;
    brings(&collection, &Filter::everything(), asked, expected).await
}

async fn mixed(context: Context) -> Checked {
    let collection = context
        .holding(&records(&[("a", "{}"), ("b", "{}")])?)
        .await?;
    let (all, asked) = (Filter::everything(), ["a", "missing", "b"]);
    brings(&collection, &all, &asked, &[Some("a"), None, Some("b")]).await
}

async fn order(context: Context) -> Checked {
    let asked = ["j", "a", "e"];
    reads(context, &asked, &asked.map(Some)).await
}

async fn none(context: Context) -> Checked {
    reads(context.clone(), &[], &[]).await?;
    reads(context, &["nobody"], &[None]).await
}

async fn twice(context: Context) -> Checked {
    reads(context, &["a", "a"], &[Some("a"), Some("a")]).await
}

async fn within(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let red = Filter::from_json(r#"{"t":"red"}"#)?;
    brings(&collection, &red, &["a", "b"], &[Some("a"), None]).await
}

async fn include(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let everything = Filter::everything();
    for (include, vector, text) in [
        (Include::METADATA, false, false),
        (Include::TEXT, false, true),
        (Include::ALL, true, true),
    ] {
        let fetched = collection.fetch(&[key("a")?], &everything, include).await?;
        let mut fetched = fetched.iter().flatten();
        let as_asked = fetched.any(|r| r.vector.is_some() == vector && r.text.is_some() == text);
        holds(as_asked, || {
            format!("{include:?} did not bring what it asks for")
        })?;
    }
    Ok(())
}

async fn integers(context: Context) -> Checked {
    let held = stored(&fixture::declared(&context).await?, "c").await?;
    let held = held.metadata.get("n").and_then(|n| n.as_integer());
    holds(held == Some(9_007_199_254_740_993), || {
        format!("2^53 + 1 is read as {held:?}")
    })
}

async fn count(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    rows("everything", &collection, number(DECLARED.len())).await?;
    for (what, filter, expected) in [
        ("a part", r#"{"b":true}"#, 2),
        ("nothing", r#"{"t":"zz"}"#, 0),
    ] {
        counted(what, &collection, &Filter::from_json(filter)?, expected).await?;
    }
    Ok(())
}

async fn partitioned(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    let odd = [Key::within(text("p")?, text("a")?)];
    let (all, what) = (Filter::everything(), "a partition where there is none");
    refused(collection.fetch(&odd, &all, Include::METADATA).await, what)?;
    let records = odd.map(|key| shelfward_core::Record::new(key, [1.0; 4]));
    refused(collection.upsert(&records).await, what)
}
