//! futex(2): waiting for a word to change, within this process.
//!
//! [`wait`] and [`wake`] return no errors: a wait that failed has returned early, which every caller allows for, and a wake
//! that failed had nobody to wake. An address that is not mapped is EFAULT, so these functions take pointers and are safe.
//! They preserve errno: a lock is taken in signal handlers, and between a call that failed and a look at its errno.
//!
//! # References
//! Linux kernel/futex/waitwake.c (futex_atomic_op_inuser); futex(2): `FUTEX_WAIT_BITSET` takes the deadline by
//! `CLOCK_MONOTONIC`.
//!
//! # Safety
//! 1. Waiting and waking: the kernel reads 4 bytes at the word's address, or fails, and writes nothing there.
//! 2. The kernel reads the deadline from a structure that lives as long as the call.
//! 3. FUTEX_WAKE_OP with OR and 0 leaves the word as it is, in one atomic store, and wakes only waiters of its two words.
#![expect(unsafe_code, reason = "futex has no wrapper in libc")]

use super::clock_gettime::monotonic_ns;
use super::errno::{self, preserve};
use core::ptr::{null, null_mut};
use core::sync::atomic::AtomicU32;

pub(super) const SECOND_NS: u64 = 1_000_000_000;

/// A moment of `CLOCK_MONOTONIC`, in nanoseconds: a deadline.
///
/// # Examples
/// ```
/// use cyclewise::lock::Moment;
///
/// assert!(Moment::after_ns(1_000_000) > Moment::after_ns(0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

impl Moment {
    /// `ns` nanoseconds from now, or the last moment there is.
    #[must_use]
    pub fn after_ns(ns: u64) -> Self {
        Self(monotonic_ns().saturating_add(ns))
    }

    pub(super) fn timespec(self) -> libc::timespec {
        libc::timespec {
            tv_sec: (self.0 / SECOND_NS) as _, // libc is about to change the name of the type on musl
            tv_nsec: (self.0 % SECOND_NS) as libc::c_long,
        }
    }
}

/// Sleeps until woken or until the deadline; returns at once where the word is not `expected`.
pub(crate) fn wait(word: *const u32, expected: u32, until: Option<Moment>) {
    let until = until.map(Moment::timespec);
    let timeout = until.as_ref().map_or(null(), |until| &raw const *until);
    let operation = libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG;
    let any = u32::MAX; // FUTEX_BITSET_MATCH_ANY
    let second = null_mut::<u32>();
    // SAFETY: the kernel reads the word or fails (Invariant 1), and reads `until`, which lives to the end (Invariant 2).
    preserve(|| unsafe { libc::syscall(libc::SYS_futex, word, operation, expected, timeout, second, any) });
}

/// Wakes every sleeper on the word.
pub(crate) fn wake(word: *const u32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: Invariant 1; the address may be anybody's by now, and is only compared.
    preserve(|| unsafe { libc::syscall(libc::SYS_futex, word, operation, i32::MAX) });
}

/// Whether a store to the word at `address`, which is aligned, would fault. FUTEX_WAKE_OP stores by the page's protection and
/// returns EFAULT where that forbids it. False where futex(2) itself is forbidden.
pub(super) fn refuses_stores(address: usize) -> bool {
    const OR_NOTHING: libc::c_int = libc::FUTEX_OP_OR << 28; // FUTEX_OP(OR, 0, EQ, 0), include/uapi/linux/futex.h
    let nobody_waits_here = AtomicU32::new(0);
    let first = nobody_waits_here.as_ptr();
    let operation = libc::FUTEX_WAKE_OP | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word stays as it is, and nobody is woken (Invariant 3).
    let woken = unsafe { libc::syscall(libc::SYS_futex, first, operation, 0, 0_usize, address, OR_NOTHING) };
    woken < 0 && errno::get() == libc::EFAULT
}
