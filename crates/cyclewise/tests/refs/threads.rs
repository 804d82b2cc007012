//! Real threads that clone, drop, upgrade and unwrap: nothing is lost in millions of operations, more than loom's small
//! models can cover.
#![cfg(not(loom))]

use cyclewise::refs::{Arc, Weak};
use std::sync::Barrier;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::thread;

const THREADS: usize = 4;
/// Few enough that the whole file ends within seconds on one CPU.
const ROUNDS: usize = 20_000;

/// A value that records whether it is alive.
struct Canary<'a> {
    alive: AtomicUsize,
    drops: &'a AtomicUsize,
}

const ALIVE: usize = 0xa11e;

impl<'a> Canary<'a> {
    fn new(drops: &'a AtomicUsize) -> Self {
        Self {
            alive: AtomicUsize::new(ALIVE),
            drops,
        }
    }

    fn check(&self) {
        assert_eq!(self.alive.load(Relaxed), ALIVE);
    }
}

impl Drop for Canary<'_> {
    fn drop(&mut self) {
        assert_eq!(std::mem::replace(self.alive.get_mut(), 0), ALIVE);
        self.drops.fetch_add(1, AcqRel);
    }
}

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

#[test]
fn no_count_is_lost_among_clones_and_drops() {
    let drops = AtomicUsize::new(0);
    let arc = Arc::new(Canary::new(&drops));
    together(|_| {
        let mut held = Vec::new();
        for round in 0..ROUNDS * 5 {
            held.push(arc.clone());
            held[round / 2].check();
            if round % 3 == 0 {
                held.swap_remove(round / 4).check();
            }
        }
        let weak: Vec<_> = held.iter().map(Arc::downgrade).collect();
        drop(held);
        assert!(weak.iter().all(|weak| weak.upgrade().is_some()));
    });
    assert_eq!((Arc::strong_count(&arc), Arc::weak_count(&arc)), (1, 0));
    drop(arc);
    assert_eq!(drops.load(Acquire), 1);
}

#[test]
fn every_value_is_dropped_once_whoever_is_last() {
    let drops = AtomicUsize::new(0);
    for _ in 0..ROUNDS / 100 {
        let arc = Arc::new(Canary::new(&drops));
        let shares: Vec<_> = (0..THREADS)
            .map(|_| std::sync::Mutex::new(Some((arc.clone(), Arc::downgrade(&arc)))))
            .collect();
        drop(arc);
        together(|number| {
            let (arc, weak) = shares[number].lock().unwrap().take().unwrap();
            arc.check();
            drop(arc);
            // A fixed number, and not until the value is dropped: threads that upgrade in turns can keep it alive for long.
            for _ in 0..100 {
                weak.upgrade().inspect(|arc| arc.check());
            }
        });
    }
    assert_eq!(drops.load(Acquire), ROUNDS / 100);
}

#[test]
fn exactly_one_gets_the_value() {
    let drops = AtomicUsize::new(0);
    for _ in 0..ROUNDS / 100 {
        let arc = Arc::new(Canary::new(&drops));
        let shares: Vec<_> = (0..THREADS).map(|_| std::sync::Mutex::new(Some(arc.clone()))).collect();
        drop(arc);
        let winners = AtomicUsize::new(0);
        together(|number| {
            let mine = shares[number].lock().unwrap().take().unwrap();
            if let Some(value) = Arc::into_inner(mine) {
                value.check();
                winners.fetch_add(1, AcqRel);
            }
        });
        assert_eq!(winners.load(Acquire), 1);
    }
    assert_eq!(drops.load(Acquire), ROUNDS / 100);
}

/// One thread asks whether its reference is unique. It never is: the other always has a strong or a weak one.
#[test]
fn a_reference_that_turns_weak_and_back_is_always_seen() {
    let mut arc = Arc::new(0_u8);
    let mut other = arc.clone();
    thread::scope(|scope| {
        let looker = scope.spawn(move || {
            for _ in 0..ROUNDS * 10 {
                assert!(Arc::get_mut(&mut arc).is_none());
            }
            // Kept until the other thread is done, whose reference may be weak at this moment.
            arc
        });
        while !looker.is_finished() {
            let weak = Arc::downgrade(&other);
            assert!(Arc::weak_count(&other) == 1 && matches!(Arc::strong_count(&other), 1 | 2));
            drop(other);
            other = weak.upgrade().expect("the other thread keeps its strong reference");
        }
        let arc = looker.join().unwrap();
        assert_eq!((Arc::strong_count(&arc), Arc::weak_count(&arc)), (2, 0));
    });
}

#[test]
fn copies_on_write_part_while_others_upgrade() {
    let weak = std::sync::Mutex::new(Weak::new());
    together(|number| {
        if number == 0 {
            let mut arc = Arc::new([0_usize; 8]);
            for round in 1..ROUNDS {
                *weak.lock().unwrap() = Arc::downgrade(&arc);
                *Arc::make_mut(&mut arc) = [round; 8];
            }
        } else {
            for _ in 0..ROUNDS {
                let mine = weak.lock().unwrap().clone();
                if let Some(arc) = mine.upgrade() {
                    assert!(
                        arc.iter().all(|n| *n == arc[0]),
                        "half of one value and half of the next"
                    );
                }
            }
        }
    });
}
