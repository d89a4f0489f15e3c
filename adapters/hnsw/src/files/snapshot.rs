//! A snapshot: a collection's spec and all its records, as they were when the generation began.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use shelfward_core::CollectionSpec;

use super::codec::{Decoder, Encode};
use super::frame::{FrameKind, FrameReader, Next, encode_frame};
use super::generation::Generation;
use super::layout::{encode_file_header, read_file_header};
use super::log_entry::{LogRecord, decode_log_record, spec_from_bytes, spec_to_bytes};
use crate::error::{FileError, FileResult, lacking, to};
use crate::record_mapping::{RecordRef, encode_record};

const WHAT: &str = "snapshot";
/// A frame is written when it has so many bytes.
const FULL: usize = 1 << 20;

/// Writes a snapshot to a file beside the one in force.
pub(crate) struct SnapshotWriter {
    file: File,
    number: u64,
    /// The records of the next frame.
    part: Vec<u8>,
    records: u64,
    length: u64,
}

impl SnapshotWriter {
    pub(crate) fn create(
        path: &Path,
        generation: Generation,
        spec: &CollectionSpec,
    ) -> FileResult<Self> {
        let mut writer = Self {
            file: File::create(path)
                .map_err(to(lacking!("the collection's snapshot may not be written")))?,
            number: 0,
            part: Vec::new(),
            records: 0,
            length: 0,
        };
        let mut head = encode_file_header(WHAT);
        generation.put(&mut head);
        head.put_bytes(&spec_to_bytes(spec)?);
        writer.write(FrameKind::Head, &head)?;
        Ok(writer)
    }

    fn write(&mut self, kind: FrameKind, payload: &[u8]) -> FileResult<()> {
        let bytes = encode_frame(kind, self.number, 0, payload)
            .ok_or(FileError::Io(std::io::ErrorKind::FileTooLarge))?;
        self.file.write_all(&bytes)?;
        self.number += 1;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Adds a record; little is written by this, so it may be called under a lock.
    pub(crate) fn push(&mut self, record: &RecordRef<'_>) {
        encode_record(&mut self.part, record);
        self.records += 1;
    }

    /// Writes what was added, where that is enough for a frame.
    pub(crate) fn flush_full(&mut self) -> FileResult<()> {
        if self.part.len() >= FULL {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> FileResult<()> {
        let part = std::mem::take(&mut self.part);
        if !part.is_empty() {
            self.write(FrameKind::Part, &part)?;
        }
        Ok(())
    }

    /// Ends the file and waits for the disk; answers its length.
    pub(crate) fn finish(mut self) -> FileResult<u64> {
        self.flush()?;
        let mut end = Vec::new();
        end.put_u64(self.records);
        self.write(FrameKind::End, &end)?;
        self.file.sync_all()?;
        Ok(self.length)
    }
}

/// A snapshot while it is read.
pub(crate) struct Snapshot {
    frames: FrameReader,
    pub(crate) generation: Generation,
    pub(crate) spec: CollectionSpec,
}

const DAMAGED: FileError = FileError::Corrupt("the snapshot is damaged or cut short");

impl Snapshot {
    pub(crate) fn open(path: &Path) -> FileResult<Self> {
        let opened = File::open(path);
        let opened = opened.map_err(to(lacking!("the collection's snapshot may not be read")))?;
        let mut frames = FrameReader::of(opened)?;
        let head = frames.expect(FrameKind::Head, "the snapshot does not begin as one")?;
        let mut from = Decoder::new(&head.payload);
        read_file_header(&mut from, WHAT)?;
        Ok(Self {
            frames,
            generation: Generation::take(&mut from)?,
            spec: spec_from_bytes(from.bytes()?)?,
        })
    }

    /// Hands over each record, and answers the length of the file.
    pub(crate) fn read(
        mut self,
        mut each: impl FnMut(LogRecord) -> FileResult<()>,
    ) -> FileResult<u64> {
        let rule = self.spec.word_rule;
        let mut records = 0;
        loop {
            let Next::Frame(frame) = self.frames.next()? else {
                return Err(DAMAGED);
            };
            let mut from = Decoder::new(&frame.payload);
            match frame.kind {
                FrameKind::Part => {
                    while !from.is_empty() {
                        each(decode_log_record(&mut from, rule)?)?;
                        records += 1;
                    }
                }
                FrameKind::End if from.u64()? == records => break,
                _ => return Err(DAMAGED),
            }
        }
        match self.frames.next()? {
            Next::Nothing => Ok(self.frames.position()),
            _ => Err(DAMAGED),
        }
    }
}
