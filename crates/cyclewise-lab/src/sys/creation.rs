//! Creating a thread and waiting for it, by the function that the program is bound to and by the C library's own.
//!
//! Where the program has hooks (`cyclewise::enable_single!`), the two differ by the hook.
//!
//! # Safety
//! 1. dlsym's answer for `pthread_create` is a function of that type.
//! 2. The thread function takes and returns null and touches nothing; the thread is joined once.
#![expect(unsafe_code, reason = "pthread_create, pthread_join, dlsym")]

use std::ffi::c_void;
use std::io;

type Start = extern "C" fn(*mut c_void) -> *mut c_void;
type Create =
    unsafe extern "C" fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Start, *mut c_void) -> libc::c_int;

extern "C" fn nothing(argument: *mut c_void) -> *mut c_void {
    argument
}

/// A way to create threads.
#[derive(Clone, Copy)]
pub struct Creator(Create);

impl Creator {
    /// What the program is bound to: its hook, if it has one.
    pub fn bound() -> Self {
        Self(libc::pthread_create)
    }

    /// The C library's own, behind any hook.
    pub fn behind() -> Option<Self> {
        // SAFETY: a C string, and the search order behind this program.
        let real = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) };
        if real.is_null() {
            return None;
        }
        // SAFETY: Invariant 1.
        Some(Self(unsafe { std::mem::transmute::<*mut c_void, Create>(real) }))
    }

    /// Creates a thread that does nothing, and joins it.
    ///
    /// # Errors
    /// EAGAIN at a limit of tasks.
    pub fn create_and_join(self) -> io::Result<()> {
        let mut thread: libc::pthread_t = 0;
        // SAFETY: Invariant 2; null attributes are the default ones.
        let rc = unsafe { (self.0)(&mut thread, std::ptr::null(), nothing, std::ptr::null_mut()) };
        if rc != 0 {
            return Err(io::Error::from_raw_os_error(rc));
        }
        // SAFETY: Invariant 2.
        match unsafe { libc::pthread_join(thread, std::ptr::null_mut()) } {
            0 => Ok(()),
            rc => Err(io::Error::from_raw_os_error(rc)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_make_threads() {
        Creator::bound().create_and_join().unwrap();
        Creator::behind().unwrap().create_and_join().unwrap();
    }
}
