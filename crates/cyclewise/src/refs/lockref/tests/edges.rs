//! Every operation on every kind of count: alone, under the lock after its tries are exhausted, and while another
//! thread holds the lock.

use super::super::guard::Guard;
use super::super::operation::{DEAD, MAX, SATURATED};
use super::super::policy::Bounded;
use super::super::{LockRef, Ref};
use super::scripted::{Scripted, Step, reported, scripted};
use crate::lock::NoRelax;
use crate::refs::refcount::Event;
use Event::{AddNotZeroOverflow, AddOverflow, AddUseAfterFree, SubUseAfterFree};
use core::fmt::Debug;
use std::vec;
use std::vec::Vec;

/// One try: a failed exchange leads to the lock.
type Once = Bounded<NoRelax, 1>;

/// A row: the old count, the result, the new count, the report.
type EdgeCase<R> = (i32, R, i32, Option<Event>);

fn at(count: i32) -> &'static Scripted<Once> {
    reported();
    let lockref = scripted(count.max(0).cast_unsigned(), Once::tuned());
    if count < 0 {
        Guard::mark_dead(&mut lockref.lock());
    }
    assert_eq!(lockref.count(), count);
    lockref
}

fn check<R: PartialEq + Debug>(name: &str, operation: impl Fn(&'static Scripted<Once>) -> R, rows: &[EdgeCase<R>]) {
    for (before, says, after, event) in rows {
        for spoiled in [false, true] {
            let lockref = at(*before);
            lockref.policy().spoil.set(u32::from(spoiled));
            assert_eq!(operation(lockref), *says, "{name} of {before}, spoiled: {spoiled}");
            assert_eq!(lockref.count(), *after, "{name} of {before}, spoiled: {spoiled}");
            assert_eq!(
                reported(),
                Vec::from_iter(*event),
                "{name} of {before}, spoiled: {spoiled}"
            );
            let steps = lockref.policy().log();
            let tried = steps.contains(&Step::Tried);
            assert_eq!(
                steps.contains(&Step::Turn(true)),
                spoiled && tried,
                "{name} of {before}"
            );
            assert!(lockref.try_lock().is_some(), "{name} of {before} unlocks");
        }
    }
}

macro_rules! edges {
    ($($test:ident: $name:literal, $operation:expr, $rows:expr;)*) => { $(
        #[test]
        fn $test() {
            check($name, $operation, &$rows);
        }
    )* };
}

edges! {
    get: "get", |lockref| lockref.get(), [
        (DEAD, (), DEAD, Some(AddUseAfterFree)),
        (0, (), SATURATED, Some(AddUseAfterFree)),
        (1, (), 2, None),
        (2, (), 3, None),
        (MAX - 1, (), MAX, None),
        (MAX, (), SATURATED, Some(AddOverflow)),
        (SATURATED, (), SATURATED, None),
    ];
    get_not_zero: "get_not_zero", |lockref| lockref.get_not_zero(), [
        (DEAD, false, DEAD, None),
        (0, false, 0, None),
        (1, true, 2, None),
        (2, true, 3, None),
        (MAX - 1, true, MAX, None),
        (MAX, true, SATURATED, Some(AddNotZeroOverflow)),
        (SATURATED, true, SATURATED, None),
    ];
    get_not_dead: "get_not_dead", |lockref| lockref.get_not_dead(), [
        (DEAD, false, DEAD, None),
        (0, true, 1, None),
        (1, true, 2, None),
        (2, true, 3, None),
        (MAX - 1, true, MAX, None),
        (MAX, true, SATURATED, Some(AddNotZeroOverflow)),
        (SATURATED, true, SATURATED, None),
    ];
}

/// The result of `put_or_lock`: done, or locked with this count.
fn put_or_lock(lockref: &'static Scripted<Once>) -> Option<i32> {
    lockref.put_or_lock().map(|guard| {
        assert!(lockref.try_lock().is_none(), "the lock is held");
        Guard::count(&guard)
    })
}

edges! {
    put_or_lock_keeps_the_last_and_locks: "put_or_lock", put_or_lock, [
        (DEAD, Some(DEAD), DEAD, Some(SubUseAfterFree)),
        (0, Some(0), 0, Some(SubUseAfterFree)),
        (1, Some(1), 1, None),
        (2, None, 1, None),
        (3, None, 2, None),
        (MAX, None, MAX - 1, None),
        (SATURATED, None, SATURATED, None),
    ];
}

#[test]
fn put_return_never_takes_the_lock() {
    let rows: [EdgeCase<Option<u32>>; 7] = [
        (DEAD, None, DEAD, None),
        (0, None, 0, None),
        (1, Some(0), 0, None),
        (2, Some(1), 1, None),
        (3, Some(2), 2, None),
        (MAX, Some(MAX.cast_unsigned() - 1), MAX - 1, None),
        (SATURATED, Some(SATURATED.cast_unsigned()), SATURATED, None),
    ];
    for (before, says, after, event) in rows {
        let lockref = at(before);
        assert_eq!(lockref.put_return(), says, "of {before}");
        assert_eq!(lockref.count(), after, "of {before}");
        assert_eq!(reported(), Vec::from_iter(event));

        let locked = at(before);
        locked.policy().lock_for(u32::MAX);
        assert_eq!((locked.put_return(), locked.count()), (None, before), "locked");
        assert_eq!(locked.policy().log(), []);

        // Another thread locks between the load and the only exchange that is allowed.
        let spent = at(before);
        spent.policy().spoil.set(1);
        let tries = (1..=MAX).contains(&before);
        assert_eq!(spent.put_return(), if tries { None } else { says }, "spent");
        assert_eq!(spent.count(), before, "spent");
    }
}

#[test]
fn the_guards_get_and_put() {
    let get = |lockref: &'static Scripted<Once>| Guard::get(&mut lockref.lock());
    let put = |lockref: &'static Scripted<Once>| Guard::put(&mut lockref.lock());
    check(
        "Guard::get",
        get,
        &[
            (DEAD, (), DEAD, Some(AddUseAfterFree)),
            (0, (), 1, None),
            (1, (), 2, None),
            (MAX - 1, (), MAX, None),
            (MAX, (), SATURATED, Some(AddOverflow)),
            (SATURATED, (), SATURATED, None),
        ],
    );
    check(
        "Guard::put",
        put,
        &[
            (DEAD, DEAD, DEAD, Some(SubUseAfterFree)),
            (0, SATURATED, SATURATED, Some(SubUseAfterFree)),
            (1, 0, 0, None),
            (2, 1, 1, None),
            (MAX, MAX - 1, MAX - 1, None),
            (SATURATED, SATURATED, SATURATED, None),
        ],
    );
}

#[test]
fn mark_dead_ends_every_state() {
    for count in [DEAD, 0, 1, MAX, SATURATED] {
        let lockref = at(count);
        let mut guard = lockref.lock();
        Guard::mark_dead(&mut guard);
        assert!(Guard::is_dead(&guard));
        drop(guard);
        assert_eq!((lockref.count(), lockref.is_dead()), (DEAD, true));
    }
}

#[test]
fn stray_gets_never_revive() {
    let lockref = at(DEAD);
    // The kernel's revives at the 128th.
    for _ in 0..1000 {
        lockref.get();
        assert!(!lockref.get_not_dead() && !lockref.get_not_zero());
    }
    assert_eq!(lockref.count(), DEAD);
    assert_eq!(reported(), vec![AddUseAfterFree; 1000]);
}

#[test]
fn a_saturated_one_outlives_its_puts() {
    let lockref = at(MAX);
    lockref.get();
    assert_eq!(reported(), [AddOverflow]);
    for _ in 0..1000 {
        assert!(lockref.put_or_lock().is_none());
        assert_eq!(lockref.put_return(), Some(SATURATED.cast_unsigned()));
        Guard::put(&mut lockref.lock());
    }
    assert_eq!(lockref.count(), SATURATED);
}

#[test]
fn a_count_too_large_starts_saturated() {
    type Small = LockRef<(), Once>;
    for (count, stored) in [
        (0, 0),
        (Small::MAX, MAX),
        (Small::MAX + 1, SATURATED),
        (u32::MAX, SATURATED),
    ] {
        assert_eq!(Small::with_policy(count, (), Once::tuned()).count(), stored);
    }
}

#[test]
fn a_ref_leaves_it_idle_and_takes_it_up_again() {
    let lockref = at(0);
    let reference = lockref.reference().unwrap();
    let other = reference.clone();
    assert_eq!(lockref.count(), 2);
    drop(reference);
    assert_eq!(lockref.count(), 1);
    drop(other);
    assert_eq!(lockref.count(), 0);
    let mut guard = lockref.reference().unwrap().put_or_lock().unwrap();
    assert_eq!(Guard::count(&guard), 1);
    Guard::mark_dead(&mut guard);
    drop(guard);
    assert!(lockref.reference().is_none());
}

#[test]
fn a_ref_gives_its_count_away_and_adopts_one() {
    let lockref = at(1);
    let _ = lockref.reference().unwrap().into_counted();
    assert_eq!(lockref.count(), 2);
    drop(Ref::adopt(lockref));
    assert_eq!(lockref.count(), 1);
}

#[test]
fn the_lock_protects_the_data_and_unlocks_on_panic() {
    let lockref = LockRef::new(vec![1]);
    lockref.lock().push(2);
    let panicked = std::thread::scope(|s| {
        s.spawn(|| {
            let _guard = lockref.lock();
            panic!("while it is held");
        })
        .join()
    });
    assert!(panicked.is_err());
    assert_eq!(*lockref.try_lock().unwrap(), [1, 2]);
    assert_eq!(lockref.into_inner(), [1, 2]);
}

#[test]
fn an_unsized_one_works_behind_a_reference() {
    let array = LockRef::new([1, 2, 3]);
    let slice: &LockRef<[i32]> = &array;
    slice.lock()[0] = 7;
    assert_eq!(slice.lock().iter().sum::<i32>(), 12);
    assert!(slice.get_not_zero());
    assert_eq!(slice.count(), 2);
}

#[test]
fn a_word_and_a_policy_are_all_there_is_beside_the_data() {
    assert_eq!(size_of::<LockRef<(), Bounded>>(), 8);
    assert_eq!(size_of::<LockRef<()>>(), 16);
}
