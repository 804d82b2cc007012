//! Additions and sets at once: as models under loom, else in random orders; with a twin.

use super::Parts;
use crate::primitive::threads::{Arc, AtomicI64, caught, model, thread};
use core::sync::atomic::Ordering::Relaxed;

/// Two slots, whose additions are indivisible as sequences are.
struct Model {
    slots: [AtomicI64; 2],
    base: AtomicI64,
}

impl Model {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            slots: [AtomicI64::new(0), AtomicI64::new(0)],
            base: AtomicI64::new(0),
        })
    }
}

impl Parts for Model {
    fn sum(&self) -> i64 {
        self.slots.iter().map(|slot| slot.load(Relaxed)).sum()
    }
    fn base(&self) -> i64 {
        self.base.load(Relaxed)
    }
    fn set_base(&self, base: i64) {
        self.base.store(base, Relaxed);
    }
}

/// The twin: it adds to the base what is missing, so that two of them at once both add it.
fn set_by_difference(parts: &Model, value: i64) {
    let missing = value - super::get(parts);
    parts.base.fetch_add(missing, Relaxed);
}

/// Two threads set 10 and 20, and one of them adds 1 and 2 in two slots before. The number is one of what was set, and whole additions.
fn two_sets(set: fn(&Model, i64)) {
    model(move || {
        let it = Model::new();
        let other = {
            let it = it.clone();
            thread::spawn(move || {
                it.slots[0].fetch_add(1, Relaxed);
                it.slots[1].fetch_add(2, Relaxed);
                set(&it, 10);
            })
        };
        set(&it, 20);
        other.join().unwrap();
        let found = super::get(&*it);
        assert!(found == 10 || (20..=23).contains(&found), "a part of a set: {found}");
    });
}

#[test]
fn a_set_is_whole_beside_others_and_additions() {
    two_sets(super::set);
}

caught! {
    the_twin_that_adds_a_difference_is_caught: "a part of a set" by two_sets(set_by_difference);
}

#[cfg(not(loom))]
mod real {
    use crate::percpu::Gauge;
    use std::thread;

    #[test]
    fn it_goes_up_and_down_and_is_set() {
        static GAUGE: Gauge = Gauge::new(-3);
        assert_eq!(GAUGE.get(), -3);
        GAUGE.set(4);
        GAUGE.inc();
        GAUGE.add(-10);
        assert_eq!(GAUGE.get(), -5);
        GAUGE.set(i64::MAX);
        GAUGE.inc();
        assert_eq!(GAUGE.get(), i64::MIN);
        let other = Gauge::default();
        assert_eq!((other.try_allocate(), other.get()), (Ok(()), 0));
    }

    /// Threads add and take away on all CPUs, while others set it to what it is.
    #[test]
    fn no_addition_is_lost() {
        let rounds = if std::env::var_os("CYCLEWISE_LONG").is_some() {
            20_000_000
        } else {
            100_000
        };
        let gauge = Gauge::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        gauge.add(3);
                        gauge.dec();
                    }
                });
            }
        });
        assert_eq!(gauge.get(), 8 * rounds);
    }
}
