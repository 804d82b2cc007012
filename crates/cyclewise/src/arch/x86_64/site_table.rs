//! The table of this link unit's LOCK prefix sites, collected by the linker.
//!
//! Each executable or shared object that contains this code has its own table.
//!
//! # Safety
//! 1. Between `__start_cyclewise_lock_v1` and `__stop_cyclewise_lock_v1` the linker puts that section and nothing else;
//!    every contribution is 4-aligned and a multiple of 4 bytes. So it is an array of `i32`, and it is never written.
//! 2. A record is the distance from itself to a prefix of the same link unit, or 0 for no prefix. The assembly of `records`
//!    contributes a record of 0, because the symbols of a section without contributions would be undefined.
#![expect(unsafe_code, reason = "linker-defined symbols, and records that are distances")]

use super::table::records;

/// Whether there are LOCK prefixes to patch.
pub(crate) const HAS_SITES: bool = true;

/// One entry of the table. It is relative to its own address, so it is neither copied nor moved.
#[repr(transparent)]
pub(crate) struct Record(i32);

impl Record {
    /// The address of the prefix; `None` for a record of 0.
    pub(crate) fn site(&self) -> Option<*mut u8> {
        let here = core::ptr::from_ref(self).cast_mut().cast::<u8>();
        // Wrapping: the prefix is in another section, and only its address is needed.
        (self.0 != 0).then(|| here.wrapping_offset(self.0 as isize))
    }
}

/// The records of this link unit. Not inlined: another unit's code would find its own table.
#[inline(never)]
pub(crate) fn records() -> &'static [Record] {
    records!("cyclewise_lock_v1", "0", Record)
}
