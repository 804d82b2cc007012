//! Who may change the text, which mode is in force, and how many threads are being created.
//!
//! # States
//! [`LOCKED`] → [`SINGLE`] → `LOCKED`, `LOCKED` → [`CONFINED`] → `LOCKED`, and `SINGLE` → `CONFINED`. A state that allows
//! elided sites is entered before the first byte changes and left after the last one has changed back.
//!
//! # Invariants
//! 1. Text and [`ModeData`] are changed by the thread in [`OWNER`] only.
//! 2. Where any site may be elided, [`MODE`] is not `LOCKED`.
//! 3. A thread that creates another is counted in [`CREATING`] from before it looks at `MODE` until the other exists.
//!
//! # After fork
//! The child has the caller's thread, the text and all of this as they were. Where another thread was the owner, it is
//! not there: the child takes the gate over and starts with a new `ModeData`, since the old one may be half changed.
//! `CONFINED` that was entered by another generation of the process is `SINGLE`: the child begins with one thread, and its
//! affinity may be older than its text, since the kernel copies the one long before the other. [`mode`] sees that for
//! itself, so it is right in atfork handlers that create threads, whoever registered them and when. Threads that others
//! were creating stay counted in the child, which is then refused single mode: LOCK stays.
//!
//! # Memory ordering
//! `OWNER` is acquired and released like a lock. `MODE`, `CONFINED_BY` and `CREATING` are sequentially consistent: a creator writes
//! `CREATING` and then reads `MODE`, and who elides does the converse, so one of them sees the other.
//! These are std's atomics: ours would be patched by what they guard.
//!
//! # Safety
//! `ModeData` is reached through [`ModeGuard`] only, of which there is one at a time (Invariant 1).
#![expect(unsafe_code, reason = "a cell guarded by a lock that survives fork")]

use super::edits::EditList;
use super::owner_word::{self, PreviousOwner};
use crate::error::Refusal;
use crate::sys::affinity::CpuSet;
use crate::sys::{fork_generation, process};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use core::time::Duration;
use std::vec::Vec;

/// Every prefix is LOCK, and anything may happen.
pub(super) const LOCKED: u8 = 0;
/// Prefixes may be elided: there is one thread, and it restores them before it creates another.
pub(super) const SINGLE: u8 = 1;
/// Prefixes may be elided: all threads are confined to one CPU, and so are those that they create.
pub(super) const CONFINED: u8 = 2;

/// The mode in force, but for a child of fork that has not asked yet: see [`mode`].
static MODE: AtomicU8 = AtomicU8::new(LOCKED);

/// The generation and the pid of the process that entered confined mode.
static CONFINED_BY: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// Who holds the gate.
static OWNER: AtomicU64 = AtomicU64::new(0);

/// Calls that create a thread and have not returned.
static CREATING: AtomicUsize = AtomicUsize::new(0);

/// Whether the C library has ever been asked for a thread that creates others on its own: for timers, message queues,
/// asynchronous I/O and name look-ups. Those are seen in the list of threads, and not while they are on the way.
pub(super) static HELPER_THREADS: AtomicBool = AtomicBool::new(false);

/// How long a waiting thread sleeps: about as long as a change of the text takes.
pub(super) const RETRY_INTERVAL: Duration = Duration::from_micros(50);

/// What the modes keep from one change to the next.
pub(super) struct ModeData {
    /// The edits.
    pub(super) edits: EditList,
    /// The CPU of confined mode.
    pub(super) cpu: u32,
    /// Whether a guard of confined mode exists.
    pub(super) guarded: bool,
    /// The affinity that threads had when they were confined.
    pub(super) saved: Vec<(i32, CpuSet)>,
    /// The affinity of the thread that entered confined mode: what threads created in it are given.
    pub(super) default: Option<CpuSet>,
}

impl ModeData {
    const fn new() -> Self {
        Self {
            edits: EditList::new(),
            cpu: 0,
            guarded: false,
            saved: Vec::new(),
            default: None,
        }
    }
}

/// The mode in force. Whoever creates a thread asks before, so the first to ask in a child that inherited `CONFINED` is its
/// only thread.
pub(super) fn mode() -> u8 {
    // SeqCst: see the module.
    match MODE.load(Ordering::SeqCst) {
        CONFINED if CONFINED_BY.each_ref().map(|word| word.load(Ordering::SeqCst)) != this_process() => {
            // It fails where another thread of the child has asked meanwhile, and gone on from there.
            let changed = MODE.compare_exchange(CONFINED, SINGLE, Ordering::SeqCst, Ordering::SeqCst);
            changed.map_or_else(|now| now, |_| SINGLE)
        }
        mode => mode,
    }
}

/// Puts a mode in force, which the holder of the gate does.
pub(super) fn set_mode(_: &ModeData, mode: u8) {
    if mode == CONFINED {
        for (word, now) in CONFINED_BY.iter().zip(this_process()) {
            word.store(now, Ordering::SeqCst);
        }
    }
    MODE.store(mode, Ordering::SeqCst);
}

/// This process, by two witnesses: either may be lied about, by who answers madvise or getpid.
fn this_process() -> [u32; 2] {
    [fork_generation::current(), process::id()]
}

struct Cell(UnsafeCell<ModeData>);

// SAFETY: reached through `ModeGuard` only, by one thread at a time (Invariant 1).
unsafe impl Sync for Cell {}

static DATA: Cell = Cell(UnsafeCell::new(ModeData::new()));

/// The right to change the text, given back when dropped.
pub(super) struct ModeGuard(());

/// Waits for the gate.
///
/// # Errors
/// [`Refusal::Busy`] where the calling thread holds it already: from a signal handler that interrupted a change.
pub(super) fn lock() -> Result<ModeGuard, Refusal> {
    let from = owner_word::acquire(&OWNER, fork_generation::current())?;
    if from == PreviousOwner::LostInFork {
        // What the owner was writing is not read and not dropped.
        // SAFETY: the gate is held since the line above.
        unsafe { DATA.0.get().write(ModeData::new()) };
    }
    Ok(ModeGuard(()))
}

impl ModeGuard {
    /// What the gate guards.
    pub(super) fn data(&mut self) -> &mut ModeData {
        // SAFETY: Invariant 1, and the borrow of `ModeGuard` is exclusive.
        unsafe { &mut *DATA.0.get() }
    }
}

impl Drop for ModeGuard {
    fn drop(&mut self) {
        owner_word::release(&OWNER);
    }
}

/// A call that creates a thread, counted until it is dropped.
pub(super) struct ThreadCreation(());

impl ThreadCreation {
    /// Counts the call (Invariant 3).
    pub(super) fn begin() -> Self {
        CREATING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }

    /// Whether any call is counted.
    pub(super) fn any() -> bool {
        CREATING.load(Ordering::SeqCst) != 0
    }
}

impl Drop for ThreadCreation {
    fn drop(&mut self) {
        CREATING.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_is_held_once_and_taken_over_from_who_is_not_here() {
        let held = lock().unwrap();
        let again = lock().map(drop).unwrap_err();
        assert_eq!(again, Refusal::Busy);
        drop(held);

        // The generation before ours, as in a child forked while another thread held it.
        let before = u64::from(fork_generation::current().wrapping_sub(1));
        OWNER.store(before << 32 | 1, Ordering::Relaxed);
        let mut guard = lock().unwrap();
        assert!(!guard.data().guarded);
        drop(guard);
        assert_eq!(OWNER.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn creators_are_counted_until_they_return() {
        let creating = ThreadCreation::begin();
        assert!(ThreadCreation::any());
        drop(creating);
        assert!(!ThreadCreation::any());
    }
}
