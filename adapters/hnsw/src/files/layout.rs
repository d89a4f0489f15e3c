//! Which files there are, and what each begins with.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use shelfward_core::CollectionName;

use super::bytes::{Put, Take};
use super::generation::Generation;
use crate::error::{FileError, FileResult};

/// The version of the format that this code writes, and the latest that it reads.
pub(crate) const VERSION: u32 = 1;

/// The files of one collection.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    folder: PathBuf,
    name: CollectionName,
}

const SNAPSHOT: &str = "snapshot";

impl Layout {
    pub(crate) fn new(folder: &Path, name: &CollectionName) -> Self {
        Self {
            folder: folder.to_owned(),
            name: name.clone(),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn name(&self) -> &CollectionName {
        &self.name
    }

    fn file(&self, rest: &str) -> PathBuf {
        self.folder.join(format!("{}.{rest}", self.name))
    }

    /// What makes the collection be there.
    pub(crate) fn snapshot(&self) -> PathBuf {
        self.file(SNAPSHOT)
    }

    pub(crate) fn snapshot_in_writing(&self) -> PathBuf {
        self.file("snapshot-in-writing")
    }

    pub(crate) fn log(&self, generation: Generation) -> PathBuf {
        self.file(&format!("{}.log", generation.number))
    }

    /// The nodes of the saved graph, and the checksums of its files.
    pub(crate) fn graph(&self, generation: Generation) -> PathBuf {
        self.file(&format!("{}.graph", generation.number))
    }

    /// What the names of the files that the graph itself is saved in begin with.
    pub(crate) fn graph_base(&self, generation: Generation) -> String {
        format!("{}.{}", self.name, generation.number)
    }

    /// The files that the graph itself is saved in: its links, and its vectors.
    pub(crate) fn graph_parts(&self, generation: Generation) -> [PathBuf; 2] {
        let base = self.graph_base(generation);
        ["graph", "data"].map(|part| self.folder.join(format!("{base}.hnsw.{part}")))
    }

    /// Removes what makes the collection be there; answers whether it was. When this fails, it is as
    /// there as before.
    pub(crate) fn remove_snapshot(&self) -> FileResult<bool> {
        match fs::remove_file(self.snapshot()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes all files of the collection but those of a generation. Without one, the snapshot goes
    /// first, on the disk too, since without it the others mean nothing.
    pub(crate) fn remove_all_but(&self, generation: Option<Generation>) -> FileResult<()> {
        let mut kept: Vec<PathBuf> = Vec::new();
        if let Some(generation) = generation {
            kept.extend([
                self.snapshot(),
                self.log(generation),
                self.graph(generation),
            ]);
            kept.extend(self.graph_parts(generation));
        } else {
            self.remove_snapshot()?;
            sync_folder(&self.folder)?;
        }
        let begins = format!("{}.", self.name);
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| name.starts_with(&begins) && is_ours(name))
                && !kept.contains(&path)
            {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

/// The collections of a folder, sorted.
pub(crate) fn collections(folder: &Path) -> FileResult<Vec<CollectionName>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if let Some((name, SNAPSHOT)) = name.to_str().and_then(|name| name.split_once('.')) {
            names.extend(CollectionName::new(name));
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Whether a file's name is one that this module gives to a collection's files.
pub(crate) fn is_ours(name: &str) -> bool {
    let Some((collection, rest)) = name.split_once('.') else {
        return false;
    };
    let of_generation = |rest: &str| {
        rest.split_once('.').is_some_and(|(generation, kind)| {
            generation.parse::<u64>().is_ok()
                && matches!(kind, "log" | "graph" | "hnsw.graph" | "hnsw.data")
        })
    };
    CollectionName::new(collection).is_ok()
        && (matches!(rest, SNAPSHOT | "snapshot-in-writing") || of_generation(rest))
}

/// Waits until the names of a folder's files are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> FileResult<()> {
    // A folder cannot be opened as a file on every system; where it can, it is synced.
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// What the first frame of a file begins with: what kind of file it is, and of which version.
pub(crate) fn head_of(what: &str) -> Vec<u8> {
    let mut head = Vec::new();
    head.put_bytes(b"shelfward-hnsw");
    head.put_bytes(what.as_bytes());
    head.put_u32(VERSION);
    head
}

/// Reads what [`head_of`] wrote, and refuses other kinds and later versions.
pub(crate) fn take_head(from: &mut Take<'_>, what: &str) -> FileResult<()> {
    if from.bytes()? != b"shelfward-hnsw" || from.bytes()? != what.as_bytes() {
        return Err(FileError::Corrupt(
            "a file is of another kind than its name says",
        ));
    }
    match from.u32()? {
        VERSION => Ok(()),
        later if later > VERSION => Err(FileError::Newer),
        _ => Err(FileError::Corrupt("a file's version never was")),
    }
}
