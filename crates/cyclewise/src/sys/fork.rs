//! What is done around a fork, and in its child before fork returns in it.
//!
//! # Safety
//! The C library keeps the function for as long as the link unit that registered it is loaded (Invariant 1).
#![expect(unsafe_code, reason = "pthread_atfork")]

use crate::error::Refusal;

/// Has every child of fork(3) call `function`. Not those of vfork, posix_spawn and bare clone(2).
///
/// # Errors
/// ENOMEM.
pub(crate) fn in_child(function: extern "C" fn()) -> Result<(), Refusal> {
    // SAFETY: Invariant 1; the function takes nothing.
    match unsafe { libc::pthread_atfork(None, None, Some(function)) } {
        0 => Ok(()),
        errno => Err(Refusal::System {
            call: "pthread_atfork",
            errno,
        }),
    }
}

/// Has every fork(3) call `before` in the thread that forks, and `after` in parent and child. Not vfork, posix_spawn,
/// `_Fork` and bare clone(2).
///
/// # Errors
/// ENOMEM.
#[cfg(target_pointer_width = "64")]
pub(crate) fn around(
    before: extern "C" fn(),
    in_parent: extern "C" fn(),
    in_child: extern "C" fn(),
) -> Result<(), Refusal> {
    // SAFETY: Invariant 1; the functions take nothing.
    match unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) } {
        0 => Ok(()),
        errno => Err(Refusal::System {
            call: "pthread_atfork",
            errno,
        }),
    }
}
