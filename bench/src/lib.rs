//! What the benchmarks share: material that is the same in every run, timing in rounds that
//! alternate, and the report that a run ends with.

pub mod material;
pub mod options;
pub mod report;
pub mod rounds;
