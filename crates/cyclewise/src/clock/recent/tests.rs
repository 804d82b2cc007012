//! No thread's readings go back: models, under loom in every order, and protocols that are broken on purpose.

use self::orders::model;
use super::{Recent, Word};
use crate::primitive::threads::{Arc, AtomicU64, thread};
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

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

/// Every order of the accesses.
#[cfg(loom)]
mod orders {
    use super::*;

    impl Word for AtomicU64 {
        fn load(&self) -> u64 {
            self.load(Relaxed)
        }

        fn replace(&self, old: u64, new: u64) -> Result<(), u64> {
            self.compare_exchange(old, new, Relaxed, Relaxed).map(drop)
        }

        fn set(&self, bits: u64) {
            self.fetch_or(bits, Relaxed);
        }

        fn clear(&self, bits: u64) {
            self.fetch_and(!bits, Relaxed);
        }
    }

    /// Every order with at most three preemptions. Each exchange may fail and repeat, so that all orders take minutes.
    pub(super) fn model(run: impl Fn() + Send + Sync + 'static) {
        let mut bounded = loom::model::Builder::new();
        bounded.preemption_bound = Some(3);
        bounded.check(run);
    }

    #[test]
    #[should_panic(expected = "steps back")]
    fn twin_a_time_that_is_stored_is_caught() {
        check(1, 2, Stored);
    }

    #[test]
    #[should_panic(expected = "steps back")]
    fn twin_a_reader_that_does_not_raise_the_word_is_caught() {
        check(1, 2, |word| Unraised(Recent(word)));
    }
}

/// By hand.
#[cfg(not(loom))]
mod orders {
    use super::super::{KEPT, raised};
    use super::*;
    pub(super) use crate::primitive::threads::model;

    impl Recent {
        pub(in crate::clock) fn is_kept(&self) -> bool {
            self.0.load(Relaxed) & KEPT != 0
        }
    }

    /// The same by hand: the upkeep thread has read the clock, and publishes after a reader has read it later.
    fn published_late(protocol: &impl Protocol) -> [u64; 3] {
        let first = protocol.read(|| 20);
        protocol.publish(|| 10);
        let second = protocol.read(|| 30);
        protocol.abandon();
        [first, second, protocol.read(|| 40)]
    }

    #[test]
    fn a_time_that_is_published_late_is_not_read() {
        assert_eq!(published_late(&Recent(AtomicU64::new(0))), [20, 20, 40]);
        // The twins.
        assert_eq!(published_late(&Stored(AtomicU64::new(0))), [20, 10, 40]);
        assert_eq!(published_late(&Unraised(Recent(AtomicU64::new(0)))), [20, 10, 40]);
    }

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

    /// Other threads change the word at each try, as what they store says.
    struct Raced {
        word: core::cell::Cell<u64>,
        stores: core::cell::RefCell<Vec<u64>>,
    }

    impl Word for Raced {
        fn load(&self) -> u64 {
            self.word.get()
        }

        fn replace(&self, old: u64, new: u64) -> Result<(), u64> {
            if let Some(theirs) = self.stores.borrow_mut().pop() {
                self.word.set(theirs);
            }
            let found = self.word.get();
            if found != old {
                return Err(found);
            }
            self.word.set(new);
            Ok(())
        }

        fn set(&self, bits: u64) {
            self.word.set(self.word.get() | bits);
        }

        fn clear(&self, bits: u64) {
            self.word.set(self.word.get() & !bits);
        }
    }

    /// Under contention too the clock is read once; and a reader that was preempted for long after it does not take the word for one from
    /// before the clock was set back.
    #[test]
    fn the_clock_is_read_once_however_often_others_raise_the_word() {
        const SECOND: u64 = 1_000_000_000;
        for (stores, expected, left) in [
            (&[4, 6, 8][..], 10, 20),
            (&[4, 3, 5], 10, 21),
            (&[4, 30, 40], 15, 30),
            (&[18 * SECOND], 9 * SECOND, 18 * SECOND),
        ] {
            let readings = core::cell::Cell::new(0);
            let raced = Recent(Raced {
                word: 2.into(),
                stores: stores.iter().rev().copied().collect::<Vec<_>>().into(),
            });
            let read = raced.read(|| {
                readings.set(readings.get() + 1);
                10
            });
            assert_eq!(
                (read, raced.0.load(), readings.get()),
                (expected, left, 1),
                "{stores:?}"
            );
        }
    }

    /// The twin: a protocol that reads the clock at each try reads it as often as others raise the word.
    #[test]
    fn twin_a_clock_that_is_read_at_each_try_is_read_again_and_again() {
        let raced = Raced {
            word: 2.into(),
            stores: Vec::from([8, 6, 4]).into(),
        };
        let mut readings = 0;
        let mut word = raced.load();
        loop {
            readings += 1;
            match raced.replace(word, raised(word, 10) << 1 | word & KEPT) {
                Ok(()) => break,
                Err(found) => word = found,
            }
        }
        assert_eq!((readings, raced.load()), (4, 20));
    }

    /// In another time namespace, or restored from a checkpoint.
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
}
