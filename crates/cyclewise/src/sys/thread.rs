//! The calling thread: its ids, and sleeping.
//!
//! # Safety
//! 1. gettid, tgkill and pthread_self take numbers or nothing.
#![expect(unsafe_code, reason = "gettid, tgkill, pthread_self, nanosleep")]

use super::cancellation::held_off;
use super::{errno, process};

/// The kernel's id of the calling thread, never 0. By number, as glibc has `gettid` only since 2.30.
pub(crate) fn id() -> i32 {
    // SAFETY: Invariant 1.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 }
}

/// Whether the calling thread is its process's first, which in a child of fork is the one that forked.
pub(crate) fn is_first() -> bool {
    id().cast_unsigned() == process::id()
}

/// Whether `tid` is no thread of this process: it has ended, or fork did not copy it.
pub(crate) fn is_gone(tid: i32) -> bool {
    // Signal 0 only checks. Any other answer, such as a filter's EPERM, proves nothing.
    send(tid, 0) == Err(libc::ESRCH)
}

/// Sends a signal to a thread of this process. Preserves errno.
///
/// # Errors
/// The kernel's errno.
pub(super) fn send(tid: i32, signal: i32) -> Result<(), i32> {
    errno::preserve(|| {
        // SAFETY: Invariant 1.
        let rc = unsafe { libc::syscall(libc::SYS_tgkill, process::id(), tid, signal) };
        if rc == 0 { Ok(()) } else { Err(errno::get()) }
    })
}

/// The C library's id of the calling thread, mixed into 32 bits: the same for every copy of this crate, and in a child of fork for
/// the thread that forked. Two running threads have the same by chance only, once in 2^32 pairs.
pub(crate) fn token() -> u32 {
    // SAFETY: Invariant 1; the number may be an address, which nobody dereferences.
    mixed(unsafe { libc::pthread_self() } as u64)
}

/// All 64 bits mixed into 32, by the finalizer of MurmurHash3 (fmix64). Stacks may be any distance apart, so no bits can be left out.
pub(super) const fn mixed(mut thread: u64) -> u32 {
    thread ^= thread >> 33;
    thread = thread.wrapping_mul(0xff51_afd7_ed55_8ccd);
    thread ^= thread >> 33;
    thread = thread.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (thread >> 32) as u32
}

/// Sleeps for about as long as a change of the text takes. Preserves errno.
pub(crate) fn nap() {
    sleep_ns(50_000);
}

/// Sleeps, for less than a second. Preserves errno.
pub(super) fn sleep_ns(ns: u32) {
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: ns as _,
    };
    // SAFETY: reads the time, and writes the remaining time nowhere.
    errno::preserve(|| held_off(|| unsafe { libc::nanosleep(&raw const time, core::ptr::null_mut()) }));
}
