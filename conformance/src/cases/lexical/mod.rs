//! Words: which records they find, with which scores, and what both legs come to together.

mod documents;
mod filter;
mod fusing;
mod legs;
mod matching;
mod order;
mod prefix;
mod query;
mod scores;
mod scripts;
mod statistics;
mod writes;

use crate::case::Case;

pub(super) fn cases() -> Vec<Case> {
    let ideas = [
        matching::cases(),
        query::cases(),
        scripts::cases(),
        prefix::cases(),
        filter::cases(),
        order::cases(),
        scores::cases(),
        statistics::cases(),
        writes::cases(),
        legs::cases(),
        fusing::cases(),
    ];
    ideas.into_iter().flatten().collect()
}
