//! A bounded queue of words for each CPU, first in, first out: `struct cw_percpu_ring`.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_percpu_ring *` is what `cw_percpu_ring_create` returned, not null, and not destroyed.
//! 3. The caller's array has as many words as it says.
#![expect(unsafe_code, reason = "functions under names of their own, and objects by address")]

use crate::memory::{boxed, free, give};
use crate::percpu::register_now;
use crate::refusal::{answer, cw_refusal};
use crate::sys::errno;
use core::ffi::c_int;
use core::ptr;
use core::slice;
use cyclewise::error::Refusal;
use cyclewise::percpu::Ring;

/// The operations of rings of any capacity.
trait Words {
    fn push(&self, word: u64) -> bool;
    fn push_many(&self, words: &[u64]) -> usize;
    fn pop(&self) -> Option<u64>;
    fn pop_many(&self, words: &mut [u64]) -> usize;
    fn pop_or_steal(&self) -> Result<Option<u64>, Refusal>;
}

impl<const N: usize> Words for Ring<u64, N> {
    fn push(&self, word: u64) -> bool {
        self.push(word).is_ok()
    }

    fn push_many(&self, words: &[u64]) -> usize {
        self.push_many(words)
    }

    fn pop(&self) -> Option<u64> {
        self.pop()
    }

    fn pop_many(&self, words: &mut [u64]) -> usize {
        self.pop_many(words)
    }

    fn pop_or_steal(&self) -> Result<Option<u64>, Refusal> {
        self.pop_or_steal()
    }
}

/// A queue of words of 64 bits for each CPU.
pub struct cw_percpu_ring {
    words: &'static dyn Words,
    destroy: unsafe fn(*const ()),
}

impl Drop for cw_percpu_ring {
    fn drop(&mut self) {
        // SAFETY: the ring that `words` refers to, which goes with this.
        unsafe { (self.destroy)(ptr::from_ref(self.words).cast()) };
    }
}

fn make<const N: usize>() -> *mut cw_percpu_ring {
    /// # Safety
    /// A ring of this capacity that `boxed` made, which nobody else uses.
    unsafe fn destroy<const N: usize>(ring: *const ()) {
        // SAFETY: guaranteed by the caller.
        unsafe { free(ring.cast::<Ring<u64, N>>().cast_mut()) };
    }
    let Ok(ring) = Ring::<u64, N>::try_new() else {
        return ptr::null_mut();
    };
    let ring = boxed(ring);
    // SAFETY: null, or a ring that stays until `destroy`.
    let Some(words) = (unsafe { ring.as_ref() }) else {
        return ptr::null_mut();
    };
    boxed(cw_percpu_ring {
        words,
        destroy: destroy::<N>,
    })
}

/// # Safety
/// Safety 2, for as long as the result is used.
#[inline(always)]
unsafe fn words<'a>(ring: *const cw_percpu_ring) -> &'a dyn Words {
    // SAFETY: a ring that is not destroyed (Safety 2).
    unsafe { (*ring).words }
}

/// Empty rings of at least `capacity` words for each CPU: the next power of two, at most 4096. Null for more or for 0, and without
/// memory.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_percpu_ring_create(capacity: usize) -> *mut cw_percpu_ring {
    let _errno = errno::keep();
    register_now();
    match capacity {
        0 => ptr::null_mut(),
        1 => make::<1>(),
        2 => make::<2>(),
        3..=4 => make::<4>(),
        5..=8 => make::<8>(),
        9..=16 => make::<16>(),
        17..=32 => make::<32>(),
        33..=64 => make::<64>(),
        65..=128 => make::<128>(),
        129..=256 => make::<256>(),
        257..=512 => make::<512>(),
        513..=1024 => make::<1024>(),
        1025..=2048 => make::<2048>(),
        2049..=4096 => make::<4096>(),
        _ => ptr::null_mut(),
    }
}

/// Frees a ring and the words in it, or does nothing if it is null.
///
/// # Safety
/// Null or Safety 2, and no thread uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_ring_destroy(ring: *mut cw_percpu_ring) {
    let _errno = errno::keep();
    // SAFETY: what `boxed` made, guaranteed by the caller.
    unsafe { free(ring) };
}

/// Pushes a word to this CPU's ring; false if that is full. A signal handler may call it.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ring_push(ring: *mut cw_percpu_ring, word: u64) -> bool {
    // SAFETY: Safety 2.
    unsafe { words(ring) }.push(word)
}

/// Pushes as many of the `count` words as there is room for, in order; returns how many.
///
/// # Safety
/// Safety 2 and 3.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ring_push_many(ring: *mut cw_percpu_ring, from: *const u64, count: usize) -> usize {
    if from.is_null() || count == 0 {
        return 0;
    }
    // SAFETY: as many words as the caller says.
    let from = unsafe { slice::from_raw_parts(from, count) };
    // SAFETY: Safety 2.
    unsafe { words(ring) }.push_many(from)
}

/// Pops the oldest word of this CPU's ring into `word`; false if the ring is empty. It sees what happened before the push. A
/// signal handler may call it.
///
/// # Safety
/// Safety 2, and `word` is null or may be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ring_pop(ring: *mut cw_percpu_ring, word: *mut u64) -> bool {
    // SAFETY: Safety 2.
    let popped = unsafe { words(ring) }.pop();
    if let Some(popped) = popped {
        // SAFETY: guaranteed by the caller.
        unsafe { give(word, popped) };
    }
    popped.is_some()
}

/// Pops at most `count` words of this CPU's ring, the oldest first; returns how many.
///
/// # Safety
/// Safety 2 and 3.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ring_pop_many(ring: *mut cw_percpu_ring, to: *mut u64, count: usize) -> usize {
    if to.is_null() || count == 0 {
        return 0;
    }
    // SAFETY: as many words as the caller says; written before they are read.
    unsafe { ptr::write_bytes(to, 0, count) };
    // SAFETY: as many words as the caller says, which are initialized.
    let to = unsafe { slice::from_raw_parts_mut(to, count) };
    // SAFETY: Safety 2.
    unsafe { words(ring) }.pop_many(to)
}

/// Pops the oldest word of this CPU's ring, or of the first CPU's that has any. `*found` says whether there was one. Not for signal
/// handlers.
///
/// Returns 0, or why other CPUs' rings cannot be reached: the kernel forbids membarrier(2).
///
/// # Safety
/// Safety 2; `word`, `found` and `why` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_ring_pop_or_steal(
    ring: *mut cw_percpu_ring,
    word: *mut u64,
    found: *mut bool,
    why: *mut cw_refusal,
) -> c_int {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    let popped = unsafe { words(ring) }.pop_or_steal();
    // SAFETY: guaranteed by the caller.
    unsafe { give(found, matches!(popped, Ok(Some(_)))) };
    if let Ok(Some(popped)) = popped {
        // SAFETY: guaranteed by the caller.
        unsafe { give(word, popped) };
    }
    // SAFETY: guaranteed by the caller.
    unsafe { answer(popped, why) }
}
