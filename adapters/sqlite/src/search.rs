//! Both legs: candidates from the rows in memory, hits from the file.

use shelfward_core::filter::Matcher;
use shelfward_core::{Completeness, ErrorKind, Filter, Hit, Key, Leg, LegQuery, LegResult};
use shelfward_resident::{CancelFlag, MemTable};

use crate::cache::CacheState;
use crate::database::Reading;
use crate::error::{Result, corrupt};
use crate::handle::Handle;
use crate::reads::View;

/// How often a search looks whether the rows in memory are what its transaction sees, before rows that
/// are newer are given up for those that it sees.
const ATTEMPTS: usize = 4;

/// Searches all legs in one snapshot.
pub(crate) fn search(
    reading: &mut Reading<'_>,
    handle: &Handle,
    legs: &[Leg],
) -> Result<Vec<LegResult>> {
    // As it comes; where that does not do, in the turn of those who bring the rows up to date. There,
    // rows are newer than a transaction that begins only where a bulk write published them meanwhile,
    // or where the file went back.
    for attempt in 0..ATTEMPTS {
        let turn = (attempt > 0).then(|| handle.cache.turn());
        if attempt > 0 {
            reading.again()?;
        }
        let view = handle.view(reading.connection)?;
        let current_rows = match handle.cache.state(&view) {
            CacheState::Current(current_rows) => current_rows,
            CacheState::Newer if attempt + 1 < ATTEMPTS => continue,
            _ if attempt > 0 => handle.cache.catch_up(&view)?,
            _ => continue,
        };
        drop(turn);
        let Some(resident) = current_rows.resident() else {
            continue;
        };
        let candidates = legs
            .iter()
            .map(|leg| {
                resident.check_whole(&leg.filter)?;
                candidates(&resident.rows, leg, CancelFlag::of(reading.stop.flag()))
            })
            .collect::<Result<Vec<_>>>()?;
        drop(current_rows);
        reading.stop.check()?;
        return (legs.iter().zip(candidates))
            .map(|(leg, candidates)| release(&view, candidates, &leg.filter))
            .collect();
    }
    Err(ErrorKind::Engine.into())
}

fn candidates(rows: &MemTable, leg: &Leg, stop: CancelFlag<'_>) -> Result<Vec<(Key, f64)>> {
    let matching = (!leg.filter.is_everything()).then(|| rows.matching(&leg.filter, stop));
    let best = match &leg.ask {
        LegQuery::Dense(query) => rows.nearest(query, matching.as_ref(), leg.top_k, stop),
        LegQuery::Lexical {
            words,
            matching: how,
        } => rows.best(&leg.filter, words, *how, matching.as_ref(), leg.top_k)?,
    };
    let keyed = |(slot, score)| Some((rows.row(slot)?.key.clone(), score));
    best.into_iter()
        .map(|found| keyed(found).ok_or_else(|| ErrorKind::Engine.into()))
        .collect()
}

/// What the file holds of the candidates, each looked at by the filter once more.
fn release(view: &View<'_>, candidates: Vec<(Key, f64)>, filter: &Filter) -> Result<LegResult> {
    let matcher = Matcher::new(filter);
    let hits = candidates.into_iter().map(|(key, score)| {
        let record = view.under(&key)?;
        let record = record
            .filter(|record| matcher.matches(&record.metadata))
            .ok_or_else(|| corrupt("what was found in memory is not what the file holds"))?;
        Ok(Hit::new(key, score, record.text, record.metadata))
    });
    Ok(LegResult::new(
        hits.collect::<Result<_>>()?,
        Completeness::Complete,
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::sync::Arc;

    use rusqlite::Connection;
    use shelfward_adapter::cancel::CancelToken;
    use shelfward_core::{CollectionName, CollectionSpec, Metadata, Metric, Record, Text};

    use super::*;
    use crate::error::Error;
    use crate::schema::{self, CatalogRow};
    use crate::writes::Writing;

    #[test]
    fn a_candidate_that_the_filter_does_not_pass_is_not_released() {
        let name = CollectionName::new("c").unwrap();
        let spec = Arc::new(CollectionSpec::new(name, 1, Metric::Dot, "none"));
        let connection = Connection::open_in_memory().unwrap();
        schema::initialise(&connection).unwrap();
        schema::make_tables(&connection, 1).unwrap();
        let stop = CancelToken::default();
        let view = View {
            connection: &connection,
            entry: CatalogRow::new(&spec, 1, 7).unwrap(),
            spec,
        };
        let mut writing = Writing::of(view, &stop);
        let key = Key::new(Text::new("1").unwrap());
        let metadata = Metadata::new().with("groups", ["a"]).unwrap();
        let record = Record::new(key.clone(), [1.0]).with_metadata(metadata);
        writing.upsert(&[record]).unwrap();
        let found = |filter: &str| {
            let filter = Filter::from_json(filter).unwrap();
            release(&writing.view, vec![(key.clone(), 1.0)], &filter)
        };
        assert_eq!(found(r#"{"groups":"a"}"#).unwrap().hits.len(), 1);
        let refused = found(r#"{"groups":"b"}"#).unwrap_err();
        assert!(matches!(refused, Error::Kind(ErrorKind::Corrupt(_))));
    }
}
