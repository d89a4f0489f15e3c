//! Scans, a page at a time.

use shelfward_core::filter::key as field;
use shelfward_core::{Filter, Include};

use crate::case::Case;
use crate::check::{holds, same_ids, same_order, scan};
use crate::context::{Context, key, record};
use crate::fixture::{fields, records};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    let cases = vec![
        Case::new("paging/every-record-once", every_record),
        Case::new("paging/stable-order", stable),
        Case::new("paging/under-a-filter", under_a_filter),
        Case::new("paging/through-deletes", through_deletes),
    ];
    cases
        .into_iter()
        .map(|case| case.needs(|can| can.scan))
        .collect()
}

async fn many(context: &Context) -> Checked<(shelfward_core::Collection, Vec<String>)> {
    let names: Vec<String> = (0..25).map(|n| format!("r{n}")).collect();
    let collection = context
        .make(&context.spec()?.with_fields(fields()?))
        .await?;
    for (n, name) in names.iter().enumerate() {
        collection
            .upsert(&[record(name, 1, &format!(r#"{{"n":{}}}"#, n % 2))?])
            .await?;
    }
    Ok((collection, names))
}

async fn every_record(context: Context) -> Checked {
    let (collection, names) = many(&context).await?;
    for page in [1, 7, 25, 26] {
        let found = scan(&collection, &Filter::everything(), page).await?;
        let found: Vec<_> = found.iter().map(|r| r.key.id.to_string()).collect();
        same_ids(&format!("pages of {page}"), &found, &names)?;
    }
    Ok(())
}

async fn stable(context: Context) -> Checked {
    let (collection, _) = many(&context).await?;
    let order = |found: Vec<shelfward_core::StoredRecord>| -> Vec<_> {
        found.iter().map(|r| r.key.id.to_string()).collect()
    };
    let first = order(scan(&collection, &Filter::everything(), 4).await?);
    same_order(
        "other pages",
        &order(scan(&collection, &Filter::everything(), 9).await?),
        &first,
    )
}

async fn under_a_filter(context: Context) -> Checked {
    let (collection, names) = many(&context).await?;
    let odd: Vec<_> = names.iter().skip(1).step_by(2).collect();
    let found = scan(&collection, &field("n").eq(1).build()?, 3).await?;
    let found: Vec<_> = found.iter().map(|r| r.key.id.to_string()).collect();
    same_ids("the odd ones", &found, &odd)
}

async fn through_deletes(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    collection
        .upsert(&records(&[
            ("a", "{}"),
            ("b", "{}"),
            ("c", "{}"),
            ("d", "{}"),
            ("e", "{}"),
        ])?)
        .await?;
    let first = collection
        .scan(&Filter::everything(), None, 2, Include::METADATA)
        .await?;
    let seen: Vec<_> = first.records.iter().map(|r| r.key.id.to_string()).collect();
    let seen_keys = seen.iter().map(|id| key(id)).collect::<Checked<Vec<_>>>()?;
    collection.delete(&seen_keys).await?;
    let mut rest = Vec::new();
    let mut after = first.next;
    while let Some(cursor) = after {
        let page = collection
            .scan(&Filter::everything(), Some(&cursor), 2, Include::METADATA)
            .await?;
        rest.extend(page.records.iter().map(|r| r.key.id.to_string()));
        after = page.next;
    }
    holds(
        rest.len() == 3 && rest.iter().all(|id| !seen.contains(id)),
        || format!("after deleting {seen:?} the scan went on with {rest:?}"),
    )
}
