//! The Library Index on this store: what readers see, and what they never see.

use std::sync::Arc;

use shelfward_core::library::{
    ExecutedMode, LibrarySpec, Mode, Passage, PassageFilter, ScopeChange, SearchRequest,
};
use shelfward_core::{
    Capabilities, Count, Field, FieldKind, Filter, LibraryIndex, Metadata, MetadataKey,
};

use crate::case::Case;
use crate::check::{
    NONE, NOT_FULL, counts_deleted, counts_updated, full, holds, same_ids, same_order, updates,
};
use crate::context::Context;
use crate::library::{
    self, ask, embedder, everything, file, file_texts, finds, ids, narrow, remove, rescope, sees,
    source, source_id as id, source_of, tenant,
};
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("library/search", search),
        Case::new("library/replace-whole", replace_whole),
        Case::new("library/tenants-apart", tenants),
        Case::new("library/groups-apart", groups),
        Case::new("library/same-source-id-in-two-tenants", same_id),
        Case::new("library/remove-source", remove_source),
        Case::new("library/remove-tenant", remove_tenant),
        Case::new("library/remove-what-is-not-there", remove_missing),
        Case::new("library/re-scope", regroup).needs(updates),
        Case::new("library/re-scope-folder-tags-title", refile).needs(updates),
        Case::new("library/kinds", kinds),
        Case::new("library/folder", folder),
        Case::new("library/folders", folders),
        Case::new("library/tags", tags),
        Case::new("library/source-ids", source_ids),
        Case::new("library/any-of", any_of),
        Case::new("library/own-filter", own_filter),
        Case::new("library/own-keys", own_keys),
        Case::new("library/failed-embedding-leaves-the-old", failed_embedding),
        Case::new("library/empty-source", empty_source),
        Case::new("library/hybrid", hybrid).only_where(
            |can| has_lexical(can) && full(can),
            "it has no lexical leg, or does not promise that a filtered search is full",
        ),
        Case::new("library/lexical-embeds-nothing", lexical).needs(has_lexical),
        Case::new("library/canaries", canaries),
        Case::new("library/full-under-a-scope", full_under_a_scope).only_where(full, NOT_FULL),
        Case::new("library/short-answers-say-so", short_answers),
    ]
}

fn has_lexical(can: &Capabilities) -> bool {
    can.lexical.is_some()
}

fn any() -> SearchRequest {
    SearchRequest::new("words")
}

fn removed(index: &LibraryIndex, got: Count, expected: u64) -> Checked {
    counts_deleted("removed", index.capabilities(), got, expected)
}

fn changed(index: &LibraryIndex, got: Count, expected: u64) -> Checked {
    counts_updated("changed", index.capabilities(), got, expected)
}

async fn search(context: Context) -> Checked {
    let index = library::new(&context).await?;
    let crane = "The crane is serviced.";
    let texts = [crane, "Ships wait until noon."];
    let filed = source("meeting:17", ["acct:ann", "org:org1"], &texts)?;
    let filed = filed.title("Weekly round").tags(["weekly"]).folder("f1");
    file(&index, "org1", filed).await?;
    let request = SearchRequest::new(crane).mode(Mode::Dense).top_k(1);
    let answer = ask(&index, "org1", ["acct:ann"], request).await?;
    same_order("the nearest", &ids(&answer), &["meeting:17#0"])?;
    let whole = answer.passages.first().is_some_and(|p| {
        p.source_id == "meeting:17"
            && p.kind == "document"
            && p.index == 0
            && &*p.text == crane
            && p.title.as_deref() == Some("Weekly round")
            && p.folder_id.as_deref() == Some("f1")
            && p.tags == ["weekly"]
            && p.metadata.iter().all(|(key, _)| !key.is_reserved())
            && p.legs.dense.is_some_and(|place| place.rank == 1)
    });
    let whole = whole && answer.complete && answer.ran == ExecutedMode::Dense;
    holds(whole, || "a passage does not come whole".into())
}

async fn replace_whole(context: Context) -> Checked {
    let index = library::new(&context).await?;
    file_texts(&index, "s1", ["g"], &["alpha", "beta", "gamma"]).await?;
    sees(&index, "g", &["s1#0", "s1#1", "s1#2"]).await?;
    let org1 = tenant(&index, "org1")?;
    let report = org1.index_source(source("s1", ["g"], &["delta"])?).await?;
    sees(&index, "g", &["s1#0"]).await?;
    removed(&index, report.replaced, 3)?;
    holds(report.passages == 1, || {
        format!("1 passage was written, {} answered", report.passages)
    })
}

async fn tenants(context: Context) -> Checked {
    let index = library::new(&context).await?;
    file_texts(&index, "s1", ["g"], &["ours"]).await?;
    file(&index, "org2", source("s2", ["g"], &["theirs"])?).await?;
    sees(&index, "g", &["s1#0"]).await?;
    finds(&index, "org2", everything(), &["s2#0"]).await?;
    // A tenant whose name another begins with.
    finds(&index, "org", SearchRequest::new("ours"), NONE).await
}

async fn groups(context: Context) -> Checked {
    let index = library::new(&context).await?;
    file_texts(&index, "s1", ["acct:ann"], &["for ann"]).await?;
    file_texts(&index, "s2", ["acct:ann", "acct:bob"], &["for both"]).await?;
    file_texts(&index, "s3", ["acct:anna"], &["for anna"]).await?;
    let ann = library::visible(&index, ["acct:ann", "other"]).await?;
    same_ids("ann", &ann, &["s1#0", "s2#0"])?;
    sees(&index, "acct:bob", &["s2#0"]).await?;
    sees(&index, "acct:anna", &["s3#0"]).await?;
    sees(&index, "acct:an", NONE).await
}

async fn same_id(context: Context) -> Checked {
    let index = library::new(&context).await?;
    file_texts(&index, "handbook", ["g"], &["ours", "more"]).await?;
    let theirs = source("handbook", ["g"], &["theirs"])?;
    file(&index, "org2", theirs).await?;
    removed(&index, remove(&index, "org2", "handbook").await?, 1)?;
    if updates(index.capabilities()) {
        let widened = narrow(&index, "org2", "handbook", "everybody").await?;
        changed(&index, widened, 0)?;
        sees(&index, "everybody", NONE).await?;
    }
    sees(&index, "g", &["handbook#0", "handbook#1"]).await
}

/// Two sources of `org1`, and one of `org2`.
async fn three_sources(context: &Context) -> Checked<LibraryIndex> {
    let index = library::new(context).await?;
    file_texts(&index, "s1", ["g"], &["a", "b"]).await?;
    file_texts(&index, "s2", ["g"], &["c"]).await?;
    file(&index, "org2", source("s1", ["g"], &["d"])?).await?;
    Ok(index)
}

async fn remove_source(context: Context) -> Checked {
    let index = three_sources(&context).await?;
    let number = remove(&index, "org1", "s1").await?;
    sees(&index, "g", &["s2#0"]).await?;
    removed(&index, number, 2)
}

async fn remove_tenant(context: Context) -> Checked {
    let index = three_sources(&context).await?;
    let number = tenant(&index, "org1")?.remove_tenant().await?.count();
    sees(&index, "g", NONE).await?;
    finds(&index, "org2", everything(), &["s1#0"]).await?;
    removed(&index, number, 3)
}

async fn remove_missing(context: Context) -> Checked {
    let index = library::new(&context).await?;
    file_texts(&index, "s1", ["g"], &["a"]).await?;
    removed(&index, remove(&index, "org1", "s").await?, 0)?;
    let nobody = tenant(&index, "org")?.remove_tenant().await?;
    removed(&index, nobody.count(), 0)?;
    sees(&index, "g", &["s1#0"]).await
}

async fn regroup(context: Context) -> Checked {
    let index = library::new(&context).await?;
    file_texts(&index, "s1", ["all", "few"], &["a", "b"]).await?;
    file_texts(&index, "s2", ["all"], &["c"]).await?;
    let number = narrow(&index, "org1", "s1", "few").await?;
    sees(&index, "all", &["s2#0"]).await?;
    sees(&index, "few", &["s1#0", "s1#1"]).await?;
    changed(&index, number, 2)?;
    let none = ScopeChange::new().groups([""; 0]);
    holds(none.is_err(), || "a source of no groups is taken".into())
}

async fn refile(context: Context) -> Checked {
    let index = library::new(&context).await?;
    let filed = source("s1", ["g"], &["a"])?.folder("f1");
    file(&index, "org1", filed.title("Old").tags(["x"])).await?;
    let moved = ScopeChange::new().folder("f2").tags(["y", "z"]);
    rescope(&index, "org1", "s1", moved).await?;
    finds(&index, "org1", any().folder("f1"), NONE).await?;
    finds(&index, "org1", any().folder("f2"), &["s1#0"]).await?;
    let renamed = ScopeChange::new().remove_folder().title("New");
    rescope(&index, "org1", "s1", renamed).await?;
    finds(&index, "org1", any().folder("f2"), NONE).await?;
    let answer = ask(&index, "org1", ["g"], any().tags(["z"])).await?;
    let refiled = answer.passages.iter().any(|p| {
        p.title.as_deref() == Some("New") && p.folder_id.is_none() && p.tags == ["y", "z"]
    });
    holds(refiled, || {
        "folder, title or tags are not those given, or one that was not given changed".into()
    })
}

/// Three sources of several kinds, folders and tags, and what requests for them find.
async fn narrowed(context: &Context, rows: &[(SearchRequest, &[&str])]) -> Checked {
    let index = library::new(context).await?;
    let session = source_of("session", "s1", ["g"])?.passages([Passage::new("a")]);
    let session = session.folder("f1").tags(["x", "y"]);
    let document = source("d1", ["g"], &["b"])?.folder("f2").tags(["x"]);
    for filed in [session, document, source("d2", ["g"], &["c"])?] {
        file(&index, "org1", filed).await?;
    }
    for (request, expected) in rows {
        for mode in [Mode::Dense, Mode::Hybrid] {
            finds(&index, "org1", request.clone().mode(mode), expected).await?;
        }
    }
    Ok(())
}

async fn kinds(context: Context) -> Checked {
    let both = ["session", "document"];
    let rows: [(_, &[_]); 4] = [
        (any().kinds(["session"]), &["s1#0"]),
        (any().kinds(both), &["s1#0", "d1#0", "d2#0"]),
        (any().kinds(Vec::<String>::new()), NONE),
        (any().kinds(["mail"]), NONE),
    ];
    narrowed(&context, &rows).await
}

async fn folder(context: Context) -> Checked {
    let rows: [(_, &[_]); 3] = [
        (any().folder("f1"), &["s1#0"]),
        (any().folder("f"), NONE),
        (any().folder(""), NONE),
    ];
    narrowed(&context, &rows).await
}

async fn folders(context: Context) -> Checked {
    let rows: [(_, &[_]); 4] = [
        (any().folder_ids(["f1", "f2"]), &["s1#0", "d1#0"]),
        (any().folder_ids(Vec::<String>::new()), NONE),
        (any().folder("f1").folder_ids(["f2"]), NONE),
        (any().folder("f1").folder_ids(["f1", "f2"]), &["s1#0"]),
    ];
    narrowed(&context, &rows).await
}

async fn tags(context: Context) -> Checked {
    let rows: [(_, &[_]); 4] = [
        (any().tags(["x"]), &["s1#0", "d1#0"]),
        (any().tags(["y", "x", "x"]), &["s1#0"]),
        (any().tags(["x", "z"]), NONE),
        (any().tags(Vec::<String>::new()), NONE),
    ];
    narrowed(&context, &rows).await
}

async fn source_ids(context: Context) -> Checked {
    let rows: [(_, &[_]); 3] = [
        (any().source_ids([id("d1")?, id("d2")?]), &["d1#0", "d2#0"]),
        (any().source_ids([id("d")?]), NONE),
        (any().source_ids(Vec::<String>::new()), NONE),
    ];
    narrowed(&context, &rows).await
}

async fn any_of(context: Context) -> Checked {
    let branch = PassageFilter::new;
    let (sessions, documents) = (any().kinds(["session"]), branch().kinds(["document"]));
    let (of_sessions, in_f2) = (branch().kinds(["session"]), branch().folder("f2"));
    let nothing_or_f2 = [
        branch().source_ids(Vec::<String>::new()),
        branch().folder_ids(["f2"]),
    ];
    let rows: [(_, &[_]); 7] = [
        (
            any().any_of([of_sessions, in_f2.clone()]),
            &["s1#0", "d1#0"],
        ),
        (
            sessions.clone().any_of_with_defaults([documents.clone()]),
            &["d1#0", "d2#0"],
        ),
        (sessions.clone().any_of([branch()]), &["s1#0"]),
        (sessions.any_of([documents]), NONE),
        (any().tags(["x"]).any_of([in_f2]), &["d1#0"]),
        (any().any_of([]), NONE),
        (any().any_of(nothing_or_f2), &["d1#0"]),
    ];
    narrowed(&context, &rows).await
}

async fn own_filter(context: Context) -> Checked {
    let year = Field::new(MetadataKey::new("year")?, FieldKind::Integer);
    let spec = LibrarySpec::new(context.name()?).with_fields([year]);
    let index = LibraryIndex::ensure(&context.store().await?, spec, Arc::new(embedder())).await?;
    for (name, year) in [("old", 2010), ("new", 2020)] {
        let metadata = Metadata::new().with("year", year)?;
        let filed = source(name, ["g"], &["a"])?.metadata(metadata);
        file(&index, "org1", filed).await?;
    }
    let since = any().filter(Filter::from_json(r#"{"year":{"$gte":2015}}"#)?);
    finds(&index, "org1", since, &["new#0"]).await?;
    for own in [
        r#"{"tenantId":"org2"}"#,
        r#"{"$or":[{"aclGroups":"x"},{"year":1}]}"#,
        r#"{"unknown":1}"#,
    ] {
        let request = any().filter(Filter::from_json(own)?);
        let answer = ask(&index, "org1", ["g"], request).await;
        holds(answer.is_err(), || format!("the filter {own} is taken"))?;
    }
    Ok(())
}

async fn own_keys(context: Context) -> Checked {
    let index = library::new(&context).await?;
    let filed = |metadata: Metadata, of_passage: Metadata| -> Checked<_> {
        let passage = Passage::new("a").metadata(of_passage);
        let source = source_of("document", "s1", ["g"])?;
        Ok(source.metadata(metadata).passages([passage]))
    };
    let forged = r#"{"tenantId":"org2","aclGroups":["everybody"],"status":"x","sourceId":"z","kind":"y","index":7,"folderId":"f","title":"t","tags":["k"]}"#;
    for (key, value) in Metadata::from_json(forged)?.iter() {
        let one: Metadata = [(key.clone(), value.clone())].into_iter().collect();
        for (of_source, of_passage) in [(&one, &Metadata::new()), (&Metadata::new(), &one)] {
            let source = filed(of_source.clone(), of_passage.clone())?;
            let refused = file(&index, "org1", source).await;
            holds(refused.is_err(), || format!("metadata may hold {key}"))?;
        }
    }
    sees(&index, "everybody", NONE).await?;
    sees(&index, "g", NONE).await?;
    let of_source = Metadata::from_json(r#"{"author":"source"}"#)?;
    let of_passage = Metadata::from_json(r#"{"author":"passage","page":3}"#)?;
    file(&index, "org1", filed(of_source, of_passage)?).await?;
    let answer = ask(&index, "org1", ["g"], any()).await?;
    let expected = Metadata::from_json(
        r#"{"tenantId":"org1","status":"active","sourceId":"s1","kind":"document","index":0,"tags":[],"author":"source","page":3}"#,
    )?;
    let found = answer.passages.first();
    let groups: Vec<&str> = found.into_iter().flat_map(|p| p.access_groups()).collect();
    let held = found.map(|passage| &passage.metadata);
    holds(held == Some(&expected) && groups == ["g"], || {
        "metadata does not follow own, source, passage".into()
    })
}

async fn failed_embedding(context: Context) -> Checked {
    let index = library::new(&context).await?;
    file_texts(&index, "s1", ["g"], &["kept", "whole"]).await?;
    let odd = Arc::new(embedder().with("of another width", [1.0; 3]));
    let other = LibraryIndex::open(&context.store().await?, &index.spec().name, odd).await?;
    let texts = ["fine", "of another width"];
    let failed = file_texts(&other.with_batch_size(1)?, "s1", ["wide"], &texts).await;
    holds(failed.is_err(), || {
        "a vector of another width is taken".into()
    })?;
    sees(&index, "g", &["s1#0", "s1#1"]).await?;
    sees(&index, "wide", NONE).await
}

async fn empty_source(context: Context) -> Checked {
    let index = library::new(&context).await?;
    file_texts(&index, "s1", ["g"], &["kept"]).await?;
    let refused = file_texts(&index, "s1", ["g"], &[]).await;
    holds(refused.is_err(), || {
        "a source without passages is taken".into()
    })?;
    sees(&index, "g", &["s1#0"]).await?;
    let nothing = source("s1", ["g"], &[])?.allow_empty(true);
    file(&index, "org1", nothing).await?;
    sees(&index, "g", NONE).await
}

async fn hybrid(context: Context) -> Checked {
    let index = library::new(&context).await?;
    let texts = ["rain in the north", "snow in the south", "wind in the west"];
    file_texts(&index, "s1", ["g"], &texts).await?;
    // Hidden passages that fit far better must take no rank.
    for n in 0..60 {
        let hidden = format!("hidden{n}");
        file_texts(&index, &hidden, ["secret"], &["snow snow snow"]).await?;
    }
    let answer = ask(&index, "org1", ["g"], SearchRequest::new("snow").top_k(3)).await?;
    holds(answer.ran == ExecutedMode::Hybrid, || {
        format!("ran {:?}", answer.ran)
    })?;
    same_ids("three", &ids(&answer), &["s1#0", "s1#1", "s1#2"])?;
    let by_word = answer.passages.first().is_some_and(|first| {
        first.id == "s1#1" && first.legs.lexical.is_some_and(|place| place.rank == 1)
    });
    holds(by_word, || {
        "the passage that holds the word is not first, or not of rank 1 in the lexical leg".into()
    })?;
    let dense = answer.passages.iter().filter_map(|p| p.legs.dense);
    let ranks: Vec<_> = dense.map(|place| place.rank).collect();
    holds(ranks.iter().all(|rank| *rank <= 3), || {
        format!("ranks tell of hidden passages: {ranks:?}")
    })
}

async fn lexical(context: Context) -> Checked {
    let embedder = Arc::new(embedder());
    let index = library::on(&context, &context.store().await?, embedder.clone()).await?;
    file_texts(&index, "s1", ["g"], &["rain", "snow"]).await?;
    let before = embedder.calls();
    for (query, expected) in [("snow", &["s1#1"][..]), ("???", NONE)] {
        let request = SearchRequest::new(query).mode(Mode::Lexical);
        finds(&index, "org1", request, expected).await?;
    }
    holds(embedder.calls() == before, || {
        "a lexical search embeds".into()
    })
}

/// Words that stand in one reader's sources only, looked for by everybody else.
async fn canaries(context: Context) -> Checked {
    let index = library::new(&context).await?;
    let readers = [("org1", "a"), ("org1", "b"), ("org2", "a"), ("org2", "b")];
    for (tenant, group) in readers {
        for n in 0..5 {
            let text = format!("canary{tenant}{group} number {n}");
            let id = format!("{group}{n}");
            file(&index, tenant, source(&id, [group], &[&text, "plain"])?).await?;
        }
    }
    for (tenant, group) in readers {
        for (of_tenant, of_group) in readers {
            for mode in [Mode::Dense, Mode::Hybrid] {
                let request = SearchRequest::new(format!("canary{of_tenant}{of_group}"));
                let request = request.mode(mode).top_k(100);
                let found = ask(&index, tenant, [group], request).await?.passages;
                let own = format!("canary{tenant}{group}");
                let strange = |text: &str| text.contains("canary") && !text.contains(&own);
                if let Some(stranger) = found.iter().find(|p| strange(&p.text)) {
                    let message = format!("{tenant}/{group} reads {}", stranger.id);
                    return Err(Finding::widens(message));
                }
                holds(found.len() == 10, || {
                    format!("{tenant}/{group} finds {} of their 10", found.len())
                })?;
            }
        }
    }
    Ok(())
}

const NEAR: &str = "near the query";

/// Many that are hidden lie nearer than those that may be read.
async fn hidden_lie_nearer(context: &Context, seen: &[&str]) -> Checked<LibraryIndex> {
    let index = library::new(context).await?;
    file_texts(&index, "hidden", ["secret"], &[NEAR; 400]).await?;
    file_texts(&index, "seen", ["g"], seen).await?;
    Ok(index)
}

/// A store that does not promise to find those must say that it may not have.
async fn short_answers(context: Context) -> Checked {
    let index = hidden_lie_nearer(&context, &["zzz", "qqq"]).await?;
    for mode in [Mode::Dense, Mode::Hybrid] {
        let request = SearchRequest::new(NEAR).mode(mode).top_k(3);
        let answer = ask(&index, "org1", ["g"], request).await?;
        let found = answer.passages.len();
        if answer.complete && found < 2 {
            let message = format!("{mode:?}: {found} of 2 are found, and that is called complete");
            return Err(Finding::narrows(message));
        }
    }
    Ok(())
}

async fn full_under_a_scope(context: Context) -> Checked {
    let index = hidden_lie_nearer(&context, &["zzz", "qqq", "xxx"]).await?;
    let request = SearchRequest::new(NEAR).mode(Mode::Dense);
    let answer = ask(&index, "org1", ["g"], request).await?;
    let three = ["seen#0", "seen#1", "seen#2"];
    same_ids("the three that may be read", &ids(&answer), &three)?;
    holds(answer.complete, || {
        "a full answer does not say that it is complete".into()
    })
}
