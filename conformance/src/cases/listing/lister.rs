//! Who lists a library, what is listed, and what the re-check had to drop of it.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::Value;
use shelfward_core::library::{LibrarySpec, Reading, SourcePage, TenantLibrary};
use shelfward_core::observer::{Event, Observer};
use shelfward_core::{Cursor, Field, FieldKind, LibraryIndex, MetadataKey, Scope};

use crate::check::same_ids;
use crate::context::Context;
use crate::library::{embedder, source_id, tenant};
use crate::verdict::{Checked, Finding};

/// No listing of the suite is longer.
const MOST: usize = 10_000;

/// Why records that a store answered were dropped.
#[derive(Default)]
struct Dropped(Mutex<Vec<&'static str>>);

impl Observer for Dropped {
    fn observe(&self, event: &Event) {
        let dropped = match event {
            Event::Listed(listed) => &listed.dropped,
            Event::Fetched(fetched) => &fetched.dropped,
            _ => return,
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(dropped.iter().map(|hit| hit.reason));
    }
}

/// A library of which it is known what its store answered beyond what it was asked for.
///
/// The re-check drops that, so no listing shows it: a store that forgets the tenant would pass.
pub(super) struct Watched {
    pub(super) index: LibraryIndex,
    dropped: Arc<Dropped>,
}

impl Watched {
    fn over(index: LibraryIndex) -> Self {
        let dropped = Arc::new(Dropped::default());
        let index = index.with_observer(dropped.clone(), None);
        Self { index, dropped }
    }

    /// A library of one's own, whose sources may have a `year`.
    pub(super) async fn new(context: &Context) -> Checked<Self> {
        let year = Field::new(MetadataKey::new("year")?, FieldKind::Integer);
        let spec = LibrarySpec::new(context.name()?).with_fields([year]);
        let store = context.store().await?;
        let made = LibraryIndex::ensure(&store, spec, Arc::new(embedder())).await?;
        Ok(Self::over(made))
    }

    /// The same library through another handle on the store.
    pub(super) async fn again(&self, context: &Context) -> Checked<Self> {
        let (store, name) = (context.another_store().await?, &self.index.spec().name);
        let opened = LibraryIndex::open(&store, name, Arc::new(embedder())).await?;
        Ok(Self::over(opened))
    }

    pub(super) fn writer(&self, of: &str) -> Checked<Lister> {
        Ok(Lister::Writer(tenant(&self.index, of)?))
    }

    pub(super) fn reader(&self, of: &str, group: &str) -> Checked<Lister> {
        let scope = Scope::of(of, [group])?;
        Ok(Lister::Reader(self.index.clone(), scope))
    }

    /// The store answered nothing that its filter leaves out.
    pub(super) fn nothing_dropped(&self) -> Checked {
        let dropped = &self.dropped.0;
        let dropped = dropped.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(reason) = dropped.first() else {
            return Ok(());
        };
        let number = dropped.len();
        let message = format!("{number} records are answered that the filter excludes: {reason}");
        Err(Finding::widens(message))
    }
}

/// Who lists.
pub(super) enum Lister {
    /// A program that writes the tenant.
    Writer(TenantLibrary),
    /// A reader of this scope.
    Reader(LibraryIndex, Scope),
}

/// Sources as JSON, and where to go on.
type Listed = (Vec<Value>, Option<Cursor>);

impl Lister {
    pub(super) async fn page(
        &self,
        reading: &Reading,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Checked<Listed> {
        match self {
            Self::Writer(org) => shown(org.sources(reading, after, limit).await?),
            Self::Reader(index, scope) => shown(index.sources(scope, reading, after, limit).await?),
        }
    }

    /// Every page.
    pub(super) async fn pages(&self, reading: &Reading, limit: usize) -> Checked<Vec<Vec<Value>>> {
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let (page, next) = self.page(reading, after.as_ref(), limit).await?;
            pages.push(page);
            after = next;
            if after.is_none() {
                return Ok(pages);
            }
            if pages.len() >= MOST {
                return Err(Finding::errors("a listing that does not end"));
            }
        }
    }

    /// Every source, in pages of three.
    pub(super) async fn all(&self, reading: &Reading) -> Checked<Vec<Value>> {
        Ok(self.pages(reading, 3).await?.concat())
    }

    /// These are listed and no others.
    pub(super) async fn lists<S: AsRef<str>>(
        &self,
        what: &str,
        reading: &Reading,
        expected: &[S],
    ) -> Checked {
        same_ids(what, &ids(&self.all(reading).await?), expected)
    }

    /// One source.
    pub(super) async fn source(&self, id: &str) -> Checked<Option<Value>> {
        let id = source_id(id)?;
        match self {
            Self::Writer(org) => org.source(&id).await?.map(as_json).transpose(),
            Self::Reader(index, scope) => index.source(scope, &id).await?.map(as_json).transpose(),
        }
    }
}

fn shown<S: Serialize>(page: SourcePage<S>) -> Checked<Listed> {
    let sources = page.sources.into_iter().map(as_json);
    Ok((sources.collect::<Checked<_>>()?, page.next))
}

fn as_json(source: impl Serialize) -> Checked<Value> {
    serde_json::to_value(source).map_err(|e| Finding::errors(e.to_string()))
}

/// A text of a source that is listed.
pub(super) fn text<'a>(source: &'a Value, member: &str) -> &'a str {
    source.get(member).and_then(Value::as_str).unwrap_or("")
}

pub(super) fn ids(sources: &[Value]) -> Vec<String> {
    let ids = sources.iter().map(|source| text(source, "id"));
    ids.map(str::to_owned).collect()
}
