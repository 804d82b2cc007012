//! pthread_create(3), by the symbol that the program is bound to and by the C library's own.
//!
//! Where the program has hooks (`cyclewise::enable_single!`), the two differ by the hook.
//!
//! # Safety
//! 1. dlsym's answer for `pthread_create` is a function of that type.
//! 2. The thread function takes and returns null and touches nothing; the thread is joined once.
//! 3. A child of fork creates threads, joins them, reads the clock and stores a number. The C library keeps its allocator and
//!    its lists of threads usable in the child.
#![expect(unsafe_code, reason = "pthread_create, pthread_join, fork")]

use super::dlsym;
use super::process::{Fork, fork};
use super::shared_atomics::SharedAtomics;
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

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
    pub(crate) fn behind() -> Option<Self> {
        let real = dlsym::next(c"pthread_create")?;
        // SAFETY: Invariant 1.
        Some(Self(unsafe { std::mem::transmute::<NonNull<c_void>, Create>(real) }))
    }

    /// Creates a thread that does nothing.
    ///
    /// # Errors
    /// EAGAIN at a limit of tasks.
    pub(crate) fn create(self) -> io::Result<Created> {
        let mut thread: libc::pthread_t = 0;
        // SAFETY: Invariant 2; null attributes are the default ones.
        match unsafe { (self.0)(&mut thread, std::ptr::null(), nothing, std::ptr::null_mut()) } {
            0 => Ok(Created(thread)),
            rc => Err(io::Error::from_raw_os_error(rc)),
        }
    }

    /// Nanoseconds of a creation, the mean of `count` in a child process; joining is not timed.
    ///
    /// In a child, because a thread that has created one behind the hooks never elides LOCK again, and other rows do.
    ///
    /// # Errors
    /// EAGAIN at a limit of tasks; what ended the child.
    pub(crate) fn timed_in_child(self, count: u32) -> io::Result<f64> {
        /// When a child that hangs is ended.
        const LIMIT_S: u32 = 60;
        let spent = SharedAtomics::<AtomicU64>::zeroed(1)?;
        // SAFETY: Invariant 3.
        let child = match unsafe { fork(LIMIT_S) }? {
            Fork::Parent(child) => child,
            Fork::Child(me) => me.exit(match self.timed(count) {
                Ok(ns) => {
                    // Relaxed: read after the child was waited for.
                    spent[0].store(ns, Relaxed);
                    0
                }
                // Errors of these calls are below 256.
                Err(e) => e.raw_os_error().unwrap_or(libc::EIO) as u8,
            }),
        };
        match child.wait()?.code() {
            Some(0) => Ok(spent[0].load(Relaxed) as f64 / f64::from(count)),
            Some(errno) => Err(io::Error::from_raw_os_error(errno)),
            None => Err(io::Error::other("a signal ended the process that created it")),
        }
    }

    /// Nanoseconds of `count` creations.
    fn timed(self, count: u32) -> io::Result<u64> {
        // The first touches what the fork has left to be copied.
        self.create()?.join()?;
        let mut spent = 0;
        for _ in 0..count {
            let begun = Instant::now();
            let thread = self.create()?;
            spent += begun.elapsed().as_nanos() as u64;
            thread.join()?;
        }
        Ok(spent)
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
                Created(thread).join()?;
                Err(io::Error::other("a thread with an impossible guard was created"))
            }
            rc => Err(io::Error::from_raw_os_error(rc)),
        }
    }
}

/// A thread to be joined.
#[must_use = "a thread that is not joined stays"]
pub(crate) struct Created(libc::pthread_t);

impl Created {
    /// Waits for it.
    ///
    /// # Errors
    /// None for a thread of ours.
    pub(crate) fn join(self) -> io::Result<()> {
        // SAFETY: Invariant 2.
        match unsafe { libc::pthread_join(self.0, std::ptr::null_mut()) } {
            0 => Ok(()),
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
    fn both_ways_make_threads() {
        Creator::bound().create().unwrap().join().unwrap();
        Creator::behind().unwrap().create().unwrap().join().unwrap();
    }

    #[test]
    fn both_ways_are_timed_in_a_child() {
        for creator in [Creator::bound(), Creator::behind().unwrap()] {
            let ns = creator.timed_in_child(3).unwrap();
            // Longer than an instruction, and less than the limit of the child.
            assert!(ns > 1.0 && ns < 60e9, "{ns}");
        }
    }

    #[test]
    fn both_ways_refuse_an_impossible_guard() {
        Creator::bound().refused().unwrap();
        Creator::behind().unwrap().refused().unwrap();
    }
}
