//! Read-copy update: sections of reads, and functions that are called when no section is open that may have begun before.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
#![expect(
    unsafe_code,
    reason = "functions under names of their own, ends of sections that the caller guarantees"
)]

use crate::sys::errno;
use core::ffi::c_void;
use cyclewise::rcu;

/// Begins a section of reads; sections nest. What is loaded by an acquiring or consuming load in a section is not freed before its end, if
/// writers free it by cw_rcu_defer or after cw_rcu_synchronize. Two stores with the end, where membarrier(2) is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn cw_rcu_read_lock() {
    // A section keeps errno itself, where it does more than store.
    core::mem::forget(rcu::read());
}

/// Ends the calling thread's innermost section.
///
/// # Safety
/// The thread is in a section.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_rcu_read_unlock() {
    // SAFETY: the guard was forgotten in `cw_rcu_read_lock`; guaranteed by the caller.
    unsafe { rcu::force_end() };
}

/// Registers the calling thread, as its first section would: then its signal handlers may begin sections.
#[unsafe(no_mangle)]
pub extern "C" fn cw_rcu_register() {
    let _errno = errno::keep();
    rcu::register();
}

/// Returns when every section has ended that was open at the call. In a section it ends the process, with a line.
#[unsafe(no_mangle)]
pub extern "C" fn cw_rcu_synchronize() {
    let _errno = errno::keep();
    rcu::synchronize();
}

/// Has `function` called with `argument` after every section has ended that is open now, on any thread that calls this function or
/// cw_rcu_barrier. Its library stays mapped from now on. It takes no lock that is held around calls of this function. Where more than 4096 wait,
/// the call waits.
///
/// # Safety
/// The function may be called with the argument on any thread, and returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_rcu_defer(function: Option<unsafe extern "C" fn(*mut c_void)>, argument: *mut c_void) {
    let _errno = errno::keep();
    if let Some(function) = function {
        // SAFETY: guaranteed by the caller.
        unsafe { rcu::defer_call(function, argument) };
    }
}

/// Returns when all functions that were deferred before have been called. In a section, and in such a function, it ends the process.
#[unsafe(no_mangle)]
pub extern "C" fn cw_rcu_barrier() {
    let _errno = errno::keep();
    rcu::barrier();
}

/// How many functions wait, about.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_rcu_pending() -> usize {
    let _errno = errno::keep();
    rcu::pending()
}
