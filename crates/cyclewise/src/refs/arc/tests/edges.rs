//! The limits of the counts, reached by setting them: no test can hold 2^63 references.
//!
//! # Safety
//! Each test that sets a count above the real number leaks the memory or restores the count.
#![expect(unsafe_code, reason = "raw references without owners")]

use super::super::Arc;
use super::super::count::{CLAIMED, Count, DEAD, MAX, SATURATED, SOLE, incremented, references};
use super::super::weak_count::WeakCount;
use core::sync::atomic::Ordering::Relaxed;
use std::mem::forget;
use std::rc::Rc;

fn stored(count: &Count) -> usize {
    count.atomic().load(Relaxed)
}

fn is_saturated(stored: usize) -> bool {
    stored > MAX && stored != DEAD && stored != CLAIMED
}

#[test]
fn the_states_are_distinct() {
    let quarter = 1_usize << (usize::BITS - 2);
    assert_eq!(SATURATED - MAX, quarter + 1);
    assert_eq!(DEAD - SATURATED, quarter - 1);
    assert!(is_saturated(SATURATED) && is_saturated(CLAIMED - 1));
    assert!(!is_saturated(SOLE) && !is_saturated(MAX) && !is_saturated(DEAD) && !is_saturated(CLAIMED));
}

#[test]
fn what_is_stored_is_one_less() {
    assert_eq!(references(DEAD), 0);
    assert_eq!(references(SOLE), 1);
    assert_eq!(references(CLAIMED), 1);
    assert_eq!(references(MAX), MAX + 1);
    assert_eq!(references(SATURATED), usize::MAX);
    assert_eq!(incremented(SOLE), 1);
    assert_eq!(incremented(MAX - 1), MAX);
    assert_eq!(incremented(MAX), SATURATED);
    assert_eq!(incremented(CLAIMED), 1);
    assert_eq!(incremented(SATURATED + 1), SATURATED);
}

#[test]
fn an_increment_past_the_maximum_saturates() {
    let count = Count::new(MAX - 1);
    count.inc();
    assert_eq!(stored(&count), MAX);
    // Changes on this side of the limit do not matter.
    assert!(!count.dec_and_test());
    count.inc();
    assert_eq!(stored(&count), MAX);
    count.inc();
    assert_eq!(stored(&count), SATURATED);
}

#[test]
fn a_saturated_count_stays_whatever_is_done() {
    for start in [MAX + 2, SATURATED - 1, SATURATED, SATURATED + 1, CLAIMED - 1] {
        let count = Count::new(start);
        for _ in 0..3 {
            assert!(!count.dec_and_test());
            assert_eq!(stored(&count), SATURATED);
            count.inc();
            assert_eq!(stored(&count), SATURATED);
            assert!(count.inc_unless_dead());
            assert_eq!(stored(&count), SATURATED);
            assert!(!count.take_if_sole() && !count.claim() && !count.is_claimed());
            assert_eq!(count.get(), usize::MAX);
        }
    }
}

#[test]
fn a_dead_count_stays_dead() {
    let count = Count::new(SOLE);
    assert!(count.dec_and_test());
    assert!(!count.inc_unless_dead());
    assert_eq!((stored(&count), count.get()), (DEAD, 0));
    count.revive();
    assert!(stored(&count) == SOLE && count.inc_unless_dead());
    assert_eq!(count.get(), 2);
}

#[test]
fn a_claim_lasts_until_it_is_released_or_broken() {
    let count = Count::new(SOLE);
    assert!(count.claim() && !count.claim() && !count.take_if_sole());
    assert_eq!((count.is_claimed(), count.get()), (true, 1));
    count.unclaim();
    assert_eq!(stored(&count), SOLE);

    assert!(count.claim() && count.inc_unless_dead());
    assert_eq!((count.is_claimed(), count.get()), (false, 2));
    // A broken claim is not released as well.
    count.unclaim();
    assert_eq!(count.get(), 2);
    assert!(!count.claim() && !count.dec_and_test());
    assert!(count.claim() && count.is_claimed());
    count.unclaim_alone();
    assert!(count.dec_and_test());
    assert!(!count.claim());
}

/// What other threads find while a thread is inside `get_mut`, or after a fork that lost that thread.
#[test]
fn nobody_waits_for_a_claim() {
    let mut arc = Arc::new(5);
    let weak = Arc::downgrade(&arc);
    assert!(arc.counts().strong.claim());
    assert_eq!((Arc::strong_count(&arc), weak.strong_count()), (1, 1));
    let (other, clone) = (weak.upgrade().expect("it lives"), weak.clone());
    assert!(!arc.counts().strong.is_claimed() && Arc::get_mut(&mut arc).is_none());
    let third = Arc::downgrade(&other);
    assert_eq!((Arc::strong_count(&arc), Arc::weak_count(&arc)), (2, 3));
    drop((weak, other, clone, third));
    assert_eq!(Arc::get_mut(&mut arc), Some(&mut 5));
}

#[test]
fn a_saturated_weak_count_is_not_none() {
    let weak = WeakCount::new(MAX);
    weak.inc();
    assert_eq!(weak.get(), usize::MAX);
    assert!(!weak.dec_and_test() && !weak.is_sole());
    assert_eq!(weak.get(), usize::MAX);
}

/// Sets the strong count to `state`, as if references had been forgotten.
fn forgotten(arc: &Arc<Rc<()>>, state: usize) {
    arc.counts().strong.atomic().store(state, Relaxed);
}

#[test]
fn a_value_with_too_many_references_is_never_dropped() {
    let witness = Rc::new(());
    let mut arc = Arc::new(Rc::clone(&witness));
    forgotten(&arc, MAX);
    forget(Arc::clone(&arc));
    assert_eq!(Arc::strong_count(&arc), usize::MAX);
    assert!(Arc::get_mut(&mut arc).is_none());

    let weak = Arc::downgrade(&arc);
    let raw = Arc::as_ptr(&arc);
    for _ in 0..10 {
        drop(weak.upgrade().expect("the value lives"));
        // SAFETY: a saturated count keeps the value, whatever is dropped.
        unsafe { Arc::decrement_strong_count(raw) };
    }
    let arc = Arc::try_unwrap(arc).expect_err("not the only one");
    assert!(Arc::into_inner(arc).is_none());
    assert_eq!(Rc::strong_count(&witness), 2);
    assert_eq!(weak.strong_count(), usize::MAX);

    // Cleans up after the test: nobody has a strong reference, whatever the count is.
    let arc = weak.upgrade().expect("the value lives");
    forgotten(&arc, SOLE);
    drop(arc);
    assert_eq!((Rc::strong_count(&witness), weak.strong_count()), (1, 0));
}

#[test]
fn make_mut_of_a_saturated_value_clones_and_leaks() {
    let witness = Rc::new(());
    let mut arc = Arc::new(Rc::clone(&witness));
    let weak = Arc::downgrade(&arc);
    forgotten(&arc, SATURATED);
    Arc::make_mut(&mut arc);
    assert_eq!((Arc::strong_count(&arc), weak.strong_count()), (1, usize::MAX));
    drop(arc);
    assert_eq!(Rc::strong_count(&witness), 2);
    let old = weak.upgrade().expect("the value lives");
    forgotten(&old, SOLE);
}

#[test]
fn memory_with_too_many_weak_references_is_never_freed() {
    let witness = Rc::new(());
    let mut arc = Arc::new(Rc::clone(&witness));
    let weak = Arc::downgrade(&arc);
    let count = arc.counts().weak.count();
    count.atomic().store(MAX, Relaxed);
    forget(weak.clone());
    assert_eq!((Arc::weak_count(&arc), weak.weak_count()), (usize::MAX, usize::MAX));
    assert!(Arc::get_mut(&mut arc).is_none());

    // The value is destroyed, and the weak references detect that.
    drop(arc);
    assert_eq!(Rc::strong_count(&witness), 1);
    assert!(weak.upgrade().is_none());
    let again = weak.clone();
    drop(again);
    assert!(weak.upgrade().is_none());

    // Cleans up after the test: `weak` is the only one.
    weak.counts()
        .expect("memory")
        .weak
        .count()
        .atomic()
        .store(SOLE, Relaxed);
}
