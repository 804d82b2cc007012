//! The calling thread's errno, which no function of this library changes.
//!
//! Functions for signal handlers do not change it in the library; the others keep it by a [`Kept`], since they allocate, or make
//! system calls that may fail.
//!
//! # Safety
//! 1. `__errno_location` gives a valid pointer to an integer that only the calling thread uses.
#![expect(unsafe_code, reason = "errno is behind a foreign function")]

use core::ffi::c_int;
use core::marker::PhantomData;

unsafe extern "C" {
    safe fn __errno_location() -> *mut c_int;
}

/// Gives errno the value back that it had, when this is dropped, on the same thread.
#[must_use = "errno is as it was when this is dropped"]
pub(crate) struct Kept(c_int, PhantomData<*const ()>);

/// Keeps errno until the result is dropped.
pub(crate) fn keep() -> Kept {
    // SAFETY: Safety 1.
    Kept(unsafe { __errno_location().read() }, PhantomData)
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: Safety 1.
        unsafe { __errno_location().write(self.0) };
    }
}
