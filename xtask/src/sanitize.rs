//! Tests under the address sanitizer and under Miri, which find wrong uses of memory.
//!
//! Both come with a nightly toolchain of rustup. Where there is none, nothing is run.

use std::process::Command;

use clap::Args;

use crate::Ended;
use crate::run::{output, root};

/// Runs the tests of what is unsafe, or C, under the address sanitizer and under Miri.
#[derive(Args)]
pub(crate) struct Options {
    /// Runs the tests of one package alone, as `shelfward-sqlite`.
    #[arg(long)]
    package: Option<String>,
}

/// The package with unsafe code, the one with C, and those that stand on the former.
const PACKAGES: [&str; 4] = [
    "shelfward-dense",
    "shelfward-resident",
    "shelfward-sqlite",
    "shelfward-hnsw",
];

/// What Miri runs of the first: its tests of raw pointers, since Miri takes a thousand times as long.
const MIRI: [&str; 2] = ["a_slot_is_set_again", "distances_between_vectors_anywhere"];

pub(crate) fn run(options: &Options) -> Ended {
    let about = output(nightly("rustc").arg("-vV")).unwrap_or_default();
    let Some(host) = about.lines().find_map(|line| line.strip_prefix("host: ")) else {
        return unusable("rustup toolchain install nightly");
    };
    let chosen = |package: &&str| options.package.as_deref().is_none_or(|one| one == *package);
    let packages: Vec<_> = PACKAGES.into_iter().filter(chosen).collect();
    let Some(first) = packages.first() else {
        return Ended::Unusable(format!("one of {} is due", PACKAGES.join(", ")));
    };
    let with_miri = *first == PACKAGES[0];
    if with_miri && output(nightly("cargo").args(["miri", "--version"])).is_err() {
        return unusable("rustup component add miri rust-src --toolchain nightly");
    }
    println!("── address sanitizer: {}", packages.join(", "));
    let mut sanitized = nightly("cargo");
    sanitized
        .args(["test", "--tests", "--target", host])
        .args(packages.iter().flat_map(|package| ["-p", *package]))
        .env("RUSTFLAGS", "-Zsanitizer=address")
        // A process starts ten times as slowly.
        .env("SHELFWARD_KILLS", "8");
    if !succeeds(&mut sanitized) {
        return Ended::Badly;
    }
    if with_miri {
        println!("── Miri: {first}");
        let mut interpreted = nightly("cargo");
        interpreted
            .args(["miri", "test", "-p", first, "--lib", "--"])
            .args(MIRI)
            .env(
                "MIRIFLAGS",
                "-Zmiri-disable-isolation -Zmiri-permissive-provenance",
            )
            .env("PROPTEST_CASES", "2");
        if host.starts_with("x86_64") {
            // Miri has what it is told to have, not what this machine has.
            interpreted.env("RUSTFLAGS", "-Ctarget-feature=+avx2,+fma");
        }
        if !succeeds(&mut interpreted) {
            return Ended::Badly;
        }
    }
    Ended::Well
}

fn unusable(install: &str) -> Ended {
    Ended::Unusable(format!(
        "this needs tools that are not installed: {install}"
    ))
}

/// A program of the nightly toolchain, with a folder of its own for what it builds.
fn nightly(program: &str) -> Command {
    let mut command = Command::new("rustup");
    command
        .args(["run", "nightly", program])
        .current_dir(root())
        .env("CARGO_TARGET_DIR", root().join("target/sanitize"));
    command
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
