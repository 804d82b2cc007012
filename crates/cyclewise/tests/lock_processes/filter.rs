//! The lock under seccomp filters that refuse a system call or fake its result.

use crate::common::filter;
use crate::common::harness::{Check, checks};
use crate::common::until;
use cyclewise::atomic::AtomicU32;
use cyclewise::lock::{Futex, Moment, Park, RawSpinLock};
use lock_api::RawMutex;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    a_head_sleeps_where_the_barrier_is_made = || assert_eq!(sleep_of_a_head::<Asks>(|| {}), Sleep::UntilWoken),
    a_head_naps_where_the_barrier_is_refused =
        || assert_eq!(sleep_of_a_head::<Asks>(|| answer(libc::ENOSYS)), Sleep::Naps),
    a_head_naps_where_a_filter_says_that_the_barrier_is_made =
        || assert_eq!(sleep_of_a_head::<Asks>(|| answer(0)), Sleep::Naps),
    a_filter_that_answers_for_one_command_is_seen = || {
        const EXPEDITED: u32 = 1 << 3; // MEMBARRIER_CMD_PRIVATE_EXPEDITED
        let filter = || filter::refuse(libc::SYS_membarrier, &[filter::If::is(0, EXPEDITED)], 0);
        assert_eq!(sleep_of_a_head::<Asks>(filter), Sleep::Naps);
    },
    a_filter_that_comes_late_is_seen = || {
        assert_eq!(sleep_of_a_head::<Asks>(|| {}), Sleep::UntilWoken);
        assert_eq!(sleep_of_a_head::<Asks>(|| answer(0)), Sleep::Naps);
    },
    twin_a_head_that_trusts_the_answer_is_seen =
        || assert_eq!(sleep_of_a_head::<Trusts>(|| answer(0)), Sleep::UntilWoken),
    errno_is_left_as_it_was,
];

/// From now on, on this thread and those it starts.
fn answer(errno: i32) {
    filter::refuse(libc::SYS_membarrier, &[], errno);
}

/// How the head of a queue gave up its CPU.
#[derive(Debug, PartialEq, Eq)]
enum Sleep {
    /// Without a deadline.
    UntilWoken,
    /// For a moment, and then it looked again.
    Naps,
}

static WAITS: AtomicUsize = AtomicUsize::new(0);
static NAPS: AtomicUsize = AtomicUsize::new(0);

trait Heavy: 'static {
    fn heavy() -> bool;
}

/// The lock's own way.
struct Asks;

impl Heavy for Asks {
    fn heavy() -> bool {
        Futex::heavy()
    }
}

/// The call and what it returned, which is how it was done once.
struct Trusts;

impl Heavy for Trusts {
    fn heavy() -> bool {
        // SAFETY: takes numbers.
        let call = |command: i32| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) } == 0;
        call(1 << 3) || (call(1 << 4) && call(1 << 3))
    }
}

/// A futex that counts, and ends every sleep soon: the one that trusts has made no barrier, and may not be woken.
struct Counting<H>(PhantomData<H>);

impl<H: Heavy> Park for Counting<H> {
    type Deadline = Moment;
    const SLEEPS: bool = true;

    fn wait(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        WAITS.fetch_add(1, SeqCst);
        Futex::nap(word, expected, until);
    }

    fn nap(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        NAPS.fetch_add(1, SeqCst);
        Futex::nap(word, expected, until);
    }

    fn wake(word: &AtomicU32) {
        Futex::wake(word);
    }

    fn is_past(until: Moment) -> bool {
        Futex::is_past(until)
    }

    fn light() {
        Futex::light();
    }

    fn heavy() -> bool {
        H::heavy()
    }
}

/// Has a thread be the only waiter, and so the head, behind a filter of its own.
fn sleep_of_a_head<H: Heavy>(filter: impl FnOnce() + Send) -> Sleep {
    let lock = RawSpinLock::<Counting<H>>::INIT;
    let before = (WAITS.load(SeqCst), NAPS.load(SeqCst));
    let since = || (WAITS.load(SeqCst) - before.0, NAPS.load(SeqCst) - before.1);
    lock.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            filter();
            lock.lock();
            // SAFETY: just locked.
            unsafe { lock.unlock() };
        });
        // The check hangs, and is seen to, where it does not sleep at all.
        until(|| since() != (0, 0));
        // SAFETY: held since the beginning.
        unsafe { lock.unlock() };
    });
    match since() {
        (0, _) => Sleep::Naps,
        (_, 0) => Sleep::UntilWoken,
        both => panic!("slept both ways: {both:?}"),
    }
}

/// Waits, sleeps and wakes fail in passing, and nobody hears of it.
fn errno_is_left_as_it_was() {
    const MARK: i32 = libc::EXDEV; // none of the calls fails so
    let set = |errno| {
        // SAFETY: takes nothing.
        let at = unsafe { libc::__errno_location() };
        // SAFETY: always valid, and this thread's own.
        unsafe { *at = errno };
    };
    let lock = RawSpinLock::<Futex>::INIT;
    lock.lock();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            set(MARK);
            // Sleeps, and the kernel says ETIMEDOUT; asks whether the barrier is made, and it says EINVAL.
            let locked = lock_api::RawMutexTimed::try_lock_for(&lock, Duration::from_millis(20));
            let errno = std::io::Error::last_os_error().raw_os_error();
            (locked, errno)
        });
        assert_eq!(waiter.join().unwrap(), (false, Some(MARK)));
    });
    // SAFETY: held since the beginning.
    unsafe { lock.unlock() };
}
