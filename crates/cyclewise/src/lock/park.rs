//! How waiters sleep and are woken.
//!
//! # What an implementation must do
//! No implementation can break exclusion. A `wait` that returns too early costs time; if one does not return after its
//! [`wake`](Park::wake), its thread hangs.
//!
//! While a release still looks for sleepers, the lock's memory may be reused for another lock, and the release then wakes
//! that lock's sleeper. So if a program has two implementations that sleep, each must be able to wake the other's sleepers, or their locks
//! must not share memory.
//!
//! # Panics
//! Each function may panic. The panic leaves the lock's operation: a waiter has left the queue without the lock, a
//! holder has released it. A [`wake`](Park::wake) that panics is called once more during the unwinding, because no other thread would wake
//! the sleeper; if that panics too, the process aborts.
//!
//! # The barriers
//! A waiter registers as asleep and then loads the lock. A release stores to the lock
//! and then checks for sleepers. On neither side may the load come before the store, or both miss each other.
//! Releases are frequent and sleeps are rare, so the pair is asymmetric where the system has a call for it: [`light`](Park::light)
//! is a compiler fence only, and [`heavy`](Park::heavy) makes every CPU that runs this process execute
//! a full barrier. In any case, if one thread stores, calls `light` and loads, and another stores, calls
//! `heavy` and loads, at least one of them sees the other's store.

use crate::primitive::{AtomicU32, fence, spin_loop};
use core::marker::PhantomData;
use core::mem::forget;
use core::sync::atomic::Ordering::SeqCst;

/// A way to sleep and to wake.
pub trait Park: 'static {
    /// A moment at which a wait may end; uninhabited without a clock.
    type Deadline: Copy;

    /// Whether waiters ever sleep. If not, a release does not check for sleepers.
    const SLEEPS: bool;

    /// Returns when `word` is not `expected`, after a wake, when `until` is past, or spuriously.
    fn wait(word: &AtomicU32, expected: u32, until: Option<Self::Deadline>);

    /// The same, but returns soon: for waiters that no thread will wake.
    fn nap(word: &AtomicU32, expected: u32, until: Option<Self::Deadline>);

    /// Ends the waits on `word`, which was changed before.
    fn wake(word: &AtomicU32);

    /// Whether the moment is past.
    fn is_past(until: Self::Deadline) -> bool;

    /// The time in nanoseconds since some moment, by a clock that does not go back; `None` without one. Releases read it to bound
    /// the time for which running threads pass a waiter: see "Fairness" in [`lock`](super).
    fn now_ns() -> Option<u64> {
        None
    }

    /// The barrier of a release.
    #[inline(always)]
    fn light() {
        fence(SeqCst);
    }

    /// The barrier before a sleep. `false`: the system refuses it, so the caller must not sleep for long.
    fn heavy() -> bool {
        fence(SeqCst);
        true
    }
}

/// [`Park::wake`], and once more if that unwinds.
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

/// A deadline that does not exist: there is no clock.
#[derive(Clone, Copy, Debug)]
pub enum Never {}

/// Spins and never sleeps: for programs without an operating system. If a holder is preempted, all waiters
/// keep their CPUs busy until it runs again.
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
