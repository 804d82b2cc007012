//! Link units of C and their static keys, which <cyclewise/unit.h> and <cyclewise/key.h> describe to the library.
//!
//! Those headers declare the functions, since they are used without the library too.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_unit *` is null or the descriptor that the headers make of the caller's link unit; a `struct cw_key *` is a key
//!    of that unit.
#![expect(
    unsafe_code,
    reason = "functions under names of their own, and descriptors by address"
)]

use crate::refusal::{Refused, answer};
use crate::sys::errno;
use core::ffi::c_int;
use core::ptr;
use cyclewise::patch::units::{self, Key, Unit};

/// Asks for a link unit's sites to be patched with the program's. The constructor that the headers make calls it.
///
/// Returns 0 if they are from now on, or why LOCK stays in them: `CW_REFUSED_NOT_NOW`, until the program elides the next time,
/// or `CW_REFUSED_BAD_UNIT`.
///
/// # Safety
/// Safety 2; the unit stays loaded until its destructor has run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_unit_register(unit: *mut Unit) -> c_int {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    let adopted = match unsafe { units::register(unit) } {
        Ok(true) => Ok(()),
        Ok(false) => Err(Refused::NotNow),
        Err(refusal) => Err(refusal.into()),
    };
    // SAFETY: null.
    unsafe { answer(adopted, ptr::null_mut()) }
}

/// Changes a static key: 0 disables and 1 enables it, 2 adds a user and 3 removes one. It is on while it is enabled or has users.
///
/// Returns 0, or why the key is unchanged; `CW_REFUSED_ARGUMENT` for another change.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_key_set(unit: *mut Unit, key: *mut Key, change: c_int) -> c_int {
    let _errno = errno::keep();
    let changed = match change {
        // SAFETY: Safety 2.
        0 | 1 => unsafe { units::key_set(unit, key, change == 1) },
        // SAFETY: Safety 2.
        2 => unsafe { units::key_inc(unit, key) },
        // SAFETY: Safety 2.
        3 => unsafe { units::key_dec(unit, key) },
        _ => {
            let refused = Refused::Argument("a static key has four changes: disable, enable, inc and dec");
            // SAFETY: null.
            return unsafe { answer(Err::<(), _>(refused), ptr::null_mut()) };
        }
    };
    // SAFETY: null.
    unsafe { answer(changed, ptr::null_mut()) }
}
