//! User code that panics inside a `LockRef`: a policy, its relax, the misuse hook, the holder of a guard. Whichever call
//! panics, the lock is free afterwards, and the count is either unchanged or updated.
#![cfg(not(loom))]

use cyclewise::lock::Relax;
use cyclewise::refs::lockref::{Adaptive, Guard, LockRef, Policy, Ref};
use cyclewise::refs::refcount::{self, Action, Refcount};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

thread_local! {
    /// After how many more calls this thread's code panics; 0: never.
    static FUSE: Cell<u32> = const { Cell::new(0) };
    static PANICKED: Cell<BTreeSet<&'static str>> = const { Cell::new(BTreeSet::new()) };
}

/// One call of user code. While unwinding it counts down but does not panic again.
fn called(name: &'static str) {
    let left = FUSE.get();
    FUSE.set(left.saturating_sub(1));
    if left == 1 {
        let mut panicked = PANICKED.take();
        panicked.insert(name);
        PANICKED.set(panicked);
        resume_unwind(Box::new(name));
    }
}

/// Runs it with a fuse of `n` calls, and returns whether it finished without a panic.
fn burns(n: u32, run: impl FnOnce()) -> bool {
    FUSE.set(n);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    FUSE.set(0);
    outcome.is_ok()
}

struct Fussy {
    /// How many exchanges fail, because the word changes between the load and the exchange.
    spoil: Cell<u32>,
    /// The `LockRef` whose word changes.
    of: Cell<Option<&'static LockRef<(), Fussy>>>,
}

struct Step;

impl Default for Step {
    fn default() -> Self {
        called("default");
        Self
    }
}

impl Relax for Step {
    fn relax(&mut self) -> u32 {
        called("relax");
        1
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        called("drop");
    }
}

impl Policy for Fussy {
    type Relax = Step;

    fn limit(&self) -> u32 {
        called("limit");
        2
    }

    fn retry_when_locked(&self) -> bool {
        called("waits");
        false
    }

    fn queueing(&self) {
        called("arrive");
    }

    fn lock_acquired(&self, _: bool) {
        called("turn");
    }

    fn before_exchange(&self) {
        called("trying");
        if let Some(left) = self.spoil.get().checked_sub(1) {
            self.spoil.set(left);
            // Stands for another thread's get in between.
            let mut guard = self.of.get().unwrap().try_lock().expect("free at an exchange");
            Guard::get(&mut guard);
        }
    }
}

fn fussy(count: u32) -> &'static LockRef<(), Fussy> {
    let policy = Fussy {
        spoil: Cell::new(0),
        of: Cell::new(None),
    };
    let lockref: &LockRef<_, _> = Box::leak(Box::new(LockRef::with_policy(count, (), policy)));
    lockref.policy().of.set(Some(lockref));
    lockref
}

/// Runs every operation and lets each of its calls of user code panic in turn, with this many failing exchanges.
fn each_call_of(operation: impl Fn(&'static LockRef<(), Fussy>), count: u32, by: i32) {
    for spoil in 0..4 {
        for n in 1.. {
            let lockref = fussy(count);
            lockref.policy().spoil.set(spoil);
            let done = burns(n, || operation(lockref));
            // The gets in between are not the operation's.
            let others = (spoil - lockref.policy().spoil.get()).cast_signed();
            let before = count.cast_signed() + others;
            assert!(lockref.try_lock().is_some(), "nobody holds it");
            let now = lockref.count();
            assert!(now == before + by || (now == before && !done), "{now}, before {before}");
            if done {
                break;
            }
        }
    }
}

#[test]
fn a_policy_that_unwinds_leaves_the_lock_free_and_the_count_right() {
    each_call_of(|lockref| lockref.get(), 5, 1);
    each_call_of(|lockref| assert!(lockref.get_not_zero()), 5, 1);
    each_call_of(|lockref| assert!(lockref.get_not_dead()), 5, 1);
    each_call_of(|lockref| assert!(lockref.put_or_lock().is_none()), 5, -1);
    each_call_of(
        |lockref| assert_eq!(lockref.put_or_lock().map(|mut guard| Guard::put(&mut guard)), Some(0)),
        1,
        -1,
    );
    each_call_of(|lockref| drop(Ref::adopt(lockref)), 5, -1);
    each_call_of(|lockref| drop(lockref.lock()), 5, 0);
    each_call_of(
        |lockref| std::mem::forget(Ref::clone(&*std::mem::ManuallyDrop::new(Ref::adopt(lockref)))),
        5,
        1,
    );
    let panicked = PANICKED.take();
    for name in ["default", "relax", "drop", "limit", "arrive", "turn", "trying"] {
        assert!(panicked.contains(name), "{name} never panicked: {panicked:?}");
    }
}

/// The policy panics where an operation finds it locked and asks whether to wait.
#[test]
fn a_policy_that_unwinds_beside_a_holder_leaves_it_to_the_holder() {
    for n in 1..6 {
        let lockref = fussy(5);
        let guard = lockref.lock();
        assert!(!burns(n, || {
            assert!(lockref.put_return().is_none());
            // Only the last fuses reach this.
            called("waits");
            called("waits");
            called("waits");
            called("waits");
            called("waits");
        }));
        assert!(lockref.try_lock().is_none(), "still held");
        drop(guard);
        assert!(lockref.try_lock().is_some());
        assert_eq!(lockref.count(), 5);
    }
}

/// The value's own drop, under the lock.
#[test]
fn a_drop_of_the_data_that_panics_unlocks() {
    struct Fails;
    impl Drop for Fails {
        fn drop(&mut self) {
            called("the data");
        }
    }
    let lockref = LockRef::new(Some(Fails));
    assert!(!burns(1, || *lockref.lock() = None));
    assert!(lockref.try_lock().unwrap().is_none());
}

/// The hook is process state, so one test covers `LockRef` and `Refcount`, at each place that reports.
#[test]
fn a_hook_that_unwinds_leaves_the_lock_free_and_the_count_saturated_or_dead() {
    refcount::on_misuse(Action::Call(|_| called("hook")));
    let told = |count: u32, misuse: fn(&LockRef<()>)| {
        let lockref = LockRef::with_policy(count, (), Adaptive::new());
        assert!(!burns(1, || misuse(&lockref)), "the hook panics");
        assert!(lockref.try_lock().is_some(), "nobody holds it");
        lockref.count()
    };
    let saturated = i32::MAX;
    assert_eq!(told(0, |l| l.get()), saturated);
    assert_eq!(told(LockRef::<()>::MAX, |l| l.get()), saturated);
    assert_eq!(told(LockRef::<()>::MAX, |l| assert!(l.get_not_zero())), saturated);
    assert_eq!(told(0, |l| drop(l.put_or_lock())), 0);
    assert_eq!(told(0, |l| drop(Ref::adopt(l))), 0, "the put is not reached");
    assert_eq!(told(0, |l| assert_eq!(Guard::put(&mut l.lock()), 0)), saturated);
    assert_eq!(told(LockRef::<()>::MAX, |l| Guard::get(&mut l.lock())), saturated);
    let dead = |l: &LockRef<()>| {
        Guard::mark_dead(&mut l.lock());
        l.get();
    };
    assert_eq!(told(1, dead), -128);

    let counted = |start: u32, misuse: fn(&Refcount)| {
        let count = Refcount::new(start);
        assert!(!burns(1, || misuse(&count)), "the hook panics");
        assert!(count.is_saturated());
    };
    counted(0, |c| c.inc());
    counted(0, |c| c.add(3));
    counted(0, |c| c.add(1000));
    counted(Refcount::MAX, |c| c.inc());
    counted(Refcount::MAX, |c| assert!(c.inc_not_zero()));
    counted(0, |c| assert!(!c.dec_and_test()));
    counted(3, |c| assert!(!c.sub_and_test(5)));
    counted(3, |c| assert!(!c.sub_and_test(500)));
    counted(1, |c| c.dec());
    counted(0, |c| assert!(c.dec_not_one()));
    counted(0, |c| assert!(c.dec_and_lock(|| ()).is_none()));

    // A hook that itself misuses a count is called for that misuse first. The first count ends as usual.
    refcount::on_misuse(Action::Call(|misuse| {
        thread_local!(static DEPTH: Cell<u32> = const { Cell::new(0) });
        if DEPTH.replace(DEPTH.get() + 1) < 3 {
            Refcount::new(0).inc();
            LockRef::with_policy(0, (), Adaptive::new()).get();
        }
        assert_ne!(misuse.address, 0);
    }));
    let lockref = LockRef::with_policy(0, (), Adaptive::new());
    lockref.get();
    assert_eq!(lockref.count(), saturated);
    refcount::on_misuse(Action::Count);
}

/// A policy's functions are public: calling them out of turn affects only how operations wait.
#[test]
fn a_policy_that_is_called_by_others_disturbs_nothing() {
    let lockref = LockRef::new(0);
    lockref.policy().lock_acquired(true);
    lockref.policy().lock_acquired(false);
    lockref.policy().queueing();
    for round in 0..3 {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|_| *lockref.lock() += 1));
            }
            lockref.policy().lock_acquired(round == 1);
        });
    }
    assert_eq!(lockref.into_inner(), 1200);
}

/// A lock that a policy leaves held, as once happened, fails the check above.
#[test]
fn twin_a_lock_that_stays_held_is_seen() {
    let caught = catch_unwind(|| {
        each_call_of(
            |lockref| {
                let guard = std::mem::ManuallyDrop::new(lockref.lock());
                called("under it");
                drop(std::mem::ManuallyDrop::into_inner(guard));
            },
            5,
            0,
        );
    });
    FUSE.set(0);
    let message = caught.unwrap_err();
    assert_eq!(message.downcast_ref(), Some(&"nobody holds it"));
}
