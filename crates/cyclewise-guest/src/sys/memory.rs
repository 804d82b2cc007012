//! Memory that a guest is given: anonymous pages, which go back when the owner is dropped.
//!
//! # Invariants
//! 1. `start` is the start of a mapping of `length` bytes, readable and writable, until the drop.
//!
//! # Safety
//! The guest changes the bytes behind our back, so they are reached by raw pointers and copied, and no reference to them is
//! made. While we copy, no vCPU runs: a run is a call of the thread that copies.
#![expect(unsafe_code, reason = "maps memory and copies through raw pointers")]

use std::io;
use std::ptr::{self, NonNull};

pub(crate) struct GuestMemory {
    start: NonNull<u8>,
    length: usize,
}

impl GuestMemory {
    /// Zeroed pages.
    pub(crate) fn new(length: usize) -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: asks for new pages and touches none that exist.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }

    pub(crate) fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    pub(crate) fn length(&self) -> u64 {
        self.length as u64
    }

    /// Copies bytes to an offset. What does not fit is a broken invariant of the caller.
    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) {
        assert!(
            offset <= self.length && bytes.len() <= self.length - offset,
            "within the guest's memory"
        );
        let to = self.start.as_ptr().wrapping_add(offset);
        // SAFETY: in bounds by the assertion, writable (Invariant 1); `bytes` is ours, so they do not overlap.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    pub(crate) fn read(&self, offset: usize, bytes: &mut [u8]) {
        assert!(
            offset <= self.length && bytes.len() <= self.length - offset,
            "within the guest's memory"
        );
        let from = self.start.as_ptr().wrapping_add(offset);
        // SAFETY: in bounds by the assertion, readable (Invariant 1); `bytes` is ours, so they do not overlap.
        unsafe { ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len()) };
    }
}

impl Drop for GuestMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours (Invariant 1), and nobody has a reference into it.
        let failed = unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
        debug_assert_eq!(failed, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_the_rest_is_zero() {
        let mut memory = GuestMemory::new(8192).unwrap();
        memory.write(4096, &[1, 2, 3]);
        let mut read = [9; 5];
        memory.read(4095, &mut read);
        assert_eq!(read, [0, 1, 2, 3, 0]);
        assert_eq!(memory.length(), 8192);
        assert_eq!(memory.address() % 4096, 0);
    }

    #[test]
    #[should_panic(expected = "within the guest's memory")]
    fn a_write_past_the_end_is_refused() {
        GuestMemory::new(4096).unwrap().write(4095, &[1, 2]);
    }
}
