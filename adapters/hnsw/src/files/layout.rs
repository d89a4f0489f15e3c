//! Which files there are, and what each begins with.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use shelfward_core::CollectionName;

use super::codec::{Decoder, Encode};
use super::generation::Generation;
use crate::error::{FileError, FileResult, lacking, to};

/// The version of the format that this code writes, and the latest that it reads.
pub(crate) const VERSION: u32 = 1;

/// The files of one collection.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    folder: PathBuf,
    name: CollectionName,
}

const SNAPSHOT: &str = "snapshot";
const TOMBSTONE: &str = "tombstone";

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

    /// The snapshot in force: a collection exists while it has one.
    pub(crate) fn snapshot(&self) -> PathBuf {
        self.file(SNAPSHOT)
    }

    /// A snapshot that is not in force: that of a collection which is being created or dropped. Where
    /// this is and no snapshot, the other files are leftovers of that.
    pub(crate) fn tombstone(&self) -> PathBuf {
        self.file(TOMBSTONE)
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

    /// Turns the snapshot into a tombstone; answers whether there was one. When this fails, the
    /// collection exists as before.
    pub(crate) fn bury(&self) -> FileResult<bool> {
        let buried = match fs::symlink_metadata(self.snapshot()) {
            Ok(snapshot) if !snapshot.is_file() => return Err(NO_FILE),
            Ok(_) => fs::rename(self.snapshot(), self.tombstone()),
            Err(error) => Err(error),
        };
        match buried {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Refuses a log whose snapshot is missing, where neither a drop nor a creation that was killed left
    /// it: its writes are not to be thrown away in silence.
    pub(crate) fn check_no_lost_snapshot(&self) -> FileResult<()> {
        let files = files_of(&self.folder)?;
        match files.get(&self.name) {
            Some(files) if files.lost_snapshot() => Err(FileError::Corrupt(
                "the collection's snapshot is missing, and a log of its writes is there; bring the \
                 snapshot back, or drop the collection",
            )),
            _ => Ok(()),
        }
    }

    /// Deletes the collection, and what a drop that failed left of it; answers whether it existed.
    pub(crate) fn remove(&self) -> FileResult<bool> {
        let existed = self.bury()? || self.check_no_lost_snapshot().is_err();
        self.remove_leftovers()?;
        Ok(existed)
    }

    /// Removes the files of a collection without a snapshot. The tombstone goes last: until then it says
    /// that the others are leftovers.
    pub(crate) fn remove_leftovers(&self) -> FileResult<()> {
        let tombstone = self.tombstone();
        sync_dir(&self.folder)?;
        self.remove_but(std::slice::from_ref(&tombstone))?;
        match fs::symlink_metadata(&tombstone) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            _ => {
                sync_dir(&self.folder)?;
                Ok(fs::remove_file(tombstone)?)
            }
        }
    }

    /// Removes the files that do not belong to the generation in force.
    pub(crate) fn remove_all_but(&self, generation: Generation) -> FileResult<()> {
        let [links, points] = self.graph_parts(generation);
        let (log, graph) = (self.log(generation), self.graph(generation));
        self.remove_but(&[self.snapshot(), log, graph, links, points])
    }

    fn remove_but(&self, kept: &[PathBuf]) -> FileResult<()> {
        let begins = format!("{}.", self.name);
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| name.starts_with(&begins) && is_ours(name))
                && !kept.contains(&path)
            {
                fs::remove_file(path)
                    .map_err(to(lacking!("a file of the collection may not be removed")))?;
            }
        }
        Ok(())
    }
}

const NO_FILE: FileError = FileError::Io(io::ErrorKind::IsADirectory);

/// Which files of a collection there are.
#[derive(Default)]
struct Files {
    snapshot: bool,
    tombstone: bool,
    log: bool,
}

impl Files {
    fn lost_snapshot(&self) -> bool {
        self.log && !self.snapshot && !self.tombstone
    }
}

fn files_of(folder: &Path) -> FileResult<BTreeMap<CollectionName, Files>> {
    let mut all: BTreeMap<CollectionName, Files> = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(to(lacking!("the folder may not be listed")))? {
        let name = entry?.file_name();
        let Some((name, rest)) = name
            .to_str()
            .filter(|name| is_ours(name))
            .and_then(|name| name.split_once('.'))
        else {
            continue;
        };
        if let Ok(name) = CollectionName::new(name) {
            let files = all.entry(name).or_default();
            files.snapshot |= rest == SNAPSHOT;
            files.tombstone |= rest == TOMBSTONE;
            files.log |= rest.ends_with(".log");
        }
    }
    Ok(all)
}

/// The collections of a folder, sorted. One whose snapshot is lost is among them: it can be dropped.
pub(crate) fn collection_names(folder: &Path) -> FileResult<Vec<CollectionName>> {
    let of_name = files_of(folder)?.into_iter();
    let there = of_name.filter(|(_, files)| files.snapshot || files.lost_snapshot());
    Ok(there.map(|(name, _)| name).collect())
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
        && (matches!(rest, SNAPSHOT | TOMBSTONE | "snapshot-in-writing") || of_generation(rest))
}

#[cfg(test)]
thread_local! {
    /// The folders that this thread synced.
    pub(crate) static SYNCED: std::cell::RefCell<Vec<PathBuf>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Waits until the names of a folder's files are on the disk.
pub(crate) fn sync_dir(folder: &Path) -> FileResult<()> {
    #[cfg(test)]
    SYNCED.with_borrow_mut(|synced| synced.push(folder.to_owned()));
    // A folder cannot be opened as a file on every system; where it can, it is synced.
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Makes a folder and those above it that are missing. When this returns, their names are on the disk.
pub(crate) fn create_dir_synced(path: &Path) -> FileResult<()> {
    let above = match path.parent() {
        Some(above) if above.as_os_str().is_empty() => Path::new("."),
        Some(above) => above,
        None => return Ok(()),
    };
    let mut made = fs::create_dir(path);
    if made
        .as_ref()
        .is_err_and(|e| e.kind() == io::ErrorKind::NotFound)
    {
        create_dir_synced(above)?;
        made = fs::create_dir(path);
    }
    match made {
        Err(_) if path.is_dir() => return Ok(()),
        made => made.map_err(to("the store's folder may not be created; give this user the right to write in the folder above it"))?,
    }
    if let Err(error) = sync_dir(above) {
        // Or the next attempt would find it, and go on as if its name were on the disk.
        let _left = fs::remove_dir(path);
        return Err(error);
    }
    Ok(())
}

/// What the first frame of a file begins with: what kind of file it is, and of which version.
pub(crate) fn encode_file_header(what: &str) -> Vec<u8> {
    let mut head = Vec::new();
    head.put_bytes(b"shelfward-hnsw");
    head.put_bytes(what.as_bytes());
    head.put_u32(VERSION);
    head
}

/// Reads what [`head_of`] wrote, and refuses other kinds and later versions.
pub(crate) fn read_file_header(from: &mut Decoder<'_>, what: &str) -> FileResult<()> {
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
