//! Counts used by several threads at once: nothing is lost, exactly one put is the last, and saturation is permanent.

use crate::counters::{CasFull, CasFull64, Counter, Full, Unchecked, Unchecked64};
use cyclewise::refs::{Refcount, Refcount64};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;

const THREADS: u64 = 4;
const ROUNDS: u64 = 20_000;

/// Runs it on several threads at once, and adds up their results.
fn together(run: impl Fn(u64) -> u64 + Sync) -> u64 {
    thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..THREADS).map(|i| scope.spawn(move || run(i))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    })
}

/// Each thread starts with a reference and ends with none; exactly one is the last.
fn balanced<C: Counter>() {
    for _ in 0..20 {
        let count = C::new(THREADS);
        let last = together(|i| {
            let mut last = 0;
            for round in 0..ROUNDS / 20 {
                match (round + i) % 3 {
                    0 => count.inc(),
                    1 => count.add(1),
                    _ => assert!(count.inc_not_zero()),
                }
                match round % 2 {
                    0 => last += u64::from(count.dec_and_test()),
                    _ => last += u64::from(count.sub_and_test(1)),
                }
            }
            last + u64::from(count.dec_and_test())
        });
        assert_eq!((last, count.read()), (1, 0), "{}", C::NAME);
        assert!(!count.inc_not_zero());
    }
}

#[test]
fn the_last_is_told_once() {
    balanced::<Refcount>();
    balanced::<Refcount64>();
    balanced::<CasFull>();
    balanced::<CasFull64>();
    balanced::<Unchecked>();
    balanced::<Unchecked64>();
}

/// Threads get and put around the largest count; returns how often they found the count no longer saturated.
fn escapes<C: Counter>() -> u64 {
    let count = C::new(C::MAX);
    count.inc();
    together(|i| {
        let mut escaped = 0;
        for round in 0..ROUNDS {
            match (round + i) % 5 {
                0 => count.inc(),
                1 => count.add(60),
                2 => count.dec(),
                3 => escaped += u64::from(count.dec_and_test()),
                _ => escaped += u64::from(!count.inc_not_zero()) + u64::from(count.sub_and_test(60)),
            }
            escaped += u64::from(count.read() <= C::MAX);
        }
        escaped
    }) + u64::from(count.read() != C::SATURATED)
}

#[test]
fn saturation_is_for_good() {
    assert_eq!(escapes::<Refcount>(), 0);
    assert_eq!(escapes::<Refcount64>(), 0);
    assert_eq!(escapes::<CasFull>(), 0);
    assert_eq!(escapes::<CasFull64>(), 0);
    // The twins: their counts change, so the same check fails.
    assert!(escapes::<Unchecked>() > 0);
    assert!(escapes::<Unchecked64>() > 0);
}

/// An object found in a list under a lock, and removed by the thread that puts the last reference.
fn found_under_the_lock<C: Full>() {
    for _ in 0..200 {
        let count = C::new(1);
        let listed = Mutex::new(true);
        let alive = AtomicBool::new(true);
        let freed = AtomicU32::new(0);
        let put = || {
            if let Some(mut listed) = count.dec_and_lock(|| listed.lock().unwrap()) {
                *listed = false;
                alive.store(false, SeqCst);
                freed.fetch_add(1, SeqCst);
            }
        };
        together(|i| {
            if i == 0 {
                put();
                return 0;
            }
            for _ in 0..20 {
                let list = listed.lock().unwrap();
                if !*list {
                    break;
                }
                count.inc();
                drop(list);
                assert!(alive.load(SeqCst), "found after it was freed");
                put();
            }
            0
        });
        assert_eq!((freed.into_inner(), count.read()), (1, 0));
    }
}

#[test]
fn what_is_found_under_the_lock_is_alive() {
    found_under_the_lock::<Refcount>();
    found_under_the_lock::<Refcount64>();
}
