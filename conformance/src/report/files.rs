use std::path::{Path, PathBuf};

use super::{Outcome, html, junit};

/// Where the reports are written to, as options of a command line.
#[derive(Clone, Debug, Default, clap::Args)]
#[non_exhaustive]
pub struct Files {
    /// Writes the reports to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Writes a page for a browser to this file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Writes JUnit XML to this file.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilesError {
    /// A file that cannot be one.
    #[error("{} cannot be a file to write; its folder has to be there", .0.display())]
    NoFile(PathBuf),
    /// A page or JUnit XML for standard output.
    #[error("{0} writes a file; name one instead of -")]
    Dash(&'static str),
    /// It could not be written.
    #[error("{} could not be written", .0.display())]
    Write(PathBuf, #[source] std::io::Error),
}

impl Files {
    /// Whether JSON goes to standard output.
    pub fn prints_json(&self) -> bool {
        self.json.as_deref().is_some_and(is_dash)
    }

    /// Refuses files that could not be written when the run has ended.
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn check(&self) -> Result<(), FilesError> {
        for (option, file) in [("--html", &self.html), ("--junit", &self.junit)] {
            if file.as_deref().is_some_and(is_dash) {
                return Err(FilesError::Dash(option));
            }
        }
        for file in [&self.json, &self.html, &self.junit].into_iter().flatten() {
            let folder = file.parent();
            let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
            if !is_dash(file) && (file.is_dir() || folder.is_some_and(|folder| !folder.is_dir())) {
                return Err(FilesError::NoFile(file.clone()));
            }
        }
        Ok(())
    }

    /// Writes what was asked for. JSON is a list of [`Outcome`].
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn write(&self, outcomes: &[Outcome]) -> Result<(), FilesError> {
        if let Some(file) = &self.json {
            let failed = |error| FilesError::Write(file.clone(), error);
            let json = serde_json::to_string_pretty(outcomes).map_err(|e| failed(e.into()))?;
            if is_dash(file) {
                use std::io::Write as _;
                writeln!(std::io::stdout(), "{json}").map_err(failed)?;
            } else {
                std::fs::write(file, json).map_err(failed)?;
            }
        }
        if let Some(file) = &self.html {
            write(file, html(outcomes))?;
        }
        if let Some(file) = &self.junit {
            write(file, junit(outcomes))?;
        }
        Ok(())
    }
}

fn is_dash(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn write(file: &Path, text: String) -> Result<(), FilesError> {
    std::fs::write(file, text).map_err(|e| FilesError::Write(file.to_owned(), e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_could_not_be_written_are_refused_before_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Some(folder.path().join(name));
        let files = |json, html| Files {
            json,
            html,
            junit: None,
        };
        for well in [
            files(at("a.json"), None),
            files(Some("-".into()), at("a.html")),
        ] {
            well.check().unwrap();
        }
        for badly in [
            files(at("no/such/a.json"), None),
            files(None, Some("-".into())),
            files(None, at("")),
        ] {
            badly.check().unwrap_err();
        }
    }
}
