//! Reads bytes of code, and replaces an instruction by one store while other threads may execute it.
//!
//! The store is assembly: ThreadSanitizer calls its runtime in place of others, which faults because text has no shadow that may be
//! written.
//!
//! # Safety
//! 1. Text stays mapped and readable: it is the link unit this function is in, or the caller's.
//! 2. Text is not a Rust object, so no reference to it exists. It is accessed atomically only, because another thread
//!    may execute it.
#![expect(unsafe_code, reason = "reads and writes text by address")]

use core::arch::asm;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// The bytes that one store may change while other threads execute them: an aligned quadword (AMD APM vol. 2, 7.6.1).
pub(crate) const SLOT: usize = 8;

/// Whether `len` bytes at `at` lie in one slot.
pub(crate) fn is_in_one_slot(at: *const u8, len: usize) -> bool {
    at.addr() % SLOT + len <= SLOT
}

/// The `len` bytes at `at`, at most 8, followed by zeroes.
///
/// # Safety
/// They are mapped and readable.
pub(crate) unsafe fn load(at: *const u8, len: usize) -> [u8; 8] {
    let mut bytes = [0; 8];
    for (i, byte) in bytes.iter_mut().enumerate().take(len) {
        // SAFETY: within the caller's range, so the sum does not leave it.
        let at = unsafe { at.add(i) };
        // SAFETY: the caller guarantees that it is mapped; a byte has no alignment (Invariants 1 and 2).
        let cell = unsafe { AtomicU8::from_ptr(at.cast_mut()) };
        // Relaxed: pairs with nothing; the text lock orders this crate's patchers, and nothing orders others.
        *byte = cell.load(Relaxed);
    }
    bytes
}

/// Replaces the `len` bytes at `at` by the first of `new`: by one store if they lie in one slot, else byte by byte. In
/// the second case no other thread may execute them meanwhile.
///
/// # Safety
/// They are mapped and writable, and only the holder of the text lock writes them. The rest of their slot is in the
/// same page.
pub(crate) unsafe fn store(at: *mut u8, len: usize, new: [u8; 8]) {
    if len == 1 || !is_in_one_slot(at, len) {
        for (i, byte) in new.into_iter().enumerate().take(len) {
            // SAFETY: within the caller's range, so the sum does not leave it.
            let at = unsafe { at.add(i) };
            // Pairs with the instruction fetch of other cores, which no fence orders; membarrier follows.
            // SAFETY: the caller guarantees that it is mapped and writable (Invariant 2).
            unsafe {
                asm!("mov byte ptr [{}], {}", in(reg) at, in(reg_byte) byte, options(nostack, preserves_flags));
            };
        }
        return;
    }
    let inside = at.addr() % SLOT;
    // SAFETY: the slot begins in the same page.
    let slot = unsafe { at.sub(inside) };
    // SAFETY: aligned by construction, mapped and writable with the bytes in it (Invariant 2).
    let cell = unsafe { AtomicU64::from_ptr(slot.cast()) };
    // Relaxed: the bytes around the edit do not change until the store, because the caller holds the text lock.
    let mut bytes = cell.load(Relaxed).to_ne_bytes();
    bytes[inside..inside + len].copy_from_slice(&new[..len]);
    let bytes = u64::from_ne_bytes(bytes);
    // Pairs with the instruction fetch of other cores, which no fence orders; membarrier follows.
    // SAFETY: as the load, and one store.
    unsafe { asm!("mov qword ptr [{}], {}", in(reg) slot, in(reg) bytes, options(nostack, preserves_flags)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(align(8))]
    struct Bytes([u8; 16]);

    #[test]
    fn a_store_changes_its_bytes_and_no_others() {
        for at in 0..9 {
            for len in 1..=8_usize.min(16 - at) {
                let mut text = Bytes([9; 16]);
                let start = text.0.as_mut_ptr();
                // SAFETY: `at` is within the array.
                let site = unsafe { start.add(at) };
                // SAFETY: the bytes are in the array, which is whole slots.
                unsafe { store(site, len, [1, 2, 3, 4, 5, 6, 7, 8]) };
                // SAFETY: the same bytes of the array.
                let read = unsafe { load(site, len) };
                for (i, byte) in read.into_iter().enumerate() {
                    assert_eq!(usize::from(byte), if i < len { i + 1 } else { 0 });
                }
                let changed = text.0.iter().filter(|b| **b != 9).count();
                assert_eq!(changed, len, "at {at}");
            }
        }
    }

    #[test]
    fn five_bytes_fit_a_slot_at_four_offsets() {
        let fits: std::vec::Vec<usize> = (0..8).filter(|at| is_in_one_slot(*at as *const u8, 5)).collect();
        assert_eq!(fits, [0, 1, 2, 3]);
    }
}
