//! The soft mask under seccomp filters that refuse its system calls or fake their results.

use crate::common::child::in_child;
use crate::common::cpu::{allowed_cpus, pin, run_before_others};
use crate::common::filter::{If, refuse};
use crate::common::harness::{Check, checks};
use crate::common::signal;
use crate::common::until;
use crate::masking::{COUNT, FLAG, SEEN, kernel_mask, raise, seen};
use cyclewise::error::Refusal;
use cyclewise::mask::{self, Masked, Signals};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst};
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    a_signal_that_cannot_be_queued_again_is_sent_plainly,
    a_signal_that_cannot_be_sent_either_is_counted,
    a_full_queue_is_not_waited_for_for_ever,
    a_mask_that_cannot_be_set_is_left_alone,
    a_registration_that_a_filter_fakes_is_refused,
    without_futex_a_wait_ends,
    a_waiter_sleeps,
];

/// Sends `count` real-time signals into one hold, letting each through, so that the record buffer fills.
fn overfill(count: usize) {
    let signal = libc::SIGRTMIN();
    let hold = mask::hold();
    for _ in 0..count {
        raise(signal);
        signal::mask(libc::SIG_UNBLOCK, [signal]);
    }
    drop(hold);
}

fn a_signal_that_cannot_be_queued_again_is_sent_plainly() {
    Signals::on(libc::SIGRTMIN(), &COUNT).unwrap();
    for errno in [libc::EPERM, libc::ENOSYS] {
        in_child(|| {
            refuse(libc::SYS_rt_tgsigqueueinfo, &[], errno);
            overfill(20);
            assert_eq!((COUNT.load(SeqCst), mask::lost()), (20, 0));
        })
        .unwrap();
    }
}

fn a_signal_that_cannot_be_sent_either_is_counted() {
    Signals::on(libc::SIGRTMIN(), &COUNT).unwrap();
    refuse(libc::SYS_rt_tgsigqueueinfo, &[], libc::EPERM);
    // The test sends by tkill, which stays allowed; the library sends by tgkill.
    let signal = libc::SIGRTMIN();
    refuse(libc::SYS_tgkill, &[], libc::EPERM);
    let hold = mask::hold();
    let mut sent = 0;
    while mask::lost() == 0 {
        // SAFETY: takes numbers.
        let rc = unsafe { libc::syscall(libc::SYS_tkill, crate::masking::this_thread(), signal) };
        assert_eq!(rc, 0);
        sent += 1;
        signal::mask(libc::SIG_SETMASK, []);
    }
    drop(hold);
    assert_eq!(
        u64::from(COUNT.load(SeqCst)) + mask::lost(),
        sent,
        "each handled or counted"
    );
}

/// EAGAIN, as where the user's limit of queued signals is reached for good.
fn a_full_queue_is_not_waited_for_for_ever() {
    Signals::on(libc::SIGRTMIN(), &COUNT).unwrap();
    refuse(libc::SYS_rt_tgsigqueueinfo, &[], libc::EAGAIN);
    // There is room for four.
    overfill(5);
    assert_eq!((COUNT.load(SeqCst), mask::lost()), (5, 0));
}

fn a_mask_that_cannot_be_set_is_left_alone() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    signal::mask(libc::SIG_BLOCK, [libc::SIGUSR2]);
    let before = kernel_mask();
    // Blocking is refused, and setting is not: the previous mask is unknown, so nothing must be unblocked.
    let (call, errno) = ("rt_sigprocmask", libc::EPERM);
    // A query uses SIG_BLOCK without a set.
    let is_change = If::AtLeast { arg: 1, value: 1 };
    let blocks = If::is(0, libc::SIG_BLOCK as u32);
    refuse(libc::SYS_rt_sigprocmask, &[blocks, is_change], errno);
    let hold = mask::hold();
    let refused = |errno| Err(Refusal::System { call, errno });
    assert_eq!(hold.wait(&mut [], Some(Duration::ZERO)), refused(errno));
    assert_eq!(kernel_mask(), before);
    in_child(|| assert_eq!(kernel_mask(), before)).unwrap();
    assert_eq!(kernel_mask(), before, "after a fork");
    raise(libc::SIGUSR1);
    drop(hold);
    assert_eq!(COUNT.load(SeqCst), 1);
    // Where two filters refuse, the last one installed decides: this one returns 0.
    refuse(libc::SYS_rt_sigprocmask, &[If::AtLeast { arg: 1, value: 1 }], 0);
    let hold = mask::hold();
    assert_eq!(hold.wait(&mut [], Some(Duration::ZERO)), refused(libc::ENOSYS));
    assert_eq!(kernel_mask(), before);
}

/// The filter returns 0 for the kernel, so the C function returns uninitialized stack contents.
fn a_registration_that_a_filter_fakes_is_refused() {
    let signal = libc::SIGUSR1;
    Signals::on(libc::SIGUSR2, &FLAG).unwrap();
    refuse(libc::SYS_rt_sigaction, &[], 0);
    let errno = libc::ENOSYS;
    assert_eq!(Signals::on(signal, &COUNT), Err(Refusal::Signal { signal, errno }));
    let taken = libc::SIGUSR2;
    assert_eq!(Signals::off(taken), Err(Refusal::Signal { signal: taken, errno }));
    raise(libc::SIGUSR2);
    assert!(FLAG.load(SeqCst), "the earlier registration stays");
}

static VALUE: Masked<u32> = Masked::new(0);

/// A bounded wait ends even without futex.
fn without_futex_a_wait_ends() {
    Signals::on(libc::SIGUSR1, &SEEN).unwrap();
    let hold = mask::hold();
    let guard = SEEN.lock(&hold);
    // Not joined: a thread's end wakes its joiner by futex. This process ends without a join.
    std::thread::spawn(|| {
        refuse(libc::SYS_futex, &[], libc::ENOSYS);
        raise(libc::SIGUSR1);
        LOOKS.store(1, SeqCst);
        loop {
            std::thread::yield_now();
        }
    });
    until(|| LOOKS.load(SeqCst) != 0);
    assert_eq!(SEEN.refused(), 1);
    drop(guard);
    drop(hold);
    assert_eq!(seen(), []);
}

/// The thread's state in /proc: S means sleeping.
fn is_asleep(thread: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap();
    // The state follows the name in brackets.
    stat.rsplit_once(')').unwrap().1.starts_with(" S")
}

static WAITER: AtomicI32 = AtomicI32::new(0);
static GIVEN_UP: AtomicBool = AtomicBool::new(false);
static HELD: AtomicBool = AtomicBool::new(false);
static LOOKS: AtomicU32 = AtomicU32::new(0);

/// A SCHED_FIFO waiter above a SCHED_OTHER holder, on one CPU. The holder releases once it has seen the waiter asleep: only
/// then can it run, unless the kernel reserves time for SCHED_OTHER. Returns false where the waiter gave up before that,
/// and `None` where SCHED_FIFO is refused.
fn sleeps_above_a_holder(wait: fn()) -> Option<bool> {
    pin(allowed_cpus()[0]);
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| {
            let hold = mask::hold();
            let value = VALUE.lock(&hold);
            HELD.store(true, SeqCst);
            until(|| WAITER.load(SeqCst) != 0);
            let mut seen = false;
            while !seen && !GIVEN_UP.load(SeqCst) {
                seen = is_asleep(WAITER.load(SeqCst));
            }
            drop(value);
            seen
        });
        until(|| HELD.load(SeqCst));
        let is_above = run_before_others();
        if is_above {
            // From here on the holder runs only when this thread does not.
            WAITER.store(crate::masking::this_thread(), SeqCst);
            wait();
        }
        GIVEN_UP.store(true, SeqCst);
        WAITER.store(crate::masking::this_thread(), SeqCst);
        let seen = holder.join().unwrap();
        is_above.then_some(seen)
    })
}

fn waits() {
    let hold = mask::hold();
    drop(VALUE.lock(&hold));
}

/// The twin: the waiter yields by sched_yield, which under SCHED_FIFO does not let the holder run.
fn yields() {
    let hold = mask::hold();
    for _ in 0..20_000 {
        if VALUE.try_lock(&hold).is_some() {
            return;
        }
        std::thread::yield_now();
    }
}

fn a_waiter_sleeps() {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: this may be an emulator, whose own locks a thread may be seen to sleep for");
        return;
    }
    for (wait, sleeps) in [(waits as fn(), true), (yields, false)] {
        in_child(|| match sleeps_above_a_holder(wait) {
            Some(slept) => assert_eq!(slept, sleeps),
            None => println!("skipped: SCHED_FIFO is refused (CAP_SYS_NICE or RLIMIT_RTPRIO)"),
        })
        .unwrap();
    }
}
