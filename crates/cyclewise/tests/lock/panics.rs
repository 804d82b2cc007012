//! User code that panics inside the lock: whichever call panics, the lock and its queue stay consistent.
//!
//! The tests' [`Park`] and [`Relax`] count one thread's calls and panic at the n-th. Each check tries every n until a run
//! has no panic, and verifies after each run that all other threads get the lock.
#![cfg(not(loom))]

use cyclewise::atomic::AtomicU32;
use cyclewise::lock::{Futex, Moment, Park, RawSpinLock, Relax};
use lock_api::{RawMutex, RawMutexFair};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

thread_local! {
    /// After how many more calls this thread's code panics; 0: never.
    static FUSE: Cell<u32> = const { Cell::new(0) };
}

static PANICKED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

/// One call of user code. While unwinding it counts down but does not panic again.
fn called(name: &'static str) {
    let left = FUSE.get();
    FUSE.set(left.saturating_sub(1));
    if left == 1 {
        PANICKED.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
        resume_unwind(Box::new(name));
    }
}

static SLEEPS: AtomicUsize = AtomicUsize::new(0);

struct Fussy;

impl Park for Fussy {
    type Deadline = Moment;
    const SLEEPS: bool = true;

    fn wait(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        called("wait");
        SLEEPS.fetch_add(1, SeqCst);
        WAITED.set(true);
        Futex::wait(word, expected, until);
        called("wait, after it");
    }

    fn nap(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        called("nap");
        SLEEPS.fetch_add(1, SeqCst);
        Futex::nap(word, expected, until);
    }

    fn wake(word: &AtomicU32) {
        called("wake");
        Futex::wake(word);
        called("wake, after it");
    }

    fn is_past(until: Moment) -> bool {
        called("is_past");
        Futex::is_past(until)
    }

    fn now_ns() -> Option<u64> {
        // Read before each sleep, and by a head that has the lock.
        called(if WAITED.get() { "now_ns, after a wait" } else { "now_ns" });
        Futex::now_ns()
    }

    fn light() {
        called("light");
        // The other half must be a fence too.
        std::sync::atomic::fence(SeqCst);
    }

    fn heavy() -> bool {
        called("heavy");
        std::sync::atomic::fence(SeqCst);
        // Some threads sleep with a deadline.
        !MUST_NAP.get()
    }
}

thread_local! {
    static MUST_NAP: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread has slept until it was woken.
    static WAITED: Cell<bool> = const { Cell::new(false) };
}

/// Long relative to the lock's spin limit, so that each phase of a wait makes one or two calls.
struct Long;

impl Default for Long {
    fn default() -> Self {
        called("default");
        Self
    }
}

impl Relax for Long {
    fn relax(&mut self) -> u32 {
        called("relax");
        1 << 12
    }
}

impl Drop for Long {
    fn drop(&mut self) {
        called("drop");
    }
}

type Lock = RawSpinLock<Fussy, Long>;

fn unlock(lock: &Lock) {
    // SAFETY: each caller holds it.
    unsafe { lock.unlock() };
}

/// Runs it with a fuse of `n` calls, and returns whether it finished without a panic.
fn burns(n: u32, run: impl FnOnce()) -> bool {
    FUSE.set(n);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    FUSE.set(0);
    outcome.is_ok()
}

/// Waits until this many threads have gone to sleep since `before`.
fn asleep(before: usize, count: usize) {
    while SLEEPS.load(SeqCst) < before + count {
        thread::sleep(Duration::from_micros(100));
    }
}

/// Serializes the checks, which count the sleeps of the whole program.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asserts that the lock is free, has no waiters, and works as before.
fn is_whole(lock: &Lock) {
    assert!(lock.try_lock(), "free, and reserved for no waiter");
    let before = SLEEPS.load(SeqCst);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| section(lock));
        }
        asleep(before, 2);
        unlock(lock);
    });
    assert!(lock.try_lock());
    unlock(lock);
}

fn section(lock: &Lock) {
    lock.lock();
    unlock(lock);
}

/// Runs `scene` with a lock that is held and a fuse of 1, 2, .. calls, until it has no panic: it returns that. `before` is how many
/// threads had slept.
fn at_each_call(scene: impl Fn(&Lock, u32, usize) -> bool) {
    for n in 1.. {
        let lock = Lock::INIT;
        lock.lock();
        let done = scene(&lock, n, SLEEPS.load(SeqCst));
        is_whole(&lock);
        if done {
            break;
        }
    }
}

/// A waiter panics at its n-th call, while the lock is held until then.
#[test]
fn a_head_that_unwinds_leaves_the_queue() {
    let _alone = alone();
    let calls = [
        "default",
        "relax",
        "drop",
        "heavy",
        "wait",
        "nap",
        "now_ns",
        "now_ns, after a wait",
    ];
    let scene = |nap, lock: &Lock, n, before| {
        thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                MUST_NAP.set(nap);
                burns(n, || section(lock))
            });
            while !waiter.is_finished() && SLEEPS.load(SeqCst) == before {
                thread::sleep(Duration::from_micros(100));
            }
            unlock(lock);
            waiter.join().unwrap()
        })
    };
    until_seen(&calls, || {
        for nap in [false, true] {
            at_each_call(|lock, n, before| scene(nap, lock, n, before));
        }
    });
}

/// The same between two other waiters.
#[test]
fn a_waiter_that_unwinds_leaves_the_queue_to_those_behind() {
    let _alone = alone();
    let scene = |lock: &Lock, n, before| {
        thread::scope(|scope| {
            scope.spawn(|| section(lock));
            asleep(before, 1);
            let waiter = scope.spawn(|| burns(n, || section(lock)));
            while !waiter.is_finished() && SLEEPS.load(SeqCst) == before + 1 {
                thread::sleep(Duration::from_micros(100));
            }
            let so_far = SLEEPS.load(SeqCst);
            scope.spawn(|| section(lock));
            asleep(so_far, 1);
            unlock(lock);
            waiter.join().unwrap()
        })
    };
    until_seen(&["default", "relax", "wait", "wait, after it", "drop", "wake"], || {
        at_each_call(scene);
    });
}

/// A holder whose release panics at its n-th call, while another sleeps.
#[test]
fn a_release_that_unwinds_has_released_and_woken() {
    let _alone = alone();
    let scene = |fair, lock: &Lock, n, before| {
        thread::scope(|scope| {
            scope.spawn(|| section(lock));
            asleep(before, 1);
            burns(n, || match fair {
                // SAFETY: held by this thread.
                true => unsafe { lock.unlock_fair() },
                false => unlock(lock),
            })
        })
    };
    until_seen(&["light", "wake", "wake, after it"], || {
        for fair in [false, true] {
            at_each_call(|lock, n, before| scene(fair, lock, n, before));
        }
    });
}

/// Runs the check until each of these functions has panicked: which call is the n-th depends on scheduling.
fn until_seen(names: &[&str], check: impl Fn()) {
    let seen = || PANICKED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    PANICKED.lock().unwrap_or_else(PoisonError::into_inner).clear();
    for _ in 0..1000 {
        check();
        if names.iter().all(|name| seen().contains(name)) {
            return;
        }
    }
    panic!("of {names:?} only these have panicked: {:?}", seen());
}

/// A lock that stays held, as it once did where a policy unwound, fails the check.
#[test]
fn twin_a_lock_that_stays_held_is_seen() {
    let _alone = alone();
    let lock = Lock::INIT;
    let unwound = burns(1, || {
        assert!(lock.try_lock());
        called("its own code");
        unlock(&lock);
    });
    assert!(!unwound && catch_unwind(AssertUnwindSafe(|| is_whole(&lock))).is_err());
}

/// A relax may return any number.
#[test]
fn any_length_of_a_pause_will_do() {
    let _alone = alone();
    /// One pause first, and then the maximum.
    #[derive(Default)]
    struct Odd(bool);
    impl Relax for Odd {
        fn relax(&mut self) -> u32 {
            if std::mem::replace(&mut self.0, true) {
                u32::MAX
            } else {
                1
            }
        }
    }
    let lock = RawSpinLock::<Fussy, Odd>::INIT;
    lock.lock();
    let before = SLEEPS.load(SeqCst);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                lock.lock();
                // SAFETY: just locked.
                unsafe { lock.unlock() };
            });
        }
        asleep(before, 2);
        // SAFETY: held since the beginning.
        unsafe { lock.unlock() };
    });
    assert!(lock.try_lock());
}
