//! The points of all shards in the order of the sweep.
//!
//! A hundred thousand shards are more files than a process may have open, so each is opened for a piece at a time.

use super::Survey;
use crate::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

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
    for number in 1..=survey.count {
        let lines = survey.found.get(&number).map(|path| Lines::after_head(path, piece));
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

/// The lines of a file that is not kept open.
struct Lines {
    path: PathBuf,
    version: Version,
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
    fn after_head(path: &Path, piece: usize) -> io::Result<Self> {
        let file = File::open(path).map_err(|e| changed(path, &e.to_string()))?;
        let mut lines = Self {
            path: path.to_owned(),
            version: version(&file).map_err(|e| changed(path, &e.to_string()))?,
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
        let read = || {
            let mut file = File::open(&self.path)?;
            let version = version(&file)?;
            file.seek(SeekFrom::Start(self.at))?;
            let mut piece = Vec::with_capacity(self.piece);
            file.take(self.piece as u64).read_to_end(&mut piece)?;
            Ok((version, piece))
        };
        let (version, piece) = read().map_err(|e: io::Error| changed(&self.path, &e.to_string()))?;
        if version != self.version || piece.is_empty() {
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
