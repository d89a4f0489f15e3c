//! A library of two tenants, searched by three readers while it changes.
//!
//! ```text
//! cargo run -p shelfward --example library
//! cargo run -p shelfward --example library -- --store sqlite:library.db
//! cargo run -p shelfward --example library -- --store hnsw:library.hnsw
//! cargo run -p shelfward --features postgres --example library -- --store postgres://user:password@host/database
//! ```
//!
//! It files a transcript and six documents from `examples/data`, then narrows, replaces and removes
//! some of them, and prints after each step what each reader sees. The steps are in `story`. Where the
//! library is there already, it is filed anew, and the answers are the same.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example speaks to people"
)]

mod show;
mod story;

use std::error::Error;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            // What lies under it often says more.
            let mut under = error.source();
            while let Some(cause) = under {
                eprintln!("  because: {cause}");
                under = cause.source();
            }
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let store = shelfward::connect(&store_url()?).await?;
    let index = story::library(&store).await?;
    println!("A library in the store {:?}\n", store.kind());
    for reader in story::readers::readers()? {
        println!("{}", show::reader(&reader));
    }
    for (step, number) in story::tell(&index).await?.iter().zip(1..) {
        print!("\n{}", show::step(number, step));
    }
    store.close().await?;
    Ok(())
}

/// The URL behind `--store`; the in-memory store without it.
fn store_url() -> Result<String, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => Ok("memory:".to_owned()),
        (Some("--store"), Some(url)) => Ok(url),
        _ => Err("usage: library [--store URL]".into()),
    }
}
