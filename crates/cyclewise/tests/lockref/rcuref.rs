//! References without a loop: the count alone, and the pool, which threads search with stale keys.

use cyclewise::refs::rcuref::{Got, Pool, Rcuref};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::thread;

#[test]
fn a_count_lives_dies_and_lives_again() {
    let count = Rcuref::new();
    assert_eq!((count.read(), count.get(), count.read()), (1, Got::Reference, 2));
    assert!(!count.put());
    assert!(count.put(), "the last");
    for _ in 0..3 {
        assert_eq!((count.get(), count.read()), (Got::Dead, 0));
    }
    count.revive();
    assert_eq!((count.get(), count.read()), (Got::Reference, 2));
    assert_eq!(format!("{:?} {:?}", count, Rcuref::dead()), "Rcuref(2) Rcuref(0)");
}

#[test]
fn a_put_too_many_neither_frees_nor_revives() {
    let count = Rcuref::new();
    assert!(count.put());
    assert!(!count.put());
    assert_eq!((count.get(), count.read()), (Got::Dead, 0));
}

/// Counts its drops.
#[derive(Debug)]
struct Value(usize, Arc<AtomicUsize>);

impl Drop for Value {
    fn drop(&mut self) {
        self.1.fetch_add(1, SeqCst);
    }
}

#[test]
fn keys_find_their_value_and_no_other() {
    let pool = Pool::new(2);
    let first = pool.insert(1).unwrap();
    let second = pool.insert(2).unwrap();
    assert_eq!(pool.insert(3).err(), Some(3), "full");
    let (one, two) = (first.key(), second.key());
    assert_ne!(one, two);
    let again = pool.get(one).unwrap();
    drop(first);
    assert_eq!((*again, *pool.get(one).unwrap()), (1, 1), "one entry is left");
    drop(again);
    assert!(pool.get(one).is_none());
    let third = pool.insert(3).unwrap();
    assert!(pool.get(one).is_none(), "the slot has another value");
    assert_eq!((*third.clone(), *pool.get(two).unwrap()), (3, 2));
    assert_eq!(format!("{third:?} {pool:?}"), "3 Pool { capacity: 2, .. }");
}

#[test]
fn every_capacity_is_exact() {
    for capacity in [0, 1, 63, 64, 65, 128, 200] {
        let pool = Pool::new(capacity);
        assert_eq!(pool.capacity(), capacity);
        let entries: Vec<_> = (0..capacity).map(|i| pool.insert(i).unwrap()).collect();
        assert!(pool.insert(0).is_err());
        assert!(entries.iter().enumerate().all(|(i, entry)| **entry == i));
        drop(entries);
        assert!((0..capacity).all(|i| pool.insert(i).is_ok()));
    }
}

#[test]
fn values_are_dropped_once_and_forgotten_ones_with_the_pool() {
    let drops = Arc::new(AtomicUsize::new(0));
    let pool = Pool::new(3);
    let entry = pool.insert(Value(1, Arc::clone(&drops))).unwrap();
    let other = entry.clone();
    drop(entry);
    assert_eq!(drops.load(SeqCst), 0);
    drop(other);
    assert_eq!(drops.load(SeqCst), 1);
    std::mem::forget(pool.insert(Value(2, Arc::clone(&drops))).unwrap());
    drop(pool);
    assert_eq!(drops.load(SeqCst), 2);
}

/// Panics when dropped, and counts that.
struct Bomb<'a>(&'a AtomicUsize);

impl Drop for Bomb<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        std::panic::resume_unwind(Box::new(()));
    }
}

#[test]
fn a_drop_that_panics_gives_its_slot_back() {
    let drops = AtomicUsize::new(0);
    let pool = Pool::new(1);
    for round in 1..4 {
        let bomb = pool.insert(Bomb(&drops)).ok().expect("a slot");
        let key = bomb.key();
        assert!(catch_unwind(AssertUnwindSafe(|| drop(bomb))).is_err());
        assert_eq!(drops.load(SeqCst), round);
        assert!(pool.get(key).is_none());
    }
}

/// The check above detects a slot that is not freed.
#[test]
fn twin_a_slot_that_is_not_given_back_is_seen() {
    let drops = AtomicUsize::new(0);
    let pool = Pool::new(1);
    std::mem::forget(pool.insert(&drops).expect("a slot"));
    assert!(pool.insert(&drops).is_err());
}

#[test]
fn a_pool_whose_values_panic_drops_the_others() {
    let (bombs, drops) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let pool = Pool::new(3);
    let value = |bomb| (bomb, Value(0, Arc::clone(&drops)));
    for bomb in [None, Some(Bomb(&bombs)), None] {
        std::mem::forget(pool.insert(value(bomb)).ok().unwrap());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| drop(pool))).is_err());
    assert_eq!((bombs.load(SeqCst), drops.load(SeqCst)), (1, 3));
}

#[test]
fn a_drop_may_use_its_pool() {
    struct Heir<'p>(Option<&'p Heirs<'p>>, u32);
    type Heirs<'p> = std::cell::OnceCell<&'p Pool<Heir<'p>>>;
    impl Drop for Heir<'_> {
        fn drop(&mut self) {
            if let Some(pool) = self.0.and_then(|cell| cell.get()) {
                // Its slot is not free yet.
                let heir = pool.insert(Heir(None, self.1 + 1)).ok();
                assert_eq!(heir.map(|heir| heir.1), (self.1 == 1).then_some(2));
            }
        }
    }
    // Leaked, because a value that refers to its pool cannot be dropped with it.
    let cell: &Heirs = Box::leak(Box::default());
    let pool: &Pool<Heir> = Box::leak(Box::new(Pool::new(2)));
    assert!(cell.set(pool).is_ok());
    drop(pool.insert(Heir(Some(cell), 1)));
    let full = [(); 2].map(|()| pool.insert(Heir(Some(cell), 3)).ok().unwrap());
    let [first, second] = full;
    drop(first);
    std::mem::forget(second);
}

/// Threads get a value by its key while its owner puts it and inserts another into the same slot.
#[test]
fn stale_keys_never_find_what_was_dropped() {
    const LOOKERS: usize = 3;
    const ROUNDS: usize = 400;
    let drops = Arc::new(AtomicUsize::new(0));
    let pool: Pool<Value> = Pool::new(1);
    let keys: Vec<_> = (0..2).map(|_| std::sync::Mutex::new(None)).collect();
    let barrier = Barrier::new(LOOKERS + 1);
    let found = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..LOOKERS {
            scope.spawn(|| {
                barrier.wait();
                let mut last = 0;
                while last + 1 < ROUNDS {
                    for key in &keys {
                        let Some((key, number)) = *key.lock().unwrap() else {
                            continue;
                        };
                        last = last.max(number);
                        if let Some(entry) = pool.get(key) {
                            assert_eq!(entry.0, number, "another value");
                            assert!(entry.1.load(SeqCst) <= number, "dropped while it is held");
                            found.fetch_add(1, SeqCst);
                        }
                    }
                }
            });
        }
        barrier.wait();
        for number in 0..ROUNDS {
            // Full while a reader still holds the previous value.
            let mut value = Value(number, Arc::clone(&drops));
            let entry = loop {
                match pool.insert(value) {
                    Ok(entry) => break entry,
                    Err(back) => {
                        value = back;
                        thread::yield_now();
                    }
                }
            };
            let before = found.load(SeqCst);
            *keys[number % 2].lock().unwrap() = Some((entry.key(), number));
            // Sometimes waits until a reader has it, so that both puts race; usually it is gone before a reader gets it.
            while number % 8 == 0 && found.load(SeqCst) == before {
                thread::yield_now();
            }
            drop(entry);
        }
    });
    assert_eq!(drops.load(SeqCst), ROUNDS);
    assert!(found.load(SeqCst) >= ROUNDS / 8);
}
