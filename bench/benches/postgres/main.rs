//! The Postgres adapter beside hand-written SQL on the same server and the same table.

#![expect(clippy::print_stderr, reason = "a benchmark says what it lacks")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails ends")]

mod by_hand;
#[path = "../dense/drawn.rs"]
mod drawn;
mod library;
mod place;
mod rows;

use std::process::ExitCode;

use shelfward_bench::benchmark::measured;
use shelfward_bench::options::Options;
use shelfward_bench::report::Report;

use crate::place::Place;

/// How many passages an answer holds.
const TOP_K: usize = 10;
/// How many numbers a vector has.
const WIDTH: usize = 384;

/// What is measured, in the order of the table.
const GROUPS: [(&str, fn(&rows::Run<'_>, &mut Report)); 7] = [
    ("search", rows::search::search),
    ("library", rows::library::library),
    ("filtered", rows::filtered::filtered),
    ("tenants", rows::tenants::tenants),
    ("bulk", rows::bulk::bulk),
    ("sources", rows::bulk::sources),
    ("growth", rows::growth::growth),
];

fn main() -> ExitCode {
    let options = &Options::read(&GROUPS.map(|(name, _)| name));
    let Ok(url) = std::env::var("DATABASE_URL") else {
        eprintln!(
            "nothing was run: set DATABASE_URL to a PostgreSQL server with pgvector, as \
                 postgres://user:password@127.0.0.1:5432/database"
        );
        return ExitCode::from(2);
    };
    let place = match Place::new(&url) {
        Ok(place) => place,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(1);
        }
    };
    let material = format!("vectors of {WIDTH} numbers in clusters, {}", place.server());
    let run = &rows::Run::new(options, &place);
    let groups = GROUPS.map(|(name, rows)| (name, move |report: &mut _| rows(run, report)));
    measured("postgres", material, options, groups)
}
