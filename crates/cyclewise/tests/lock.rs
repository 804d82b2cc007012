//! The lock as its users know it.
#![cfg(not(loom))]

use cyclewise::lock::{Exponential, NoRelax, Pause, RawSpinLock, Relax, SpinLock, SpinOnly};
use lock_api::{Mutex, RawMutex, RawMutexFair};
use std::sync::Barrier;
use std::thread;

/// So that each test ends within seconds on one CPU.
const ROUNDS: u64 = 20_000;

/// Threads that add to one number by a read and a write, which loses additions unless they are alone.
fn adds_up<R: RawMutex + Sync>(threads: u64, rounds: u64)
where
    Mutex<R, u64>: Sync,
{
    let sum = Mutex::<R, u64>::new(0);
    let start = Barrier::new(threads as usize);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                start.wait();
                for _ in 0..rounds {
                    let mut sum = sum.lock();
                    *sum = std::hint::black_box(*sum) + 1;
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), threads * rounds);
}

#[test]
fn four_bytes_and_no_more() {
    assert_eq!(size_of::<RawSpinLock>(), 4);
    assert_eq!(size_of::<SpinLock<u32>>(), 8);
}

#[test]
fn a_guard_holds_it_and_gives_it_up() {
    let lock = SpinLock::<_>::new(1);
    let mut guard = lock.lock();
    *guard += 1;
    assert!(lock.is_locked() && lock.try_lock().is_none());
    drop(guard);
    assert!(!lock.is_locked());
    assert_eq!(lock.try_lock().map(|guard| *guard), Some(2));
}

#[test]
fn nothing_is_lost_whatever_the_policy() {
    fn with<R: Relax>() {
        adds_up::<RawSpinLock<cyclewise::lock::DefaultPark, R>>(4, ROUNDS);
    }
    with::<NoRelax>();
    with::<Pause>();
    with::<Exponential<3>>();
    adds_up::<RawSpinLock>(16, ROUNDS / 4);
}

#[test]
fn nothing_is_lost_without_sleep() {
    adds_up::<RawSpinLock<SpinOnly>>(2, ROUNDS);
}

#[test]
fn a_fair_unlock_hands_over_and_loses_nothing() {
    struct Fair(RawSpinLock);
    // SAFETY: the lock's own promise.
    unsafe impl RawMutex for Fair {
        const INIT: Self = Self(RawSpinLock::INIT);
        type GuardMarker = lock_api::GuardSend;
        fn lock(&self) {
            self.0.lock();
        }
        fn try_lock(&self) -> bool {
            self.0.try_lock()
        }
        unsafe fn unlock(&self) {
            // SAFETY: held by the caller.
            unsafe { self.0.unlock_fair() };
        }
    }
    adds_up::<Fair>(4, ROUNDS / 40);
}
