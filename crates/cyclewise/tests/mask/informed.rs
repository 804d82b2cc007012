//! What a handler is told of a signal is the same whether it is called at once or at the release of a hold.

use crate::common::call;
use crate::common::harness::{Check, checks};
use crate::common::until;
use crate::masking::{COUNT, SEEN};
use cyclewise::mask::{self, Hold, Info, Signals};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering::SeqCst;

pub(crate) const CHECKS: &[Check] = checks![
    of_a_queued_signal_with_all_that_a_sender_can_fill,
    of_a_kill,
    of_a_timer,
    of_a_child_that_stops,
];

fn note(info: &Info, hold: &Hold) {
    SEEN.lock(hold).push(*info);
    COUNT.fetch_add(1, SeqCst);
}

fn register(signal: i32) {
    // SAFETY: the handler copies words under a lock whose owners hold signals.
    unsafe { Signals::call(signal, note) }.unwrap();
}

/// What was noted, once it is. The thread is open until then.
fn told() -> Info {
    until(|| COUNT.load(SeqCst) != 0);
    COUNT.store(0, SeqCst);
    let hold = mask::hold();
    SEEN.lock(&hold).pop().unwrap()
}

/// What is told of one signal that finds the thread open, and of one that finds it held.
fn both_ways(send: impl Fn()) -> [Info; 2] {
    send();
    let direct = told();
    let hold = mask::hold();
    send();
    until(mask::is_pending);
    drop(hold);
    [direct, told()]
}

fn are_the_same([direct, deferred]: [Info; 2]) -> Info {
    assert_eq!(direct, deferred);
    assert_eq!(format!("{direct:?}"), format!("{deferred:?}"));
    direct
}

fn of_a_queued_signal_with_all_that_a_sender_can_fill() {
    let signal = libc::SIGRTMIN();
    register(signal);
    let sender = 1000 << 32 | 77;
    // `siginfo_t` in words, include/uapi/asm-generic/siginfo.h on 64-bit: the number and si_errno, si_code, who, the value, and two
    // that a queued signal does not use.
    let mut words = [0u64; 16];
    words[..6].copy_from_slice(&[signal as u64 | 7 << 32, libc::SI_QUEUE as u32 as u64, sender, 5, 11, 12]);
    let info = are_the_same(both_ways(|| {
        // SAFETY: reads one `siginfo_t`.
        let rc = unsafe { libc::syscall(libc::SYS_rt_sigqueueinfo, std::process::id(), signal, words.as_ptr()) };
        assert_eq!(rc, 0);
    }));
    assert_eq!((info.sender(), info.user(), info.value()), (77, 1000, 5));
}

fn of_a_kill() {
    register(libc::SIGUSR1);
    let own = std::process::id() as i32;
    let info = are_the_same(both_ways(|| {
        assert_eq!(call::kill(own, libc::SIGUSR1), 0);
    }));
    assert_eq!((info.code(), info.sender()), (libc::SI_USER, own));
}

fn of_a_timer() {
    let signal = libc::SIGRTMIN() + 1;
    register(signal);
    // SAFETY: all zeroes is a valid event.
    let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
    event.sigev_notify = libc::SIGEV_SIGNAL;
    event.sigev_signo = signal;
    let mut timer = std::ptr::null_mut();
    // SAFETY: one event and one place for the timer.
    let rc = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) };
    assert_eq!(rc, 0);
    // SAFETY: all zeroes is a valid time, of a timer that does not expire again.
    let mut once: libc::itimerspec = unsafe { std::mem::zeroed() };
    once.it_value.tv_nsec = 1;
    let info = are_the_same(both_ways(|| {
        // SAFETY: our timer.
        let rc = unsafe { libc::timer_settime(timer, 0, &raw const once, std::ptr::null_mut()) };
        assert_eq!(rc, 0);
    }));
    assert_eq!(info.code(), libc::SI_TIMER);
}

fn of_a_child_that_stops() {
    register(libc::SIGCHLD);
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let pid = child.id() as i32;
    let send = |signal| {
        assert_eq!(call::kill(pid, signal), 0);
    };
    let stopped = [false, true].map(|held| {
        let hold = held.then(mask::hold);
        send(libc::SIGSTOP);
        while held && !mask::is_pending() {
            std::thread::yield_now();
        }
        drop(hold);
        let info = told();
        send(libc::SIGCONT);
        assert_eq!(told().code(), libc::CLD_CONTINUED);
        info
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let info = are_the_same(stopped);
    assert_eq!(
        (info.code(), info.sender(), info.value() as i32),
        (libc::CLD_STOPPED, pid, libc::SIGSTOP)
    );
}
