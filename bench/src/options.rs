//! What a benchmark may be told on the command line.

use std::num::NonZeroUsize;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

/// What a benchmark may be told.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many documents there are.
    pub documents: usize,
    /// How many rounds each query is timed in.
    pub rounds: usize,
    /// The one group of rows to run.
    pub only: Option<String>,
    /// Leaves the peers out, to profile or to compare two builds of ours.
    pub ours_only: bool,
    /// Prints the report as JSON.
    pub json: bool,
}

impl Options {
    /// Reads what the process was called with; help, or what was not understood, ends it.
    pub fn read(groups: &[&'static str]) -> Self {
        let number = |name, default| {
            let number = value_parser!(NonZeroUsize);
            Arg::new(name)
                .long(name)
                .value_name("N")
                .default_value(default)
                .value_parser(number)
        };
        let flag = |name| Arg::new(name).long(name).action(ArgAction::SetTrue);
        let only = Arg::new("only").long("only").value_name("NAME");
        let found = Command::new("bench")
            .arg(number("documents", "100000").help("How many documents there are"))
            .arg(number("rounds", "9").help("How many rounds each query is timed in"))
            .arg(
                only.value_parser(groups.to_vec())
                    .help("The one group of rows to run"),
            )
            .arg(flag("ours-only").help("Leave the peers out"))
            .arg(flag("json").help("Print the report as JSON"))
            // Cargo says so to every benchmark.
            .arg(flag("bench").hide(true))
            .get_matches();
        Self::of(&found)
    }

    fn of(found: &ArgMatches) -> Self {
        let number = |name| {
            found
                .get_one::<NonZeroUsize>(name)
                .map_or(1, |number| number.get())
        };
        Self {
            documents: number("documents"),
            rounds: number("rounds"),
            only: found.get_one::<String>("only").cloned(),
            ours_only: found.get_flag("ours-only"),
            json: found.get_flag("json"),
        }
    }

    /// Whether a group of rows is to run.
    pub fn wants(&self, group: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == group)
    }
}
