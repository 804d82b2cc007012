//! No thread's readings go back: models, under loom in every order, and protocols that are broken on purpose.

use super::Recent;
#[cfg(loom)]
use super::Word;
#[cfg(not(loom))]
use crate::primitive::threads::model;
use crate::primitive::threads::{Arc, AtomicU64, thread};
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

#[cfg(loom)]
impl Word for AtomicU64 {
    fn load(&self) -> u64 {
        self.load(Relaxed)
    }

    fn change(&self, mut change: impl FnMut(u64) -> u64) -> u64 {
        self.fetch_update(Relaxed, Relaxed, |word| Some(change(word))).unwrap()
    }
}

/// What readers and upkeep threads do to the word.
trait Protocol: Send + Sync + 'static {
    fn read(&self, now: impl Fn() -> u64) -> u64;
    fn publish(&self, now: impl Fn() -> u64);
    fn abandon(&self);
}

impl Protocol for Recent<AtomicU64> {
    fn read(&self, now: impl Fn() -> u64) -> u64 {
        Self::read(self, now)
    }

    fn publish(&self, now: impl Fn() -> u64) {
        Self::publish(self, now);
    }

    fn abandon(&self) {
        Self::abandon(self);
    }
}

/// The time that was last stored; 0 if no thread stores.
struct Stored(AtomicU64);

impl Protocol for Stored {
    fn read(&self, now: impl Fn() -> u64) -> u64 {
        match self.0.load(Relaxed) {
            0 => now(),
            ns => ns,
        }
    }

    fn publish(&self, now: impl Fn() -> u64) {
        self.0.store(now(), Relaxed);
    }

    fn abandon(&self) {
        self.0.store(0, Relaxed);
    }
}

/// Times only grow while they are stored, but readers of the clock keep theirs to themselves.
struct Unraised(Recent<AtomicU64>);

impl Protocol for Unraised {
    fn read(&self, now: impl Fn() -> u64) -> u64 {
        match self.0.0.load(Relaxed) {
            word if word & 1 != 0 => word >> 1,
            _ => now(),
        }
    }

    fn publish(&self, now: impl Fn() -> u64) {
        self.0.publish(now);
    }

    fn abandon(&self) {
        self.0.abandon();
    }
}

/// Every order with at most three preemptions. Each exchange may fail and repeat, so that all orders take minutes.
#[cfg(loom)]
fn model(run: impl Fn() + Send + Sync + 'static) {
    let mut bounded = loom::model::Builder::new();
    bounded.preemption_bound = Some(3);
    bounded.check(run);
}

/// A thread reads so many times while `keepers` upkeep threads start and end.
fn check<P: Protocol>(keepers: usize, readings: usize, new: fn(AtomicU64) -> P) {
    model(move || {
        let shared = Arc::new((new(AtomicU64::new(0)), AtomicU64::new(1)));
        // The clock: each reading is later than all before.
        let now = |clock: &AtomicU64| clock.fetch_add(1, AcqRel);
        let keepers: Vec<_> = (0..keepers)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    shared.0.publish(|| now(&shared.1));
                    shared.0.abandon();
                })
            })
            .collect();
        let mut last = 0;
        for _ in 0..readings {
            let read = shared.0.read(|| now(&shared.1));
            assert!(read >= last, "{read} steps back behind {last}");
            last = read;
        }
        keepers.into_iter().for_each(|keeper| keeper.join().unwrap());
        let (read, now) = (shared.0.read(|| now(&shared.1)), shared.1.load(Acquire));
        assert!(read >= last && read < now);
    });
}

#[test]
fn no_reading_steps_back_where_upkeeps_start_and_end() {
    check(1, 2, Recent);
    check(2, 1, Recent);
}

#[cfg(loom)]
#[test]
#[should_panic(expected = "steps back")]
fn twin_a_time_that_is_stored_is_caught() {
    check(1, 2, Stored);
}

#[cfg(loom)]
#[test]
#[should_panic(expected = "steps back")]
fn twin_a_reader_that_does_not_raise_the_word_is_caught() {
    check(1, 2, |word| Unraised(Recent(word)));
}

/// The same by hand: the upkeep thread has read the clock, and publishes after a reader has read it later.
#[cfg(not(loom))]
fn published_late(protocol: &impl Protocol) -> [u64; 3] {
    let first = protocol.read(|| 20);
    protocol.publish(|| 10);
    let second = protocol.read(|| 30);
    protocol.abandon();
    [first, second, protocol.read(|| 40)]
}

#[cfg(not(loom))]
#[test]
fn a_time_that_is_published_late_is_not_read() {
    assert_eq!(published_late(&Recent(AtomicU64::new(0))), [20, 20, 40]);
    // The twins.
    assert_eq!(published_late(&Stored(AtomicU64::new(0))), [20, 10, 40]);
    assert_eq!(published_late(&Unraised(Recent(AtomicU64::new(0)))), [20, 10, 40]);
}

#[cfg(not(loom))]
#[test]
fn of_two_upkeeps_the_later_time_counts_and_one_may_end() {
    let recent = Recent(AtomicU64::new(0));
    recent.publish(|| 10);
    recent.publish(|| 5);
    assert_eq!(recent.read(|| 100), 10);
    recent.abandon();
    assert_eq!(recent.read(|| 11), 11);
    recent.publish(|| 12);
    assert_eq!(recent.read(|| 100), 12);
    recent.publish(|| u64::MAX);
    assert_eq!(recent.read(|| 0), u64::MAX >> 1);
}

/// In another time namespace, or restored from a checkpoint.
#[cfg(not(loom))]
#[test]
fn a_clock_that_was_set_back_is_followed() {
    const SECOND: u64 = 1_000_000_000;
    for keeps in [false, true] {
        let recent = Recent(AtomicU64::new(0));
        assert_eq!(recent.read(|| 5 * SECOND), 5 * SECOND);
        if keeps {
            recent.publish(|| SECOND);
        }
        assert_eq!(recent.read(|| SECOND + 1), SECOND + u64::from(!keeps));
        // The twin: a little behind is what a thread may have read before, and not followed.
        assert_eq!(Recent(AtomicU64::new(20)).read(|| 9), 10);
    }
}
