//! Sixty-four words of one thread, in plain memory and through the thread pointer, and an increment of one of them.
//!
//! Not the compiler's `+= 1`, which it may keep in a register or merge.
//!
//! # Safety
//! 1. An index is taken modulo 64, so an address is of one of the words; they are `!Sync`, so the thread's alone.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;
use std::cell::{Cell, UnsafeCell};

/// Number of words.
pub(crate) const WORDS: usize = 64;

/// Words in plain memory.
pub(crate) struct Plain(UnsafeCell<[u64; WORDS]>);

impl Plain {
    /// Zeroes.
    #[expect(clippy::new_without_default, reason = "never defaulted")]
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new([0; WORDS]))
    }

    /// Increments word `n`.
    #[inline(always)]
    pub(crate) fn inc(&self, n: usize) {
        inc(self.0.get().cast::<u64>().wrapping_add(n % WORDS));
    }
}

/// A word on a cache line of its own, which is stored to.
#[repr(align(128))]
pub(crate) struct Apart(UnsafeCell<u64>);

impl Apart {
    /// Zero.
    #[expect(clippy::new_without_default, reason = "never defaulted")]
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    /// Stores its own address, in one instruction.
    #[inline(always)]
    pub(crate) fn store(&self) {
        let word = self.0.get();
        // SAFETY: the word is this value's, and `!Sync`, so the thread's alone. No nomem: it is memory.
        unsafe { asm!("str {0}, [{0}]", in(reg) word, options(nostack, preserves_flags)) };
    }
}

thread_local! {
    static LOCAL: [Cell<u64>; WORDS] = const { [const { Cell::new(0) }; WORDS] };
}

/// The calling thread's own words.
#[derive(Clone, Copy)]
pub(crate) struct Local(*mut u64);

impl Local {
    /// This thread's words.
    pub(crate) fn here() -> Self {
        Self(LOCAL.with(|words| words.as_ptr().cast_mut().cast()))
    }

    /// Increments word `n`.
    #[inline(always)]
    pub(crate) fn inc(self, n: usize) {
        inc(self.0.wrapping_add(n % WORDS));
    }
}

#[inline(always)]
fn inc(word: *mut u64) {
    // SAFETY: Invariant 1. No nomem: it accesses memory.
    unsafe {
        asm!("ldr {0}, [{1}]", "add {0}, {0}, #1", "str {0}, [{1}]", out(reg) _, in(reg) word,
            options(nostack, preserves_flags))
    };
}
