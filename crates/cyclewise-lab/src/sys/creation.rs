//! pthread_create(3), by the symbol that the program is bound to and by the C library's own.
//!
//! Where the program has hooks (`cyclewise::enable_single!`), the two differ by the hook.
//!
//! # Safety
//! 1. dlsym's answer for `pthread_create` is a function of that type.
//! 2. The thread function takes and returns null and touches nothing; a thread that is created is joined once.
#![expect(unsafe_code, reason = "pthread_create, pthread_join")]

use super::dlsym;
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

type Start = extern "C" fn(*mut c_void) -> *mut c_void;
type Create =
    unsafe extern "C" fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Start, *mut c_void) -> libc::c_int;

extern "C" fn nothing(argument: *mut c_void) -> *mut c_void {
    argument
}

/// A way to create threads.
#[derive(Clone, Copy)]
pub(crate) struct Creator(Create);

impl Creator {
    /// The symbol that the program is bound to: its hook, if it has one.
    pub(crate) fn bound() -> Self {
        Self(libc::pthread_create)
    }

    /// The C library's own, behind any hook.
    pub(crate) fn behind() -> io::Result<Self> {
        let none = || io::Error::other("dlsym finds no pthread_create behind this program's");
        let real = dlsym::next(c"pthread_create").ok_or_else(none)?;
        // SAFETY: Invariant 1.
        Ok(Self(unsafe { std::mem::transmute::<NonNull<c_void>, Create>(real) }))
    }

    /// Asks for a thread whose guard is larger than the address space, which glibc refuses before it does anything else.
    ///
    /// # Errors
    /// Any answer but EINVAL.
    pub(crate) fn refused(self) -> io::Result<()> {
        let attributes = Attributes::impossible();
        let mut thread: libc::pthread_t = 0;
        // SAFETY: Invariant 2; the attributes are initialized.
        match unsafe { (self.0)(&mut thread, &attributes.0, nothing, std::ptr::null_mut()) } {
            libc::EINVAL => Ok(()),
            0 => {
                // SAFETY: Invariant 2.
                unsafe { libc::pthread_join(thread, std::ptr::null_mut()) };
                Err(io::Error::other("a thread with an impossible guard was created"))
            }
            rc => Err(io::Error::from_raw_os_error(rc)),
        }
    }
}

struct Attributes(libc::pthread_attr_t);

impl Attributes {
    fn impossible() -> Self {
        // SAFETY: all zeroes is a valid value, and is initialized next.
        let mut attributes = Self(unsafe { std::mem::zeroed() });
        // SAFETY: room for attributes.
        unsafe { libc::pthread_attr_init(&mut attributes.0) };
        // SAFETY: initialized.
        unsafe { libc::pthread_attr_setguardsize(&mut attributes.0, usize::MAX) };
        attributes
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialized, and destroyed once.
        unsafe { libc::pthread_attr_destroy(&mut self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_refuse_an_impossible_guard() {
        Creator::bound().refused().unwrap();
        Creator::behind().unwrap().refused().unwrap();
    }
}
