//! Records in the file of counts: mapped, zeroed, and there for as long as the process is.
//!
//! Where the file cannot grow, records are private memory: the program goes on, and the header says what was lost.
//!
//! # Safety
//! 1. A part of a mapping is given out once.
//! 2. Fresh parts of a file are zeros, and zeros are a value of every [`Record`].
#![allow(unsafe_code, reason = "hands out parts of mapped files")]

use crate::layout::{
    CallBlock, Control, CountBlock, Header, Mapping, Path, Site, SiteBlock, Text, Thread, Word, WordTable,
};
use crate::sys;
use std::alloc::Layout;
use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};

/// The first part of the file: enough for a small program.
const FIRST: usize = 256 << 10;
/// Each further part.
const CHUNK: usize = 1 << 20;
/// What a process of another user has: a server's worker needs some megabytes.
const ROOM: usize = 16 << 20;

/// A record made of atomic integers only.
///
/// # Safety
/// Zeros are a value of it, its alignment is at most 8, and it is all atomics, so that shared references to it are sound
/// while other processes read the file.
pub unsafe trait Record: Sync + 'static {}

// SAFETY: integers, atomics and arrays of them.
unsafe impl Record for Header {}
// SAFETY: as for Header.
unsafe impl Record for Control {}
// SAFETY: as for Header.
unsafe impl Record for Path {}
// SAFETY: as for Header.
unsafe impl Record for Text {}
// SAFETY: as for Header.
unsafe impl Record for Mapping {}
// SAFETY: as for Header.
unsafe impl Record for Site {}
// SAFETY: as for Header.
unsafe impl Record for Thread {}
// SAFETY: as for Header.
unsafe impl Record for CountBlock {}
// SAFETY: as for Header.
unsafe impl Record for CallBlock {}
// SAFETY: as for Header.
unsafe impl Record for SiteBlock {}
// SAFETY: as for Header.
unsafe impl Record for WordTable {}

/// A record, and where it is in the file; 0 where it is not in the file.
pub struct Placed<T: 'static> {
    /// The record.
    pub record: &'static T,
    /// Its offset.
    pub offset: u64,
}

/// The file of one image.
pub struct Arena {
    /// None for an image that is not counted.
    path: Option<CString>,
    /// Length of the file.
    len: u64,
    /// The part that records are taken from, where it begins in the file, how much of it is taken.
    chunk: *mut u8,
    chunk_offset: u64,
    chunk_len: usize,
    used: usize,
    /// The error for which it could not grow.
    lost: i32,
    /// Each mapping, for [`Arena::release`].
    mappings: Vec<(*mut u8, usize)>,
}

// SAFETY: the pointers are to memory that any thread may use, and the arena is used under a lock.
unsafe impl Send for Arena {}

impl Arena {
    /// An arena without a file.
    pub const fn private() -> Self {
        Self {
            path: None,
            len: 0,
            chunk: std::ptr::null_mut(),
            chunk_offset: 0,
            chunk_len: 0,
            used: 0,
            lost: 0,
            mappings: Vec::new(),
        }
    }

    /// A new file, or why there is none.
    pub fn create(path: CString) -> Result<Self, i32> {
        let chunk = sys::map(&path, true, 0, FIRST)?;
        Ok(Self {
            path: Some(path),
            len: FIRST as u64,
            chunk,
            chunk_offset: 0,
            chunk_len: FIRST,
            used: 0,
            lost: 0,
            mappings: vec![(chunk, FIRST)],
        })
    }

    /// The error number for which records are no longer in the file, or 0.
    pub fn lost(&self) -> i32 {
        self.lost
    }

    /// A zeroed record.
    pub fn record<T: Record>(&mut self) -> Placed<T> {
        let (memory, offset) = self.take(size_of::<T>());
        // SAFETY: zeroed, large enough, aligned to 8, and given out once (Invariants 1, 2).
        let record = unsafe { &*memory.cast::<T>() };
        Placed { record, offset }
    }

    /// A zeroed table of words and what follows it.
    pub fn words(&mut self, capacity: u32) -> (Placed<WordTable>, &'static [Word]) {
        let (memory, offset) = self.take(size_of::<WordTable>() + capacity as usize * size_of::<Word>());
        // SAFETY: zeroed, large enough, aligned to 8, and given out once (Invariants 1, 2).
        let record = unsafe { &*memory.cast::<WordTable>() };
        // SAFETY: the words follow the table, within what was taken.
        let first = unsafe { memory.add(size_of::<WordTable>()) };
        // SAFETY: as many zeroed words as were taken; Word is integers only (Invariants 1, 2).
        let words = unsafe { std::slice::from_raw_parts(first.cast::<Word>(), capacity as usize) };
        (Placed { record, offset }, words)
    }

    fn take(&mut self, size: usize) -> (*mut u8, u64) {
        let size = size.next_multiple_of(8);
        if self.path.is_some() && self.lost == 0 && self.chunk_len - self.used < size {
            self.grow(size);
        }
        if self.path.is_none() || self.lost != 0 {
            let layout = Layout::from_size_align(size, 8).unwrap_or(Layout::new::<u64>());
            // SAFETY: the size is not zero: records have fields.
            let memory = unsafe { std::alloc::alloc_zeroed(layout) };
            if memory.is_null() {
                std::alloc::handle_alloc_error(layout);
            }
            return (memory, 0);
        }
        // SAFETY: there is room for `size` bytes behind it.
        let memory = unsafe { self.chunk.add(self.used) };
        let offset = self.chunk_offset + self.used as u64;
        self.used += size;
        (memory, offset)
    }

    fn grow(&mut self, size: usize) {
        let Some(path) = &self.path else { return };
        let len = size.next_multiple_of(CHUNK);
        match sys::map(path, false, self.len, len) {
            Ok(chunk) => {
                self.mappings.push((chunk, len));
                self.chunk = chunk;
                self.chunk_offset = self.len;
                self.chunk_len = len;
                self.used = 0;
                self.len += len as u64;
            }
            Err(error) => self.lost = error,
        }
    }

    /// Takes room for what is to come: the process may become a user who may not open the file.
    pub fn keep_room(&mut self) {
        if self.path.is_some() && self.lost == 0 && self.chunk_len - self.used < ROOM {
            self.grow(ROOM);
        }
    }

    /// Unmaps the file.
    ///
    /// # Safety
    /// Nothing that was taken from the arena is used from now on.
    pub unsafe fn release(self) {
        for (mapping, len) in self.mappings {
            // SAFETY: the mapping is the arena's, and the caller promises that nobody uses it.
            unsafe { sys::unmap(mapping, len) };
        }
    }
}

/// Maps a record at the start of a file that is there.
pub fn map_record<T: Record>(path: &CString) -> Result<&'static T, i32> {
    let mapping = sys::map_existing(path, size_of::<T>())?;
    // SAFETY: mapped shared and long enough, never unmapped; all patterns of bits are values of atomics.
    Ok(unsafe { &*mapping.cast::<T>() })
}

/// Puts a record that is complete at the head of a list. The caller holds the lock under which the list changes.
///
/// A record outside the file stays out of the lists.
pub fn link(list: &AtomicU64, next: &AtomicU64, offset: u64) {
    if offset != 0 {
        next.store(list.load(Ordering::Relaxed), Ordering::Relaxed);
        // Release: pairs with whoever maps the file and follows the list.
        list.store(offset, Ordering::Release);
    }
}

/// Adds to a count that this thread alone writes.
#[inline]
pub fn bump(count: &AtomicU64, by: u64) {
    count.store(count.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}
