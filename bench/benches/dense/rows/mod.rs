//! What is measured.

pub(crate) mod beside;
pub(crate) mod exact;
pub(crate) mod filtered;
pub(crate) mod growth;
pub(crate) mod hnsw;
pub(crate) mod library;
pub(crate) mod sqlite;
pub(crate) mod tenants;
pub(crate) mod writes;

use std::cell::{OnceCell, RefCell, RefMut};
use std::sync::Arc;

use shelfward_bench::options::Options;
use shelfward_bench::report::{Figures, Report};
use shelfward_bench::rounds::Times;
use shelfward_bench::vectors::drawn;
use shelfward_core::{Filter, Record, Store};
use shelfward_memory::{MemoryOptions, MemoryStore};

use crate::WIDTH;
use crate::collections::{Held, plain, records};
use crate::peers::Peers;

/// How often what takes seconds is done.
const FEW_ROUNDS: usize = 3;
/// How many queries are timed.
const QUERIES: usize = 50;

/// A run: what it was told, and what several rows use.
pub(crate) struct Run<'a> {
    pub(crate) options: &'a Options,
    pub(crate) vectors: Vec<Arc<[f32]>>,
    pub(crate) queries: Vec<Vec<f32>>,
    /// Of one tenant.
    pub(crate) records: Vec<Record>,
    quantized: OnceCell<Held>,
    peers: OnceCell<Result<RefCell<Peers>, String>>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        let (vectors, queries) = drawn(options.documents, QUERIES, WIDTH);
        Self {
            options,
            records: records(&vectors, |_| "t".to_owned()),
            vectors,
            queries,
            quantized: OnceCell::new(),
            peers: OnceCell::new(),
        }
    }

    /// The memory store as it is by default.
    pub(crate) fn memory(&self) -> &Held {
        self.quantized.get_or_init(|| memory(true, &self.records))
    }

    /// The peers, or why there are none.
    pub(crate) fn peers(&self) -> Result<RefMut<'_, Peers>, String> {
        if self.options.ours_only {
            return Err("left out".to_owned());
        }
        let start = || Peers::new(&self.vectors, &self.queries).map(RefCell::new);
        match self.peers.get_or_init(start) {
            Ok(peers) => Ok(peers.borrow_mut()),
            Err(why) => Err(why.clone()),
        }
    }

    /// Compares some answers with the formula's.
    pub(crate) fn check(&self, held: &Held, filter: &Arc<Filter>, report: &mut Report) {
        for query in self.queries.iter().step_by(5) {
            let expected = plain(&self.records, query, filter);
            assert_eq!(
                held.search(query, filter),
                expected,
                "another answer than the formula's"
            );
            report.checked += 1;
        }
    }
}

/// The memory store with these records.
pub(crate) fn memory(quantized: bool, records: &[Record]) -> Held {
    let options = MemoryOptions::default().with_quantized(quantized);
    Held::new(
        &Store::new(MemoryStore::with_options(options)),
        WIDTH,
        records,
    )
}

/// The figures of ours and of the peer, from the times of both.
pub(crate) fn both(times: &[Times]) -> [Option<Figures>; 2] {
    [
        times.first().map(Figures::many),
        times.get(1).map(Figures::many),
    ]
}
