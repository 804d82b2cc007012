//! The lock with everything that `lock_api` builds on it: mapped guards, temporary unlocking, closures that panic.
#![cfg(not(loom))]

use cyclewise::lock::{RawSpinLock, SpinLock, SpinLockGuard};
use lock_api::{MappedMutexGuard, MutexGuard};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, mpsc::channel};
use std::thread;

fn panics(run: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
}

fn fail() -> ! {
    resume_unwind(Box::new(()))
}

#[test]
fn a_panic_under_the_lock_gives_it_up_and_poisons_nothing() {
    let lock = SpinLock::new(vec![1]);
    panics(|| {
        let mut guard = lock.lock();
        guard.push(2);
        fail();
    });
    assert_eq!(*lock.try_lock().expect("given up"), [1, 2]);
    // A thread can also take a lock while it unwinds.
    struct Unwinder<'a>(&'a SpinLock<Vec<i32>>);
    impl Drop for Unwinder<'_> {
        fn drop(&mut self) {
            self.0.lock().push(3);
        }
    }
    panics(|| {
        let _unwinder = Unwinder(&lock);
        fail();
    });
    assert_eq!(lock.into_inner(), [1, 2, 3]);
}

#[test]
fn what_is_done_without_the_lock_may_panic() {
    let lock = SpinLock::new(1);
    panics(|| {
        let mut guard = lock.lock();
        MutexGuard::unlocked(&mut guard, || {
            assert!(lock.try_lock().is_some());
            fail();
        });
    });
    panics(|| {
        let mut guard = lock.lock();
        MutexGuard::unlocked_fair(&mut guard, || {
            assert!(lock.try_lock().is_some());
            fail();
        });
    });
    let mut guard = lock.lock();
    MutexGuard::unlocked(&mut guard, || *lock.lock() += 1);
    MutexGuard::bump(&mut guard);
    assert!(lock.is_locked() && *guard == 2);
    MutexGuard::unlock_fair(guard);
    assert!(!lock.is_locked());
}

#[test]
fn a_guard_of_a_part_holds_the_whole() {
    let lock = SpinLock::new((1, String::from("a")));
    let mut part: MappedMutexGuard<'_, RawSpinLock, String> = MutexGuard::map(lock.lock(), |both| &mut both.1);
    part.push('b');
    assert!(lock.is_locked());
    let part = MappedMutexGuard::map(part, |string| string.as_mut_str());
    assert_eq!(&*part, "ab");
    drop(part);
    assert!(!lock.is_locked());
    let none = MutexGuard::try_map(lock.lock(), |_| None::<&mut u8>);
    assert!(lock.is_locked());
    drop(none);
    panics(|| drop(MutexGuard::map(lock.lock(), |_| -> &mut u8 { fail() })));
    assert_eq!(lock.try_lock().expect("given up").1, "ab");
}

#[test]
fn a_drop_of_the_value_that_panics_gives_the_lock_up() {
    struct Fails<'a>(&'a Cell<u32>);
    impl Drop for Fails<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            fail();
        }
    }
    let drops = Cell::new(0);
    let lock = SpinLock::new(Some(Fails(&drops)));
    panics(|| *lock.lock() = None);
    assert!(lock.try_lock().expect("given up").is_none());
    panics(|| drop(SpinLock::new(Fails(&drops)).into_inner()));
    panics(|| drop(SpinLock::new(Fails(&drops))));
    assert_eq!(drops.get(), 3, "each value once");
}

#[test]
fn a_guard_that_is_forgotten_holds_the_lock_for_good() {
    let mut lock = SpinLock::new(1);
    std::mem::forget(lock.lock());
    assert!(lock.try_lock().is_none() && lock.is_locked());
    // The owner needs no lock.
    *lock.get_mut() = 2;
    let moved = lock;
    assert!(moved.try_lock().is_none());
    assert_eq!(moved.into_inner(), 2);
}

#[test]
fn a_guard_is_given_up_on_another_thread() {
    let lock = SpinLock::new(1);
    let guard = lock.lock();
    thread::scope(|scope| {
        scope.spawn(move || drop::<SpinLockGuard<'_, i32>>(guard));
    });
    assert_eq!(*lock.try_lock().expect("given up"), 1);
}

#[test]
fn locks_in_locks_and_in_owners() {
    let inner = Arc::new(SpinLock::new(1));
    let outer = Arc::new(SpinLock::new(Arc::clone(&inner)));
    let (send, receive) = channel();
    let there = Arc::clone(&outer);
    let thread = thread::spawn(move || {
        let outer = there.lock();
        *outer.lock() += 1;
        send.send(()).unwrap();
    });
    receive.recv().unwrap();
    thread.join().unwrap();
    assert_eq!(*outer.lock().lock(), 2);
    drop(outer);
    assert_eq!(Arc::into_inner(inner).map(SpinLock::into_inner), Some(2));
}

#[test]
fn it_is_printed_whether_it_is_held_or_not() {
    let lock = SpinLock::new(5);
    assert!(format!("{lock:?}").contains('5'));
    let guard = lock.lock();
    assert!(format!("{lock:?}").contains("locked"));
    assert_eq!((format!("{guard:?}"), format!("{guard}")), ("5".into(), "5".into()));
}
