//! The lock's public API.
#![cfg(not(loom))]

use cyclewise::lock::{
    Exponential, NoRelax, Pause, RawSpinLock, Relax, SpinLock, SpinLockGuard, SpinLockWith, SpinOnly,
};
use lock_api::{Mutex, RawMutex, RawMutexFair};
use std::sync::Barrier;
use std::thread;

/// Few enough that each test ends within seconds on one CPU.
const ROUNDS: u64 = 20_000;

/// Threads that add to one number by a read and a write, which loses additions without mutual exclusion.
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
fn eight_bytes_and_no_more() {
    assert_eq!(size_of::<RawSpinLock>(), 8);
    assert_eq!(size_of::<SpinLock<u32>>(), 12);
}

#[test]
fn a_guard_holds_it_and_gives_it_up() {
    // Without type annotations, like any mutex.
    let lock = SpinLock::new(1);
    let mut guard: SpinLockGuard<'_, i32> = lock.lock();
    *guard += 1;
    assert!(lock.is_locked() && lock.try_lock().is_none());
    drop(guard);
    assert!(!lock.is_locked());
    assert_eq!(lock.try_lock().map(|guard| *guard), Some(2));
}

#[test]
fn a_static_one_and_one_with_ways_of_its_own() {
    static ONE: SpinLock<[u8; 3]> = SpinLock::new([0; 3]);
    ONE.lock()[1] = 1;
    let other = SpinLockWith::<_, SpinOnly>::new(*ONE.lock());
    let unsized_one: &SpinLockWith<[u8], SpinOnly> = &other;
    assert_eq!(*unsized_one.lock(), [0, 1, 0]);
    assert_eq!(SpinLock::from(5).into_inner() + *SpinLock::<i32>::default().lock(), 5);
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

/// The optimized code of the fast paths.
#[cfg(target_arch = "x86_64")]
mod code {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};

    #[unsafe(no_mangle)]
    extern "C" fn probe_lock(lock: &RawSpinLock) {
        lock.lock();
    }

    #[unsafe(no_mangle)]
    extern "C" fn probe_unlock(lock: &RawSpinLock) {
        // SAFETY: only read as code.
        unsafe { lock.unlock() };
    }

    #[unsafe(no_mangle)]
    extern "C" fn probe_swap(word: &std::sync::atomic::AtomicU8) -> u8 {
        word.swap(0, std::sync::atomic::Ordering::Release)
    }

    /// Locked instructions up to the first return: with the prefix, or XCHG with memory.
    fn locked(function: *const ()) -> usize {
        let address = function as u64;
        // SAFETY: at least that much text follows: the functions above, and the harness.
        let text = unsafe { std::slice::from_raw_parts(function.cast::<u8>(), 256) };
        let instructions = Decoder::with_ip(64, text, address, DecoderOptions::NONE).into_iter();
        let locks = |i: &Instruction| {
            let memory = (0..i.op_count()).any(|at| i.op_kind(at) == OpKind::Memory);
            i.has_lock_prefix() || (i.mnemonic() == Mnemonic::Xchg && memory)
        };
        instructions
            .take_while(|i| i.mnemonic() != Mnemonic::Ret)
            .filter(locks)
            .count()
    }

    #[test]
    fn one_locked_instruction_to_lock_and_none_to_unlock() {
        assert_eq!(locked(probe_lock as *const ()), 1);
        assert_eq!(locked(probe_unlock as *const ()), 0);
        // The twin: the search finds a locked instruction.
        assert_eq!(locked(probe_swap as *const ()), 1);
    }
}
