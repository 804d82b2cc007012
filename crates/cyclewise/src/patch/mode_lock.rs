//! The mode lock: which mode is in force, who may change it, and how many threads are being created.
//!
//! # States
//! [`LOCKED`] → [`SINGLE`] → `LOCKED`, `LOCKED` → [`CONFINED`] → `LOCKED`, and `SINGLE` → `CONFINED`. A state that
//! allows elided sites is entered before the first byte changes and left after the last one is restored.
//!
//! # Invariants
//! 1. Only the thread in [`OWNER`] changes sites and [`ModeData`].
//! 2. Where any site may be elided, [`MODE`] is not `LOCKED`.
//! 3. A thread that creates another is counted in [`CREATING`] from before it reads `MODE` until the other exists.
//!
//! # After fork
//! The child has the calling thread and copies of the text and of these variables. If another thread owned the lock,
//! the child does not have that thread: it takes the lock over and starts with a new `ModeData`, because the old one
//! may be half changed. A child that inherits `CONFINED` treats it as `SINGLE`: it begins with one thread, and its
//! affinity may be older than its text, since the kernel copies affinity long before memory. [`mode`] detects this
//! itself, so it is right in any atfork handler that creates threads. Threads that others were creating stay counted in
//! the child, which is then refused single mode: LOCK stays.
//!
//! # Memory ordering
//! `OWNER` is acquired and released like a lock. `MODE`, `CONFINED_BY` and `CREATING` are sequentially consistent: a
//! creator writes `CREATING` and then reads `MODE`, and a thread that elides writes `MODE` and then reads `CREATING`,
//! so one of them sees the other. These are std's atomics: ours would be patched by what they guard.
//!
//! # Safety
//! `ModeData` is reached through [`ModeGuard`] only, and there is one guard at a time (Invariant 1).
#![expect(unsafe_code, reason = "a cell guarded by a lock that survives fork")]

use super::edits::EditList;
use super::mode::Mode;
use super::owner_word::{self, PreviousOwner};
use crate::error::Refusal;
use crate::sys::affinity::CpuSet;
use crate::sys::{fork_generation, process};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use core::time::Duration;
use std::vec::Vec;

/// Every prefix is LOCK. Any thread may run anywhere.
pub(super) const LOCKED: u8 = 0;
/// Prefixes may be elided: one thread can run, and it restores them before it creates another.
pub(super) const SINGLE: u8 = 1;
/// Prefixes may be elided: all threads are confined to one CPU, and so are those that they create.
pub(super) const CONFINED: u8 = 2;

/// The mode in force. A child of fork may still have its parent's: see [`mode`].
static MODE: AtomicU8 = AtomicU8::new(LOCKED);

/// The generation and the pid of the process that entered confined mode.
static CONFINED_BY: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// The owner of the mode lock.
static OWNER: AtomicU64 = AtomicU64::new(0);

/// The number of calls in progress that create a thread.
static CREATING: AtomicUsize = AtomicUsize::new(0);

/// Whether the program ever called a function that may start a helper thread of the C library, which creates others:
/// timers, message queues, asynchronous I/O, name look-ups. No hook counts those while they are being created.
pub(super) static HELPER_THREADS: AtomicBool = AtomicBool::new(false);

/// How many calls began to create a thread with an affinity of its own.
pub(super) static OWN_AFFINITIES: AtomicU32 = AtomicU32::new(0);

/// Whether this copy's hooks were found in force.
static ENABLED: AtomicBool = AtomicBool::new(false);

/// Whether any thread was ever created without a hook.
static UNHOOKED: AtomicBool = AtomicBool::new(false);

/// How long a waiting thread sleeps: about the time that a change of the text takes.
pub(super) const RETRY_INTERVAL: Duration = Duration::from_micros(50);

/// The data that the mode lock guards, kept from one change to the next.
pub(super) struct ModeData {
    pub(super) edits: EditList,
    /// The CPU of confined mode.
    pub(super) cpu: u32,
    /// Whether a confined-mode guard exists.
    pub(super) guarded: bool,
    /// The number of the last confined-mode guard.
    pub(super) guards: u32,
    /// Each thread's affinity before it was confined.
    pub(super) saved: Vec<(i32, CpuSet)>,
    /// The affinity of the thread that entered confined mode. Threads created in the mode get it when the mode is left.
    pub(super) default: Option<CpuSet>,
}

impl ModeData {
    const fn new() -> Self {
        Self {
            edits: EditList::new(),
            cpu: 0,
            guarded: false,
            guards: 0,
            saved: Vec::new(),
            default: None,
        }
    }
}

/// The mode in force. A thread calls this before it creates another, so in a child that inherited `CONFINED` the first
/// caller is the only thread.
pub(super) fn mode() -> u8 {
    // SeqCst: see the module.
    match MODE.load(Ordering::SeqCst) {
        CONFINED if CONFINED_BY.each_ref().map(|word| word.load(Ordering::SeqCst)) != this_process() => {
            // Fails where another thread of the child has already changed it, and perhaps changed it again.
            let changed = MODE.compare_exchange(CONFINED, SINGLE, Ordering::SeqCst, Ordering::SeqCst);
            changed.map_or_else(|now| now, |_| SINGLE)
        }
        mode => mode,
    }
}

/// The same, as users name it.
pub(super) fn here() -> Mode {
    match mode() {
        SINGLE => Mode::Single,
        CONFINED => Mode::Confined,
        _ => Mode::Locked,
    }
}

/// Puts a mode in force. The caller holds the mode lock.
pub(super) fn set_mode(_: &ModeData, mode: u8) {
    if mode == CONFINED {
        for (word, now) in CONFINED_BY.iter().zip(this_process()) {
            word.store(now, Ordering::SeqCst);
        }
    }
    MODE.store(mode, Ordering::SeqCst);
}

/// This process's generation and pid. A filter may falsify either, by answering madvise or getpid.
fn this_process() -> [u32; 2] {
    [fork_generation::current(), process::id()]
}

struct Cell(UnsafeCell<ModeData>);

// SAFETY: reached through `ModeGuard` only, by one thread at a time (Invariant 1).
unsafe impl Sync for Cell {}

static DATA: Cell = Cell(UnsafeCell::new(ModeData::new()));

/// Holds the mode lock; releases it on drop.
pub(super) struct ModeGuard(());

/// Takes the mode lock; waits for it.
///
/// # Errors
/// [`Refusal::Busy`] where the calling thread already holds it: the call comes from a signal handler that interrupted a
/// change.
pub(super) fn lock() -> Result<ModeGuard, Refusal> {
    loop {
        if let Some(guard) = lock_while(|| true)? {
            return Ok(guard);
        }
    }
}

/// Takes the mode lock if it is free.
///
/// # Errors
/// As [`lock`].
pub(super) fn try_lock() -> Result<Option<ModeGuard>, Refusal> {
    lock_while(|| false)
}

/// The same, but gives up and returns `None` if the lock is taken and `wanted` returns false.
pub(super) fn lock_while(wanted: impl Fn() -> bool) -> Result<Option<ModeGuard>, Refusal> {
    let from = owner_word::acquire_while(&OWNER, fork_generation::current(), wanted)?;
    if from == Some(PreviousOwner::LostInFork) {
        // The lost owner may have been writing it, so it is neither read nor dropped. SAFETY: this thread took the lock
        // above.
        unsafe { DATA.0.get().write(ModeData::new()) };
    }
    Ok(from.map(|_| ModeGuard(())))
}

impl ModeGuard {
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

/// A counted call that creates a thread.
pub(super) struct ThreadCreation(());

impl ThreadCreation {
    /// Counts the call (Invariant 3).
    pub(super) fn begin() -> Self {
        CREATING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }

    /// Whether any is in progress.
    pub(super) fn any() -> bool {
        CREATING.load(Ordering::SeqCst) != 0
    }
}

impl Drop for ThreadCreation {
    fn drop(&mut self) {
        CREATING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The hooks were found in force: they are from now on. A binding never changes: name lookup searches the program first and
/// libraries loaded later last.
pub(super) fn set_enabled() {
    // Release: pairs with the Acquire in `enabled`.
    ENABLED.store(true, Ordering::Release);
}

/// Checks that thread creation is hooked: `enable_single!` found its hooks in force.
pub(super) fn enabled() -> Result<(), Refusal> {
    // Acquire: pairs with the Release in `set_enabled`.
    if ENABLED.load(Ordering::Acquire) {
        Ok(())
    } else {
        Err(Refusal::NotEnabled)
    }
}

/// A thread is created without a hook: see [`all_hooked`].
pub(super) fn unhooked() {
    // SeqCst: pairs with the load in `all_hooked`.
    UNHOOKED.store(true, Ordering::SeqCst);
}

/// Whether every thread so far was created by a hook.
pub(super) fn all_hooked() -> Result<(), Refusal> {
    // SeqCst: pairs with the store in `unhooked`, which precedes the thread.
    if UNHOOKED.load(Ordering::SeqCst) {
        Err(Refusal::Unhooked)
    } else {
        Ok(())
    }
}

/// Waits for the lock only while single mode is in force. A thread that enters confined mode holds the lock until no
/// thread is being created, and the caller is counted as creating one.
#[cold]
pub(super) fn before_thread_slow() -> Result<(), Refusal> {
    match lock_while(|| mode() == SINGLE)? {
        Some(mut guard) => leave_single(guard.data()),
        None => Ok(()),
    }
}

/// Restores LOCK where single mode is in force, and leaves it.
pub(super) fn leave_single(data: &mut ModeData) -> Result<(), Refusal> {
    if mode() != SINGLE {
        return Ok(());
    }
    // SAFETY: in single mode the caller is the only thread that can run (Invariant 2 of `single::elide`).
    unsafe { data.edits.restore_alone() }?;
    set_mode(data, LOCKED);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_lock_has_one_owner_and_is_taken_over_from_a_lost_one() {
        let held = lock().unwrap();
        let again = lock().map(drop).unwrap_err();
        assert_eq!(again, Refusal::Busy);
        // The thread that enters confined mode holds the lock and waits for creators: they do not wait for it.
        let creator = std::thread::spawn(|| (before_thread_slow(), lock_while(|| false).map(|guard| guard.is_none())));
        assert_eq!(creator.join().unwrap(), (Ok(()), Ok(true)));
        drop(held);

        // The previous generation, as in a child forked while another thread held the lock.
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
