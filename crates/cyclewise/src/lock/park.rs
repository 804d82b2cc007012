//! How a waiter that has spun long enough gives up its CPU, and how it is woken.
//!
//! # What an implementation answers for
//! Nothing here can break exclusion. A `wait` that returns too early costs time; one that does not return after its
//! [`wake`](Park::wake) is a thread that hangs.
//!
//! Memory may come to hold another lock while the last release of the one before still looks for sleepers; it then wakes
//! the other's. So where a program has two implementations that sleep, each has to wake the other's sleepers, or their locks
//! keep to memory of their own.
//!
//! # Panics
//! Each function may panic. The panic leaves the lock's operation: a waiter has left the queue and has not got the lock, a
//! holder has released it. A [`wake`](Park::wake) that panics is called once more on the way out, because the sleeper has
//! nobody else; if that panics too, the process ends, as at any second panic.
//!
//! # The barriers
//! A waiter says that it sleeps and then looks whether the lock is free. Who releases the lock stores that it is free
//! and then looks whether anybody sleeps. On each side the look must not come before the store, or both miss each other.
//! Releases are many and sleeps are few, so the pair is lopsided where the system has a call for it: [`light`](Park::light)
//! is nothing but a promise of the compiler's, and [`heavy`](Park::heavy) makes every CPU that runs this process pass
//! a full barrier. Either way: of two threads, one that stores, passes `light` and looks, and one that stores, passes
//! `heavy` and looks, at least one sees the other's store.

use crate::primitive::{AtomicU32, fence, spin_loop};
use core::marker::PhantomData;
use core::mem::forget;
use core::sync::atomic::Ordering::SeqCst;

/// A way to sleep and to wake.
pub trait Park: 'static {
    /// A moment on the clock by which a wait may end; uninhabited where there is no clock.
    type Deadline: Copy;

    /// Whether a waiter ever gives up its CPU. Where not, a release does not look for sleepers.
    const SLEEPS: bool;

    /// Returns when `word` is not `expected`, when it was woken, when `until` is past, or for no reason at all.
    fn wait(word: &AtomicU32, expected: u32, until: Option<Self::Deadline>);

    /// The same, and it returns soon: for waiters whom nobody is going to wake.
    fn nap(word: &AtomicU32, expected: u32, until: Option<Self::Deadline>);

    /// Ends the waits on `word`, which has been changed before.
    fn wake(word: &AtomicU32);

    /// Whether the moment is past.
    fn is_past(until: Self::Deadline) -> bool;

    /// The barrier of who releases a lock.
    #[inline(always)]
    fn light() {
        fence(SeqCst);
    }

    /// The barrier of who goes to sleep. `false`: the system refuses it, so the caller must not sleep for long.
    fn heavy() -> bool {
        fence(SeqCst);
        true
    }
}

/// [`Park::wake`], and where that unwinds once more on the way out.
pub(super) fn wake<P: Park>(word: &AtomicU32) {
    struct Again<'w, P: Park>(&'w AtomicU32, PhantomData<P>);

    impl<P: Park> Drop for Again<'_, P> {
        fn drop(&mut self) {
            P::wake(self.0);
        }
    }

    let again = Again::<P>(word, PhantomData);
    P::wake(word);
    forget(again);
}

/// No moment: without a clock nothing is timed.
#[derive(Clone, Copy, Debug)]
pub enum Never {}

/// Spins, and never sleeps: for programs without an operating system. A thread that is preempted while it holds a lock
/// keeps all waiters' CPUs busy until it runs again.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpinOnly;

impl Park for SpinOnly {
    type Deadline = Never;
    const SLEEPS: bool = false;

    fn wait(_: &AtomicU32, _: u32, _: Option<Never>) {
        spin_loop();
    }

    fn nap(_: &AtomicU32, _: u32, _: Option<Never>) {
        spin_loop();
    }

    fn wake(_: &AtomicU32) {}

    fn is_past(until: Never) -> bool {
        match until {}
    }
}

/// Linux's futex, and membarrier(2) for the barriers.
///
/// # Cost
/// To sleep: two calls of membarrier, the first of which only asks whether the kernel sees the second; an interrupt on
/// each CPU that runs another thread of this process; and one futex call. To wake: one futex call. Where membarrier is
/// refused (before Linux 4.14, or by a filter, also one that answers 0 for the kernel), the first waiter looks every
/// [`NAP_NS`] nanoseconds instead of sleeping until it is woken. Without futex(2) waiters spin.
#[cfg(all(target_os = "linux", not(loom)))]
#[derive(Clone, Copy, Debug, Default)]
pub struct Futex;

/// How long a nap lasts. Long against the calls it takes, short against a time slice.
#[cfg(all(target_os = "linux", not(loom)))]
pub const NAP_NS: u64 = 200_000;

#[cfg(all(target_os = "linux", not(loom)))]
mod futex {
    use super::{Futex, NAP_NS, Park};
    use crate::atomic::AtomicU32;
    use crate::sys::futex::{self, Moment};

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

        #[inline(always)]
        fn light() {
            // The other half is membarrier, which makes this CPU pass a full barrier before or after this place.
            core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
        }

        fn heavy() -> bool {
            crate::sys::membarrier::barrier()
        }
    }
}

#[cfg(all(target_os = "linux", not(loom)))]
pub use crate::sys::futex::Moment;
