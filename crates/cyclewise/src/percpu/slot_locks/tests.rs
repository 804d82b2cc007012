//! The protocol under loom, or under threads; and twins that omit a step.
//!
//! A slot is changed by a load and a store, so two concurrent changes lose one.

use super::{SlotLocks, likely_free, lock_any, try_lock, wait_until_released};
use crate::primitive::threads::{Arc, AtomicUsize, caught, model, thread};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const SLOTS: usize = 2;

/// Two slots. Without `EXCLUSIVE`, `acquire` always succeeds: the twin.
struct Model<const EXCLUSIVE: bool = true> {
    locks: [AtomicUsize; SLOTS],
    mark: AtomicUsize,
    slots: [AtomicUsize; SLOTS],
    guard: AtomicUsize,
}

impl<const EXCLUSIVE: bool> Model<EXCLUSIVE> {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            locks: [AtomicUsize::new(0), AtomicUsize::new(0)],
            mark: AtomicUsize::new(0),
            slots: [AtomicUsize::new(0), AtomicUsize::new(0)],
            guard: AtomicUsize::new(0),
        })
    }

    fn change(&self, n: usize, amount: usize) {
        let found = self.slots[n].load(Relaxed);
        self.slots[n].store(found + amount, Relaxed);
    }

    /// An addition, as in the backend.
    fn add(&self) {
        let n = lock_any(self, 0, 7, thread::yield_now);
        self.change(n, 1);
        self.release(n);
    }

    fn sum(&self) -> usize {
        (0..self.high_water()).map(|n| self.slots[n].load(Relaxed)).sum()
    }
}

impl<const EXCLUSIVE: bool> SlotLocks for Model<EXCLUSIVE> {
    const COUNT: usize = SLOTS;

    fn is_free(&self, n: usize) -> bool {
        self.locks[n].load(Relaxed) == 0
    }
    fn acquire(&self, n: usize, token: u64) -> bool {
        !EXCLUSIVE
            || self.locks[n]
                .compare_exchange(0, token as usize, Acquire, Relaxed)
                .is_ok()
    }
    fn release(&self, n: usize) {
        self.locks[n].store(0, Release);
    }
    fn high_water(&self) -> usize {
        self.mark.load(Relaxed)
    }
    fn raise(&self, to: usize) {
        self.mark.fetch_max(to, Relaxed);
    }
}

fn two_threads_add<const EXCLUSIVE: bool>() {
    model(|| {
        let it = Model::<EXCLUSIVE>::new();
        let other = {
            let it = it.clone();
            thread::spawn(move || it.add())
        };
        it.add();
        other.join().unwrap();
        assert_eq!(it.sum(), 2, "both additions");
    });
}

#[test]
fn additions_are_exact() {
    two_threads_add::<true>();
}

/// One thread changes the second slot; another, ordered after it only by the slot's lock, reads the mark.
fn a_change_and_a_read(change: fn(&Model)) {
    model(move || {
        let it = Model::new();
        let other = {
            let it = it.clone();
            thread::spawn(move || change(&it))
        };
        if it.acquire(1, 8) {
            let found = it.slots[1].load(Relaxed);
            it.release(1);
            assert_eq!(it.sum(), found, "the mark is below a slot that was changed before");
        }
        other.join().unwrap();
        assert_eq!(it.sum(), 1);
    });
}

#[test]
fn the_mark_is_raised_before_a_change() {
    a_change_and_a_read(|it| {
        while !try_lock(it, 1, 7) {
            thread::yield_now();
        }
        it.change(1, 1);
        it.release(1);
    });
}

/// One thread adds unless the guard is set; another sets it, calls `wait`, changes the slot and clears the guard.
fn an_addition_and_a_stop(wait: fn(&Model)) {
    model(move || {
        let it = Model::new();
        let other = {
            let it = it.clone();
            thread::spawn(move || {
                if !try_lock(&*it, 0, 7) {
                    return 0;
                }
                let may = it.guard.load(Acquire) == 0;
                if may {
                    it.change(0, 1);
                }
                it.release(0);
                usize::from(may)
            })
        };
        it.guard.store(1, Release);
        wait(&it);
        it.change(0, 10);
        it.guard.store(0, Release);
        let added = other.join().unwrap();
        assert_eq!(it.slots[0].load(Relaxed), 10 + added, "both changes");
    });
}

#[test]
fn a_stop_excludes_additions() {
    an_addition_and_a_stop(|it| {
        assert!(wait_until_released(it, 0, 8, || {
            thread::yield_now();
            true
        }));
    });
}

#[test]
fn a_handler_does_not_wait_for_what_it_interrupted() {
    model(|| {
        let it = Model::<true>::new();
        let waits = || panic!("it waits for the code that it interrupted");
        assert_eq!((likely_free(&*it, 1, waits), lock_any(&*it, 1, 7, waits)), (1, 1));
        assert_eq!((likely_free(&*it, 1, waits), lock_any(&*it, 1, 7, waits)), (0, 0));
        assert!(!try_lock(&*it, 1, 7));
        // All are locked: `likely_free` waits once, then returns the preferred one.
        let mut moments = 0;
        assert_eq!((likely_free(&*it, 1, || moments += 1), moments), (1, 1));
        it.release(1);
        it.release(0);
        assert_eq!(it.high_water(), SLOTS);
    });
}

#[test]
fn waiting_for_a_slot_does_not_raise_the_mark() {
    model(|| {
        let it = Model::<true>::new();
        assert!(wait_until_released(&*it, 1, 7, || unreachable!()));
        assert_eq!((it.high_water(), it.is_free(1)), (0, true));
        // The caller of `likely_free` may use the slot, so the mark is raised.
        assert_eq!((likely_free(&*it, 0, || ()), it.high_water()), (0, 1));
    });
}

/// A wait for a slot that is not released ends, and leaves the slot locked.
#[test]
fn a_wait_ends_when_its_limit_is_reached() {
    model(|| {
        let it = Model::<true>::new();
        assert!(try_lock(&*it, 1, 7));
        let mut moments = 3;
        let wait = || {
            moments -= 1;
            moments > 0
        };
        assert!(!wait_until_released(&*it, 1, 8, wait));
        assert_eq!(moments, 0);
        assert!(!it.is_free(1) && it.is_free(0));
    });
}

caught! {
    the_twin_whose_lock_keeps_nobody_out_is_caught: "both additions" by two_threads_add::<false>();
    the_twin_that_raises_the_mark_afterwards_is_caught: "the mark is below" by a_change_and_a_read(|it| {
        while !it.acquire(1, 7) {
            thread::yield_now();
        }
        it.change(1, 1);
        it.release(1);
        it.raise(2);
    });
    the_twin_that_does_not_wait_is_caught: "both changes" by an_addition_and_a_stop(|_| ());
}
