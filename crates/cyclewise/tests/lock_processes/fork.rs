//! A lock in a child of fork: the forking thread holds it, and the threads that wait for it do not exist in the child.

use crate::common::child::{in_child, own_pids};
use crate::common::futex::{Counting, NAPS, WAITS};
use crate::common::harness::{Check, checks};
use crate::common::until;
use cyclewise::lock::RawSpinLock;
use cyclewise::refs::LockRef;
use lock_api::{RawMutex, RawMutexFair};
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    a_child_takes_turns_at_a_lock_of_its_parents,
    a_lock_kept_for_a_waiter_that_is_not_there_is_free,
    a_child_of_the_same_number_is_another_process,
    a_lockref_is_taken_and_given_as_before,
    a_lock_that_another_thread_held_stays_held,
];

static LOCK: RawSpinLock<Counting> = RawSpinLock::INIT;

fn lock_and_unlock() {
    LOCK.lock();
    unlock();
}

fn unlock() {
    // SAFETY: each caller holds it.
    unsafe { LOCK.unlock() };
}

/// How many have gone to sleep.
fn sleeps() -> usize {
    WAITS.load(SeqCst) + NAPS.load(SeqCst)
}

/// Until so many have gone to sleep.
fn asleep(count: usize) {
    until(|| sleeps() >= count);
}

/// Runs it in a child whose one thread holds the lock, which two threads of the parent's wait for. The child is killed
/// where it hangs.
fn beside_waiters(check: fn()) {
    beside_waiters_after(|| {}, check);
}

/// The same, and `before` runs just before the fork.
fn beside_waiters_after(before: fn(), check: fn()) {
    LOCK.lock();
    thread::scope(|scope| {
        for count in 1..=2 {
            scope.spawn(lock_and_unlock);
            asleep(count);
        }
        before();
        let outcome = in_child(|| {
            check();
        });
        unlock();
        outcome.unwrap();
    });
}

fn a_child_takes_turns_at_a_lock_of_its_parents() {
    beside_waiters(take_turns);
}

fn take_turns() {
    for _ in 0..3 {
        let before = sleeps();
        thread::scope(|scope| {
            scope.spawn(lock_and_unlock);
            asleep(before + 1);
            unlock();
        });
        assert!(LOCK.try_lock(), "nobody is left");
    }
}

/// A child whose number is that of its parent, where the parent's waiters left their places.
fn a_child_of_the_same_number_is_another_process() {
    if !own_pids() {
        println!(
            "skipped: no namespace of process numbers, {}",
            std::io::Error::last_os_error()
        );
        return;
    }
    let outcome = in_child(|| {
        assert_eq!(std::process::id(), 1);
        beside_waiters_after(
            || assert!(own_pids(), "as before"),
            || {
                assert_eq!(std::process::id(), 1, "as in the parent");
                take_turns();
            },
        );
    });
    outcome.unwrap();
}

/// Nobody gives it up in the child: what has a deadline ends, what does not wait says so.
fn a_lock_that_another_thread_held_stays_held() {
    static HELD: RawSpinLock = RawSpinLock::INIT;
    let (ready, go) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let entry = ENTRY.lock();
            HELD.lock();
            ready.wait();
            go.wait();
            // SAFETY: locked above.
            unsafe { HELD.unlock() };
            drop(entry);
        });
        ready.wait();
        let outcome = in_child(|| {
            assert!(!HELD.try_lock() && HELD.is_locked());
            assert!(!lock_api::RawMutexTimed::try_lock_for(&HELD, Duration::from_millis(5)));
            assert!(ENTRY.try_lock().is_none() && ENTRY.put_return().is_none());
            // Who knows that the holder is gone, and what it left, may give up what it held.
            // SAFETY: its holder is not in this process.
            unsafe { HELD.unlock() };
            assert!(HELD.try_lock());
        });
        go.wait();
        outcome.unwrap();
    });
}

fn a_lock_kept_for_a_waiter_that_is_not_there_is_free() {
    beside_waiters(|| {
        // SAFETY: held by the thread that forked, which is this one.
        unsafe { LOCK.unlock_fair() };
        assert!(LOCK.try_lock());
        unlock();
    });
}

static ENTRY: LockRef<()> = LockRef::new(());

/// A waiter that nobody here can count is given time to queue; where it needs more, the check passes without one.
fn another_queues<'scope>(scope: &'scope thread::Scope<'scope, '_>) {
    scope.spawn(|| drop(ENTRY.lock()));
    thread::sleep(Duration::from_millis(50));
}

fn a_lockref_is_taken_and_given_as_before() {
    let mut guard = Some(ENTRY.lock());
    thread::scope(|scope| {
        another_queues(scope);
        let outcome = in_child(|| {
            thread::scope(|scope| {
                another_queues(scope);
                drop(guard.take());
            });
            ENTRY.get();
            assert!(ENTRY.put_or_lock().is_none());
            assert_eq!(ENTRY.count(), 1);
        });
        drop(guard);
        outcome.unwrap();
    });
}
