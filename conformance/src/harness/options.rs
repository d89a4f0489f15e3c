use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use libtest_mimic::{Arguments, FormatSetting};

use super::note;
use crate::report::{Change, Comparison, Files, Outcome};
use crate::suite::Selection;
use crate::verdict::chain;

/// Runs the conformance suite on this store.
#[derive(Parser)]
pub(super) struct Options {
    /// Only this group of cases; may be repeated.
    #[arg(long = "group", value_name = "G")]
    groups: Vec<String>,
    /// Only cases whose id begins so, for example `eq/text`.
    #[arg(long, value_name = "C")]
    case: Option<String>,
    /// The seed of the random cases.
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    #[command(flatten)]
    pub(super) files: Files,
    /// Compares two JSON reports, the earlier one first, and runs nothing.
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    compare: Vec<PathBuf>,
    /// Removes everything named `sfwt_…` that crashed runs left on the store, and prints what it was.
    #[arg(long)]
    pub(super) sweep: bool,
    /// For a program that runs this one: a line of JSON on stderr for each case that ends, and the end of
    /// standard input ends the run.
    #[arg(long, hide = true)]
    watched: bool,
    #[command(flatten)]
    pub(super) test: Arguments,
}

/// The options of the command line, and those that the environment gives in their place. Or how the
/// program ends: it was called wrongly, or for help or a comparison.
pub(super) fn options() -> Result<Options, ExitCode> {
    let mut options = Options::try_parse().map_err(|problem| {
        let _ = problem.print();
        ExitCode::from(u8::try_from(problem.exit_code()).unwrap_or(2))
    })?;
    if let [before, after] = &*options.compare {
        return Err(compared(before, after));
    }
    if options.groups.is_empty() {
        let groups = var("GROUPS").unwrap_or_default();
        let groups = groups.split(',').filter(|group| !group.is_empty());
        options.groups = groups.map(str::to_owned).collect();
    }
    options.case = options.case.or_else(|| var("CASE"));
    options.files.json = options.files.json.or_else(|| var("REPORT").map(Into::into));
    if let (None, Some(seed)) = (options.seed, var("SEED")) {
        options.seed = Some(seed.parse().map_err(|_| {
            note(&format!("the seed {seed:?} is not a whole number"));
            ExitCode::from(2)
        })?);
    }
    if options.files.prints_json() {
        note("the tests are listed on standard output; name a file for --json");
        return Err(ExitCode::from(2));
    }
    Ok(options)
}

/// Prints what two reports differ in. Ends with 1 where there are new failures.
fn compared(before: &Path, after: &Path) -> ExitCode {
    match Comparison::of_files(before, after) {
        Ok(comparison) => {
            let _ = super::printed(&[comparison.to_string()]);
            match comparison.of(Change::NewFailure) {
                [] => ExitCode::SUCCESS,
                _ => ExitCode::FAILURE,
            }
        }
        Err(problem) => {
            note(&chain(&problem));
            ExitCode::from(2)
        }
    }
}

impl Options {
    /// The selected cases.
    pub(super) fn selection(&self) -> Selection {
        let mut selection = Selection::default().groups(self.groups.iter().cloned());
        selection.case.clone_from(&self.case);
        selection
    }

    /// Whether ids and rules are to be printed. Other programs ask for the terse form, which is the one of
    /// every Rust test.
    pub(super) fn lists(&self) -> bool {
        self.test.list && self.test.format != Some(FormatSetting::Terse) && !self.test.ignored
    }

    /// Whether another program runs this one and shows its progress.
    pub(super) fn is_watched(&self) -> bool {
        self.watched
    }

    /// Writes the report wherever one is asked for. Whether nothing went wrong.
    pub(super) fn write(&self, outcomes: &[Outcome]) -> bool {
        let store = outcomes.first().map_or("store", Outcome::store);
        let folder = var("REPORTS").map(PathBuf::from);
        let in_folder = folder.map(|folder| {
            let json = Some(folder.join(format!("{store}.json")));
            Files {
                json,
                ..Files::default()
            }
        });
        let mut well = true;
        for files in [Some(self.files.clone()), in_folder].into_iter().flatten() {
            if let Err(problem) = files.write(outcomes) {
                note(&format!("the report: {}", chain(&problem)));
                well = false;
            }
        }
        well
    }
}

fn var(name: &str) -> Option<String> {
    std::env::var(format!("SHELFWARD_CONFORMANCE_{name}"))
        .ok()
        .filter(|value| !value.is_empty())
}
