//! What a benchmark may be told on the command line.

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
    /// Reads what the process was called with.
    ///
    /// # Errors
    /// What was not understood, and what would have been.
    pub fn read(groups: &[&str]) -> Result<Self, String> {
        Self::of(std::env::args().skip(1), groups)
    }

    fn of(mut arguments: impl Iterator<Item = String>, groups: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            documents: 100_000,
            rounds: 9,
            only: None,
            ours_only: false,
            json: false,
        };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--documents" => options.documents = number(&argument, arguments.next())?,
                "--rounds" => options.rounds = number(&argument, arguments.next())?,
                "--only" => options.only = Some(arguments.next().unwrap_or_default()),
                "--ours-only" => options.ours_only = true,
                "--json" => options.json = true,
                // Cargo says so to every benchmark.
                "--bench" => {}
                other => {
                    return Err(format!(
                        "no option {other:?}; there are --documents N, --rounds N, --only NAME, \
                         --ours-only and --json"
                    ));
                }
            }
        }
        match &options.only {
            Some(only) if !groups.contains(&only.as_str()) => {
                Err(format!("no rows {only:?}; there are {}", groups.join(", ")))
            }
            _ => Ok(options),
        }
    }

    /// Whether a group of rows is to run.
    pub fn wants(&self, group: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == group)
    }
}

fn number(argument: &str, given: Option<String>) -> Result<usize, String> {
    let given = given.unwrap_or_default();
    let number = given.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{argument} is {given:?}; it must be a whole number above 0"))
}
