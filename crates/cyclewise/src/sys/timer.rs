//! timer_create(2): a signal to the calling thread, once, after a short time.
//!
//! By number: programs of `patch` have a hook in the C library's function.
//!
//! # Safety
//! 1. The kernel reads and writes the structures that it is given, and knows the timer by the number that it gave.
#![expect(unsafe_code, reason = "timer_create, timer_settime, timer_delete")]

use super::thread;
use core::ffi::c_int;

/// A timer, which is deleted when this is dropped.
pub(crate) struct Timer(c_int);

impl Timer {
    /// Sends the signal to the calling thread after so many nanoseconds, less than a second. `None` where the kernel or a filter refuses.
    pub(crate) fn once(signal: c_int, after_ns: u32) -> Option<Self> {
        // SAFETY: all zeroes is valid.
        let mut event: libc::sigevent = unsafe { core::mem::zeroed() };
        event.sigev_signo = signal;
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_notify_thread_id = thread::id();
        let mut number: c_int = -1;
        // SAFETY: Invariant 1.
        let rc = unsafe {
            libc::syscall(
                libc::SYS_timer_create,
                libc::CLOCK_MONOTONIC,
                &raw const event,
                &raw mut number,
            )
        };
        // A filter that answers 0 has written no number.
        if rc != 0 || number < 0 {
            return None;
        }
        let timer = Self(number);
        let mut time = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: libc::timespec { tv_sec: 0, tv_nsec: 0 },
        };
        time.it_value.tv_nsec = after_ns as libc::c_long;
        let nothing = core::ptr::null_mut::<libc::itimerspec>();
        // SAFETY: Invariant 1; the earlier time is not wanted.
        let rc = unsafe { libc::syscall(libc::SYS_timer_settime, timer.0, 0, &raw const time, nothing) };
        (rc == 0).then_some(timer)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: Invariant 1.
        unsafe { libc::syscall(libc::SYS_timer_delete, self.0) };
    }
}
