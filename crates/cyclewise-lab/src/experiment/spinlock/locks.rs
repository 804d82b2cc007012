//! The locks, each as one function that runs a section under it.

use cyclewise::lock::{self, SpinLock, SpinLockWith};
use spin::mutex::{SpinMutex, TicketMutex};
use std::sync::{Mutex, PoisonError};

/// A lock under test.
pub(super) trait Lock: Send + Sync + 'static {
    /// The name of its rows.
    const NAME: &str;

    /// A lock for this many threads.
    fn new(threads: usize) -> Self;

    /// Runs `section` under the lock, as thread number `thread`.
    fn section(&self, thread: usize, section: impl FnOnce());
}

/// cyclewise's spinlock.
pub(super) struct Cyclewise(SpinLock<()>);

impl Lock for Cyclewise {
    const NAME: &str = "cyclewise";

    fn new(_: usize) -> Self {
        Self(SpinLock::new(()))
    }

    #[inline(always)]
    fn section(&self, _: usize, section: impl FnOnce()) {
        let _guard = self.0.lock();
        section();
    }
}

/// cyclewise's spinlock, with waiters that never sleep.
pub(super) struct CyclewiseSpinOnly(SpinLockWith<(), lock::SpinOnly>);

impl Lock for CyclewiseSpinOnly {
    const NAME: &str = "cyclewise-spin-only";

    fn new(_: usize) -> Self {
        Self(SpinLockWith::new(()))
    }

    #[inline(always)]
    fn section(&self, _: usize, section: impl FnOnce()) {
        let _guard = self.0.lock();
        section();
    }
}

/// `parking_lot::Mutex`.
pub(super) struct ParkingLot(parking_lot::Mutex<()>);

impl Lock for ParkingLot {
    const NAME: &str = "parking-lot";

    fn new(_: usize) -> Self {
        Self(parking_lot::Mutex::new(()))
    }

    #[inline(always)]
    fn section(&self, _: usize, section: impl FnOnce()) {
        let _guard = self.0.lock();
        section();
    }
}

/// `std::sync::Mutex`.
pub(super) struct StdMutex(Mutex<()>);

impl Lock for StdMutex {
    const NAME: &str = "std-mutex";

    fn new(_: usize) -> Self {
        Self(Mutex::new(()))
    }

    #[inline(always)]
    fn section(&self, _: usize, section: impl FnOnce()) {
        // It guards no data, so a panic under the lock leaves nothing inconsistent.
        let _guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        section();
    }
}

/// The test-and-set lock of crate `spin`.
pub(super) struct Spin(SpinMutex<()>);

impl Lock for Spin {
    const NAME: &str = "spin";

    fn new(_: usize) -> Self {
        Self(SpinMutex::new(()))
    }

    #[inline(always)]
    fn section(&self, _: usize, section: impl FnOnce()) {
        let _guard = self.0.lock();
        section();
    }
}

/// The ticket lock of crate `spin`.
pub(super) struct SpinTicket(TicketMutex<()>);

impl Lock for SpinTicket {
    const NAME: &str = "spin-ticket";

    fn new(_: usize) -> Self {
        Self(TicketMutex::new(()))
    }

    #[inline(always)]
    fn section(&self, _: usize, section: impl FnOnce()) {
        let _guard = self.0.lock();
        section();
    }
}
