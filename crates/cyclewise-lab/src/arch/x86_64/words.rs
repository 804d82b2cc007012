//! Sixty-four words of one thread, in plain memory and through FS, and an increment of one of them.
//!
//! Not the compiler's `+= 1`, which it may keep in a register or merge.
//!
//! # Safety
//! 1. An index is taken modulo 64, so an address is of one of the words; they are `!Sync`, so the thread's alone.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;
use std::cell::{Cell, UnsafeCell};
use std::ptr;

/// How many words.
pub(crate) const WORDS: usize = 64;

/// Words in plain memory.
pub(crate) struct Plain(UnsafeCell<[u64; WORDS]>);

impl Plain {
    /// Zeroes.
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new([0; WORDS]))
    }

    /// Adds one.
    #[inline(always)]
    pub(crate) fn inc(&self, n: usize) {
        let word = self.0.get().cast::<u64>().wrapping_add(n % WORDS);
        // SAFETY: Invariant 1. No nomem: it is memory.
        unsafe { asm!("inc qword ptr [{0}]", in(reg) word, options(nostack)) };
    }
}

/// A word on a cache line of its own, which is stored to.
#[repr(align(128))]
pub(crate) struct Apart(UnsafeCell<u64>);

impl Apart {
    /// Zero.
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    /// Stores its own address, in one instruction.
    #[inline(always)]
    pub(crate) fn store(&self) {
        let word = self.0.get();
        // SAFETY: the word is this value's, and `!Sync`, so the thread's alone. No nomem: it is memory.
        unsafe { asm!("mov qword ptr [{0}], {0}", in(reg) word, options(nostack, preserves_flags)) };
    }
}

thread_local! {
    static LOCAL: [Cell<u64>; WORDS] = const { [const { Cell::new(0) }; WORDS] };
}

/// The calling thread's own words, by their distance from what FS stands for: as the compiler reaches a `thread_local!`.
#[derive(Clone, Copy)]
pub(crate) struct Local(*mut u64);

impl Local {
    /// Those of this thread.
    pub(crate) fn here() -> Self {
        let at = LOCAL.with(|words| words.as_ptr().addr());
        Self(ptr::without_provenance_mut(at.wrapping_sub(thread_pointer())))
    }

    /// Adds one, in one instruction.
    #[inline(always)]
    pub(crate) fn inc(self, n: usize) {
        // As a pointer, so that the compiler makes the same of the index as in the other rows.
        let distance = self.0.wrapping_add(n % WORDS);
        // SAFETY: FS and the distance are the word (Invariant 1). No nomem: it is memory.
        unsafe { asm!("inc qword ptr fs:[{0}]", in(reg) distance, options(nostack)) };
    }
}

/// The address that FS stands for.
#[inline(always)]
fn thread_pointer() -> usize {
    let at;
    // SAFETY: the first word of the thread's control block is its own address (ELF TLS ABI, variant II).
    unsafe { asm!("mov {}, qword ptr fs:[0]", out(reg) at, options(nostack, pure, nomem, preserves_flags)) };
    at
}
