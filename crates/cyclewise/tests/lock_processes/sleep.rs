//! Waiters that sleep: woken by the release, or interrupted by a signal.

use crate::common::futex::{Counting, WAITS};
use crate::common::signal;
use crate::common::until;
use crate::stress::{alarm, unlock};
use cyclewise::atomic::AtomicU32;
use cyclewise::lock::{Exponential, Futex, Moment, Park, RawSpinLock};
use lock_api::RawMutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

static ABOUT_TO_SLEEP: AtomicBool = AtomicBool::new(false);
static GIVE_UP: AtomicBool = AtomicBool::new(false);

/// A futex that drops wakes, until a flag makes all threads stop sleeping.
pub(crate) struct Sleepless;

impl Park for Sleepless {
    type Deadline = Moment;
    const SLEEPS: bool = true;

    fn wait(word: &AtomicU32, expected: u32, _: Option<Moment>) {
        let found = word.load(cyclewise::atomic::Ordering::SeqCst);
        ABOUT_TO_SLEEP.store(found == expected, SeqCst);
        while found == expected && !GIVE_UP.load(SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn nap(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        Futex::nap(word, expected, until);
    }

    fn wake(_: &AtomicU32) {}

    fn is_past(until: Moment) -> bool {
        Futex::is_past(until)
    }
}

/// Whether a sleeping queue head gets the lock once it is released.
pub(crate) fn wakes_its_waiter<P: Park>() -> bool {
    alarm();
    let (lock, got) = (RawSpinLock::<P, Exponential>::INIT, AtomicBool::new(false));
    let slept = || WAITS.load(SeqCst) > 0 || ABOUT_TO_SLEEP.load(SeqCst);
    lock.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            lock.lock();
            got.store(true, SeqCst);
            unlock(&lock);
        });
        until(slept);
        unlock(&lock);
        // With a wake it runs within microseconds, and the check waits as long as needed. Without one it never runs.
        let lost = ABOUT_TO_SLEEP.load(SeqCst);
        if lost {
            thread::sleep(Duration::from_millis(50));
        } else {
            until(|| got.load(SeqCst));
        }
        let woken = got.load(SeqCst);
        GIVE_UP.store(true, SeqCst);
        woken
    })
}

static OUTER: RawSpinLock<Counting> = RawSpinLock::INIT;
static INNER: RawSpinLock<Counting> = RawSpinLock::INIT;
static HANDLED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn handler(_: libc::c_int) {
    HANDLED.fetch_add(1, SeqCst);
    INNER.lock();
    unlock(&INNER);
    HANDLED.fetch_add(1, SeqCst);
}

/// A thread sleeps in one queue. Its handler sleeps in another and is released first.
pub(crate) fn a_handler_locks_while_its_thread_waits() {
    alarm();
    signal::handle(libc::SIGUSR1, handler);
    let waits = |n: usize| {
        until(|| WAITS.load(SeqCst) >= n);
    };
    OUTER.lock();
    INNER.lock();
    thread::scope(|scope| {
        let (send, receive) = std::sync::mpsc::channel();
        let waiter = scope.spawn(move || {
            send.send(signal::this_thread()).unwrap();
            OUTER.lock();
            unlock(&OUTER);
        });
        let thread = receive.recv().unwrap();
        waits(1);
        let before = WAITS.load(SeqCst);
        // The handler runs until it has the lock, which is held here.
        signal::send(thread, libc::SIGUSR1);
        waits(before + 1);
        assert_eq!(HANDLED.load(SeqCst), 1, "the handler waits");
        unlock(&INNER);
        until(|| HANDLED.load(SeqCst) >= 2);
        assert!(!waiter.is_finished());
        unlock(&OUTER);
    });
}
