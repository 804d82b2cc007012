//! Cases that Linux leaves untested: the other forms, bad values other than the saturated one, old values, and the hook.

use crate::counters::{Counter, Full, events_of};
use cyclewise::refs::refcount::Event::{
    self, AddNotZeroOverflow, AddOverflow, AddUseAfterFree, DecLeak, SubUseAfterFree,
};
use cyclewise::refs::refcount::{BATCH, Refcount, Refcount64, misuses};
use std::sync::Mutex;

/// Runs `run` on a count of `start`; returns its result, the count left and the reports.
fn after<C: Full, T>(start: u64, run: impl FnOnce(&C) -> T) -> (T, u64, Vec<Event>) {
    let count = C::new(start);
    let (answer, events) = events_of(|| run(&count));
    (answer, count.read(), events)
}

/// What an operation on a count of the first number answers, the count it leaves, and what it reports; or all three as one tuple.
macro_rules! rows {
    ($count:ident: $($start:expr, $run:expr => $answer:expr $(, $left:expr, [$($event:expr),*])?;)*) => { $(
        let found = after::<$count, _>($start, $run);
        assert_eq!(found, rows!(@ $answer $(, $left, [$($event),*])?), "{}: {:#x}", stringify!($run), $start);
    )* };
    (@ $all:expr) => { $all };
    (@ $answer:expr, $left:expr, [$($event:expr),*]) => { ($answer, $left, vec![$($event),*]) };
}

macro_rules! both {
    ($($name:ident)*) => { $(
        mod $name {
            #[test]
            fn narrow() { super::check::$name::<super::Refcount>(); }
            #[test]
            fn wide() { super::check::$name::<super::Refcount64>(); }
        }
    )* };
}

both! {
    acquire_forms_saturate_at_the_edge_too
    dec_not_one_leaves_the_last
    dec_and_lock_locks_for_the_last_only
    bad_values_go_to_the_middle
    old_values_are_those_before
    batches_are_exact_on_both_sides_of_the_limit
    sets_store_what_they_are_given
}

mod check {
    use super::*;

    pub(super) fn acquire_forms_saturate_at_the_edge_too<C: Full>() {
        for start in [C::MAX, C::SATURATED] {
            let overflow = (true, C::SATURATED, vec![AddNotZeroOverflow]);
            rows! { C:
                start, C::inc_not_zero_acquire => overflow;
                start, |c| c.add_not_zero_acquire(7) => overflow;
                start, |c| c.inc_not_zero_limited_acquire(C::MAX) => overflow;
                start, |c| c.add_not_zero_limited_acquire(7, C::MAX) => overflow;
            }
        }
        rows! { C:
            0, C::inc_not_zero_acquire => false, 0, [];
            0, |c| c.add_not_zero_acquire(7) => false, 0, [];
            1, C::inc_not_zero_acquire => true, 2, [];
            1, |c| c.add_not_zero_acquire(7) => true, 8, [];
        }
    }

    pub(super) fn dec_not_one_leaves_the_last<C: Full>() {
        rows! { C:
            1, C::dec_not_one => false, 1, [];
            2, C::dec_not_one => true, 1, [];
            C::MAX, C::dec_not_one => true, C::MAX - 1, [];
        }
        for start in [0, C::SATURATED, C::MAX + 1, C::SATURATED + 1] {
            let saturated = (true, C::SATURATED, vec![SubUseAfterFree]);
            rows! { C: start, C::dec_not_one => saturated; }
        }
    }

    pub(super) fn dec_and_lock_locks_for_the_last_only<C: Full>() {
        let lock = Mutex::new(());
        let mut locked = 0;
        let put = |c: &C| {
            c.dec_and_lock(|| {
                locked += 1;
                lock.lock().unwrap()
            })
            .is_some()
        };
        assert_eq!(after(1, put), (true, 0, vec![]));
        assert_eq!(locked, 1);
        assert!(lock.try_lock().is_ok(), "the guard was dropped");
        let no_lock = |c: &C| c.dec_and_lock(|| panic!("locked")).map(|()| true);
        assert_eq!(after(2, no_lock), (None, 1, vec![]));
        assert_eq!(
            after(C::SATURATED, no_lock),
            (None, C::SATURATED, vec![SubUseAfterFree])
        );
        // Another reference is taken while this one waits for the lock: it is not the last any more, and the lock is released.
        let found = |c: &C| {
            c.dec_and_lock(|| {
                c.inc();
                lock.lock().unwrap()
            })
            .is_some()
        };
        assert_eq!(after(1, found), (false, 1, vec![]));
        assert!(lock.try_lock().is_ok(), "the guard was dropped");
    }

    pub(super) fn bad_values_go_to_the_middle<C: Full>() {
        let top = C::TOP;
        let bad = [
            C::MAX + 1,
            C::MAX + 2,
            C::SATURATED - 1,
            C::SATURATED,
            C::SATURATED + 1,
            top - 1,
            top,
        ];
        for start in bad {
            let pinned = |event| ((), C::SATURATED, vec![event]);
            rows! { C:
                start, C::inc => pinned(AddOverflow);
                start, |c| c.add(0) => pinned(AddOverflow);
                start, |c| c.add(3) => pinned(AddOverflow);
                start, |c| c.add(C::MAX) => pinned(AddOverflow);
                start, C::dec => pinned(DecLeak);
            }
            let pinned = |answer, event| (answer, C::SATURATED, vec![event]);
            let refused = pinned(false, SubUseAfterFree);
            rows! { C: start, C::dec_and_test => refused; }
            for n in [0, 1, 3, BATCH.into(), C::MAX, C::SATURATED, top] {
                rows! { C: start, |c| c.sub_and_test(n) => refused; }
            }
            let given = pinned(true, AddNotZeroOverflow);
            rows! { C:
                start, C::inc_not_zero => given;
                start, |c| c.add_not_zero(C::MAX) => given;
            }
        }
    }

    pub(super) fn old_values_are_those_before<C: Full>() {
        rows! { C:
            5, C::inc_old => 5, 6, [];
            5, |c| c.add_old(3) => 5, 8, [];
            5, C::inc_not_zero_old => Some(5), 6, [];
            5, |c| c.add_not_zero_old(3) => Some(5), 8, [];
            5, C::inc_not_zero_acquire_old => Some(5), 6, [];
            5, |c| c.add_not_zero_acquire_old(3) => Some(5), 8, [];
            0, C::inc_not_zero_old => None, 0, [];
            5, |c| c.inc_not_zero_limited_acquire_old(6) => Ok(5), 6, [];
            5, |c| c.add_not_zero_limited_acquire_old(3, 6) => Err(5), 5, [];
            5, C::dec_old => 5, 4, [];
            5, C::dec_and_test_old => (5, false), 4, [];
            1, C::dec_and_test_old => (1, true), 0, [];
            5, |c| c.sub_and_test_old(5) => (5, true), 0, [];
        }
        // Misuse is an event too.
        rows! { C:
            0, C::inc_old => 0, C::SATURATED, [AddUseAfterFree];
            C::MAX, C::inc_old => C::MAX, C::SATURATED, [AddOverflow];
            1, C::dec_old => 1, C::SATURATED, [DecLeak];
            0, C::dec_and_test_old => (0, false), C::SATURATED, [SubUseAfterFree];
            2, |c| c.sub_and_test_old(3) => (2, false), C::SATURATED, [SubUseAfterFree];
        }
    }

    pub(super) fn batches_are_exact_on_both_sides_of_the_limit<C: Full>() {
        let limit = u64::from(BATCH);
        for n in [limit - 1, limit, limit + 1, 1000, C::MAX / 2, C::MAX - 1] {
            rows! { C:
                1, |c| c.add_old(n) => 1, 1 + n, [];
                C::MAX - n, |c| c.add(n) => (), C::MAX, [];
                C::MAX - n + 1, |c| c.add(n) => (), C::SATURATED, [AddOverflow];
                0, |c| c.add(n) => (), C::SATURATED, [AddUseAfterFree];
                n, |c| c.sub_and_test(n) => true, 0, [];
                n + 1, |c| c.sub_and_test_old(n) => (n + 1, false), 1, [];
            }
            let underflow = (false, C::SATURATED, vec![SubUseAfterFree]);
            rows! { C:
                n - 1, |c| c.sub_and_test(n) => underflow;
                0, |c| c.sub_and_test(n) => underflow;
            }
        }
        // The operation that makes a saturated refcount_t zero for a moment.
        let escape = C::TOP - C::SATURATED + 1;
        rows! { C: C::SATURATED, |c| c.add(escape) => (), C::SATURATED, [AddOverflow]; }
    }

    pub(super) fn sets_store_what_they_are_given<C: Full>() {
        let count = C::new(7);
        assert_eq!((count.read(), count.is_saturated()), (7, false));
        count.set(0);
        assert_eq!((count.read(), count.is_saturated()), (0, false));
        count.set_release(C::MAX);
        assert_eq!((count.read(), count.is_saturated()), (C::MAX, false));
        count.set(C::SATURATED);
        assert_eq!((count.read(), count.is_saturated()), (C::SATURATED, true));
        count.set_release(1);
        assert!(count.dec_and_test(), "set alone ends saturation");
    }
}

#[test]
fn std_mutexes_are_locked_for_the_last_even_if_poisoned() {
    let lock = Mutex::new(3);
    let count = Refcount::new(2);
    assert!(count.dec_and_mutex_lock(&lock).is_none());
    let _ = std::panic::catch_unwind(|| {
        let _guard = lock.lock().unwrap();
        panic!("poisons");
    });
    let guard = count.dec_and_mutex_lock(&lock).unwrap();
    assert_eq!(*guard.unwrap_err().into_inner(), 3);
    assert_eq!(count.read(), 0);
    assert!(Refcount64::new(1).dec_and_mutex_lock(&Mutex::new(())).unwrap().is_ok());
}

#[test]
fn a_lock_that_panics_leaves_the_reference() {
    let count = Refcount::new(1);
    let put = std::panic::catch_unwind(|| count.dec_and_lock(|| -> () { panic!("no lock") }));
    assert!(put.is_err());
    assert_eq!(count.read(), 1);
}

#[test]
fn debug_says_what_is_counted_or_that_it_is_saturated() {
    assert_eq!(format!("{:?}", Refcount::new(3)), "Refcount(3)");
    assert_eq!(
        format!("{:?}", Refcount64::new(Refcount64::SATURATED)),
        "Refcount64(saturated)"
    );
}

#[test]
fn every_event_is_counted() {
    for event in Event::ALL {
        let before = misuses(event);
        let (_, seen) = events_of(|| match event {
            AddNotZeroOverflow => assert!(Counter::inc_not_zero(&Refcount::new(Refcount::MAX))),
            AddOverflow => Counter::inc(&Refcount::new(Refcount::MAX)),
            AddUseAfterFree => Counter::inc(&Refcount::new(0)),
            SubUseAfterFree => assert!(!Counter::dec_and_test(&Refcount::new(0))),
            DecLeak => Counter::dec(&Refcount::new(1)),
        });
        assert_eq!(seen, [event]);
        assert!(misuses(event) > before, "{event:?} is not counted");
    }
}
