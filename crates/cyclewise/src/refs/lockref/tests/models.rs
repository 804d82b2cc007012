//! Loom tries every order of the accesses of two or three threads on the real type.
//!
//! The object is a [`Checked`] value beside the `LockRef`, written by the thread that marks it dead.

use super::super::guard::Guard;
use super::super::lock_ref::LockRef;
use super::super::operation::{DEAD, MAX, SATURATED};
use super::super::policy::Bounded;
use crate::lock::NoRelax;
use crate::primitive::threads::Checked;
use core::sync::atomic::Ordering::Relaxed;
use loom::thread;
use std::sync::atomic::AtomicUsize;

/// One try, so that contention soon goes to the lock.
type Once = Bounded<NoRelax, 1>;

/// What the models need of a count and a lock in one word, correct or broken.
pub(super) trait Protocol: Send + Sync + 'static {
    fn new(count: u32) -> Self;
    fn get(&self);
    fn get_not_zero(&self) -> bool;
    fn get_not_dead(&self) -> bool;
    /// Gives up a reference; if it is the last, marks the object dead and returns true.
    fn put_or_die(&self) -> bool;
    /// Gives up a reference if that needs no lock.
    fn put_return(&self) -> Option<u32>;
    /// Under the lock: marks the object dead if nobody holds a reference; returns whether it did.
    fn reap(&self) -> bool;
    fn count(&self) -> i32;
}

impl Protocol for LockRef<(), Once> {
    fn new(count: u32) -> Self {
        Self::with_policy(count, (), Once::tuned())
    }

    fn get(&self) {
        self.get();
    }

    fn get_not_zero(&self) -> bool {
        self.get_not_zero()
    }

    fn get_not_dead(&self) -> bool {
        self.get_not_dead()
    }

    fn put_or_die(&self) -> bool {
        self.put_or_lock()
            .map(|mut guard| Guard::mark_dead(&mut guard))
            .is_some()
    }

    fn put_return(&self) -> Option<u32> {
        self.put_return()
    }

    fn reap(&self) -> bool {
        let mut guard = self.lock();
        let idle = Guard::count(&guard) == 0;
        if idle {
            Guard::mark_dead(&mut guard);
        }
        idle
    }

    fn count(&self) -> i32 {
        self.count()
    }
}

/// The count, and a value that is used while the object is alive.
pub(super) struct Object<P> {
    pub(super) count: P,
    value: Checked<usize>,
    deaths: AtomicUsize,
}

impl<P: Protocol> Object<P> {
    fn new(count: u32) -> [loom::sync::Arc<Self>; 2] {
        let object = loom::sync::Arc::new(Self {
            count: P::new(count),
            value: Checked::new(1),
            deaths: AtomicUsize::new(0),
        });
        [loom::sync::Arc::clone(&object), object]
    }

    /// The caller holds a reference.
    fn read(&self) {
        self.value.get();
    }

    /// The caller marked the object dead.
    fn destroy(&self) {
        self.value.replace(0);
        self.deaths.fetch_add(1, Relaxed);
    }

    fn put(&self) {
        if self.count.put_or_die() {
            self.destroy();
        }
    }

    fn deaths(&self) -> usize {
        self.deaths.load(Relaxed)
    }
}

/// `put_or_lock` against `get`: two threads each hold a reference, and one makes another first.
pub(super) fn the_last_put_destroys_after_all_uses<P: Protocol>() {
    loom::model(|| {
        let [here, there] = Object::<P>::new(2);
        let thread = thread::spawn(move || {
            there.count.get();
            there.read();
            there.put();
            there.read();
            there.put();
        });
        here.read();
        here.put();
        thread.join().unwrap();
        assert_eq!((here.deaths(), here.count.count()), (1, DEAD), "it died once");
    });
}

/// The last put against `get_not_zero` by a thread without a reference.
pub(super) fn the_last_put_against_get_not_zero<P: Protocol>() {
    loom::model(|| {
        let [here, there] = Object::<P>::new(1);
        let thread = thread::spawn(move || {
            if there.count.get_not_zero() {
                there.read();
                there.put();
            }
        });
        here.read();
        here.put();
        thread.join().unwrap();
        assert_eq!((here.deaths(), here.count.count()), (1, DEAD), "it died once");
    });
}

/// `mark_dead` of an idle object against `get_not_dead`.
pub(super) fn mark_dead_against_get_not_dead<P: Protocol>() {
    loom::model(|| {
        let [here, there] = Object::<P>::new(0);
        let thread = thread::spawn(move || {
            let got = there.count.get_not_dead();
            if got {
                there.read();
                there.put();
            }
            got
        });
        let reaped = here.count.reap();
        if reaped {
            here.destroy();
        }
        let got = thread.join().unwrap();
        assert!(reaped != got, "either it died or it was got");
        assert_eq!((here.deaths(), here.count.count()), (1, DEAD), "it died once");
    });
}

/// `put_return` down to idle; the thread that finds the object idle marks it dead.
pub(super) fn an_idle_one_is_reaped_after_all_uses<P: Protocol>() {
    loom::model(|| {
        let [here, there] = Object::<P>::new(2);
        let thread = thread::spawn(move || {
            there.read();
            let last = there.count.put_return();
            if last.is_none() {
                there.put();
            }
        });
        here.read();
        let last = here.count.put_return();
        match last {
            None => here.put(),
            Some(_) => {
                if here.count.reap() {
                    here.destroy();
                }
            }
        }
        thread.join().unwrap();
        assert!(here.deaths() <= 1, "it died once");
    });
}

/// Two gets at the maximum, and a put that one of them may have made too few.
pub(super) fn saturation_is_for_good<P: Protocol>() {
    for start in [MAX - 1, MAX] {
        loom::model(move || {
            let [here, there] = Object::<P>::new(start.cast_unsigned());
            let thread = thread::spawn(move || {
                there.count.get();
                there.put();
            });
            here.count.get();
            let before = here.count.count();
            thread.join().unwrap();
            let after = here.count.count();
            assert!(before >= MAX - 1, "never looks dead: {before}");
            assert!(before != SATURATED || after == SATURATED, "saturated for good: {after}");
            assert!(after == SATURATED || start < MAX && after == MAX, "exact: {after}");
        });
    }
}

#[test]
fn the_last_put_destroys() {
    the_last_put_destroys_after_all_uses::<LockRef<(), Once>>();
}

#[test]
fn get_not_zero() {
    the_last_put_against_get_not_zero::<LockRef<(), Once>>();
}

#[test]
fn mark_dead() {
    mark_dead_against_get_not_dead::<LockRef<(), Once>>();
}

#[test]
fn put_return() {
    an_idle_one_is_reaped_after_all_uses::<LockRef<(), Once>>();
}

#[test]
fn saturation() {
    saturation_is_for_good::<LockRef<(), Once>>();
}
