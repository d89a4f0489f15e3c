//! Soaks stores beside each other, each in a process of its own, whose memory is its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum as _;
use indicatif::{ProgressBar, ProgressStyle};

use crate::Failure;
use crate::report::{OfStore, Report};
use crate::store::Kind;

pub(crate) async fn run(stores: &[Kind], seed: u64, lasts: Duration, json: bool) -> ExitCode {
    let stores = if stores.is_empty() {
        Kind::value_variants()
    } else {
        stores
    };
    eprintln!("soaking with the seed {seed}");
    let bar = ProgressBar::new(lasts.as_secs());
    if let Ok(style) = ProgressStyle::with_template("{elapsed} {wide_bar} {len} s {msg}") {
        bar.set_style(style);
    }
    let running: Vec<_> = stores
        .iter()
        .map(|kind| {
            let (kind, bar) = (*kind, bar.clone());
            tokio::task::spawn_blocking(move || one(kind, seed, lasts, &bar))
        })
        .collect();
    let ticking = tokio::spawn({
        let (bar, began) = (bar.clone(), Instant::now());
        async move {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                bar.set_position(began.elapsed().as_secs());
            }
        }
    });
    // The processes of the stores get Ctrl-C, too, and end with what they have found.
    let interrupted = tokio::spawn(async { while tokio::signal::ctrl_c().await.is_ok() {} });
    let mut report = Report {
        seed,
        stores: Vec::new(),
    };
    let mut failed = false;
    for running in running {
        match running.await.map_err(Failure::from).flatten() {
            Ok(of) => report.stores.push(of),
            Err(why) => {
                bar.suspend(|| eprintln!("{why}"));
                failed = true;
            }
        }
    }
    interrupted.abort();
    ticking.abort();
    bar.finish_and_clear();
    if json {
        println!("{}", serde_json::to_string(&report).unwrap_or_default());
    } else {
        println!("seed {seed}\n\n{}", report.table());
        print!("{}", report.findings());
    }
    ExitCode::from(if failed { 1 } else { report.exit() })
}

/// One store in its process.
fn one(kind: Kind, seed: u64, lasts: Duration, bar: &ProgressBar) -> Result<OfStore, Failure> {
    let minutes = (lasts.as_secs_f64() / 60.0).to_string();
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--here", "--store", kind.name(), "--minutes", &minutes])
        .args(["--seed", &seed.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let notes = child.stderr.take().map(|notes| {
        let bar = bar.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(notes).lines().map_while(Result::ok) {
                bar.suspend(|| eprintln!("{}: {line}", kind.name()));
            }
        })
    });
    let done = child.wait_with_output()?;
    if let Some(notes) = notes {
        let _ = notes.join();
    }
    let of = serde_json::from_slice(&done.stdout);
    Ok(of.map_err(|e| {
        format!(
            "the soak of {} ended with {}: {e}",
            kind.name(),
            done.status
        )
    })?)
}
