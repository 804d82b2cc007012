//! Loom tries every order of the accesses of two or three threads on the real types.
//!
//! The value is a [`Checked`] one. Guarantees that do not concern one cell are counted.

use super::super::Arc;
use super::super::count::{Count, MAX};
use super::super::weak::Weak;
use crate::primitive::threads::Checked;
use core::sync::atomic::Ordering::Relaxed;
use loom::thread;
use std::sync::atomic::AtomicUsize as Plain;

/// A value that checks its reads, writes and destruction. Its counter is outside the model.
pub(super) struct Value {
    cell: Checked<usize>,
    /// Values created and not destroyed.
    live: std::sync::Arc<Plain>,
}

impl Value {
    pub(super) fn new(live: &std::sync::Arc<Plain>) -> Self {
        live.fetch_add(1, Relaxed);
        Self {
            cell: Checked::new(1),
            live: std::sync::Arc::clone(live),
        }
    }

    pub(super) fn read(&self) -> usize {
        self.cell.get()
    }

    pub(super) fn write(&mut self, new: usize) {
        self.cell.replace(new);
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        self.read();
        Self::new(&self.live)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // A second panic would abort the process and hide the first message.
        if !std::thread::panicking() {
            self.write(0);
        }
        self.live.fetch_sub(1, Relaxed);
    }
}

/// Runs the model in every order, and checks after each that every value was destroyed.
pub(super) fn model(run: impl Fn(Value) + Sync + Send + 'static) {
    loom::model(move || {
        let live = std::sync::Arc::new(Plain::new(0));
        run(Value::new(&live));
        assert_eq!(live.load(Relaxed), 0, "every value is destroyed once");
    });
}

#[test]
fn the_last_of_three_drops_destroys_after_all_uses() {
    model(|value| {
        let arc = Arc::new(value);
        let threads = [(); 2].map(|()| {
            let arc = Arc::clone(&arc);
            thread::spawn(move || arc.read())
        });
        arc.read();
        drop(arc);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn an_upgrade_gets_the_live_value_or_none() {
    model(|value| {
        let arc = Arc::new(value);
        let weak = Arc::downgrade(&arc);
        let thread = thread::spawn(move || weak.upgrade().map(|arc| arc.read()));
        drop(arc);
        if let Some(read) = thread.join().unwrap() {
            assert_eq!(read, 1);
        }
    });
}

#[test]
fn the_memory_outlives_every_weak_reference() {
    model(|value| {
        let arc = Arc::new(value);
        let (first, second) = (Arc::downgrade(&arc), Arc::downgrade(&arc));
        let threads = [first, second].map(|weak| thread::spawn(move || drop(weak.clone())));
        drop(arc);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// `Arc::get_mut`, or one with a defect.
pub(super) type GetMut = fn(&mut Arc<Value>) -> Option<&mut Value>;

/// Writes to what `get_mut` gives out, while `there` uses another reference, of both kinds.
fn writes_beside(get_mut: GetMut, there: fn(Arc<Value>)) {
    model(move |value| {
        let mut arc = Arc::new(value);
        let other = Arc::clone(&arc);
        let thread = thread::spawn(move || there(other));
        if let Some(value) = get_mut(&mut arc) {
            value.write(2);
        }
        thread.join().unwrap();
    });
}

/// A strong reference that turns weak, and strong again.
pub(super) fn turns_weak_and_back(get_mut: GetMut) {
    writes_beside(get_mut, |other| {
        let weak = Arc::downgrade(&other);
        drop(other);
        weak.upgrade().map(|arc| arc.read());
    });
}

/// A weak reference that turns strong.
pub(super) fn turns_strong(get_mut: GetMut) {
    model(move |value| {
        let mut arc = Arc::new(value);
        let weak = Arc::downgrade(&arc);
        let thread = thread::spawn(move || {
            let arc = weak.upgrade().expect("somebody has it all the time");
            drop(weak);
            arc.read()
        });
        if let Some(value) = get_mut(&mut arc) {
            value.write(2);
        }
        thread.join().unwrap();
    });
}

#[test]
fn get_mut_sees_every_other_reference_and_waits_for_the_uses_of_dropped_ones() {
    writes_beside(Arc::get_mut, |other| {
        other.read();
    });
    turns_weak_and_back(Arc::get_mut);
    turns_strong(Arc::get_mut);
}

#[test]
fn an_upgrade_succeeds_during_get_mut() {
    model(|value| {
        let mut arc = Arc::new(value);
        let weak = Arc::downgrade(&arc);
        let thread = thread::spawn(move || {
            let first = weak.upgrade().expect("somebody has it all the time");
            drop(first);
            weak.upgrade().expect("and still").read()
        });
        assert!(Arc::get_mut(&mut arc).is_none_or(|value| value.read() == 1));
        thread.join().unwrap();
        assert_eq!(Arc::strong_count(&arc), 1);
    });
}

#[test]
fn into_inner_gives_the_value_to_exactly_one() {
    model(|value| {
        let arc = Arc::new(value);
        let other = Arc::clone(&arc);
        let thread = thread::spawn(move || {
            other.read();
            Arc::into_inner(other).map(|mut value| value.write(2)).is_some()
        });
        let here = Arc::into_inner(arc).map(|mut value| value.write(2)).is_some();
        assert!(here ^ thread.join().unwrap());
    });
}

#[test]
fn try_unwrap_gives_the_value_to_at_most_one() {
    model(|value| {
        let arc = Arc::new(value);
        let other = Arc::clone(&arc);
        let thread = thread::spawn(move || {
            other.read();
            drop(other);
        });
        if let Ok(mut value) = Arc::try_unwrap(arc) {
            value.write(2);
        }
        thread.join().unwrap();
    });
}

#[test]
fn make_mut_excludes_upgrades() {
    model(|value| {
        let mut arc = Arc::new(value);
        let weak = Arc::downgrade(&arc);
        let thread = thread::spawn(move || weak.upgrade().map(|arc| arc.read()));
        Arc::make_mut(&mut arc).write(2);
        // The old value or none: weak references never see what is written after make_mut.
        assert!(matches!(thread.join().unwrap(), None | Some(1)));
        assert_eq!(arc.read(), 2);
    });
}

#[test]
fn make_mut_excludes_clones() {
    model(|value| {
        let mut arc = Arc::new(value);
        let other = Arc::clone(&arc);
        let thread = thread::spawn(move || other.read());
        Arc::make_mut(&mut arc).write(2);
        assert_eq!(thread.join().unwrap(), 1);
    });
}

#[test]
fn a_cyclic_value_is_seen_whole_or_not_at_all() {
    model(|value| {
        let mut reader = None;
        let arc = Arc::new_cyclic(|weak: &Weak<Value>| {
            let weak = weak.clone();
            reader = Some(thread::spawn(move || weak.upgrade().map(|arc| arc.read())));
            let mut value = value;
            value.write(3);
            value
        });
        assert!(matches!(reader.unwrap().join().unwrap(), None | Some(3)));
        drop(arc);
    });
}

#[test]
fn concurrent_increments_at_the_maximum_saturate_for_ever() {
    for start in [MAX - 1, MAX] {
        loom::model(move || {
            let count = loom::sync::Arc::new(Count::new(start));
            let other = loom::sync::Arc::clone(&count);
            // Each holds a reference of its own and makes one; the second gives both up.
            let thread = thread::spawn(move || {
                other.inc();
                assert!(!other.dec_and_test());
                assert!(!other.dec_and_test());
            });
            count.inc();
            count.inc();
            thread.join().unwrap();
            if start == MAX {
                assert_eq!(count.get(), usize::MAX, "saturated");
                for _ in 0..4 {
                    assert!(!count.dec_and_test(), "never dead");
                }
                assert_eq!(count.get(), usize::MAX, "and it stays so");
            }
        });
    }
}
