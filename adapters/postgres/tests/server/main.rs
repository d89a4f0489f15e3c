//! What only a real server shows: filters, plans, faults, policies.
//!
//! The server is the one at `DATABASE_URL`, by a role that may make schemas, roles and databases.
//! Without it every test is counted as ignored, and a note says so.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../../../../crates/core/tests/common/mod.rs"]
mod common;
#[path = "../../../../crates/core/tests/common/selecting.rs"]
mod selecting;

mod commits;
mod crashes;
mod faults;
mod filters;
mod ground;
mod kills;
mod kinds;
mod large;
mod messages;
mod policies;
mod reads;
mod tables;

use std::io::Write as _;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use crate::ground::{Ground, Test};

fn main() -> ExitCode {
    let url = std::env::var("DATABASE_URL").ok();
    let url = url.filter(|url| !url.is_empty());
    if url.is_none() {
        let note =
            "not run: DATABASE_URL is not set; cargo xtask stores up postgres starts a server";
        let _ = writeln!(std::io::stderr(), "{note}");
    }
    let all = [
        ("commits", commits::TESTS),
        ("faults", faults::TESTS),
        ("filters", filters::TESTS),
        ("kinds", kinds::TESTS),
        ("large", large::TESTS),
        ("messages", messages::TESTS),
        ("policies", policies::TESTS),
        ("reads", reads::TESTS),
        ("tables", tables::TESTS),
    ];
    let trials = all.into_iter().flat_map(|(group, tests)| {
        let url = url.clone();
        tests.iter().map(move |(name, test)| {
            let (url, test) = (url.clone(), *test);
            Trial::test(format!("{group}/{name}"), move || run(url, test))
        })
    });
    let mut trials: Vec<Trial> = trials
        .map(|trial| trial.with_ignored_flag(url.is_none()))
        .collect();
    let starts_servers = std::env::var_os("SHELFWARD_XTASK").is_some();
    for (group, tests) in [("kills", kills::TESTS), ("crashes", crashes::TESTS)] {
        trials.extend(tests.iter().map(|(name, test)| {
            let (url, test) = (url.clone(), *test);
            Trial::test(format!("{group}/{name}"), move || run(url, test))
                .with_ignored_flag(!starts_servers)
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn run(url: Option<String>, test: Test) -> Result<(), libtest_mimic::Failed> {
    let url = url.ok_or("DATABASE_URL is not set")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let ground = Ground::new(url).await;
        // A task of its own, so that what it made goes even where it panics.
        let done = tokio::spawn(test(ground.clone())).await;
        ground.clear().await;
        done.map_err(|failed| {
            let panicked = failed.into_panic();
            let text = panicked.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panicked.downcast_ref::<&str>().map(ToString::to_string));
            text.unwrap_or_else(|| "it panicked".to_owned()).into()
        })
    })
}
