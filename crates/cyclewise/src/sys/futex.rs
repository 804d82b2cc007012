//! futex(2): waiting for a word to change, within this process.
//!
//! Errors are not told apart: a wait that failed has returned early, which every caller allows for, and a wake that
//! failed had nobody to wake. An address that is not mapped is EFAULT, so these take pointers and are safe. errno is left
//! as it was: a lock is taken in signal handlers, and between a call that failed and the look at why.
//!
//! # References
//! Linux kernel/futex/waitwake.c; futex(2): `FUTEX_WAIT_BITSET` takes the deadline as a moment of `CLOCK_MONOTONIC`.
//!
//! # Safety
//! 1. The kernel reads 4 bytes at the word's address, or fails, and writes nothing there.
//! 2. The time is read from, or written to, a structure of ours that lives as long as the call.
#![expect(unsafe_code, reason = "futex has no wrapper in libc")]

use core::ptr::{null, null_mut};

use super::errno::kept;

const SECOND_NS: u64 = 1_000_000_000;

/// A moment of `CLOCK_MONOTONIC`, in nanoseconds: a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

impl Moment {
    /// So many nanoseconds from now; the end of time where that is too far.
    #[must_use]
    pub fn after_ns(ns: u64) -> Self {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes one timespec (Invariant 2). The clock exists on every Linux, so this does not fail.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        let now = (now.tv_sec as u64) * SECOND_NS + now.tv_nsec as u64;
        Self(now.saturating_add(ns))
    }

    fn timespec(self) -> libc::timespec {
        libc::timespec {
            tv_sec: (self.0 / SECOND_NS) as _, // libc is about to change the name of the type on musl
            tv_nsec: (self.0 % SECOND_NS) as libc::c_long,
        }
    }
}

/// Sleeps while the word is `expected`, until woken or until the moment; returns at once where it is not.
pub(crate) fn wait(word: *const u32, expected: u32, until: Option<Moment>) {
    let until = until.map(Moment::timespec);
    let timeout = until.as_ref().map_or(null(), |until| &raw const *until);
    let operation = libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG;
    let any = u32::MAX; // FUTEX_BITSET_MATCH_ANY
    let second = null_mut::<u32>();
    // SAFETY: the kernel reads the word or fails (Invariant 1), and reads `until`, which lives to the end (Invariant 2).
    kept(|| unsafe { libc::syscall(libc::SYS_futex, word, operation, expected, timeout, second, any) });
}

/// Wakes whoever sleeps on the word.
pub(crate) fn wake(word: *const u32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: Invariant 1; the address may be anybody's by now, and is only compared.
    kept(|| unsafe { libc::syscall(libc::SYS_futex, word, operation, i32::MAX) });
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_wait_ends_at_the_moment_and_not_before() {
        let word = AtomicU32::new(1);
        let until = Moment::after_ns(2_000_000);
        while Moment::after_ns(0) < until {
            wait(word.as_ptr(), 1, Some(until));
        }
        assert!(Moment::after_ns(0) >= until);
    }

    #[test]
    fn a_changed_word_is_not_waited_for() {
        let word = AtomicU32::new(2);
        wait(word.as_ptr(), 1, None);
    }

    #[test]
    fn a_sleeper_is_woken() {
        static WORD: AtomicU32 = AtomicU32::new(0);
        let sleeper = std::thread::spawn(|| {
            while WORD.load(Ordering::Acquire) == 0 {
                wait(WORD.as_ptr(), 0, None);
            }
        });
        WORD.store(1, Ordering::Release);
        wake(WORD.as_ptr());
        sleeper.join().unwrap();
    }

    #[test]
    fn the_end_of_time_is_far() {
        let end = Moment::after_ns(u64::MAX);
        assert!(end > Moment::after_ns(u64::MAX / 2));
        let spec = end.timespec();
        assert!(spec.tv_sec > 0 && spec.tv_nsec < SECOND_NS as libc::c_long);
    }
}
