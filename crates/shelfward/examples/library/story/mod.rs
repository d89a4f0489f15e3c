//! What the example does, apart from how it prints it: the test of the example runs the same.

mod embedder;
pub(crate) mod readers;
mod sources;

use std::error::Error;
use std::sync::Arc;

use shelfward::library::{LibrarySpec, ScopeChange, SearchAnswer};
use shelfward::{CollectionName, LibraryIndex, SourceId, Store, TenantId};

use embedder::HashedWords;
use readers::Question;

/// One thing that was done, and what readers see after it.
pub(crate) struct Step {
    pub(crate) title: &'static str,
    pub(crate) notes: Vec<String>,
    pub(crate) seen: Vec<Seen>,
}

/// What one reader is answered to one question.
pub(crate) struct Seen {
    pub(crate) question: &'static str,
    pub(crate) reader: &'static str,
    pub(crate) answer: SearchAnswer,
}

/// Makes the library in a store, or opens it.
pub(crate) async fn library(store: &Store) -> Result<LibraryIndex, Box<dyn Error>> {
    let spec =
        LibrarySpec::new(CollectionName::new("example_library")?).with_fields(sources::fields()?);
    Ok(LibraryIndex::ensure(store, spec, Arc::new(HashedWords)).await?)
}

/// The whole story, from an empty library to one without its larger tenant.
pub(crate) async fn tell(index: &LibraryIndex) -> Result<Vec<Step>, Box<dyn Error>> {
    Ok(vec![
        file_everything(index).await?,
        narrow_the_memo(index).await?,
        replace_the_policy(index).await?,
        remove_the_notes(index).await?,
        remove_northwind(index).await?,
    ])
}

async fn file_everything(index: &LibraryIndex) -> Result<Step, Box<dyn Error>> {
    let mut notes = Vec::new();
    for filed in sources::all()? {
        let id = filed.source.id().clone();
        let tenant = index.tenant(TenantId::new(filed.tenant)?);
        let report = tenant.index_source(filed.source).await?;
        notes.push(format!(
            "{} {id}: {} passages",
            filed.tenant, report.passages
        ));
    }
    let seen = ask(index, readers::questions()?).await?;
    Ok(Step {
        title: "File a transcript and six documents of two tenants",
        notes,
        seen,
    })
}

/// Bo could read the memo because it was shared with him. Now only engineering can.
async fn narrow_the_memo(index: &LibraryIndex) -> Result<Step, Box<dyn Error>> {
    let change = ScopeChange::new().groups(["team:engineering"])?;
    let memo = SourceId::new("document:defrost-memo")?;
    let changed = northwind(index)?
        .set_source_scope(&memo, &change)
        .await?
        .count();
    Ok(Step {
        title: "Narrow the memo to engineering",
        notes: vec![format!("{changed} passages changed")],
        seen: ask(index, vec![readers::defrosting(), readers::cooling()]).await?,
    })
}

/// The new edition is shorter: nothing of the old one may be left past its end.
async fn replace_the_policy(index: &LibraryIndex) -> Result<Step, Box<dyn Error>> {
    let edition = sources::new_expenses()?;
    let report = northwind(index)?.index_source(edition.source).await?;
    let (written, replaced) = (report.passages, report.replaced);
    Ok(Step {
        title: "Replace the expenses policy by its new edition",
        notes: vec![format!("{written} passages in the place of {replaced}")],
        seen: ask(index, vec![readers::allowance()]).await?,
    })
}

async fn remove_the_notes(index: &LibraryIndex) -> Result<Step, Box<dyn Error>> {
    let notes = SourceId::new("document:controller-notes")?;
    let removed = northwind(index)?.remove_source(&notes).await?.count();
    Ok(Step {
        title: "Remove the product notes",
        notes: vec![format!("{removed} passages removed")],
        seen: ask(index, vec![readers::defrosting()]).await?,
    })
}

async fn remove_northwind(index: &LibraryIndex) -> Result<Step, Box<dyn Error>> {
    let removed = northwind(index)?.remove_tenant().await?.count();
    Ok(Step {
        title: "Remove the tenant northwind",
        notes: vec![format!("{removed} passages removed")],
        seen: ask(index, vec![readers::allowance()]).await?,
    })
}

fn northwind(index: &LibraryIndex) -> Result<shelfward::library::TenantLibrary, Box<dyn Error>> {
    Ok(index.tenant(TenantId::new("northwind")?))
}

/// Every question, asked by every reader.
async fn ask(index: &LibraryIndex, questions: Vec<Question>) -> Result<Vec<Seen>, Box<dyn Error>> {
    let readers = readers::readers()?;
    let mut seen = Vec::new();
    for question in &questions {
        for reader in &readers {
            seen.push(Seen {
                question: question.shown,
                reader: reader.name,
                answer: index.search(&reader.scope, &question.request).await?,
            });
        }
    }
    Ok(seen)
}
