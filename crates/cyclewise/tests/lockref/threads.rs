//! Real threads that get, put, lock and mark dead: nothing is lost in millions of operations, more than loom's small models
//! can cover.
#![cfg(not(loom))]

use cyclewise::lock::{Exponential, NoRelax};
use cyclewise::refs::lockref::{Adaptive, Bounded, Guard, LockRef, Policy};
use std::sync::Barrier;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

const THREADS: usize = 4;
/// Enough that threads contend, and few enough that the file ends within seconds on one CPU and under an emulator.
const ROUNDS: usize = 200_000;
/// Initial references that are never put: enough that no put is the last.
const KEPT: u32 = 1;

/// Runs `work` on every thread at once.
fn together(work: impl Fn(usize) + Sync) {
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(number);
            });
        }
    });
}

/// Every kind of get and put on every thread, and a lock now and then.
fn nothing_is_lost<P: Policy + Sync>(policy: P) {
    let lockref = LockRef::with_policy(KEPT, 0usize, policy);
    together(|number| {
        for round in 0..ROUNDS {
            match (round + number) % 4 {
                0 => lockref.get(),
                1 => assert!(lockref.get_not_zero()),
                2 => assert!(lockref.get_not_dead()),
                _ => {
                    let mut guard = lockref.lock();
                    Guard::get(&mut guard);
                    *guard += 1;
                }
            }
            match round % 3 {
                0 => assert!(lockref.put_or_lock().is_none()),
                1 => {
                    if lockref.put_return().is_none() {
                        assert!(lockref.put_or_lock().is_none());
                    }
                }
                _ => {
                    let mut guard = lockref.lock();
                    assert!(Guard::put(&mut guard) >= KEPT.cast_signed());
                    *guard += 1;
                }
            }
        }
    });
    assert_eq!(lockref.count(), KEPT.cast_signed());
    let locks =
        |number| (0..ROUNDS).filter(|r| (r + number) % 4 == 3).count() + (0..ROUNDS).filter(|r| r % 3 == 2).count();
    assert_eq!(lockref.into_inner(), (0..THREADS).map(locks).sum::<usize>());
}

#[test]
fn nothing_is_lost_by_the_default() {
    nothing_is_lost(Adaptive::<NoRelax>::new());
}

#[test]
fn nothing_is_lost_where_every_second_try_is_for_the_lock() {
    nothing_is_lost(Bounded::<NoRelax, 1>::tuned());
}

#[test]
fn nothing_is_lost_going_to_and_fro() {
    nothing_is_lost(Adaptive::<Exponential, 3>::tuned());
}

/// A cache entry, alive while any reference is held.
struct Entry {
    lockref: LockRef<()>,
    /// 1 until the thread that marks it dead writes 0.
    alive: AtomicUsize,
    deaths: AtomicUsize,
}

#[test]
fn nobody_holds_a_reference_to_what_has_died() {
    let entries: Vec<Entry> = (0..ROUNDS / 4)
        .map(|_| Entry {
            lockref: LockRef::with_policy(0, (), Adaptive::new()),
            alive: AtomicUsize::new(1),
            deaths: AtomicUsize::new(0),
        })
        .collect();
    let die = |entry: &Entry, guard: &mut Guard<'_, ()>| {
        Guard::mark_dead(guard);
        entry.alive.store(0, Relaxed);
        entry.deaths.fetch_add(1, Relaxed);
    };
    together(|number| {
        for (at, entry) in entries.iter().enumerate() {
            // Twice: the second get revives an idle entry or finds a dead one.
            for _ in 0..2 {
                if !entry.lockref.get_not_dead() {
                    continue;
                }
                assert_eq!(entry.alive.load(Relaxed), 1, "got and dead");
                if let Some(mut guard) = entry.lockref.put_or_lock() {
                    assert_eq!(Guard::count(&guard), 1);
                    if (at + number) % 3 == 0 {
                        die(entry, &mut guard);
                    } else {
                        assert_eq!(Guard::put(&mut guard), 0);
                    }
                }
            }
        }
    });
    for entry in &entries {
        let mut guard = entry.lockref.lock();
        if !Guard::is_dead(&guard) {
            assert_eq!(Guard::count(&guard), 0, "every reference was given back");
            die(entry, &mut guard);
        }
        drop(guard);
        assert_eq!(entry.deaths.load(Relaxed), 1, "it died once");
        assert!(entry.lockref.reference().is_none());
    }
}

#[test]
fn references_are_given_back_by_themselves() {
    let lockref = LockRef::new(());
    together(|_| {
        for _ in 0..ROUNDS {
            let reference = lockref.reference().unwrap();
            let _other = reference.clone();
        }
    });
    assert_eq!(lockref.count(), 1);
}
