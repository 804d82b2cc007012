//! A bool in a byte.
//!
//! # Safety
//! `from_ptr` has std's contract: its caller vouches for the pointer.
#![expect(unsafe_code, reason = "from_ptr, as std has it")]

use super::common::{by_exchange, common};
use crate::arch::{Bits, Exchange};
use core::fmt;
use core::sync::atomic::{self, Ordering};

/// std's `AtomicBool`, with patchable LOCK prefixes.
///
/// # Examples
/// ```
/// use cyclewise::atomic::{AtomicBool, Ordering};
///
/// static STOPPED: AtomicBool = AtomicBool::new(false);
///
/// assert!(!STOPPED.swap(true, Ordering::AcqRel));
/// STOPPED.not(Ordering::Relaxed);
/// assert!(!STOPPED.load(Ordering::Acquire));
/// ```
#[derive(Default)]
#[repr(transparent)]
pub struct AtomicBool(atomic::AtomicBool);

impl AtomicBool {
    common!(AtomicBool, bool);

    /// Ands, and returns the old value: a CMPXCHG loop. [`and`](Self::and) is cheaper if the old value is not needed.
    #[inline]
    pub fn fetch_and(&self, value: bool, order: Ordering) -> bool {
        by_exchange!(self, order, old => old & value)
    }

    /// Ands and inverts, and returns the old value: a CMPXCHG loop.
    #[inline]
    pub fn fetch_nand(&self, value: bool, order: Ordering) -> bool {
        by_exchange!(self, order, old => !(old & value))
    }

    /// Ors, and returns the old value: a CMPXCHG loop. [`or`](Self::or) is cheaper if the old value is not needed.
    #[inline]
    pub fn fetch_or(&self, value: bool, order: Ordering) -> bool {
        by_exchange!(self, order, old => old | value)
    }

    /// Exclusive-ors, and returns the old value: a CMPXCHG loop. [`xor`](Self::xor) is cheaper if the old value is not needed.
    #[inline]
    pub fn fetch_xor(&self, value: bool, order: Ordering) -> bool {
        by_exchange!(self, order, old => old ^ value)
    }

    /// Inverts, and returns the old value: a CMPXCHG loop. [`not`](Self::not) is cheaper if the old value is not needed.
    #[inline]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }

    /// Ands: AND.
    #[inline]
    pub fn and(&self, value: bool, order: Ordering) {
        self.0.and(value, order);
    }

    /// Ors: OR.
    #[inline]
    pub fn or(&self, value: bool, order: Ordering) {
        self.0.or(value, order);
    }

    /// Exclusive-ors: XOR.
    #[inline]
    pub fn xor(&self, value: bool, order: Ordering) {
        self.0.xor(value, order);
    }

    /// Inverts: XOR with true.
    #[inline]
    pub fn not(&self, order: Ordering) {
        self.xor(true, order);
    }
}

impl From<bool> for AtomicBool {
    fn from(value: bool) -> Self {
        Self::new(value)
    }
}

impl fmt::Debug for AtomicBool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
