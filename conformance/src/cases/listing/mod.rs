//! Which sources a library holds, for those who write it and for those who read it, and what a source
//! holds.

mod beside_writers;
mod lister;

use serde_json::{Value, json};
use shelfward_core::library::{IndexSource, Passage, PassageFilter, Reading, ScopeChange};
use shelfward_core::{Filter, Metadata};

use self::beside_writers::beside_writers;
use self::lister::{Lister, Watched, ids, text};
use crate::case::Case;
use crate::check::{NONE, holds, same_ids, same_order, updates};
use crate::context::Context;
use crate::library::{file, file_texts, remove, rescope, source, source_id, source_of, tenant};
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::from(
        [
            Case::new("listing/of-a-tenant", of_a_tenant),
            Case::new("listing/of-a-scope", of_a_scope),
            Case::new("listing/narrowed", narrowed),
            Case::new("listing/pages", pages),
            Case::new("listing/through-removals", through_removals),
            Case::new("listing/follows-writes", follows_writes),
            Case::new("listing/export", export),
            Case::new("listing/beside-writers", beside_writers),
        ]
        .map(|case| case.needs(|can| can.scan)),
    );
    // By its id a source is found without a scan.
    cases.push(Case::new("listing/one-source", one_source));
    cases
}

fn everything() -> Reading {
    Reading::new()
}

fn year(year: i64) -> Checked<Metadata> {
    Ok(Metadata::new().with("year", year)?)
}

/// What was filed of each source, and nothing else.
fn same_sources(what: &str, mut got: Vec<Value>, expected: &[Value]) -> Checked {
    same_ids(what, &ids(&got), &ids(expected))?;
    for source in &mut got {
        // In no order.
        if let Some(groups) = source.get_mut("accessGroups").and_then(Value::as_array_mut) {
            groups.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        }
        let id = text(source, "id").to_owned();
        let filed = expected.iter().find(|filed| text(filed, "id") == id);
        let (got, filed) = (&*source, filed.unwrap_or(&Value::Null));
        let both = [got, filed].into_iter().filter_map(Value::as_object);
        let mut members = both.flat_map(|source| source.keys());
        let wrong = members.find(|member| got.get(member) != filed.get(member));
        if let Some(member) = wrong {
            let message = format!("{what}: {member} of {id} is not what was filed");
            return Err(Finding::errors(message));
        }
    }
    Ok(())
}

async fn of_a_tenant(context: Context) -> Checked {
    let library = Watched::new(&context).await?;
    let both = ["acct:bo", "team:engineering"];
    let memo = source("memo", both, &["one", "two"])?.metadata(year(2019)?);
    let memo = memo.title("Defrosting").folder("research");
    let talk = source_of("session", "talk", ["acct:ann"])?.passages([Passage::new("a")]);
    let long = source("long", ["team:engineering"], &["a"; 12])?.title("Lang, ungekürzt");
    for filed in [memo.tags(["cooling", "confidential"]), talk, long] {
        file(&library.index, "org1", filed).await?;
    }
    let theirs = source_of("session", "memo", both)?.passages([Passage::new("theirs")]);
    file(&library.index, "org2", theirs.title("Theirs")).await?;

    let memo = json!({
        "id": "memo", "kind": "document", "title": "Defrosting", "folderId": "research",
        "tags": ["cooling", "confidential"], "passages": 2, "metadata": { "year": 2019 },
        "accessGroups": ["acct:bo", "team:engineering"],
    });
    let talk = json!({
        "id": "talk", "kind": "session", "tags": [], "passages": 1, "metadata": {},
        "accessGroups": ["acct:ann"],
    });
    let long = json!({
        "id": "long", "kind": "document", "title": "Lang, ungekürzt", "tags": [], "passages": 12,
        "metadata": {}, "accessGroups": ["team:engineering"],
    });
    let org1 = library.writer("org1")?;
    let mut listed = org1.all(&everything()).await?;
    for source in &mut listed {
        let looked_up = org1.source(text(source, "id")).await?;
        holds(looked_up.as_ref() == Some(source), || {
            format!("{} is another one than is listed", text(source, "id"))
        })?;
        let revision = source.as_object_mut().and_then(|s| s.remove("revision"));
        let named =
            revision.is_some_and(|revision| revision.as_str().is_some_and(|r| !r.is_empty()));
        holds(named, || format!("{} has no revision", text(source, "id")))?;
    }
    same_sources("a writer", listed, &[memo.clone(), talk, long.clone()])?;
    // Readers see the same of a source, but who else may read it.
    let for_readers = [memo, long].map(|mut source| {
        source
            .as_object_mut()
            .and_then(|s| s.remove("accessGroups"));
        source
    });
    let reader = library.reader("org1", "team:engineering")?;
    same_sources("a reader", reader.all(&everything()).await?, &for_readers)?;
    let org2 = library.writer("org2")?;
    org2.lists("another tenant", &everything(), &["memo"])
        .await?;
    // A tenant whose name others begin with.
    let org = library.writer("org")?;
    org.lists("a tenant that has none", &everything(), NONE)
        .await?;
    library.nothing_dropped()
}

/// How many sources each reader may read.
const READABLE: usize = 8;

/// What a reader is listed does not depend on what it may not read: neither what is on a page, nor how
/// much, nor whether there is another.
async fn of_a_scope(context: Context) -> Checked {
    let shared = Watched::new(&context).await?;
    // Two readers, since behind the last of all sources nothing is hidden.
    let mut readers = Vec::new();
    for group in ["ann", "bob"] {
        let (alone, mut own) = (Watched::new(&context).await?, Vec::new());
        for n in 0..READABLE {
            let id = format!("{group}{n}");
            // Of one passage, so that nothing of a source stands behind the last that is listed.
            for library in [&shared, &alone] {
                file_texts(&library.index, &id, [group, "archive"], &["a"]).await?;
            }
            file(&shared.index, "org2", source(&id, [group], &["b"])?).await?;
            own.push(id);
        }
        readers.push((group, own, alone));
    }
    for (group, own, alone) in &readers {
        let (among, by_itself) = (shared.reader("org1", group)?, alone.reader("org1", group)?);
        among.lists(group, &everything(), own).await?;
        for limit in [1, 2, READABLE, READABLE + 1] {
            let among = among.pages(&everything(), limit).await?;
            let by_itself = by_itself.pages(&everything(), limit).await?;
            let sizes = |pages: &[Vec<Value>]| pages.iter().map(Vec::len).collect::<Vec<_>>();
            let (got, expected) = (sizes(&among), sizes(&by_itself));
            if got != expected {
                let message = format!(
                    "pages of {limit} tell {group} of what is hidden: they hold {got:?} sources, \
                     and {expected:?} where nothing is"
                );
                return Err(Finding::widens(message));
            }
            same_sources("beside what is hidden", among.concat(), &by_itself.concat())?;
        }
    }
    let nobody = shared.reader("org1", "an")?;
    nobody.lists("no group", &everything(), NONE).await?;
    shared.nothing_dropped()
}

async fn narrowed(context: Context) -> Checked {
    let library = Watched::new(&context).await?;
    let session = source_of("session", "s1", ["g"])?.passages([Passage::new("a")]);
    let session = session.folder("f1").tags(["x", "y"]).metadata(year(2010)?);
    let document = source("d1", ["g"], &["b"])?.folder("f2").tags(["x"]);
    let document = document.metadata(year(2020)?);
    for filed in [session, document, source("d2", ["g"], &["c", "d"])?] {
        file(&library.index, "org1", filed).await?;
    }
    let theirs = source("d2", ["g"], &["c"])?.folder("f1").tags(["x"]);
    file(&library.index, "org2", theirs).await?;

    let by = PassageFilter::new;
    let to = |filter| everything().narrowed(filter);
    let branches = [by().kinds(["session"]), by().folder("f2")];
    let since = Filter::from_json(r#"{"year":{"$gte":2015}}"#)?;
    let rows: [(&str, Reading, &[&str]); 12] = [
        ("everything", everything(), &["s1", "d1", "d2"]),
        ("a kind", to(by().kinds(["document"])), &["d1", "d2"]),
        ("no kind", to(by().kinds([""; 0])), NONE),
        ("a folder", to(by().folder("f1")), &["s1"]),
        ("a folder that begins so", to(by().folder("f")), NONE),
        ("folders", to(by().folder_ids(["f1", "f2"])), &["s1", "d1"]),
        ("a tag", to(by().tags(["x"])), &["s1", "d1"]),
        ("tags", to(by().tags(["y", "x"])), &["s1"]),
        ("an id", to(by().source_ids(["d2"])), &["d2"]),
        ("no id", to(by().source_ids([""; 0])), NONE),
        ("branches", everything().any_of(branches), &["s1", "d1"]),
        ("a filter", everything().filter(since), &["d1"]),
    ];
    for lister in [library.writer("org1")?, library.reader("org1", "g")?] {
        for (what, reading, expected) in &rows {
            lister.lists(what, reading, expected).await?;
        }
    }
    library.nothing_dropped()
}

async fn pages(context: Context) -> Checked {
    let library = Watched::new(&context).await?;
    let names: Vec<_> = (0..25).map(|n| format!("s{n}")).collect();
    for name in &names {
        file_texts(&library.index, name, ["g"], &["a", "b"]).await?;
        file(&library.index, "org2", source(name, ["g"], &["c"])?).await?;
    }
    for lister in [library.writer("org1")?, library.reader("org1", "g")?] {
        let whole = ids(&lister.pages(&everything(), 1_000).await?.concat());
        for limit in [1, 7, 24, 25, 26] {
            let what = format!("pages of {limit}");
            let pages = lister.pages(&everything(), limit).await?;
            let listed = ids(&pages.concat());
            same_ids(&what, &listed, &names)?;
            same_order(&what, &listed, &whole)?;
            holds(pages.iter().all(|page| page.len() <= limit), || {
                format!("{what}: one is longer")
            })?;
        }
    }
    Ok(())
}

/// A page goes on behind a source that is gone.
async fn through_removals(context: Context) -> Checked {
    let library = Watched::new(&context).await?;
    for n in 0..7 {
        file_texts(&library.index, &format!("s{n}"), ["g"], &["a"]).await?;
    }
    let reader = library.reader("org1", "g")?;
    let (first, mut after) = reader.page(&everything(), None, 3).await?;
    let mut listed = ids(&first);
    if let Some(last) = listed.last() {
        remove(&library.index, "org1", last).await?;
    }
    while let Some(cursor) = after {
        let (page, next) = reader.page(&everything(), Some(&cursor), 3).await?;
        listed.extend(ids(&page));
        after = next;
        if listed.len() > 100 {
            return Err(Finding::errors("a listing that does not end"));
        }
    }
    let all: Vec<_> = (0..7).map(|n| format!("s{n}")).collect();
    same_ids("before a removal and after it", &listed, &all)
}

async fn follows_writes(context: Context) -> Checked {
    let library = Watched::new(&context).await?;
    let other = library.again(&context).await?;
    let theirs = source("s1", ["all"], &["theirs"])?;
    file(&library.index, "org2", theirs).await?;
    let handles = [&library, &other];
    let writers = [library.writer("org1")?, other.writer("org1")?];
    for org1 in &writers {
        org1.lists("before it is filed", &everything(), NONE)
            .await?;
    }
    let mut revisions = Vec::new();
    for texts in [&["a"][..], &["a", "b"], &["a"]] {
        file_texts(&library.index, "s1", ["all"], texts).await?;
        let now = both_list(&writers, texts.len()).await?;
        revisions.push(text(&now, "revision").to_owned());
    }
    let [one, two, again] = revisions.as_slice() else {
        return Err(Finding::errors("three filings have three revisions"));
    };
    holds(one == again && one != two, || {
        "revisions are not equal where the content is, and only there".into()
    })?;
    if updates(library.index.capabilities()) {
        let change = ScopeChange::new().folder("f").tags(["t"]).title("New");
        let change = change.groups(["few"])?;
        rescope(&library.index, "org1", "s1", change).await?;
        let now = both_list(&writers, 1).await?;
        let expected = json!({
            "id": "s1", "kind": "document", "title": "New", "folderId": "f", "tags": ["t"],
            "passages": 1, "metadata": {}, "accessGroups": ["few"], "revision": one,
        });
        same_sources("re-scoped", vec![now], &[expected])?;
        for library in handles {
            let all = library.reader("org1", "all")?;
            all.lists("after a narrowing", &everything(), NONE).await?;
            let few = library.reader("org1", "few")?;
            few.lists("the few", &everything(), &["s1"]).await?;
        }
    }
    remove(&library.index, "org1", "s1").await?;
    file_texts(&library.index, "s2", ["all"], &["c"]).await?;
    for org1 in &writers {
        org1.lists("after a removal", &everything(), &["s2"])
            .await?;
    }
    let removed = tenant(&library.index, "org1")?.remove_tenant().await?;
    let _ = removed.count();
    for org1 in &writers {
        org1.lists("after the tenant went", &everything(), NONE)
            .await?;
    }
    let org2 = library.writer("org2")?;
    org2.lists("another tenant", &everything(), &["s1"]).await
}

/// `s1`, as both list it, of so many passages.
async fn both_list(writers: &[Lister; 2], passages: usize) -> Checked<Value> {
    let mut seen = Vec::new();
    for org1 in writers {
        let listed = org1.all(&everything()).await?;
        same_ids("what is filed", &ids(&listed), &["s1"])?;
        seen.extend(listed);
    }
    let first = seen.first().cloned().unwrap_or_default();
    let all_same = seen.iter().all(|source| *source == first);
    let now = all_same && first.get("passages") == Some(&json!(passages));
    holds(now, || {
        format!("s1 is not listed with its {passages} passages of now")
    })?;
    Ok(first)
}

/// More than one page of the scans that the core exports by.
const LONG: usize = 1_050;

async fn export(context: Context) -> Checked {
    let library = Watched::new(&context).await?;
    let texts: Vec<_> = (0..LONG).map(|n| format!("passage {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let ours = |texts: &[&str]| -> Checked<IndexSource> {
        let ours = source("s1", ["acct:ann"], texts)?.title("Ours");
        Ok(ours.metadata(year(2019)?))
    };
    let theirs = source("s1", ["acct:ann"], &["theirs"])?;
    file(&library.index, "org2", theirs).await?;
    file_texts(&library.index, "s", ["acct:ann"], &["beside"]).await?;
    // Longer, then shorter: nothing of the longer one is left.
    for texts in [&texts[..], &["one", "two"]] {
        file(&library.index, "org1", ours(texts)?).await?;
        exports(&library, "org1", "s1", texts, true).await?;
    }
    exports(&library, "org2", "s1", &["theirs"], false).await?;
    exports(&library, "org1", "absent", &[], false).await?;
    exports(&library, "org", "s1", &[], false).await?;
    library.nothing_dropped()
}

/// A source is exported whole: these texts in their order, and with each who may read it.
async fn exports(library: &Watched, of: &str, id: &str, texts: &[&str], ours: bool) -> Checked {
    let org = tenant(&library.index, of)?;
    let passages = org.passages(&source_id(id)?).await?;
    let message = || format!("{of}, {id}: {} passages of {}", passages.len(), texts.len());
    if passages.len() > texts.len() {
        return Err(Finding::widens(message()));
    }
    if passages.len() < texts.len() {
        return Err(Finding::narrows(message()));
    }
    let (title, metadata) = match ours {
        true => (Some("Ours"), year(2019)?),
        false => (None, Metadata::new()),
    };
    let year = metadata.get("year");
    let is_as_filed = |(n, text): (usize, &&str)| {
        passages.get(n).is_some_and(|passage| {
            passage.id == format!("{id}#{n}")
                && &*passage.text == *text
                && passage.title.as_deref() == title
                && passage.metadata.get("year") == year
                && passage.access_groups().eq(["acct:ann"])
        })
    };
    let wrong = texts.iter().enumerate().find(|row| !is_as_filed(*row));
    holds(wrong.is_none(), || {
        let n = wrong.map_or(0, |(n, _)| n);
        format!("{of}, {id}: passage {n} is not what was filed")
    })
}

async fn one_source(context: Context) -> Checked {
    let library = Watched::new(&context).await?;
    file_texts(&library.index, "seen", ["g"], &["a", "b"]).await?;
    file_texts(&library.index, "hidden", ["secret"], &["c"]).await?;
    file(&library.index, "org2", source("theirs", ["g"], &["d"])?).await?;
    let (writer, reader) = (library.writer("org1")?, library.reader("org1", "g")?);
    let rows = [
        ("seen", true, true),
        ("hidden", true, false),
        ("theirs", false, false),
        ("absent", false, false),
        ("see", false, false),
        ("seen#0", false, false),
    ];
    let org1 = tenant(&library.index, "org1")?;
    for (id, filed, readable) in rows {
        found("a writer", id, writer.source(id).await?.as_ref(), filed)?;
        found("a reader", id, reader.source(id).await?.as_ref(), readable)?;
        let has = org1.has_source(&source_id(id)?).await?;
        holds(has == filed, || format!("{id} is there: {has}"))?;
    }
    let passages = reader.source("seen").await?;
    let passages = passages.as_ref().and_then(|source| source.get("passages"));
    holds(passages == Some(&json!(2)), || {
        "its passages are not counted".into()
    })?;
    remove(&library.index, "org1", "seen").await?;
    found(
        "after a removal",
        "seen",
        writer.source("seen").await?.as_ref(),
        false,
    )?;
    library.nothing_dropped()
}

/// A source is found where it should be, and nowhere else.
fn found(who: &str, id: &str, source: Option<&Value>, expected: bool) -> Checked {
    match source {
        Some(_) if !expected => Err(Finding::widens(format!("{who} is told of {id}"))),
        None if expected => Err(Finding::narrows(format!("{who} is told of no {id}"))),
        Some(source) if text(source, "id") != id => Err(Finding::errors(format!(
            "{who} is told of another than {id}"
        ))),
        _ => Ok(()),
    }
}
