//! Confined mode: LOCK is elided while all threads of the process are confined to one CPU.
//!
//! # States
//! The guard of the mode is kept here, because C has none: entering stores it and leaving takes it. While it is being
//! entered or left there is none.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_refusal *` is null or may be written to.
//! 3. The pointer in `GUARD` is null or of a box that nobody else has.
#![expect(unsafe_code, reason = "functions under names of their own, and a guard by address")]

use crate::refusal::{Refused, answer, cw_refusal};
use crate::sys::errno;
use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::AcqRel;
use cyclewise::error::Refusal;
use cyclewise::patch::confined::{self, Guard};
use std::boxed::Box;

/// The guard, while the mode is in force.
static GUARD: AtomicPtr<Guard> = AtomicPtr::new(ptr::null_mut());

fn keep(guard: Guard) {
    // AcqRel: pairs with the swaps here and in `take`; the guard's contents go with it.
    // The library gives one guard at a time, so there is none to be replaced.
    GUARD.swap(Box::into_raw(Box::new(guard)), AcqRel);
}

fn take() -> Option<Guard> {
    // AcqRel: as in `keep`.
    let guard = GUARD.swap(ptr::null_mut(), AcqRel);
    // SAFETY: a box that was just taken from where others would find it (Safety 3).
    (!guard.is_null()).then(|| *unsafe { Box::from_raw(guard) })
}

/// Confines every thread of the process to `cpu`, or to the caller's if that is negative, and elides LOCK prefixes.
///
/// Until cw_confined_leave has returned 0: nobody sets the affinity of a thread of this process that exists, by system call, by cpuset
/// or by taking its CPU offline. A thread that is created with an affinity of its own (pthread_attr_setaffinity_np, as libgomp
/// does) restores LOCK until the mode is left and entered again. No other process shares this one's memory map, except children
/// of vfork and posix_spawn. And what cw_enable_single says, whose hooks must be in force.
///
/// Returns 0, or why LOCK stays; affinities are unchanged then. CW_REFUSED_WRONG_MODE if the mode is in force already.
///
/// # Safety
/// What is said above, and Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_confined_enter(cpu: c_int, why: *mut cw_refusal) -> c_int {
    let _errno = errno::keep();
    // SAFETY: the caller promises what the mode needs.
    let entered = unsafe { confined::enter(u32::try_from(cpu).ok()) };
    // SAFETY: Safety 2.
    unsafe { answer(entered.map(keep), why) }
}

/// Restores LOCK, makes every CPU fetch it, and restores each thread's affinity.
///
/// Returns 0, or why the mode stays in force; then it can be called again. CW_REFUSED_LET_OUT: the mode was left, but a
/// thread could run on another CPU before, and updates may be lost. CW_REFUSED_WRONG_MODE: it is not in force, or another
/// thread is entering or leaving it.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_confined_leave(why: *mut cw_refusal) -> c_int {
    let _errno = errno::keep();
    let left = match take() {
        Some(guard) => leave(guard).map_err(Refused::from),
        None => Err(Refused::NotConfined),
    };
    // SAFETY: Safety 2.
    unsafe { answer(left, why) }
}

fn leave(guard: Guard) -> Result<(), Refusal> {
    guard.leave().map_err(|stuck| {
        if !matches!(stuck.refusal, Refusal::LetOut { .. }) {
            keep(stuck.guard);
        }
        stuck.refusal
    })
}

/// Whether the calling thread is on the mode's CPU and no violation was noticed since the mode was entered: a few loads.
///
/// Returns 0, or CW_REFUSED_LET_OUT; LOCK was restored then, and updates may be lost.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_confined_check(why: *mut cw_refusal) -> c_int {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    unsafe { answer(confined::check(), why) }
}

/// Whether every thread's affinity is the mode's CPU: reads the list of threads and makes a system call for each.
///
/// Returns 0, or CW_REFUSED_LET_OUT as cw_confined_check; others if affinities cannot be read.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_confined_audit(why: *mut cw_refusal) -> c_int {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    unsafe { answer(confined::audit(), why) }
}
