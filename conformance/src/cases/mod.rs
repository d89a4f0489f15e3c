//! The cases, a file for each group.

mod collections;
mod crash;
mod delete;
mod drops;
mod durability;
mod faults;
mod filters;
mod ids;
mod injection;
mod lexical;
mod library;
mod listing;
mod metrics;
mod open_store;
mod paging;
mod races;
mod reads;
mod recall;
mod refusals;
mod search;
mod server;
mod states;
mod store_state;
mod two_processes;
mod update;
mod writes;

use std::time::Duration;

use crate::case::{Case, CaseInfo, Wanted};

/// Every case of the suite.
pub(crate) fn all() -> Vec<Case> {
    let groups = [
        collections::cases(),
        writes::cases(),
        reads::cases(),
        ids::cases(),
        filters::cases(),
        refusals::cases(),
        injection::cases(),
        search::cases(),
        recall::cases(),
        metrics::cases(),
        lexical::cases(),
        delete::cases(),
        update::cases(),
        library::cases(),
        listing::cases(),
        races::cases(),
        two_processes::cases(),
        durability::cases(),
        faults::cases(),
        server::cases(),
        crash::cases(),
        paging::cases(),
    ];
    groups.into_iter().flatten().collect()
}

/// So much longer a case may take that crashes a server so often.
pub(crate) fn timeout_for_crashes(case: &CaseInfo) -> Duration {
    match case.server {
        Wanted::Crash => crash::A_CRASH * crash::crashes(),
        _ => Duration::ZERO,
    }
}
