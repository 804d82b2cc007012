//! The edges of the counts, reached by setting them: nobody can hold 2^63 references in a test.
//!
//! # Safety
//! Each test that sets a count past what exists leaks the memory or puts the count back.
#![expect(unsafe_code, reason = "raw references without owners")]

use super::super::count::{Count, DEAD, MAX, SATURATED, SOLE, incremented, references};
use super::super::shared::Arc;
use super::super::weak_count::{LOCKED, WeakCount};
use core::sync::atomic::Ordering::Relaxed;
use std::mem::forget;
use std::rc::Rc;

fn stored(count: &Count) -> usize {
    count.atomic().load(Relaxed)
}

fn is_saturated(stored: usize) -> bool {
    stored > MAX && stored != DEAD
}

#[test]
fn the_states_are_apart() {
    let quarter = 1_usize << (usize::BITS - 2);
    assert_eq!(SATURATED - MAX, quarter + 1);
    assert_eq!(DEAD - SATURATED, quarter - 1);
    assert!(is_saturated(SATURATED) && is_saturated(LOCKED));
    assert!(!is_saturated(SOLE) && !is_saturated(MAX) && !is_saturated(DEAD));
}

#[test]
fn what_is_stored_is_one_less() {
    assert_eq!(references(DEAD), 0);
    assert_eq!(references(SOLE), 1);
    assert_eq!(references(MAX), MAX + 1);
    assert_eq!(references(SATURATED), usize::MAX);
    assert_eq!(incremented(SOLE), 1);
    assert_eq!(incremented(MAX - 1), MAX);
    assert_eq!(incremented(MAX), SATURATED);
    assert_eq!(incremented(SATURATED + 1), SATURATED);
}

#[test]
fn an_increment_passes_the_edge_once() {
    let count = Count::new(MAX - 1);
    count.inc();
    assert_eq!(stored(&count), MAX);
    // Back and forth on this side changes nothing.
    assert!(!count.dec_and_test());
    count.inc();
    assert_eq!(stored(&count), MAX);
    count.inc();
    assert_eq!(stored(&count), SATURATED);
}

#[test]
fn a_saturated_count_stays_whatever_is_done() {
    for start in [MAX + 2, SATURATED - 1, SATURATED, SATURATED + 1, LOCKED - 1] {
        let count = Count::new(start);
        for _ in 0..3 {
            assert!(!count.dec_and_test());
            assert_eq!(stored(&count), SATURATED);
            count.inc();
            assert_eq!(stored(&count), SATURATED);
            assert!(count.inc_unless_dead());
            assert_eq!(stored(&count), SATURATED);
            assert!(!count.take_if_sole() && !count.is_sole());
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
    assert!(count.is_sole() && count.inc_unless_dead());
    assert_eq!(count.get(), 2);
}

#[test]
fn a_locked_weak_count_reads_as_none_and_saturation_forbids_the_lock() {
    let weak = WeakCount::new(SOLE);
    assert!(weak.lock_if_sole());
    assert!(!weak.lock_if_sole());
    assert_eq!(weak.get(), 0);
    weak.unlock();
    weak.inc();
    assert_eq!(weak.get(), 1);
    assert!(!weak.lock_if_sole() && !weak.is_sole());

    let weak = WeakCount::new(MAX);
    weak.inc_unless_locked();
    assert_eq!(weak.get(), usize::MAX);
    assert!(!weak.dec_and_test() && !weak.lock_if_sole() && !weak.is_sole());
    assert_eq!(weak.get(), usize::MAX);
}

/// As if so many references had been forgotten that `state` is the count.
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
        // SAFETY: a saturated count keeps the value whatever is given up.
        unsafe { Arc::decrement_strong_count(raw) };
    }
    let arc = Arc::try_unwrap(arc).expect_err("not the only one");
    assert!(Arc::into_inner(arc).is_none());
    assert_eq!(Rc::strong_count(&witness), 2);
    assert_eq!(weak.strong_count(), usize::MAX);

    // The test's own end of it: nobody has a strong reference, whatever the count says.
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

    // The value itself goes, and the weak references still find that out.
    drop(arc);
    assert_eq!(Rc::strong_count(&witness), 1);
    assert!(weak.upgrade().is_none());
    let again = weak.clone();
    drop(again);
    assert!(weak.upgrade().is_none());

    // The test's own end of it: `weak` is the only one.
    weak.counts()
        .expect("memory")
        .weak
        .count()
        .atomic()
        .store(SOLE, Relaxed);
}
