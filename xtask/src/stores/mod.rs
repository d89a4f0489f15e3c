//! Real servers for the tests of adapters: started, listed and ended.
//!
//! What the servers need is in a folder of this checkout's own below the system's temporary one, and
//! goes with them. What was downloaded stays in the target folder. What is the same for every server
//! stands in `runner`; each server adds a file that implements [`Engine`].

mod guard;
mod postgres;
mod process;
mod runner;
mod state;
mod wheel;

use std::io::Write as _;
use std::path::Path;

use clap::{Args, Subcommand, ValueEnum};
use comfy_table::{Table, presets};
use serde::{Deserialize, Serialize};

pub(crate) use guard::Live;

use crate::Ended;
use runner::Site;
use state::{Server, StateDir};

/// Starts, lists and ends real servers for tests.
#[derive(Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Starts a server, or finds the one that runs, and prints what tests need to know.
    Up(Up),
    /// Ends servers and removes what they wrote.
    Down(Down),
    /// Lists the servers of this checkout.
    Status(Status),
}

#[derive(Args)]
struct Up {
    /// Which store.
    store: Store,
    /// The name of a server of one's own, with its own data and port.
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = server_name)]
    name: String,
    /// Prints an object in the place of a variable.
    #[arg(long)]
    json: bool,
    /// Stays, and ends the server when standard input closes or this process ends.
    #[arg(long)]
    until_stdin_closes: bool,
}

#[derive(Args)]
struct Down {
    /// Which store; without it, each.
    store: Option<Store>,
    /// The name that the server was started with.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "default",
        conflicts_with = "all"
    )]
    name: String,
    /// Ends the servers of every name.
    #[arg(long)]
    all: bool,
    /// Ends a server only where this process is its guard, and says nothing where there is none.
    #[arg(long, hide = true)]
    as_guard: bool,
}

#[derive(Args)]
struct Status {
    /// Prints a list of objects in the place of a table.
    #[arg(long)]
    json: bool,
}

/// The stores that can be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Store {
    /// PostgreSQL 18 with pgvector.
    Postgres,
}

impl Store {
    fn engine(self) -> &'static dyn Engine {
        match self {
            Self::Postgres => &postgres::Postgres,
        }
    }

    fn name(self) -> &'static str {
        self.engine().name()
    }
}

/// What one kind of server does by itself. The runner calls these in their order.
trait Engine {
    /// Its name in commands, as `postgres`.
    fn name(&self) -> &'static str;
    /// The variable by which tests find a server.
    fn variable(&self) -> &'static str;
    /// Puts the programs into [`Site::engine`], and says which version they are.
    fn prepare(&self, site: &Site) -> Result<String, Failure>;
    /// The folder of the programs.
    fn bin(&self, site: &Site) -> std::path::PathBuf;
    /// Makes the data and starts the server on them, as a process that outlives this one.
    fn start(&self, site: &Site) -> Result<(), Failure>;
    /// Waits until the server answers, and makes what tests expect to be there.
    fn ready(&self, site: &Site) -> Result<(), Failure>;
    fn url(&self, site: &Site) -> String;
    /// The process of the server that runs on these data, whoever started it.
    fn pid(&self, data: &Path) -> Option<u32>;
    /// Frees what a killed server has left outside its folder.
    fn release(&self, data: &Path);
}

/// Why there is no server.
pub(crate) enum Failure {
    /// What it takes is not on this machine and cannot be had.
    Missing(String),
    /// Another took its port; with a new one it may start.
    PortTaken,
    /// It was there and did not work.
    Failed(String),
}

impl Failure {
    /// For `map_err`: what could not be done, and why.
    fn of<E: std::fmt::Display>(what: &str) -> impl FnOnce(E) -> Self {
        move |e| Self::Failed(format!("{what}: {e}"))
    }

    fn ended(self) -> Ended {
        match self {
            Self::Missing(why) => Ended::Unusable(why),
            Self::PortTaken => {
                Self::Failed("every port that was tried is taken".to_owned()).ended()
            }
            Self::Failed(why) => {
                eprintln!("{why}");
                Ended::Badly
            }
        }
    }
}

pub(crate) fn run(options: &Options) -> Ended {
    let done = match &options.command {
        Command::Up(up) if up.until_stdin_closes => guard::in_foreground(up),
        Command::Up(up) => start(up.store, &up.name, None)
            .map(|server| print(&server, up.json))
            .map(|()| Ended::Well),
        Command::Down(down) => end(down).map(|()| Ended::Well),
        Command::Status(status) => list(status.json).map(|()| Ended::Well),
    };
    done.unwrap_or_else(Failure::ended)
}

/// What tells the servers of one store apart. It is a part of a folder's name.
fn server_name(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() || text.len() > 40 || !text.chars().all(allowed) {
        return Err("a name has 1 to 40 of the characters a-z, 0-9 and -".to_owned());
    }
    Ok(text.to_owned())
}

/// The server of this name: the one that runs, or a new one.
fn start(store: Store, name: &str, guard: Option<u32>) -> Result<Server, Failure> {
    let state = StateDir::locked()?;
    end_abandoned(&state)?;
    let folder = state.folder(store, name);
    if let Some(running) = Server::read(&folder).filter(Server::is_running) {
        let (kind, taken) = (store.name(), "runs already; end it, or take another name");
        return match guard {
            Some(_) => Err(Failure::Failed(format!("a {kind} named {name} {taken}"))),
            None => Ok(running),
        };
    }
    // What a server that was killed left.
    runner::end(store, &folder)?;
    let started = runner::start(store, name, guard, &folder)
        .and_then(|server| server.write(&folder).map(|()| server));
    if started.is_err() {
        // Why it did not start matters more than what is left of it, which the next one clears.
        let _ = runner::end(store, &folder);
    }
    started
}

/// Ends the servers whose guards were killed themselves, and those of an `up` that was cut off:
/// whoever starts one holds the lock until its record is written.
fn end_abandoned(state: &StateDir) -> Result<(), Failure> {
    for (store, _, folder) in state.servers() {
        let abandoned = match Server::read(&folder) {
            Some(server) => server.guard.is_some_and(|pid| !guard::is_alive(pid)),
            None => true,
        };
        if abandoned {
            runner::end(store, &folder)?;
        }
    }
    Ok(())
}

fn end(options: &Down) -> Result<(), Failure> {
    let state = StateDir::locked()?;
    let own = std::process::id();
    let mut ended = 0;
    for (store, name, folder) in state.servers() {
        let named = options.all || name == options.name;
        // Another may have ended it, and even have started a new one of this name.
        let of_another = options.as_guard
            && Server::read(&folder).is_some_and(|server| server.guard != Some(own));
        if named && !of_another && options.store.is_none_or(|asked| asked == store) {
            runner::end(store, &folder)?;
            ended += 1;
            if !options.as_guard {
                eprintln!("ended {} named {name}", store.name());
            }
        }
    }
    if ended == 0 && !options.as_guard {
        eprintln!("no such server was there");
    }
    Ok(())
}

/// What tests need to know, on stdout. Nobody may be there to read it.
fn print(server: &Server, json: bool) {
    let text = if json {
        serde_json::to_string(server).unwrap_or_default()
    } else {
        format!("{}={}", server.store.engine().variable(), server.url)
    };
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// The servers that there are, without their passwords.
fn list(json: bool) -> Result<(), Failure> {
    let state = StateDir::locked()?;
    let describe = |(store, name, folder): (Store, String, std::path::PathBuf)| {
        let server = Server::read(&folder);
        let known = server.as_ref();
        serde_json::json!({
            "store": store,
            "name": name,
            "running": known.is_some_and(Server::is_running),
            "version": known.map(|server| &server.version),
            "pid": known.map(|server| server.pid),
            "port": known.map(|server| server.port),
            "data": known.map(|server| &server.data),
        })
    };
    let servers: Vec<_> = state.servers().into_iter().map(describe).collect();
    if json {
        println!("{}", serde_json::Value::from(servers));
        return Ok(());
    }
    if servers.is_empty() {
        eprintln!("no server is there");
        return Ok(());
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["store", "name", "state", "version", "port", "pid"]);
    for server in servers {
        table.add_row(
            ["store", "name", "running", "version", "port", "pid"].map(|column| {
                match &server[column] {
                    serde_json::Value::Null => String::new(),
                    serde_json::Value::Bool(true) => "runs".to_owned(),
                    serde_json::Value::Bool(false) => "has ended".to_owned(),
                    serde_json::Value::String(text) => text.clone(),
                    other => other.to_string(),
                }
            }),
        );
    }
    println!("{table}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::server_name;

    #[test]
    fn a_name_cannot_lead_out_of_its_folder() {
        let forty = "a".repeat(40);
        for good in ["default", "ci-123", "0", &forty] {
            assert_eq!(server_name(good).as_deref(), Ok(good));
        }
        for bad in ["", "..", "a/b", "A", "a b", "ü", "a\0", &"a".repeat(41)] {
            assert!(server_name(bad).is_err(), "{bad:?}");
        }
    }
}
