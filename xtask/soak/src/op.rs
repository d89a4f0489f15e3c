//! Writes, as data: a writer in another process does them, too.

use std::error::Error;

use serde::{Deserialize, Serialize};
use shelfward::library::{LibraryError, ScopeChange, TenantLibrary};
use shelfward::{Count, ErrorKind, LibraryIndex, Persistence, SourceId};

use crate::Failure;
use crate::model::{Change, Outcome};
use crate::source::{Slot, folder_name, index_source, names, tenant_id};

/// One write.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Op {
    Source(Slot, Change),
    RemoveTenant(usize),
}

impl Op {
    /// What it does to which sources.
    pub(crate) fn changes(self) -> Vec<(Slot, Change)> {
        match self {
            Self::Source(slot, change) => vec![(slot, change)],
            Self::RemoveTenant(tenant) => Slot::of_tenant(tenant)
                .map(|slot| (slot, Change::Remove))
                .collect(),
        }
    }

    /// Does it.
    pub(crate) async fn apply(self, library: &LibraryIndex) -> Outcome {
        match self.call(library).await {
            Ok(count) => Outcome::Done(match count {
                Count::Exact(count) => Some(count),
                _ => None,
            }),
            Err(failure) => outcome(&failure),
        }
    }

    async fn call(self, library: &LibraryIndex) -> Result<Count, Failure> {
        match self {
            Self::RemoveTenant(tenant) => {
                library
                    .tenant(tenant_id(tenant)?)
                    .remove_tenant()
                    .await?
                    .count();
                // A count over all sources is none of one of them.
                Ok(Count::Unknown)
            }
            Self::Source(slot, change) => {
                let tenant = library.tenant(tenant_id(slot.tenant)?);
                write(&tenant, slot, change).await
            }
        }
    }
}

async fn write(tenant: &TenantLibrary, slot: Slot, change: Change) -> Result<Count, Failure> {
    let id = SourceId::new(slot.id())?;
    Ok(match change {
        Change::Index(state) => {
            let report = tenant.index_source(index_source(slot, state)?).await?;
            Count::Exact(report.passages)
        }
        Change::Remove => tenant.remove_source(&id).await?.count(),
        Change::Rescope {
            groups,
            folder,
            tags,
        } => {
            let mut change = ScopeChange::new();
            if let Some(groups) = groups {
                change = change.groups(names('g', groups))?;
            }
            if let Some(folder) = folder {
                change = change.folder(folder_name(folder));
            }
            if let Some(tags) = tags {
                change = change.tags(names('t', tags));
            }
            tenant.set_source_scope(&id, &change).await?.count()
        }
    })
}

/// What an error says of the write.
fn outcome(failure: &Failure) -> Outcome {
    let text = chain(&**failure);
    let nothing_done = match failure.downcast_ref::<LibraryError>() {
        Some(LibraryError::Store(error)) => {
            error.persistence() == Persistence::Temporary
                || error.is_refusal()
                || matches!(error.kind(), ErrorKind::Full)
        }
        _ => true,
    };
    if nothing_done {
        Outcome::Refused(text)
    } else {
        Outcome::Unknown(text)
    }
}

/// An error with what lies under it.
pub(crate) fn chain(error: &dyn Error) -> String {
    let under = std::iter::successors(error.source(), |error: &&dyn Error| (*error).source());
    let texts = std::iter::once(error.to_string()).chain(under.map(ToString::to_string));
    texts.collect::<Vec<_>>().join(": ")
}
