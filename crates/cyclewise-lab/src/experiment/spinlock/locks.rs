//! The locks, each as one function that runs a section under it.

use cyclewise::lock::{self, SpinLock, SpinLockWith};
use spin::mutex::{SpinMutex, TicketMutex};
use std::sync::{Mutex, PoisonError};

/// A lock under test.
pub(super) trait Lock: Send + Sync + 'static {
    const NAME: &str;

    /// A lock for this many threads.
    fn new(threads: usize) -> Self;

    /// Runs `section` under the lock, as thread number `thread`.
    fn section(&self, thread: usize, section: impl FnOnce());
}

macro_rules! locks {
    ($($(#[$doc:meta])* $name:ident: $rows:literal, $lock:ty, $new:expr, $enter:expr;)*) => { $(
        $(#[$doc])*
        pub(super) struct $name($lock);

        impl Lock for $name {
            const NAME: &str = $rows;

            fn new(_: usize) -> Self {
                Self($new(()))
            }

            #[inline(always)]
            fn section(&self, _: usize, section: impl FnOnce()) {
                let _guard = $enter(&self.0);
                section();
            }
        }
    )* };
}

locks! {
    /// cyclewise's spinlock.
    Cyclewise: "cyclewise", SpinLock<()>, SpinLock::new, SpinLock::lock;
    /// cyclewise's spinlock, with waiters that never sleep.
    CyclewiseSpinOnly: "cyclewise-spin-only", SpinLockWith<(), lock::SpinOnly>, SpinLockWith::new, SpinLockWith::lock;
    /// `parking_lot::Mutex`.
    ParkingLot: "parking-lot", parking_lot::Mutex<()>, parking_lot::Mutex::new, parking_lot::Mutex::lock;
    /// `std::sync::Mutex`. It guards no data, so a panic under the lock leaves nothing inconsistent.
    StdMutex: "std-mutex", Mutex<()>, Mutex::new, |lock| Mutex::lock(lock).unwrap_or_else(PoisonError::into_inner);
    /// The test-and-set lock of crate `spin`.
    Spin: "spin", SpinMutex<()>, SpinMutex::new, SpinMutex::lock;
    /// The ticket lock of crate `spin`.
    SpinTicket: "spin-ticket", TicketMutex<()>, TicketMutex::new, TicketMutex::lock;
}
