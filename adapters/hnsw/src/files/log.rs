//! The log of a generation: every write since its snapshot, one frame each.
//!
//! A write's frame is written, synced, and then sealed by a small frame of its own. A kill or a power
//! cut leaves at most the last write's frame broken and without a seal, and then its call never
//! returned: it is dropped. A broken write with a seal or anything else behind it was whole once, and
//! the log is refused.
//!
//! A seal is synced with the write behind it. A power cut during that one may lose the seal and leave
//! the write whole. A seal has no content, so one that is broken before a whole write is written again.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use super::codec::{Decoder, Encode};
use super::file_identity::FileIdentity;
use super::frame::{FrameKind, FrameReader, Next, encode_frame};
use super::generation::Generation;
use super::layout::{encode_file_header, read_file_header, sync_dir};
use crate::error::{FileError, FileResult, lacking, to};

const LACKING: &str = lacking!("the log of the collection's writes may not be written");
const WHAT: &str = "log";

pub(crate) struct Log {
    file: File,
    identity: FileIdentity,
    /// Where the next frame goes.
    end: u64,
    next_number: u64,
    salt: u32,
    /// Whether each write waits for the disk.
    sync: bool,
    /// Set when the file may hold part of a write and cannot be cut back.
    broken: bool,
}

impl Log {
    /// Makes an empty log, on the disk when this returns.
    pub(crate) fn create(path: &Path, generation: Generation, sync: bool) -> FileResult<Self> {
        let [a, b, c, d, ..] = RandomState::new().hash_one(generation.number).to_le_bytes();
        let salt = u32::from_le_bytes([a, b, c, d]);
        let mut head = encode_file_header(WHAT);
        generation.put(&mut head);
        head.put_u32(salt);
        let bytes = encode_frame(FrameKind::Head, 0, 0, &head).ok_or(FileError::Broken)?;
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)
            .map_err(to(LACKING))?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        Ok(Self {
            identity: FileIdentity::of(&file, path)?,
            file,
            end: bytes.len() as u64,
            next_number: 1,
            salt,
            sync,
            broken: false,
        })
    }

    /// Opens a log, replays each write, and continues after the last whole one.
    pub(crate) fn open(
        path: &Path,
        generation: Generation,
        sync: bool,
        mut replay: impl FnMut(&[u8]) -> FileResult<()>,
    ) -> FileResult<Self> {
        const NO_HEAD: &str = "the log does not begin as one";
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let file = opened.map_err(to(LACKING))?;
        let mut frames = FrameReader::of(file.try_clone()?)?;
        let head = frames.expect(FrameKind::Head, NO_HEAD)?;
        let mut from = Decoder::new(&head.payload);
        read_file_header(&mut from, WHAT)?;
        if Generation::take(&mut from)? != generation {
            return Err(FileError::Corrupt(
                "the log is of another collection or generation",
            ));
        }
        frames.salt = from.u32()?;
        let mut next_number = 1;
        let mut seal_is_due = false;
        let mut lost_seals = Vec::new();
        let torn = loop {
            let frame = match frames.next()? {
                Next::Frame(frame) => frame,
                Next::Nothing => break false,
                Next::Broken if seal_is_due => {
                    let lost = (frames.position(), next_number);
                    let Some(behind) = frames.behind_broken(FrameKind::Write)? else {
                        break true;
                    };
                    lost_seals.push(lost);
                    behind
                }
                Next::Broken => break true,
            };
            match frame.kind {
                FrameKind::Write => replay(&frame.payload)?,
                FrameKind::Seal => {}
                _ => return Err(FileError::Corrupt("the log holds a foreign frame")),
            }
            seal_is_due = frame.kind == FrameKind::Write;
            next_number = frame.number + 1;
        };
        let (end, salt) = (frames.position(), frames.salt);
        if torn {
            if frames.any_behind()? {
                return Err(FileError::Corrupt(
                    "a write in the middle of the log is damaged",
                ));
            }
            file.set_len(end)?;
            file.sync_all()?;
        }
        let mut log = Self {
            identity: FileIdentity::of(&file, path)?,
            file,
            end,
            next_number,
            salt,
            sync,
            broken: false,
        };
        for (at, number) in &lost_seals {
            let seal =
                encode_frame(FrameKind::Seal, *number, salt, &[]).ok_or(FileError::Broken)?;
            log.file.seek(SeekFrom::Start(*at))?;
            log.file.write_all(&seal)?;
        }
        if !lost_seals.is_empty() {
            log.sync()?;
        }
        log.file.seek(SeekFrom::Start(end))?;
        Ok(log)
    }

    /// How many bytes it has.
    pub(crate) fn length(&self) -> u64 {
        self.end
    }

    /// Whether there is a write in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.next_number == 1
    }

    /// Whether a payload is short enough to be one write.
    pub(crate) fn has_room_for(payload: &[u8]) -> bool {
        u32::try_from(payload.len()).is_ok()
    }

    /// Writes one write. When this returns, it outlives the process, and the machine where writes
    /// wait for the disk. When it fails, nothing of it will be read.
    pub(crate) fn append(&mut self, payload: &[u8]) -> FileResult<()> {
        if self.broken {
            return Err(FileError::Broken);
        }
        self.check_in_place()?;
        self.write(FrameKind::Write, payload, self.sync)?;
        // Where the seal cannot be written, the write is in force all the same.
        let _unsealed = self.write(FrameKind::Seal, &[], false);
        Ok(())
    }

    /// Writes several, and waits for the disk once.
    pub(crate) fn append_all(&mut self, payloads: &[Vec<u8>]) -> FileResult<()> {
        let sync = std::mem::replace(&mut self.sync, false);
        let written = payloads.iter().try_for_each(|payload| self.append(payload));
        self.sync = sync;
        written.and_then(|()| self.sync())
    }

    /// Refuses a file that is not the one under its path any more.
    pub(crate) fn check_in_place(&self) -> FileResult<()> {
        self.identity.check()
    }

    fn write(&mut self, kind: FrameKind, payload: &[u8], sync: bool) -> FileResult<()> {
        let bytes = encode_frame(kind, self.next_number, self.salt, payload)
            .ok_or(FileError::Io(std::io::ErrorKind::FileTooLarge))?;
        let mut written = self.file.write_all(&bytes);
        if written.is_ok() && sync {
            written = self.file.sync_data();
            // What is on the disk after a failed sync is not known, and a second one would not say.
            self.broken = written.is_err();
        }
        if let Err(error) = written {
            let cut = self
                .file
                .set_len(self.end)
                .and_then(|()| self.file.seek(SeekFrom::Start(self.end)));
            self.broken |= cut.is_err();
            return Err(error.into());
        }
        self.end += bytes.len() as u64;
        self.next_number += 1;
        Ok(())
    }

    /// Refuses writes from here on.
    pub(crate) fn refuse_writes(&mut self) {
        self.broken = true;
    }

    /// Waits until all of it is on the disk.
    pub(crate) fn sync(&self) -> FileResult<()> {
        Ok(self.file.sync_all()?)
    }
}

/// Makes the log of a generation, and waits for its name too.
pub(crate) fn create_beside(path: &Path, generation: Generation, sync: bool) -> FileResult<Log> {
    let log = Log::create(path, generation, sync)?;
    if let Some(folder) = path.parent() {
        sync_dir(folder)?;
    }
    Ok(log)
}
