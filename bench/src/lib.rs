//! What the benchmarks share: material that is the same in every run, timing in rounds that
//! alternate, and tables.

pub mod material;
pub mod rounds;
