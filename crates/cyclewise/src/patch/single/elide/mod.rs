//! Entering and leaving single mode.
//!
//! # Invariants
//! 1. The mode is `SINGLE` before the threads are counted, so a thread that creates another afterwards restores LOCK
//!    first or is refused.
//! 2. With no other thread that can run code of this program (`alone`) and none being created, only the caller can
//!    create one.
//!
//! # Safety
//! The promise of [`enable`] holds for the rest of the process: threads come from the hooked functions only.
#![expect(unsafe_code, reason = "elides under the contract of enable_single!")]

mod alone;
mod answers;

use crate::arch;
use crate::error::Refusal;
use crate::patch::coordinator;
use crate::patch::edits::Room;
use crate::patch::hooks::{Hooks, tls};
use crate::patch::mode_lock::{self, CONFINED, LOCKED, SINGLE, ThreadCreation};
use crate::sys::{thread, thread_attributes};

/// Checks that `hooks` are in force, and elides.
///
/// # Errors
/// The reason why LOCK stays. If the hooks are in force, [`reelide`] may succeed later.
///
/// # Safety
/// The contract of [`enable_single!`](crate::enable_single).
#[doc(hidden)]
pub unsafe fn enable(hooks: &'static Hooks) -> Result<(), Refusal> {
    if !arch::HAS_SITES {
        return Err(Refusal::NoLockPrefix);
    }
    if let Err(refusal) = hooks.in_force() {
        // Another link unit's hooks may be: then its copy elides, this unit's sites with its own.
        return coordinator::reelide_elsewhere().unwrap_or(Err(refusal));
    }
    thread_attributes::find();
    mode_lock::set_enabled();
    coordinator::coordinate(&answers::OPERATIONS);
    reelide_here()
}

pub(super) fn reelide() -> Result<(), Refusal> {
    if !arch::HAS_SITES {
        return Err(Refusal::NoLockPrefix);
    }
    match mode_lock::enabled() {
        Err(refusal) => coordinator::reelide_elsewhere().unwrap_or(Err(refusal)),
        Ok(()) => reelide_here(),
    }
}

/// [`reelide`] by this copy's hooks.
fn reelide_here() -> Result<(), Refusal> {
    mode_lock::enabled()?;
    // Before the lock: this waits for the dynamic linker.
    coordinator::adopt_present();
    let mut room = Room::new()?;
    let mut guard = mode_lock::lock()?;
    let data = guard.data();
    match mode_lock::mode() {
        SINGLE => {
            // A unit in which that fails keeps LOCK.
            let _ = coordinator::elide_newcomers(data, &mut room);
            return Ok(());
        }
        CONFINED => return Err(Refusal::WrongMode),
        _ => data.edits.check_locked(&mut room)?,
    }
    // Before the checks (Invariant 1). Pairs with the creators' addition and load.
    mode_lock::set_mode(data, SINGLE);
    let elided = alone().and_then(|()| {
        // SAFETY: only this thread can run (Invariant 2), and it restores LOCK before it creates another. A handler on it
        // creates none before this returns: the mode is `SINGLE` and this thread holds the mode lock, so its hook fails.
        unsafe { data.edits.elide_alone() }
    });
    // If a failed change could not be rolled back, the mode that needs no LOCK stays.
    if elided.is_err() && data.edits.none_elided() {
        mode_lock::set_mode(data, LOCKED);
    }
    elided
}

/// Checks that only the caller can run code of this program, and that no thread is being created.
fn alone() -> Result<(), Refusal> {
    tls::may_elide()?;
    if ThreadCreation::any() {
        return Err(Refusal::Creating);
    }
    // After the mode: a thread that creates one past the hooks says so before it reads the mode.
    let hooked = mode_lock::all_hooked().is_ok();
    alone::check(&alone::ThisProcess, thread::id(), hooked)
}

pub(super) fn lock() -> Result<(), Refusal> {
    match mode_lock::enabled() {
        Err(_) => coordinator::lock_elsewhere().unwrap_or_else(lock_here),
        Ok(()) => lock_here(),
    }
}

/// [`lock`] of this copy's mode.
fn lock_here() -> Result<(), Refusal> {
    let mut guard = mode_lock::lock()?;
    if mode_lock::mode() == CONFINED {
        return Err(Refusal::WrongMode);
    }
    mode_lock::leave_single(guard.data())
}
