//! Runs golden cases.

fn main() {}
