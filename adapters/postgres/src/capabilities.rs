use shelfward_adapter::sql;
use shelfward_core::capabilities::{Dense, Lexical, Scoring, Words, Writers};
use shelfward_core::{Capabilities, CollectionSpec};

use crate::catalog::Settings;
use crate::config::VectorIndex;
use crate::filter_translation::Columns;

/// The widest vector that the server holds.
pub(crate) const MAX_WIDTH: u32 = 16_000;

/// Everything, with an approximate index where there is one, in step with other processes.
pub(crate) fn capabilities(settings: &Settings, spec: &CollectionSpec) -> Capabilities {
    let mut can = Capabilities::exact();
    can.filter = sql::support(spec, &Columns);
    if settings.index.for_width(spec.width) != VectorIndex::None {
        can.dense = Dense::Approximate { min_recall: 0.9 };
    }
    let mut lexical = Lexical::exact();
    lexical.scoring = Scoring::StoreOwn;
    if settings.text_search.is_some() {
        lexical.words = Words::OwnAnalyser;
    }
    can.lexical = Some(lexical);
    can.writers = Writers::AllProcesses;
    can.durable = true;
    // A commit that is on its way when the caller gives up is applied when it arrives.
    can.late_writes = true;
    can.max_width = Some(MAX_WIDTH);
    can
}
