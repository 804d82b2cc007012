//! Children of fork: a child has one reader, the thread that forked, with the sections that it has open.
//!
//! # Invariants
//! 1. Sections of the parent's other threads are no sections of the child: what they read, nobody reads there.
//! 2. No lock is held across a fork, so none can stay held in a child: closures are run under a word with the process's generation.
//!
//! In a child of `_Fork` or clone(2) no handler runs, and in one of fork(3) other handlers may run before. There the first thread settles at its
//! next grace period; until then the parent's sections count, which is safe, and those of new threads count before and after.
//!
//! # Safety
//! 1. Records are never freed.
#![expect(unsafe_code, reason = "records by their address")]

use super::record::{self, Record};
use crate::primitive::unpatched::AtomicU64;
use crate::sys::{atfork, fork_generation, thread};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The generation of the process that the records belong to; 0 before the first.
static GENERATION: AtomicU32 = AtomicU32::new(0);
/// In a child: of its ancestors' serials, the one that is left.
static FORKER: AtomicU64 = AtomicU64::new(0);

/// The record at an address of the list.
pub(super) fn record_at(at: *mut Record) -> Option<&'static Record> {
    // SAFETY: null, or a record, which is never freed.
    unsafe { at.as_ref() }
}

/// Registers the handler. Two threads may both register it; then its second run does nothing.
pub(super) fn watch() {
    // Acquire: pairs with the Release below.
    if GENERATION.load(Acquire) == 0 {
        // Without memory for it, a child settles later.
        let _ = atfork::register_atfork(None, None, Some(in_child));
        GENERATION.store(fork_generation::current(), Release);
    }
}

/// Before a grace period: does the handler's work where none has run.
pub(super) fn settle() {
    let of_records = GENERATION.load(Relaxed);
    if of_records != 0 && of_records != fork_generation::current() && thread::is_first() {
        in_child();
    }
}

/// Run by a process's first thread alone.
extern "C" fn in_child() {
    let generation = fork_generation::current();
    if GENERATION.load(Relaxed) == generation {
        return;
    }
    let mine = record::current();
    FORKER.store(mine.serial(), Relaxed);
    // Release: pairs with the Acquire in `is_left_behind`, for the serial.
    GENERATION.store(generation, Release);
    for record in record::all() {
        if core::ptr::eq(record, mine) {
            record.rename();
        } else {
            record.left_behind();
        }
    }
}

/// Whether a section of a domain belongs to a thread that this process does not have. Not known before a child has settled.
pub(super) fn is_left_behind(serial: u64) -> bool {
    let current = fork_generation::current();
    // Acquire: pairs with the Release in `in_child`.
    GENERATION.load(Acquire) == current && (serial >> 32) as u32 != current && serial != FORKER.load(Relaxed)
}
