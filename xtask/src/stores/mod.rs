//! Real servers for the tests of adapters: started, listed and ended.
//!
//! What the servers need is in a folder of this checkout's own below the system's temporary one, and
//! goes with them. What was downloaded stays in the target folder.

mod guard;
mod home;
mod live;
mod name;
mod postgres;
mod process;
mod record;
mod run_as;
mod show;

use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::Ended;

pub(crate) use live::Live;

use home::Home;
use name::Name;
use record::Server;

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
    /// Starts a server and ends it when standard input closes: the half of
    /// `up --until-stdin-closes` that outlives its caller.
    #[command(hide = true)]
    Guard(Up),
}

#[derive(Args)]
struct Up {
    /// Which store.
    store: Store,
    /// The name of a server of one's own, with its own data and port.
    #[arg(long, value_name = "NAME", default_value_t)]
    name: Name,
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
    #[arg(long, value_name = "NAME", default_value_t, conflicts_with = "all")]
    name: Name,
    /// Ends the servers of every name.
    #[arg(long)]
    all: bool,
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
    const ALL: [Self; 1] = [Self::Postgres];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
        }
    }

    /// The variable by which tests find a server.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Self::Postgres => "DATABASE_URL",
        }
    }
}

/// Why there is no server.
pub(crate) enum Failure {
    /// What it takes is not on this machine and cannot be had.
    Missing(String),
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
            Self::Failed(why) => {
                eprintln!("{why}");
                Ended::Badly
            }
        }
    }
}

pub(crate) fn run(options: &Options) -> Ended {
    let done = match &options.command {
        Command::Up(up) if up.until_stdin_closes => return guard::in_foreground(up),
        Command::Up(up) => start(up.store, &up.name, None).map(|server| show::up(&server, up.json)),
        Command::Down(down) => end(down),
        Command::Status(status) => list(status),
        Command::Guard(up) => guard::guard(up),
    };
    match done {
        Ok(()) => Ended::Well,
        Err(why) => why.ended(),
    }
}

/// The server of this name: the one that runs, or a new one.
fn start(store: Store, name: &Name, guard: Option<u32>) -> Result<Server, Failure> {
    let home = Home::locked()?;
    end_abandoned(&home)?;
    let folder = home.folder(store, name);
    if let Some(running) = Server::read(&folder).filter(Server::is_running) {
        if guard.is_some() {
            return Err(Failure::Failed(format!(
                "a {} named {name} runs already; end it, or take another name",
                store.name()
            )));
        }
        return Ok(running);
    }
    // What a server that was killed left.
    clear(store, &folder)?;
    let begun = match store {
        Store::Postgres => postgres::start(&folder),
    };
    let kept = begun.and_then(|running| {
        let server = Server::new(store, name, guard, running);
        server.write(&folder).map(|()| server)
    });
    if kept.is_err() {
        // Why it did not start matters more than what is left of it, which the next one clears.
        let _ = clear(store, &folder);
        home.leave();
    }
    kept
}

/// Ends a server, if one runs in a folder, and removes the folder.
fn clear(store: Store, folder: &std::path::Path) -> Result<(), Failure> {
    match store {
        Store::Postgres => postgres::end(folder),
    }
}

/// Ends the servers whose guards were killed themselves, and those of an `up` that was cut off:
/// whoever starts one holds the lock until its record is written.
fn end_abandoned(home: &Home) -> Result<(), Failure> {
    for (store, _, folder) in home.servers() {
        let abandoned = match Server::read(&folder) {
            Some(server) => server.guard.is_some_and(|pid| !guard::is_alive(pid)),
            None => true,
        };
        if abandoned {
            clear(store, &folder)?;
        }
    }
    Ok(())
}

fn end(options: &Down) -> Result<(), Failure> {
    let home = Home::locked()?;
    let mut ended = 0;
    for (store, name, folder) in home.servers() {
        let named = options.all || name == options.name;
        if named && options.store.is_none_or(|asked| asked == store) {
            clear(store, &folder)?;
            eprintln!("ended {} named {name}", store.name());
            ended += 1;
        }
    }
    home.leave();
    if ended == 0 {
        eprintln!("no such server was there");
    }
    Ok(())
}

fn list(options: &Status) -> Result<(), Failure> {
    let home = Home::locked()?;
    let there: Vec<_> = home
        .servers()
        .into_iter()
        .map(|(store, name, folder)| (store, name, Server::read(&folder)))
        .collect();
    home.leave();
    show::status(&there, options.json);
    Ok(())
}
