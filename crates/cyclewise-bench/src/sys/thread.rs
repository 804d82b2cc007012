//! Threads with nothing but pthread's own cost.
//!
//! A thread of the standard library maps an alternate signal stack and unmaps it as it ends: some 25 µs each, which is
//! a third of a short run of 400 threads.
//!
//! # Invariants
//! 1. A thread runs only while its [`Crew`] lives: dropping joins. Nobody can forget a crew, as [`crew`] only lends it.
//! 2. What a thread runs is boxed, kept by the crew and not moved until every thread is joined. The thread frees
//!    nothing, so that it does not get a heap of its own.
//!
//! # Safety
//! A thread gets a pointer to its work, which Invariants 1 and 2 keep alive and unmoved.
#![expect(
    unsafe_code,
    reason = "pthread_create, pthread_join, and the work behind the pointer"
)]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{io, ptr};

pub type Work<'w> = Box<dyn Fn() + Send + Sync + 'w>;

/// Threads that are joined together.
pub struct Crew<'w> {
    stack: usize,
    running: Vec<libc::pthread_t>,
    /// The outer box gives the thread a thin pointer.
    #[expect(
        clippy::vec_box,
        reason = "the thread holds a pointer to the inner box (Invariant 2)"
    )]
    work: Vec<Box<Work<'w>>>,
    panicked: usize,
}

/// The smallest stack a thread may have: 16 KiB on x86-64, 128 KiB on AArch64.
pub const LEAST_STACK: usize = libc::PTHREAD_STACK_MIN;

/// Runs `body` with a crew whose threads have stacks of `stack` bytes, and joins them all.
pub fn crew<'w, R>(stack: usize, body: impl FnOnce(&mut Crew<'w>) -> R) -> R {
    let mut crew = Crew {
        stack,
        running: Vec::new(),
        work: Vec::new(),
        panicked: 0,
    };
    body(&mut crew)
}

extern "C" fn main(work: *mut c_void) -> *mut c_void {
    // SAFETY: `Crew::spawn` passed a pointer to a `Work` that outlives us (Invariants 1 and 2).
    let work = unsafe { &*work.cast_const().cast::<Work<'_>>() };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(()) => ptr::null_mut(),
        Err(_) => ptr::without_provenance_mut(1), // not null: it panicked
    }
}

impl<'w> Crew<'w> {
    /// Starts a thread.
    ///
    /// # Errors
    /// EAGAIN at a limit of tasks; EINVAL where the stack is smaller than the least there is.
    pub fn spawn(&mut self, work: Work<'w>) -> io::Result<()> {
        let check = |rc: libc::c_int| match rc {
            0 => Ok(()),
            errno => Err(io::Error::from_raw_os_error(errno)),
        };
        let work = Box::new(work);
        let argument = ptr::from_ref::<Work<'w>>(&work).cast_mut().cast::<c_void>();
        let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
        // SAFETY: initialises what is ours.
        check(unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) })?;
        // SAFETY: initialised above.
        let sized = check(unsafe { libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), self.stack) });
        let mut id = MaybeUninit::<libc::pthread_t>::uninit();
        let started = sized.and_then(|()| {
            // SAFETY: the attributes are initialised, and `main` gets what it expects (Invariants 1 and 2).
            check(unsafe { libc::pthread_create(id.as_mut_ptr(), attributes.as_ptr(), main, argument) })
        });
        // SAFETY: initialised above, and used no more.
        unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
        started?;
        self.work.push(work);
        // SAFETY: pthread_create succeeded, so it has written the id.
        self.running.push(unsafe { id.assume_init() });
        Ok(())
    }

    /// Joins them all, in the order they were started. Returns how many panicked.
    pub fn join_all(&mut self) -> usize {
        for id in self.running.drain(..) {
            let mut result = ptr::null_mut();
            // SAFETY: a thread of ours that is neither joined nor detached.
            unsafe { libc::pthread_join(id, &mut result) };
            self.panicked += usize::from(!result.is_null());
        }
        self.panicked
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        self.join_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::Ordering::Relaxed;

    const STACK: usize = 256 * 1024; // a panic prints

    #[test]
    fn every_thread_has_run_when_the_crew_is_gone() {
        let count = AtomicU32::new(0);
        crew(STACK, |crew| {
            for _ in 0..50 {
                let work = || {
                    count.fetch_add(1, Relaxed);
                };
                crew.spawn(Box::new(work)).unwrap();
            }
        });
        assert_eq!(count.into_inner(), 50);
    }

    #[test]
    fn a_panic_is_counted_and_stays_in_its_thread() {
        let panicked = crew(STACK, |crew| {
            crew.spawn(Box::new(|| ())).unwrap();
            crew.spawn(Box::new(|| std::panic::resume_unwind(Box::new(()))))
                .unwrap();
            crew.join_all()
        });
        assert_eq!(panicked, 1);
    }

    #[test]
    fn a_stack_too_small_is_refused() {
        assert!(crew(1, |crew| crew.spawn(Box::new(|| ()))).is_err());
    }
}
