//! Dense search: how many, in which order, under a filter.

use shelfward_core::{Completeness, Filter, Leg, Record};

use crate::case::Case;
use crate::check::{NONE, NOT_FULL, full, holds, ids, same_ids, same_order};
use crate::context::{Context, key, record, refused};
use crate::fixture;
use crate::verdict::{Checked, Finding, Verdict};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("search/empty-collection", empty),
        Case::new("search/nearest-first", nearest_first),
        Case::new("search/top-k", top_k),
        Case::new("search/top-k-0", top_k_0),
        Case::new("search/top-k-over-what-is-there", over_what_is_there),
        Case::new("search/ties-are-stable", ties),
        Case::new("search/full-under-a-filter", full_under_a_filter).only_where(full, NOT_FULL),
        Case::new("search/one-in-a-thousand", one_in_a_thousand).only_where(full, NOT_FULL),
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
    let collection = context
        .make(&context.spec()?.with_fields(fixture::fields()?))
        .await?;
    collection.upsert(records).await?;
    Ok(ids(&collection
        .search(&Leg::dense([1.0, 0.0, 0.0, 0.0], filter, top_k))
        .await?))
}

/// Records that lie ever farther from the query.
fn row(number: u8) -> Checked<Vec<Record>> {
    (0..number)
        .map(|n| {
            let mut record = record(&format!("r{n:03}"), 0, "{}")?;
            record.vector = [1.0, f32::from(n) / 16.0, 0.0, 0.0].into();
            Ok(record)
        })
        .collect()
}

async fn empty(context: Context) -> Checked {
    same_ids(
        "nothing",
        &hits(&context, &[], Filter::everything(), 10).await?,
        NONE,
    )
}

async fn nearest_first(context: Context) -> Checked {
    let expected = ["r000", "r001", "r002", "r003", "r004"];
    same_order(
        "all",
        &hits(&context, &row(5)?, Filter::everything(), 10).await?,
        &expected,
    )
}

async fn top_k(context: Context) -> Checked {
    same_order(
        "three",
        &hits(&context, &row(5)?, Filter::everything(), 3).await?,
        &["r000", "r001", "r002"],
    )?;
    same_order(
        "one",
        &hits(&context, &row(5)?, Filter::everything(), 1).await?,
        &["r000"],
    )
}

async fn top_k_0(context: Context) -> Checked {
    same_ids(
        "none",
        &hits(&context, &row(5)?, Filter::everything(), 0).await?,
        NONE,
    )
}

async fn over_what_is_there(context: Context) -> Checked {
    let found = hits(&context, &row(2)?, Filter::everything(), 500).await?;
    same_order("both", &found, &["r000", "r001"])
}

async fn ties(context: Context) -> Checked {
    let records: Vec<Record> = ["d", "b", "a", "c", "e"]
        .iter()
        .map(|id| Ok(Record::new(key(id)?, [1.0; 4])))
        .collect::<Checked<_>>()?;
    let collection = context.holding(&records).await?;
    let leg = Leg::dense([1.0; 4], Filter::everything(), 5);
    let first = ids(&collection.search(&leg).await?);
    for _ in 0..5 {
        same_order(
            "the same search again",
            &ids(&collection.search(&leg).await?),
            &first,
        )?;
    }
    Ok(())
}

/// Many that do not match lie near, the few that match lie far.
async fn full_under_a_filter(context: Context) -> Checked {
    starved(context, 200, 10, 10).await
}

async fn one_in_a_thousand(context: Context) -> Checked {
    starved(context, 990, 1, 10).await
}

async fn starved(context: Context, near: u32, far: u32, top_k: usize) -> Checked {
    let mut records = Vec::new();
    for n in 0..near + far {
        let matches = n >= near;
        let metadata = if matches {
            r#"{"t":"b"}"#
        } else {
            r#"{"t":"a"}"#
        };
        let mut record = record(&format!("r{n:04}"), 0, metadata)?;
        record.vector = if matches {
            [0.0, 1.0, 0.5, 0.0].into()
        } else {
            [1.0, 0.01, 0.0, 0.0].into()
        };
        records.push(record);
    }
    let expected: Vec<_> = (near..near + far).map(|n| format!("r{n:04}")).collect();
    let found = hits(
        &context,
        &records,
        Filter::from_json(r#"{"t":"b"}"#)?,
        top_k,
    )
    .await?;
    same_ids("the far ones that match", &found, &expected)
}

async fn comes_along(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let found = collection
        .search(&Leg::dense(
            [1.0; 4],
            Filter::from_json(r#"{"t":"red"}"#)?,
            20,
        ))
        .await?;
    let whole = |hit: &shelfward_core::Hit| {
        hit.text.as_deref() == Some("text of a") && hit.metadata.text("t") == Some("red")
    };
    same_ids("red", &ids(&found), &["a"])?;
    holds(found.hits.iter().all(whole), || {
        "a hit comes without its text or metadata".into()
    })
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
        refused(
            collection
                .search(&Leg::dense(vector, Filter::everything(), 5))
                .await,
            "an odd query vector",
        )?;
    }
    Ok(())
}

async fn ended(context: Context) -> Checked {
    let collection = fixture::declared(&context).await?;
    let found = collection
        .search(&Leg::dense(
            [1.0; 4],
            Filter::from_json(r#"{"b":true}"#)?,
            50,
        ))
        .await?;
    if found.end == Completeness::Complete {
        return Ok(());
    }
    Err(Finding::new(
        Verdict::Narrows,
        format!("full is guaranteed, and the search ended {:?}", found.end),
    ))
}
