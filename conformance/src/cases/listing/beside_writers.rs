//! Listings and exports while sources are filed, re-scoped and removed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use shelfward_core::LibraryIndex;
use shelfward_core::library::{FoundPassage, IndexSource, TenantLibrary};
use tokio::task::JoinSet;

use super::everything;
use super::lister::{Lister, Watched, ids, text};
use crate::check::{atomic, number, same_ids, updates};
use crate::context::Context;
use crate::library::{file, file_texts, narrow, remove, source, source_id, tenant};
use crate::verdict::{Checked, Finding};

/// The fewest versions that each writer files, and the fewest looks at them, before they end.
const VERSIONS: usize = 40;
const LOOKS: usize = 20;

const KEPT: [&str; 4] = ["kept0", "kept1", "kept2", "kept3"];
/// One comes and goes, and the other is there at any time where a replace is one step.
const MOVING: [&str; 2] = ["moved", REPLACED];
const REPLACED: &str = "replaced";

/// So many passages a version has.
fn passages(version: usize) -> usize {
    if version.is_multiple_of(2) { 2 } else { 5 }
}

/// Nothing is read that another tenant or group has, nothing that is left alone is missed or listed
/// twice, what is told of a source is told of one version of it, and nothing fails.
pub(super) async fn beside_writers(context: Context) -> Checked {
    let library = Watched::new(&context).await?;
    for id in KEPT {
        file_texts(&library.index, id, ["g"], &["a"]).await?;
        let theirs = format!("theirs-{id}");
        file(&library.index, "org2", source(&theirs, ["g"], &["b"])?).await?;
    }
    let looks = Arc::new(AtomicUsize::new(0));
    let mut writers = JoinSet::new();
    for of in ["org1", "org2"] {
        for id in MOVING {
            file(&library.index, of, version_of(of, id, 0)?).await?;
            writers.spawn(write(library.index.clone(), of, id, looks.clone()));
        }
    }
    let readers = library.again(&context).await?;
    let (writer, reader) = (readers.writer("org1")?, readers.reader("org1", "g")?);
    let org1 = tenant(&readers.index, "org1")?;
    // A few passages are one page of a scan, which is one answer.
    let whole = atomic(readers.index.capabilities());
    while !writers.is_empty() {
        while let Some(ended) = writers.try_join_next() {
            ended??;
        }
        for lister in [&writer, &reader] {
            listing(lister).await?;
        }
        for id in MOVING {
            exported(&org1, id, whole).await?;
        }
        looks.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
    }
    readers.nothing_dropped()
}

/// Its title says of which tenant and version it is, and so does each text.
fn version_of(of: &str, id: &str, version: usize) -> Checked<IndexSource> {
    let name = format!("{of} {version}");
    let texts = vec![name.as_str(); passages(version)];
    Ok(source(id, ["g"], &texts)?.title(&name))
}

/// One source of a tenant, from version to version.
async fn write(
    index: LibraryIndex,
    of: &'static str,
    id: &'static str,
    looks: Arc<AtomicUsize>,
) -> Checked {
    let mut versions = 1..;
    while let Some(version) = versions.next()
        && (version < VERSIONS || looks.load(Ordering::Relaxed) < LOOKS)
    {
        file(&index, of, version_of(of, id, version)?).await?;
        if id != REPLACED && version % 4 == 1 && updates(index.capabilities()) {
            narrow(&index, of, id, "secret").await?;
        }
        if id != REPLACED && version % 4 == 3 {
            remove(&index, of, id).await?;
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// The version of `org1` that a text names.
fn version(name: &str) -> Checked<usize> {
    let version = name.strip_prefix("org1 ").and_then(|n| n.parse().ok());
    version.ok_or_else(|| Finding::widens("what another tenant filed is read"))
}

async fn listing(lister: &Lister) -> Checked {
    let listed = lister.pages(&everything(), 2).await?.concat();
    let is_moving = |source: &Value| MOVING.contains(&text(source, "id"));
    let (moving, kept): (Vec<_>, Vec<_>) = listed.into_iter().partition(is_moving);
    same_ids("what is left alone", &ids(&kept), &KEPT)?;
    for source in moving {
        let filed = number(passages(version(text(&source, "title"))?));
        if source.get("passages").and_then(Value::as_u64) != Some(filed) {
            let id = text(&source, "id");
            let message = format!("{id} is listed with the passages of another version");
            return Err(Finding::errors(message));
        }
    }
    Ok(())
}

async fn exported(org1: &TenantLibrary, id: &str, whole: bool) -> Checked {
    let found = org1.passages(&source_id(id)?).await?;
    let versions = found.iter().map(|passage| of_one_write(id, passage));
    let versions = versions.collect::<Checked<Vec<_>>>()?;
    let is_whole = match versions.first() {
        Some(first) => {
            versions.len() == passages(*first) && versions.iter().all(|version| version == first)
        }
        None => id != REPLACED,
    };
    if is_whole || !whole {
        return Ok(());
    }
    let message = format!("{id} is exported in part or mixed: versions {versions:?}");
    Err(Finding::narrows(message))
}

/// The version of a passage, whose text and title are of one write.
fn of_one_write(id: &str, passage: &FoundPassage) -> Checked<usize> {
    let of_text = version(&passage.text)?;
    let of_title = version(passage.title.as_deref().unwrap_or_default())?;
    if of_text == of_title && passage.source_id == id {
        return Ok(of_text);
    }
    let message = format!("a passage of {id} is made of two writes");
    Err(Finding::errors(message))
}
