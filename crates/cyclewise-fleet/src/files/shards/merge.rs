//! The points of all shards in the order of the sweep.
//!
//! A hundred thousand shards are more files than a process may have open, so each is opened for a piece at a time. Shards that are
//! packed cannot be read in pieces: they are unpacked, one after the other, into one file without a name.

use super::Survey;
use crate::error::Error;
use crate::record;
use cyclewise_bench::files::document_file;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of all pieces together.
const BUFFERS: usize = 64 << 20;
/// The least and the most bytes of a piece.
const PIECE: (usize, usize) = (4 << 10, 256 << 10);

/// Calls `write` with the line of each point, without its end, in the order of the sweep. All shards must be there.
///
/// # Errors
/// An inner [`Error`] of exit 1: a file changed since the survey. What `write` returns.
pub(crate) fn merge(survey: &Survey, mut write: impl FnMut(usize, &[u8]) -> io::Result<()>) -> io::Result<()> {
    let piece = (BUFFERS / survey.found.len().max(1)).clamp(PIECE.0, PIECE.1);
    let mut shards: Vec<Option<Lines>> = Vec::new();
    let mut room = Room::default();
    for number in 1..=survey.count {
        let lines = survey
            .found
            .get(&number)
            .map(|path| Lines::after_head(path, piece, &mut room));
        shards.push(lines.transpose()?);
    }
    let mut line = Vec::new();
    for point in 0..survey.sweep.points() {
        let Some(Some(shard)) = shards.get_mut(survey.shards.owner(point) as usize - 1) else {
            return Err(io::Error::other(Error::check(format!(
                "the shard of point {point} is missing"
            ))));
        };
        shard.next(&mut line)?;
        write(point, line.strip_suffix(b",").unwrap_or(&line))?;
    }
    Ok(())
}

/// What tells a file from one that took its name.
type Version = (u64, u64, u64, i64, i64);

/// A file without a name, for what is unpacked.
#[derive(Default)]
struct Room {
    file: Option<Arc<File>>,
    end: u64,
}

impl Room {
    /// Unpacks the file at `path`; where its text is.
    fn unpack(&mut self, path: &Path) -> io::Result<Source> {
        let file = match &self.file {
            Some(file) => file,
            None => {
                // Beside the shard there is room for shards; its folder may be another's.
                let made = tempfile::tempfile_in(document_file::folder(path)).or_else(|_| tempfile::tempfile());
                self.file.insert(Arc::new(made?))
            }
        };
        let file = Arc::clone(file);
        let mut out = &*file;
        out.seek(SeekFrom::Start(self.end))?;
        let start = self.end;
        self.end += io::copy(&mut record::unpacked(BufReader::new(File::open(path)?))?, &mut out)?;
        Ok(Source::Unpacked(file, start, self.end))
    }
}

/// Where the lines of a shard are.
enum Source {
    /// In its file, which was this one when the merge began.
    File(PathBuf, Version),
    /// In the file without a name, from here to there.
    Unpacked(Arc<File>, u64, u64),
}

impl Source {
    /// The bytes from `at`, as many as a piece or as there are.
    fn read(&self, at: u64, piece: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(piece);
        match self {
            Source::File(path, version_then) => {
                let mut file = File::open(path)?;
                if version(&file)? != *version_then {
                    return Ok(bytes);
                }
                file.seek(SeekFrom::Start(at))?;
                file.take(piece as u64).read_to_end(&mut bytes)?;
            }
            Source::Unpacked(file, start, end) => {
                let left = end.saturating_sub(start + at);
                bytes.resize(left.min(piece as u64) as usize, 0);
                file.read_exact_at(&mut bytes, start + at)?;
            }
        }
        Ok(bytes)
    }
}

/// The lines of a file that is not kept open.
struct Lines {
    path: PathBuf,
    source: Source,
    /// Where the next piece begins.
    at: u64,
    piece: usize,
    /// The part of the last piece that was not used.
    rest: Vec<u8>,
    used: usize,
}

/// The lines of a simulation before its points.
const HEAD_LINES: usize = 4;

impl Lines {
    fn after_head(path: &Path, piece: usize, room: &mut Room) -> io::Result<Self> {
        let mut source = || {
            let mut file = File::open(path)?;
            let mut start = [0; 2];
            match file.read(&mut start)? == start.len() && record::is_packed(&start)? {
                true => room.unpack(path),
                false => Ok(Source::File(path.to_owned(), version(&file)?)),
            }
        };
        let mut lines = Self {
            path: path.to_owned(),
            source: source().map_err(|e: io::Error| changed(path, &e.to_string()))?,
            at: 0,
            piece,
            rest: Vec::new(),
            used: 0,
        };
        let mut line = Vec::new();
        for _ in 0..HEAD_LINES {
            lines.next(&mut line)?;
        }
        Ok(lines)
    }

    /// Reads the next line without its end.
    fn next(&mut self, line: &mut Vec<u8>) -> io::Result<()> {
        line.clear();
        loop {
            let unused = &self.rest[self.used..];
            if let Some(end) = unused.iter().position(|b| *b == b'\n') {
                line.extend_from_slice(&unused[..end]);
                self.used += end + 1;
                return Ok(());
            }
            line.extend_from_slice(unused);
            self.read_piece()?;
        }
    }

    fn read_piece(&mut self) -> io::Result<()> {
        let read = self.source.read(self.at, self.piece);
        let piece = read.map_err(|e| changed(&self.path, &e.to_string()))?;
        if piece.is_empty() {
            return Err(changed(&self.path, "another file took its name, or it was cut"));
        }
        self.at += piece.len() as u64;
        self.rest = piece;
        self.used = 0;
        Ok(())
    }
}

fn version(file: &File) -> io::Result<Version> {
    let found = file.metadata()?;
    Ok((found.dev(), found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
}

fn changed(path: &Path, why: &str) -> io::Error {
    let error = Error::check(format!(
        "{} changed while the shards were joined: {why}; join again when no task is running",
        path.display()
    ));
    io::Error::other(error.in_one_line())
}
