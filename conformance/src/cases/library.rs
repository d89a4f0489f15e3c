//! The Library Index on this store: what readers see, and what they never see.

use std::sync::Arc;

use shelfward_core::library::{
    ExecutedMode, LibrarySpec, Mode, Passage, PassageFilter, ScopeChange, SearchRequest,
};
use shelfward_core::{
    Capabilities, Field, FieldKind, LibraryIndex, Metadata, MetadataKey, SourceId, TenantId,
};

use crate::case::Case;
use crate::check::{
    NONE, NOT_FULL, counts_deleted, counts_updated, full, holds, same_ids, same_order,
};
use crate::context::Context;
use crate::library::{ask, embedder, file, file_texts, ids, open, source, source_of, visible};
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
        Case::new("library/re-scope", rescope).needs(updates),
        Case::new("library/re-scope-folder-tags-title", refile).needs(updates),
        Case::new("library/kinds", kinds),
        Case::new("library/folder", folder),
        Case::new("library/folders", folders),
        Case::new("library/tags", tags),
        Case::new("library/source-ids", source_ids),
        Case::new("library/any-of", any_of),
        Case::new("library/own-filter", own_filter),
        Case::new("library/own-keys-win", own_keys_win),
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

fn updates(can: &Capabilities) -> bool {
    can.update_metadata.is_some()
}

fn has_lexical(can: &Capabilities) -> bool {
    can.lexical.is_some()
}

async fn library(context: &Context) -> Checked<LibraryIndex> {
    open(context, &context.store().await?).await
}

fn id(id: &str) -> Checked<SourceId> {
    Ok(SourceId::new(id)?)
}

async fn search(context: Context) -> Checked {
    let index = library(&context).await?;
    let filed = source(
        "meeting:17",
        ["acct:ann", "org:org1"],
        &["The crane is serviced.", "Ships wait until noon."],
    )?;
    file(
        &index,
        "org1",
        filed.title("Weekly round").tags(["weekly"]).folder("f1"),
    )
    .await?;
    let answer = ask(
        &index,
        "org1",
        ["acct:ann"],
        SearchRequest::new("The crane is serviced.")
            .mode(Mode::Dense)
            .top_k(1),
    )
    .await?;
    same_order("the nearest", &ids(&answer), &["meeting:17#0"])?;
    let whole = answer.passages.first().is_some_and(|p| {
        p.source_id == "meeting:17"
            && p.kind == "document"
            && p.index == 0
            && &*p.text == "The crane is serviced."
            && p.title.as_deref() == Some("Weekly round")
            && p.folder_id.as_deref() == Some("f1")
            && p.tags == ["weekly"]
            && p.metadata.iter().all(|(key, _)| !key.is_reserved())
            && p.legs.dense.is_some_and(|place| place.rank == 1)
    });
    holds(
        whole && answer.complete && answer.ran == ExecutedMode::Dense,
        || "a passage does not come whole".into(),
    )
}

async fn replace_whole(context: Context) -> Checked {
    let index = library(&context).await?;
    file_texts(&index, "s1", ["g"], &["alpha", "beta", "gamma"]).await?;
    same_ids(
        "three",
        &visible(&index, ["g"]).await?,
        &["s1#0", "s1#1", "s1#2"],
    )?;
    let report = index
        .tenant(TenantId::new("org1")?)
        .index_source(source("s1", ["g"], &["delta"])?)
        .await?;
    same_ids("one", &visible(&index, ["g"]).await?, &["s1#0"])?;
    counts_deleted("replaced", index.capabilities(), report.replaced, 3)?;
    holds(report.passages == 1, || {
        format!("1 passage was written, {} answered", report.passages)
    })
}

async fn tenants(context: Context) -> Checked {
    let index = library(&context).await?;
    file_texts(&index, "s1", ["g"], &["ours"]).await?;
    file(&index, "org2", source("s2", ["g"], &["theirs"])?).await?;
    same_ids("org1", &visible(&index, ["g"]).await?, &["s1#0"])?;
    let theirs = ask(
        &index,
        "org2",
        ["g"],
        SearchRequest::new("ours").mode(Mode::Dense),
    )
    .await?;
    same_ids("org2", &ids(&theirs), &["s2#0"])?;
    let nobody = ask(&index, "org", ["g"], SearchRequest::new("ours")).await?;
    same_ids(
        "a tenant whose name another begins with",
        &ids(&nobody),
        NONE,
    )
}

async fn groups(context: Context) -> Checked {
    let index = library(&context).await?;
    file_texts(&index, "s1", ["acct:ann"], &["for ann"]).await?;
    file_texts(&index, "s2", ["acct:ann", "acct:bob"], &["for both"]).await?;
    file_texts(&index, "s3", ["acct:anna"], &["for anna"]).await?;
    same_ids(
        "ann",
        &visible(&index, ["acct:ann", "other"]).await?,
        &["s1#0", "s2#0"],
    )?;
    same_ids("bob", &visible(&index, ["acct:bob"]).await?, &["s2#0"])?;
    same_ids("anna", &visible(&index, ["acct:anna"]).await?, &["s3#0"])?;
    same_ids("nobody", &visible(&index, ["acct:an"]).await?, NONE)
}

async fn same_id(context: Context) -> Checked {
    let index = library(&context).await?;
    file_texts(&index, "handbook", ["g"], &["ours", "more"]).await?;
    file(&index, "org2", source("handbook", ["g"], &["theirs"])?).await?;
    let org2 = index.tenant(TenantId::new("org2")?);
    counts_deleted(
        "removed",
        index.capabilities(),
        org2.remove_source(&id("handbook")?).await?.count(),
        1,
    )?;
    if updates(index.capabilities()) {
        let change = ScopeChange::new().groups(["everybody"])?;
        counts_updated(
            "re-scoped",
            index.capabilities(),
            org2.set_source_scope(&id("handbook")?, &change)
                .await?
                .count(),
            0,
        )?;
        same_ids("everybody", &visible(&index, ["everybody"]).await?, NONE)?;
    }
    same_ids(
        "org1",
        &visible(&index, ["g"]).await?,
        &["handbook#0", "handbook#1"],
    )
}

async fn remove_source(context: Context) -> Checked {
    let index = library(&context).await?;
    file_texts(&index, "s1", ["g"], &["a", "b"]).await?;
    file_texts(&index, "s2", ["g"], &["c"]).await?;
    let removed = index
        .tenant(TenantId::new("org1")?)
        .remove_source(&id("s1")?)
        .await?
        .count();
    same_ids("left", &visible(&index, ["g"]).await?, &["s2#0"])?;
    counts_deleted("removed", index.capabilities(), removed, 2)
}

async fn remove_tenant(context: Context) -> Checked {
    let index = library(&context).await?;
    file_texts(&index, "s1", ["g"], &["a", "b"]).await?;
    file_texts(&index, "s2", ["g"], &["c"]).await?;
    file(&index, "org2", source("s1", ["g"], &["d"])?).await?;
    let removed = index
        .tenant(TenantId::new("org1")?)
        .remove_tenant()
        .await?
        .count();
    same_ids("org1", &visible(&index, ["g"]).await?, NONE)?;
    let theirs = ask(
        &index,
        "org2",
        ["g"],
        SearchRequest::new("d").mode(Mode::Dense),
    )
    .await?;
    same_ids("org2", &ids(&theirs), &["s1#0"])?;
    counts_deleted("removed", index.capabilities(), removed, 3)
}

async fn remove_missing(context: Context) -> Checked {
    let index = library(&context).await?;
    file_texts(&index, "s1", ["g"], &["a"]).await?;
    let org1 = index.tenant(TenantId::new("org1")?);
    counts_deleted(
        "a source",
        index.capabilities(),
        org1.remove_source(&id("s")?).await?.count(),
        0,
    )?;
    counts_deleted(
        "a tenant",
        index.capabilities(),
        index
            .tenant(TenantId::new("org")?)
            .remove_tenant()
            .await?
            .count(),
        0,
    )?;
    same_ids("left", &visible(&index, ["g"]).await?, &["s1#0"])
}

async fn rescope(context: Context) -> Checked {
    let index = library(&context).await?;
    file_texts(&index, "s1", ["all", "few"], &["a", "b"]).await?;
    file_texts(&index, "s2", ["all"], &["c"]).await?;
    let change = ScopeChange::new().groups(["few"])?;
    let changed = index
        .tenant(TenantId::new("org1")?)
        .set_source_scope(&id("s1")?, &change)
        .await?
        .count();
    same_ids("all", &visible(&index, ["all"]).await?, &["s2#0"])?;
    same_ids("few", &visible(&index, ["few"]).await?, &["s1#0", "s1#1"])?;
    counts_updated("changed", index.capabilities(), changed, 2)?;
    let none = ScopeChange::new().groups([""; 0]);
    holds(none.is_err(), || "a source of no groups is taken".into())
}

async fn refile(context: Context) -> Checked {
    let index = library(&context).await?;
    file(
        &index,
        "org1",
        source("s1", ["g"], &["a"])?
            .folder("f1")
            .title("Old")
            .tags(["x"]),
    )
    .await?;
    let org1 = index.tenant(TenantId::new("org1")?);
    let in_folder = |folder: &'static str| {
        let index = index.clone();
        async move {
            Ok::<_, Finding>(ids(&ask(
                &index,
                "org1",
                ["g"],
                SearchRequest::new("a").folder(folder),
            )
            .await?))
        }
    };
    org1.set_source_scope(
        &id("s1")?,
        &ScopeChange::new().folder("f2").tags(["y", "z"]),
    )
    .await?
    .count();
    same_ids("the old folder", &in_folder("f1").await?, NONE)?;
    same_ids("the new folder", &in_folder("f2").await?, &["s1#0"])?;
    org1.set_source_scope(&id("s1")?, &ScopeChange::new().remove_folder().title("New"))
        .await?
        .count();
    same_ids("no folder", &in_folder("f2").await?, NONE)?;
    let answer = ask(&index, "org1", ["g"], SearchRequest::new("a").tags(["z"])).await?;
    let refiled = answer.passages.iter().any(|p| {
        p.title.as_deref() == Some("New") && p.folder_id.is_none() && p.tags == ["y", "z"]
    });
    holds(refiled, || {
        "folder, title or tags are not those given, or one that was not given changed".into()
    })
}

async fn several(context: &Context) -> Checked<LibraryIndex> {
    let index = library(context).await?;
    let session = source_of("session", "s1", ["g"])?.passages([Passage::new("a")]);
    file(&index, "org1", session.folder("f1").tags(["x", "y"])).await?;
    file(
        &index,
        "org1",
        source("d1", ["g"], &["b"])?.folder("f2").tags(["x"]),
    )
    .await?;
    file_texts(&index, "d2", ["g"], &["c"]).await?;
    Ok(index)
}

async fn narrowed(context: &Context, rows: &[(SearchRequest, &[&str])]) -> Checked {
    let index = several(context).await?;
    for (request, expected) in rows {
        for mode in [Mode::Dense, Mode::Hybrid] {
            let answer = ask(&index, "org1", ["g"], request.clone().mode(mode)).await?;
            same_ids(&format!("{mode:?}"), &ids(&answer), expected)?;
        }
    }
    Ok(())
}

fn any() -> SearchRequest {
    SearchRequest::new("words")
}

async fn kinds(context: Context) -> Checked {
    narrowed(
        &context,
        &[
            (any().kinds(["session"]), &["s1#0"]),
            (
                any().kinds(["session", "document"]),
                &["s1#0", "d1#0", "d2#0"],
            ),
            (any().kinds(Vec::<String>::new()), &[]),
            (any().kinds(["mail"]), &[]),
        ],
    )
    .await
}

async fn folder(context: Context) -> Checked {
    narrowed(
        &context,
        &[
            (any().folder("f1"), &["s1#0"]),
            (any().folder("f"), &[]),
            (any().folder(""), &[]),
        ],
    )
    .await
}

async fn folders(context: Context) -> Checked {
    narrowed(
        &context,
        &[
            (any().folder_ids(["f1", "f2"]), &["s1#0", "d1#0"]),
            (any().folder_ids(Vec::<String>::new()), &[]),
            (any().folder("f1").folder_ids(["f2"]), &[]),
            (any().folder("f1").folder_ids(["f1", "f2"]), &["s1#0"]),
        ],
    )
    .await
}

async fn tags(context: Context) -> Checked {
    narrowed(
        &context,
        &[
            (any().tags(["x"]), &["s1#0", "d1#0"]),
            (any().tags(["y", "x", "x"]), &["s1#0"]),
            (any().tags(["x", "z"]), &[]),
            (any().tags(Vec::<String>::new()), &[]),
        ],
    )
    .await
}

async fn source_ids(context: Context) -> Checked {
    narrowed(
        &context,
        &[
            (any().source_ids([id("d1")?, id("d2")?]), &["d1#0", "d2#0"]),
            (any().source_ids([id("d")?]), &[]),
            (any().source_ids([]), &[]),
        ],
    )
    .await
}

async fn any_of(context: Context) -> Checked {
    let branch = PassageFilter::new;
    narrowed(
        &context,
        &[
            (
                any().any_of([branch().kinds(["session"]), branch().folder("f2")]),
                &["s1#0", "d1#0"],
            ),
            (
                any()
                    .kinds(["session"])
                    .any_of_with_defaults([branch().kinds(["document"])]),
                &["d1#0", "d2#0"],
            ),
            (any().kinds(["session"]).any_of([branch()]), &["s1#0"]),
            (
                any()
                    .kinds(["session"])
                    .any_of([branch().kinds(["document"])]),
                &[],
            ),
            (any().tags(["x"]).any_of([branch().folder("f2")]), &["d1#0"]),
            (any().any_of([]), &[]),
            (
                any().any_of([branch().source_ids([]), branch().folder_ids(["f2"])]),
                &["d1#0"],
            ),
        ],
    )
    .await
}

async fn own_filter(context: Context) -> Checked {
    let year = MetadataKey::new("year")?;
    let spec =
        LibrarySpec::new(context.name()?).with_fields([Field::new(year, FieldKind::Integer)]);
    let index = LibraryIndex::ensure(&context.store().await?, spec, Arc::new(embedder())).await?;
    for (name, year) in [("old", 2010), ("new", 2020)] {
        let metadata = Metadata::new().with("year", year)?;
        file(
            &index,
            "org1",
            source(name, ["g"], &["a"])?.metadata(metadata),
        )
        .await?;
    }
    let since = shelfward_core::Filter::from_json(r#"{"year":{"$gte":2015}}"#)?;
    let answer = ask(&index, "org1", ["g"], any().filter(since)).await?;
    same_ids("since 2015", &ids(&answer), &["new#0"])?;
    for own in [
        r#"{"tenantId":"org2"}"#,
        r#"{"$or":[{"aclGroups":"x"},{"year":1}]}"#,
        r#"{"unknown":1}"#,
    ] {
        let filter = shelfward_core::Filter::from_json(own)?;
        let answer = ask(&index, "org1", ["g"], any().filter(filter)).await;
        holds(answer.is_err(), || format!("the filter {own} is taken"))?;
    }
    Ok(())
}

async fn own_keys_win(context: Context) -> Checked {
    let index = library(&context).await?;
    let forged = Metadata::from_json(
        r#"{"tenantId":"org2","aclGroups":["everybody"],"status":"x","sourceId":"z","kind":"y","index":7,"folderId":"f","title":"t","tags":["k"],"author":"source"}"#,
    )?;
    let of_passage =
        Metadata::from_json(r#"{"tenantId":"org2","folderId":"f","author":"passage","page":3}"#)?;
    let filed = source_of("document", "s1", ["g"])?
        .metadata(forged)
        .passages([Passage::new("a").metadata(of_passage)]);
    file(&index, "org1", filed).await?;
    same_ids("everybody", &visible(&index, ["everybody"]).await?, NONE)?;
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
    let index = library(&context).await?;
    file_texts(&index, "s1", ["g"], &["kept", "whole"]).await?;
    let name = index.spec().name.clone();
    let odd = embedder().with("of another width", [1.0; 3]);
    let other = LibraryIndex::open(&context.store().await?, &name, Arc::new(odd))
        .await?
        .with_batch_size(1)?;
    let failed = other
        .tenant(TenantId::new("org1")?)
        .index_source(source("s1", ["wide"], &["fine", "of another width"])?)
        .await;
    holds(failed.is_err(), || {
        "a vector of another width is taken".into()
    })?;
    same_ids(
        "the old source",
        &visible(&index, ["g"]).await?,
        &["s1#0", "s1#1"],
    )?;
    same_ids("the wider one", &visible(&index, ["wide"]).await?, NONE)
}

async fn empty_source(context: Context) -> Checked {
    let index = library(&context).await?;
    file_texts(&index, "s1", ["g"], &["kept"]).await?;
    let org1 = index.tenant(TenantId::new("org1")?);
    let refused = org1.index_source(source("s1", ["g"], &[])?).await;
    holds(refused.is_err(), || {
        "a source without passages is taken".into()
    })?;
    same_ids("still there", &visible(&index, ["g"]).await?, &["s1#0"])?;
    org1.index_source(source("s1", ["g"], &[])?.allow_empty(true))
        .await?;
    same_ids("taken out", &visible(&index, ["g"]).await?, NONE)
}

async fn hybrid(context: Context) -> Checked {
    let index = library(&context).await?;
    file_texts(
        &index,
        "s1",
        ["g"],
        &["rain in the north", "snow in the south", "wind in the west"],
    )
    .await?;
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
    let first = answer.passages.first();
    let by_word = first
        .is_some_and(|p| p.id == "s1#1" && p.legs.lexical.is_some_and(|place| place.rank == 1));
    holds(by_word, || {
        "the passage that holds the word is not first, or not of rank 1 in the lexical leg".into()
    })?;
    let ranks: Vec<_> = answer
        .passages
        .iter()
        .filter_map(|p| p.legs.dense.map(|place| place.rank))
        .collect();
    holds(ranks.iter().all(|rank| *rank <= 3), || {
        format!("ranks tell of hidden passages: {ranks:?}")
    })
}

async fn lexical(context: Context) -> Checked {
    let embedder = Arc::new(embedder());
    let spec = LibrarySpec::new(context.name()?);
    let index = LibraryIndex::ensure(&context.store().await?, spec, embedder.clone()).await?;
    file_texts(&index, "s1", ["g"], &["rain", "snow"]).await?;
    let before = embedder.calls();
    let answer = ask(
        &index,
        "org1",
        ["g"],
        SearchRequest::new("snow").mode(Mode::Lexical),
    )
    .await?;
    same_ids("snow", &ids(&answer), &["s1#1"])?;
    let none = ask(
        &index,
        "org1",
        ["g"],
        SearchRequest::new("???").mode(Mode::Lexical),
    )
    .await?;
    same_ids("no words", &ids(&none), NONE)?;
    holds(embedder.calls() == before, || {
        "a lexical search embeds".into()
    })
}

/// Words that stand in one reader's sources only, looked for by everybody else.
async fn canaries(context: Context) -> Checked {
    let index = library(&context).await?;
    let readers = [("org1", "a"), ("org1", "b"), ("org2", "a"), ("org2", "b")];
    for (tenant, group) in readers {
        for n in 0..5 {
            let text = format!("canary{tenant}{group} number {n}");
            file(
                &index,
                tenant,
                source(&format!("{group}{n}"), [group], &[text.as_str(), "plain"])?,
            )
            .await?;
        }
    }
    for (tenant, group) in readers {
        for (of_tenant, of_group) in readers {
            for mode in [Mode::Dense, Mode::Hybrid] {
                let request = SearchRequest::new(format!("canary{of_tenant}{of_group}"))
                    .mode(mode)
                    .top_k(100);
                let answer = ask(&index, tenant, [group], request).await?;
                let own = format!("canary{tenant}{group}");
                let stranger = answer
                    .passages
                    .iter()
                    .find(|p| p.text.contains("canary") && !p.text.contains(&own));
                if let Some(stranger) = stranger {
                    let message = format!("{tenant}/{group} reads {}", stranger.id);
                    return Err(Finding::new(crate::verdict::Verdict::Widens, message));
                }
                holds(answer.passages.len() == 10, || {
                    format!(
                        "{tenant}/{group} finds {} of their 10",
                        answer.passages.len()
                    )
                })?;
            }
        }
    }
    Ok(())
}

/// Many that are hidden lie nearer than the three that may be read. A store that does not promise to
/// find those must say that it may not have.
async fn short_answers(context: Context) -> Checked {
    let index = library(&context).await?;
    let near = vec!["near the query"; 400];
    file_texts(&index, "hidden", ["secret"], &near).await?;
    file_texts(&index, "seen", ["g"], &["zzz", "qqq"]).await?;
    for mode in [Mode::Dense, Mode::Hybrid] {
        let request = SearchRequest::new("near the query").mode(mode).top_k(3);
        let answer = ask(&index, "org1", ["g"], request).await?;
        let found = answer.passages.len();
        if answer.complete && found < 2 {
            let message = format!("{mode:?}: {found} of 2 are found, and that is called complete");
            return Err(Finding::new(crate::verdict::Verdict::Narrows, message));
        }
    }
    Ok(())
}

async fn full_under_a_scope(context: Context) -> Checked {
    let index = library(&context).await?;
    let near: Vec<String> = (0..400).map(|_| "near the query".to_owned()).collect();
    let near: Vec<&str> = near.iter().map(String::as_str).collect();
    file_texts(&index, "hidden", ["secret"], &near).await?;
    file_texts(&index, "seen", ["g"], &["zzz", "qqq", "xxx"]).await?;
    let answer = ask(
        &index,
        "org1",
        ["g"],
        SearchRequest::new("near the query").mode(Mode::Dense),
    )
    .await?;
    same_ids(
        "the three that may be read",
        &ids(&answer),
        &["seen#0", "seen#1", "seen#2"],
    )?;
    holds(answer.complete, || {
        "a full answer does not say that it is complete".into()
    })
}
