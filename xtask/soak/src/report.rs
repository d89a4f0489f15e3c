//! What a soak found, as data and as a table.

use std::collections::BTreeMap;

use comfy_table::{Table, presets};
use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Kind};
use crate::store;

/// What soaks found of the stores.
#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) stores: Vec<OfStore>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct OfStore {
    pub(crate) store: store::Kind,
    /// Why it was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_run: Option<String>,
    pub(crate) seconds: u64,
    pub(crate) interrupted: bool,
    /// What was done, and how often.
    pub(crate) done: BTreeMap<String, u64>,
    /// The share of the nearest that an approximate store found.
    pub(crate) recall: Option<f64>,
    pub(crate) memory: Memory,
    pub(crate) violations: BTreeMap<Kind, u64>,
    /// The first of them.
    pub(crate) findings: Vec<Finding>,
}

/// Bytes, in calm phases.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// Held by Rust code in the first calm phase.
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) most: usize,
    /// Of the whole process, in the last one; `None` where the system does not tell.
    pub(crate) resident: Option<usize>,
    /// Held when all was removed and the store closed, beyond what was held before it was opened.
    pub(crate) left: usize,
}

impl OfStore {
    pub(crate) fn not_run(store: store::Kind, why: String) -> Self {
        Self {
            store,
            not_run: Some(why),
            seconds: 0,
            interrupted: false,
            done: BTreeMap::new(),
            recall: None,
            memory: Memory::default(),
            violations: BTreeMap::new(),
            findings: Vec::new(),
        }
    }

    pub(crate) fn all_violations(&self) -> u64 {
        self.violations.values().sum()
    }

    /// Everything whose name begins so.
    fn did(&self, what: &str) -> String {
        let counts = self.done.iter().filter(|(name, _)| name.starts_with(what));
        counts.map(|(_, n)| n).sum::<u64>().to_string()
    }
}

fn megabytes(bytes: usize) -> String {
    let tenths = bytes.saturating_mul(10) >> 20;
    format!("{}.{}", tenths / 10, tenths % 10)
}

impl Report {
    /// The figures.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header([
            "store",
            "seconds",
            "searches",
            "fetches",
            "passages judged",
            "writes",
            "given up",
            "kills",
            "compared exactly",
            "recall",
            "held MB, first to last",
            "resident MB",
            "violations",
        ]);
        for of in &self.stores {
            if let Some(why) = &of.not_run {
                table.add_row([of.store.name(), "not run", why]);
                continue;
            }
            let memory = &of.memory;
            table.add_row([
                of.store.name().to_owned(),
                of.seconds.to_string(),
                of.did("searches, "),
                of.did("fetches"),
                of.did("passages judged"),
                of.did("writes done"),
                of.did("writes given up"),
                of.did("kills"),
                of.did("searches compared exactly"),
                of.recall.map_or("exact".to_owned(), |r| format!("{r:.4}")),
                format!("{} to {}", megabytes(memory.first), megabytes(memory.last)),
                memory.resident.map_or("unknown".to_owned(), megabytes),
                of.all_violations().to_string(),
            ]);
        }
        table.to_string()
    }

    /// Every violation that was kept, with what it takes to look into it.
    pub(crate) fn findings(&self) -> String {
        let mut text = String::new();
        for of in &self.stores {
            for (kind, times) in &of.violations {
                text += &format!("{}: {kind:?} {times} times\n", of.store.name());
            }
            for finding in &of.findings {
                text += &format!(
                    "{}: {:?}: {}\n",
                    of.store.name(),
                    finding.kind,
                    finding.what
                );
                finding
                    .log
                    .iter()
                    .for_each(|line| text += &format!("    {line}\n"));
            }
        }
        text
    }

    /// 0 when all is well, 1 with violations, 2 when nothing was run.
    pub(crate) fn exit(&self) -> u8 {
        if self.stores.iter().any(|of| of.all_violations() > 0) {
            1
        } else if self.stores.iter().all(|of| of.not_run.is_some()) {
            2
        } else {
            0
        }
    }
}
