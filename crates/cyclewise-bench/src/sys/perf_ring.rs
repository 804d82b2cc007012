//! The ring into which the kernel writes records of events: reading what is new.
//!
//! # Invariants
//! 1. The mapping is one page of `perf_event_mmap_page` and a power of two of data pages behind it; nobody else reads it.
//! 2. The kernel writes no byte between `data_tail` and `data_head`, and only we store `data_tail`.
//!
//! # Memory ordering
//! `data_head` is loaded with Acquire: pairs with the kernel's barrier before it stores the head, so the records are there.
//! `data_tail` is stored with Release: pairs with the kernel's control dependency on it, so our copy is made before it overwrites.
//!
//! # References
//! perf_event_open(2), "MMAP layout"; kernel/events/ring_buffer.c, `perf_output_put_handle`.
//!
//! # Safety
//! Invariants 1 and 2.
#![expect(unsafe_code, reason = "words and bytes in a mapping that the kernel writes")]

use super::mmap::Mapping;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Offsets in `perf_event_mmap_page` of `data_head` and `data_tail`.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

pub struct Ring {
    mapping: Mapping,
    page: usize,
    length: usize,
}

/// The kernel writes it and only one thread of ours reads it at a time.
// SAFETY: the mapping is ours alone (Invariant 1), and `drain` takes `&mut self`.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps the ring of `event`, with `pages` pages of data, a power of two.
    ///
    /// # Errors
    /// EPERM above `perf_event_mlock_kb`, ENOMEM, EINVAL.
    pub(super) fn new(event: &File, pages: usize) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let mapping = Mapping::new(Some(event), (1 + pages) * page, protection, libc::MAP_SHARED)?;
        Ok(Self {
            mapping,
            page,
            length: pages * page,
        })
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: within the first page (Invariant 1).
        let word = unsafe { self.mapping.start().add(offset) }.cast::<u64>();
        // SAFETY: aligned, mapped as long as `self`, and shared with the kernel, which accesses it as one word.
        unsafe { AtomicU64::from_ptr(word.as_ptr()) }
    }

    /// Appends what is new to `out`: whole records.
    pub fn drain(&mut self, out: &mut Vec<u8>) {
        // Acquire: pairs with the kernel's barrier before it stores the head.
        let head = self.word(DATA_HEAD).load(Ordering::Acquire);
        // Relaxed: only we store it (Invariant 2).
        let tail = self.word(DATA_TAIL).load(Ordering::Relaxed);
        for range in pieces(self.length, tail, head) {
            self.copy(range, out);
        }
        // Release: pairs with the kernel's control dependency on the tail; the copies are made.
        self.word(DATA_TAIL).store(head, Ordering::Release);
    }

    fn copy(&self, range: Range<usize>, out: &mut Vec<u8>) {
        out.reserve(range.len());
        // SAFETY: behind the first page, within the mapping (Invariant 1): `pieces` gives offsets below `length`.
        let from: NonNull<u8> = unsafe { self.mapping.start().add(self.page + range.start) };
        let to = out.spare_capacity_mut().as_mut_ptr().cast::<u8>();
        // SAFETY: the source is not written meanwhile (Invariant 2), the target is reserved and apart.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, range.len()) };
        let length = out.len() + range.len();
        // SAFETY: reserved, and initialized by the copy.
        unsafe { out.set_len(length) };
    }
}

/// Where the bytes from `tail` to `head`, which count from the beginning of time, are in a ring of `length` bytes.
fn pieces(length: usize, tail: u64, head: u64) -> [Range<usize>; 2] {
    let size = length as u64;
    // More than a ring cannot be: the kernel stops at the tail.
    let count = head.wrapping_sub(tail).min(size) as usize;
    let start = (tail % size) as usize;
    let first = count.min(length - start);
    [start..start + first, 0..count - first]
}

#[cfg(test)]
mod tests {
    use super::pieces;
    use crate::sys::perf_record::{Record, Stamped, made, parse};

    #[test]
    fn records_that_wrap_around_the_end_are_read_whole() {
        let sent: Vec<Stamped> = (0..200)
            .map(|i| Stamped {
                time_ns: i,
                record: Record::Lost(i),
            })
            .collect();
        let mut ring = vec![0u8; 512];
        // From a position far on: positions count from the beginning of time.
        let (mut head, mut tail) = ((1 << 40) + 504u64, (1 << 40) + 504u64);
        let mut received = Vec::new();
        for (number, record) in sent.iter().enumerate() {
            for byte in made::bytes(record) {
                ring[(head % 512) as usize] = byte;
                head += 1;
            }
            if number % 5 == 4 {
                let mut bytes = Vec::new();
                for range in pieces(ring.len(), tail, head) {
                    bytes.extend_from_slice(&ring[range]);
                }
                tail = head;
                received.extend(parse(&bytes));
            }
        }
        assert_eq!(received, sent);
    }

    #[test]
    fn the_twin_that_does_not_wrap_loses_records() {
        let bytes = made::bytes(&Stamped {
            time_ns: 3,
            record: Record::Lost(3),
        });
        let mut ring = [0u8; 64];
        for (i, byte) in bytes.iter().enumerate() {
            ring[(40 + i) % 64] = *byte;
        }
        let [first, _] = pieces(64, 40, 40 + bytes.len() as u64);
        assert_eq!(parse(&ring[first])[0].record, Record::Malformed);
    }

    #[test]
    fn pieces_cover_what_is_new_and_no_more() {
        assert_eq!(pieces(64, 0, 0), [0..0, 0..0]);
        assert_eq!(pieces(64, 60, 70), [60..64, 0..6]);
        assert_eq!(pieces(64, 64, 128), [0..64, 0..0]);
        // A head that makes no sense is bounded.
        assert_eq!(pieces(64, 10, 5), [10..64, 0..10]);
    }
}
