//! Reading parts of a file, at most so many bytes of it.
//!
//! No file is mapped: another program may truncate it meanwhile, and a mapping would then end this one by a signal. A
//! header that claims gigabytes is refused before memory is asked for.

use object::read::{ReadCache, ReadRef};
use std::cell::Cell;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// A file that is read in parts, with a limit on their sum.
pub(super) struct Reader {
    cache: ReadCache<File>,
    left: Cell<u64>,
}

/// Why a file cannot be read, in a few words.
pub(super) type Reason = String;

impl Reader {
    /// Opens a regular file; at most `limit` bytes of it will be held.
    pub(super) fn open(path: &Path, limit: u64) -> Result<Self, Reason> {
        // Opening a FIFO would wait for a writer.
        let metadata = std::fs::metadata(path).map_err(|e| e.to_string())?;
        if !metadata.is_file() {
            return Err("not a regular file".to_owned());
        }
        let file = File::open(path).map_err(|e| e.to_string())?;
        Ok(Self {
            cache: ReadCache::new(file),
            left: Cell::new(limit),
        })
    }

    /// The file, as the parser of ELF takes it.
    pub(super) fn data(&self) -> Bounded<'_> {
        Bounded(self)
    }

    /// Whether another part of this size may be held; counts it.
    pub(super) fn take(&self, size: u64) -> bool {
        let enough = self.left.get() >= size;
        if enough {
            self.left.set(self.left.get() - size);
        }
        enough
    }
}

/// A reference to a [`Reader`].
#[derive(Clone, Copy)]
pub(super) struct Bounded<'a>(&'a Reader);

impl<'a> ReadRef<'a> for Bounded<'a> {
    fn len(self) -> Result<u64, ()> {
        (&self.0.cache).len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        let end = offset.checked_add(size).ok_or(())?;
        if end > self.len()? || !self.0.take(size) {
            return Err(());
        }
        (&self.0.cache).read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        // Strings of at most 4 KiB, as the cache limits them.
        if !self.0.take(64) {
            return Err(());
        }
        (&self.0.cache).read_bytes_at_until(range, delimiter)
    }
}
