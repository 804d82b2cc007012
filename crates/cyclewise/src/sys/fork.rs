//! What a child of fork does before fork returns in it.
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
