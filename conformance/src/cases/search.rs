//! Dense search: how many, in which order, under a filter.

use shelfward_core::{Completeness, Filter, Leg, Record};

use crate::case::Case;
use crate::check::{NONE, NOT_FULL, full, holds, ids, same_ids, same_order};
use crate::context::{Context, bare_records, record, refused};
use crate::fixture;
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("search/empty-collection", empty),
        Case::new("search/nearest-first", nearest_first),
        Case::new("search/top-k", top_k),
        Case::new("search/top-k-0", top_k_0),
        Case::new("search/top-k-over-what-is-there", over_what_is_there),
        Case::new("search/ties-are-stable", ties),
        // Many that do not match lie near, the few that match lie far.
        Case::new("search/full-under-a-filter", |context| {
            starved(context, 200, 10)
        })
        .only_where(full, NOT_FULL),
        Case::new("search/one-in-a-thousand", |context| {
            starved(context, 990, 1)
        })
        .only_where(full, NOT_FULL),
        Case::new("search/text-and-metadata-come-along", comes_along),
        Case::new("search/query-of-another-width", odd_queries),
        Case::new("search/says-how-it-ended", ended).only_where(full, NOT_FULL),
    ]
}

async fn hits(
    context: &Context,
    records: &[Record],
    filter: Filter,
    top_k: usize,
) -> Checked<Vec<String>> {
    let collection = fixture::holding(context, records).await?;
    let leg = Leg::dense([1.0, 0.0, 0.0, 0.0], filter, top_k);
    Ok(ids(&collection.search(&leg).await?))
}

/// What is found of so many records that lie ever farther from the query.
async fn of_a_row(context: &Context, of: u8, top_k: usize) -> Checked<Vec<String>> {
    let records = (0..of).map(|n| {
        let mut record = record(&format!("r{n:03}"), 0, "{}")?;
        record.vector = [1.0, f32::from(n) / 16.0, 0.0, 0.0].into();
        Ok(record)
    });
    let records: Checked<Vec<_>> = records.collect();
    hits(context, &records?, Filter::everything(), top_k).await
}

async fn empty(context: Context) -> Checked {
    same_ids("nothing", &of_a_row(&context, 0, 10).await?, NONE)
}

async fn nearest_first(context: Context) -> Checked {
    let found = of_a_row(&context, 5, 10).await?;
    same_order("all", &found, &["r000", "r001", "r002", "r003", "r004"])
}

async fn top_k(context: Context) -> Checked {
    let three = of_a_row(&context, 5, 3).await?;
    same_order("three", &three, &["r000", "r001", "r002"])?;
    same_order("one", &of_a_row(&context, 5, 1).await?, &["r000"])
}

async fn top_k_0(context: Context) -> Checked {
    same_ids("none", &of_a_row(&context, 5, 0).await?, NONE)
}

async fn over_what_is_there(context: Context) -> Checked {
    let both = of_a_row(&context, 2, 500).await?;
    same_order("both", &both, &["r000", "r001"])
}

async fn ties(context: Context) -> Checked {
    let equal = bare_records(&["d", "b", "a", "c", "e"])?;
    let collection = context.holding(&equal).await?;
    let leg = Leg::dense([1.0; 4], Filter::everything(), 5);
    let first = ids(&collection.search(&leg).await?);
    for _ in 0..5 {
        let again = ids(&collection.search(&leg).await?);
        same_order("the same search again", &again, &first)?;
    }
    Ok(())
}

async fn starved(context: Context, near: u32, far: u32) -> Checked {
    let mut records = Vec::new();
    for n in 0..near + far {
        let (metadata, vector) = match n < near {
            true => (r#"{"t":"a"}"#, [1.0, 0.01, 0.0, 0.0]),
            false => (r#"{"t":"b"}"#, [0.0, 1.0, 0.5, 0.0]),
        };
        let mut record = record(&format!("r{n:04}"), 0, metadata)?;
        record.vector = vector.into();
        records.push(record);
    }
    let expected: Vec<_> = (near..near + far).map(|n| format!("r{n:04}")).collect();
    let matching = Filter::from_json(r#"{"t":"b"}"#)?;
    let found = hits(&context, &records, matching, 10).await?;
    same_ids("the far ones that match", &found, &expected)
}

async fn comes_along(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let red = Filter::from_json(r#"{"t":"red"}"#)?;
    let found = collection.search(&Leg::dense([1.0; 4], red, 20)).await?;
    same_ids("red", &ids(&found), &["a"])?;
    let whole = found.hits.iter().all(|hit| {
        hit.text.as_deref() == Some("text of a") && hit.metadata.text("t") == Some("red")
    });
    holds(whole, || "a hit comes without its text or metadata".into())
}

async fn odd_queries(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    for vector in [
        &[1.0_f32, 0.0, 0.0][..],
        &[],
        &[f32::NAN; 4],
        &[f32::INFINITY; 4],
        &[0.0; 4],
    ] {
        let leg = Leg::dense(vector, Filter::everything(), 5);
        refused(collection.search(&leg).await, "an odd query vector")?;
    }
    Ok(())
}

async fn ended(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let filter = Filter::from_json(r#"{"b":true}"#)?;
    let end = collection
        .search(&Leg::dense([1.0; 4], filter, 50))
        .await?
        .end;
    if end == Completeness::Complete {
        return Ok(());
    }
    let message = format!("full is guaranteed, and the search ended {end:?}");
    Err(Finding::narrows(message))
}
