//! The pointers: who destroys the value, when, and on which thread.

use crate::percpu::{Arc, ArcOwner};
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::string::String;
use std::sync::Mutex;
use std::thread::{self, ThreadId};
use std::vec::Vec;

/// Says when it is dropped, and where.
struct Canary<'a>(&'a Mutex<Vec<ThreadId>>);

impl Drop for Canary<'_> {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(thread::current().id());
    }
}

fn dropped(by: &Mutex<Vec<ThreadId>>) -> Vec<ThreadId> {
    by.lock().unwrap().clone()
}

#[test]
fn the_owner_destroys_the_value_where_no_clone_is_left() {
    let by = Mutex::new(Vec::new());
    let owner = ArcOwner::new(Canary(&by));
    for _ in 0..100 {
        let clone = ArcOwner::share(&owner);
        drop((clone.clone(), clone));
    }
    assert_eq!(dropped(&by), []);
    drop(owner);
    assert_eq!(dropped(&by), [thread::current().id()]);
}

#[test]
fn the_last_clone_destroys_the_value_at_once_and_on_its_thread() {
    let by = Mutex::new(Vec::new());
    let owner = ArcOwner::new(Canary(&by));
    let (first, second) = (Arc::from(&owner), ArcOwner::share(&owner));
    drop(owner);
    drop(first.clone());
    drop(first);
    assert_eq!(dropped(&by), [], "the second is left");
    thread::scope(|scope| {
        let last = scope.spawn(|| {
            drop(second);
            assert_eq!(dropped(&by), [thread::current().id()]);
        });
        last.join().unwrap();
    });
}

#[test]
fn the_value_is_where_every_pointer_says() {
    let owner = ArcOwner::from(String::from("schema"));
    let clone = ArcOwner::share(&owner);
    assert!(core::ptr::eq::<String>(&*owner, &*clone) && *owner == *clone && clone == clone.clone());
    let other = ArcOwner::<String>::default();
    assert!(Arc::ptr_eq(&clone, &clone.clone()) && !Arc::ptr_eq(&clone, &Arc::from(&other)));
    assert_eq!(std::format!("{owner} {clone:?}"), "schema \"schema\"");
}

#[test]
fn an_aligned_value_and_one_of_no_size_are_kept() {
    #[repr(align(512))]
    struct Aligned(u8);
    let (aligned, nothing) = (ArcOwner::new(Aligned(7)), ArcOwner::new(()));
    let (clone, _none) = (ArcOwner::share(&aligned), ArcOwner::share(&nothing));
    drop(aligned);
    assert_eq!((clone.0, (&raw const *clone).addr() % 512), (7, 0));
}

#[test]
fn into_inner_returns_the_value_to_the_last() {
    let owner = ArcOwner::new(String::from("value"));
    let clone = ArcOwner::share(&owner);
    assert_eq!(ArcOwner::into_inner(owner).ok(), Some(None));
    assert_eq!(Arc::into_inner(clone.clone()), None);
    assert_eq!(Arc::into_inner(clone).as_deref(), Some("value"));
    let alone = ArcOwner::new(Cell::new(7));
    assert_eq!(
        ArcOwner::into_inner(alone).ok().flatten().map(Cell::into_inner),
        Some(7)
    );
}

#[test]
fn one_of_two_threads_gets_the_value() {
    for _ in 0..200 {
        let owner = ArcOwner::new(7);
        let clones = [ArcOwner::share(&owner), ArcOwner::share(&owner)];
        drop(owner);
        let got = thread::scope(|scope| {
            let threads = clones.map(|clone| scope.spawn(move || Arc::into_inner(clone)));
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(got.iter().flatten().sum::<i32>(), 7);
    }
}

/// The value of a clone may own clones of others, and the owner of another.
#[test]
fn a_value_may_own_pointers() {
    let by = Mutex::new(Vec::new());
    let inner = ArcOwner::new(Canary(&by));
    let outer = ArcOwner::new((ArcOwner::share(&inner), inner));
    let clone = ArcOwner::share(&outer);
    drop(outer);
    assert_eq!(dropped(&by), []);
    drop(clone);
    assert_eq!(dropped(&by).len(), 1);
}

#[cfg(panic = "unwind")]
#[test]
fn a_drop_that_panics_ends_the_pointer_and_frees_the_memory() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    struct Panics<'a>(&'a AtomicUsize);
    impl Drop for Panics<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
            panic!("in drop");
        }
    }
    let drops = AtomicUsize::new(0);
    let owner = ArcOwner::new(Panics(&drops));
    let clone = ArcOwner::share(&owner);
    drop(owner);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(clone))).is_err());
    let alone = ArcOwner::new(Panics(&drops));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(alone))).is_err());
    assert_eq!(drops.load(Relaxed), 2);
}
