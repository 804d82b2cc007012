//! Waiters that sleep in the kernel.

use crate::atomic::AtomicU32;
use crate::lock::Park;
use crate::sys::clock_gettime::known_monotonic_ns;
use crate::sys::futex;
pub use crate::sys::futex::Moment;

/// Linux's futex, and membarrier(2) for the barriers.
///
/// # Cost
/// A sleep: two calls of membarrier, the first of which only checks that calls reach the kernel; an interrupt on
/// each CPU that runs another thread of this process; and one futex call. A wake: one futex call. Where membarrier is
/// refused (before Linux 4.14, or by a filter, even one that answers 0), the head polls the lock every
/// [`NAP_NS`] nanoseconds instead of sleeping until it is woken. Without futex(2) waiters spin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Futex;

/// The length of a nap: long compared with its system calls, short compared with a time slice.
pub const NAP_NS: u64 = 200_000;

impl Park for Futex {
    type Deadline = Moment;
    const SLEEPS: bool = true;

    fn wait(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        futex::wait(word.as_ptr(), expected, until);
    }

    fn nap(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        let soon = Moment::after_ns(NAP_NS);
        let until = until.map_or(soon, |until| until.min(soon));
        futex::wait(word.as_ptr(), expected, Some(until));
    }

    fn wake(word: &AtomicU32) {
        futex::wake(word.as_ptr());
    }

    fn is_past(until: Moment) -> bool {
        until <= Moment::after_ns(0)
    }

    fn now_ns() -> Option<u64> {
        known_monotonic_ns()
    }

    #[inline(always)]
    fn light() {
        // The other half is membarrier, which makes this CPU execute a full barrier before or after this point.
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
    }

    fn heavy() -> bool {
        crate::sys::membarrier::barrier()
    }
}
