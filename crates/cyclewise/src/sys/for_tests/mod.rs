//! What only tests ask of the kernel.
//!
//! # Safety
//! What each function says.
#![expect(unsafe_code, reason = "rseq, to unregister, sigpending, sigismember")]

pub(crate) mod fork;
#[path = "../../../../../fuzz/mangle.rs"]
pub(super) mod mangle;
pub(crate) mod sched_setscheduler;

use super::affinity::CpuSet;
use super::sigaction::{self, Action};
use super::{clock_gettime, rseq, thread};
use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

/// CLOCK_REALTIME, which may be refused: then 0.
pub(crate) fn realtime_ns() -> u64 {
    clock_gettime::read(libc::CLOCK_REALTIME)
}

/// CLOCK_THREAD_CPUTIME_ID: the time that the calling thread has run on a CPU.
pub(crate) fn thread_cpu_ns() -> u64 {
    clock_gettime::read(libc::CLOCK_THREAD_CPUTIME_ID)
}

pub(crate) fn handle(signal: c_int, handler: extern "C" fn(c_int)) {
    let mut action = Action::default();
    action.0.sa_sigaction = handler as *const () as usize;
    sigaction::install(signal, &action).unwrap();
}

/// Sends a signal to the calling thread; false where there is no such signal.
pub(crate) fn raise(signal: c_int) -> bool {
    thread::send(thread::id(), signal).is_ok()
}

/// Whether a signal that the calling thread blocks waits for it.
pub(crate) fn is_pending(signal: c_int) -> bool {
    let mut pending = MaybeUninit::uninit();
    // SAFETY: writes a set.
    assert_eq!(unsafe { libc::sigpending(pending.as_mut_ptr()) }, 0);
    // SAFETY: a set, and the number of a signal.
    unsafe { libc::sigismember(pending.as_ptr(), signal) == 1 }
}

impl CpuSet {
    /// Whether a CPU is in the set.
    pub(crate) fn has(&self, cpu: u32) -> bool {
        let (word, bit) = (cpu / usize::BITS, cpu % usize::BITS);
        self.0.get(word as usize).is_some_and(|word| word & 1 << bit != 0)
    }
}

/// Unregisters the calling thread's area.
///
/// # Safety
/// Nobody uses the thread's area any more, by whatever name.
///
/// # Errors
/// EINVAL where another area is registered, or none.
pub(crate) unsafe fn unregister(area: NonNull<u8>, length: usize, signature: u32) -> Result<(), i32> {
    const UNREGISTER: u32 = 1; // RSEQ_FLAG_UNREGISTER, include/uapi/linux/rseq.h
    // SAFETY: the caller vouches that nobody uses the area any more.
    unsafe { rseq::call(area, length, UNREGISTER, signature) }
}
