//! Scans, wrongly answered.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use shelfward_conformance::layer::CollectionLayer as _;
use shelfward_core::filter::Node;
use shelfward_core::{
    Cursor, ErrorKind, Filter, Include, Metadata, Operation, Page, Result, StoreError, Value,
};

use super::Fault;
use super::collection::{EVERYTHING, FaultyCollection};
use super::filter_semantics::misunderstands;

/// What a scan was asked, and what it answered.
pub(super) type Scanned = ((Filter, Option<Cursor>, usize, Include), Page);

impl FaultyCollection {
    pub(super) async fn scanned(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        let inner = &self.inner;
        match self.fault {
            Fault::ScanFails => Err(self.unsupported(Operation::Scan, "scan")),
            Fault::ScanFailsBesideWriters if self.shared.writing.load(Ordering::SeqCst) > 0 => {
                Err(StoreError::new(Operation::Scan, ErrorKind::Unavailable))
            }
            Fault::ShufflesScans if self.searches.fetch_add(1, Ordering::SeqCst) % 2 == 1 => {
                let mut page = inner.scan(filter, None, EVERYTHING, include).await?;
                page.records.reverse();
                Ok(page)
            }
            Fault::CachesScans => {
                let asked = (filter.clone(), after.cloned(), limit, include);
                let before = self.scans().iter().find(|(was, _)| *was == asked).cloned();
                if let Some((_, page)) = before {
                    return Ok(page);
                }
                let page = inner.scan(filter, after, limit, include).await?;
                self.scans().push((asked, page.clone()));
                Ok(page)
            }
            Fault::ScanForgetsPartition => {
                let everything = Filter::everything();
                let mut page = inner.scan(&everything, after, EVERYTHING, include).await?;
                page.records
                    .retain(|record| self.matches_but_for_partition(filter, &record.metadata));
                if page.records.len() > limit {
                    page.records.truncate(limit);
                    page.next = page.records.last().map(|record| Cursor::after(&record.key));
                }
                Ok(page)
            }
            Fault::ScanSkipsBetweenPages => {
                let mut page = inner.scan(filter, after, limit, include).await?;
                if after.is_some() && !page.records.is_empty() {
                    page.records.remove(0);
                }
                Ok(page)
            }
            Fault::ScanRepeatsBetweenPages => {
                let mut page = inner.scan(filter, after, limit, include).await?;
                if let Some(last) = after.and_then(|after| after.key().ok()) {
                    let again = inner.fetch(&[last], filter, include).await?;
                    page.records.splice(0..0, again.into_iter().flatten());
                }
                Ok(page)
            }
            Fault::ScanLosesItsPlace => {
                let place = match after.and_then(|after| after.key().ok()) {
                    Some(key) => {
                        let everything = Filter::everything();
                        let there = inner.fetch(&[key], &everything, Include::METADATA).await?;
                        after.filter(|_| there.into_iter().flatten().next().is_some())
                    }
                    None => after,
                };
                inner.scan(filter, place, limit, include).await
            }
            Fault::ScanFlattensLists => {
                let mut page = inner.scan(filter, after, limit, include).await?;
                for record in &mut page.records {
                    record.metadata = Arc::new(flat(&record.metadata));
                }
                Ok(page)
            }
            Fault::ScanFiltersAfterPage => {
                let partition = super::partition_only(self.spec(), filter);
                let mut page = inner.scan(&partition, after, limit, include).await?;
                page.records
                    .retain(|record| filter.matches(&record.metadata));
                Ok(page)
            }
            fault if misunderstands(fault) => {
                let everything = Filter::everything();
                let mut page = inner.scan(&everything, after, limit, include).await?;
                page.records.retain(|record| self.matches(filter, record));
                Ok(page)
            }
            _ => inner.scan(filter, after, limit, include).await,
        }
    }

    fn matches_but_for_partition(&self, filter: &Filter, metadata: &Metadata) -> bool {
        let partition = self.spec().partition_key();
        let pins =
            |filter: &Filter| partition.is_some_and(|key| filter.pinned(key.as_str()).is_some());
        match filter.node() {
            Node::And(all) => all.iter().all(|one| pins(one) || one.matches(metadata)),
            _ => pins(filter) || filter.matches(metadata),
        }
    }
}

/// Each list as its first value.
fn flat(metadata: &Metadata) -> Metadata {
    let first = |value: &Value| match value {
        Value::List(_) => value.elements().first().cloned().map(Value::Scalar),
        value => Some(value.clone()),
    };
    let held = metadata.iter();
    held.filter_map(|(key, value)| Some((key.clone(), first(value)?)))
        .collect()
}
