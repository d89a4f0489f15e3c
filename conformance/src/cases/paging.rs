//! Scans, a page at a time.

use shelfward_core::filter::key as field;
use shelfward_core::{Collection, Filter, Include};

use crate::case::Case;
use crate::check::{holds, ids_of, same_ids, same_order, scan};
use crate::context::{Context, record};
use crate::fixture::{self, records};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    let cases = [
        Case::new("paging/every-record-once", every_record),
        Case::new("paging/stable-order", stable),
        Case::new("paging/under-a-filter", under_a_filter),
        Case::new("paging/through-deletes", through_deletes),
    ];
    cases.map(|case| case.needs(|can| can.scan)).into()
}

async fn many(context: &Context) -> Checked<(Collection, Vec<String>)> {
    let names: Vec<String> = (0..25).map(|n| format!("r{n}")).collect();
    let collection = fixture::holding(context, &[]).await?;
    for (n, name) in names.iter().enumerate() {
        let record = record(name, 1, &format!(r#"{{"n":{}}}"#, n % 2))?;
        collection.upsert(&[record]).await?;
    }
    Ok((collection, names))
}

async fn every_record(context: Context) -> Checked {
    let (collection, names) = many(&context).await?;
    for page in [1, 7, 25, 26] {
        let found = scan(&collection, &Filter::everything(), page).await?;
        same_ids(&format!("pages of {page}"), &ids_of(&found), &names)?;
    }
    Ok(())
}

async fn stable(context: Context) -> Checked {
    let (collection, _) = many(&context).await?;
    let everything = Filter::everything();
    let first = ids_of(&scan(&collection, &everything, 4).await?);
    let again = ids_of(&scan(&collection, &everything, 9).await?);
    same_order("other pages", &again, &first)
}

async fn under_a_filter(context: Context) -> Checked {
    let (collection, names) = many(&context).await?;
    let odd: Vec<_> = names.iter().skip(1).step_by(2).collect();
    let found = scan(&collection, &field("n").eq(1).build()?, 3).await?;
    same_ids("the odd ones", &ids_of(&found), &odd)
}

async fn through_deletes(context: Context) -> Checked {
    let five = records(&["a", "b", "c", "d", "e"].map(|id| (id, "{}")))?;
    let collection = context.holding(&five).await?;
    let everything = Filter::everything();
    let first = collection
        .scan(&everything, None, 2, Include::METADATA)
        .await?;
    let keys: Vec<_> = first.records.iter().map(|r| r.key.clone()).collect();
    collection.delete(&keys).await?;
    let (seen, mut rest) = (ids_of(&first.records), Vec::new());
    let mut after = first.next;
    while let Some(cursor) = after {
        let page = collection
            .scan(&everything, Some(&cursor), 2, Include::METADATA)
            .await?;
        rest.extend(ids_of(&page.records));
        after = page.next;
    }
    let others = rest.iter().all(|id| !seen.contains(id));
    holds(rest.len() == 3 && others, || {
        format!("after deleting {seen:?} the scan went on with {rest:?}")
    })
}
