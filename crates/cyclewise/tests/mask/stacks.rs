//! The stack that handlers run on, and what they need of it.

use crate::common::call;
use crate::common::child::{End, in_child};
use crate::common::harness::{Check, checks};
use crate::common::sanitizer::is_asan;
use crate::common::signal;
use crate::common::until;
use crate::masking::*;
use cyclewise::clock::{Clock, Upkeep};
use cyclewise::mask::{self, Hold, Info, Signals};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

pub(crate) const CHECKS: &[Check] = checks![
    a_handler_runs_on_the_alternate_stack,
    twin_a_handler_without_the_flag_runs_on_the_threads_own,
    a_replay_runs_on_the_stack_of_the_release,
    what_the_documents_say_is_room_enough,
    twin_a_handler_that_takes_more_is_seen,
    frames_nest_on_the_alternate_stack,
    a_thread_of_ours_takes_no_signal_of_the_process,
    twin_a_thread_that_blocks_none_takes_them,
];

/// Calls of [`where_am_i`] on the alternate stack, and 1000 for each on another.
static WHERE: AtomicU32 = AtomicU32::new(0);

fn where_am_i(_: &Info, _: &Hold) {
    WHERE.fetch_add(if is_on_alternate_stack() { 1 } else { 1000 }, SeqCst);
}

fn register(signal: i32) {
    // SAFETY: a system call and an atomic operation.
    unsafe { Signals::call(signal, where_am_i) }.unwrap();
}

/// Also where an earlier handler did not ask for it, and in a thread without an alternate stack.
fn a_handler_runs_on_the_alternate_stack() {
    install(libc::SIGUSR2, plain as *const () as usize, 0);
    for signal in [libc::SIGUSR1, libc::SIGUSR2] {
        register(signal);
        assert_ne!(installed(signal).sa_flags & libc::SA_ONSTACK, 0);
    }
    use_alternate_stack(65536);
    raise(libc::SIGUSR1);
    raise(libc::SIGUSR2);
    assert_eq!((WHERE.load(SeqCst), CONTEXTS.load(SeqCst)), (2, 100));
    Signals::off(libc::SIGUSR2).unwrap();
    assert_eq!(installed(libc::SIGUSR2).sa_flags & libc::SA_ONSTACK, 0, "as it was");
    let off = libc::stack_t {
        ss_sp: std::ptr::null_mut(),
        ss_flags: libc::SS_DISABLE,
        ss_size: 0,
    };
    // SAFETY: nothing runs on it.
    assert_eq!(unsafe { libc::sigaltstack(&raw const off, std::ptr::null_mut()) }, 0);
    raise(libc::SIGUSR1);
    assert_eq!(WHERE.load(SeqCst), 1002);
}

fn twin_a_handler_without_the_flag_runs_on_the_threads_own() {
    register(libc::SIGUSR1);
    let ours = installed(libc::SIGUSR1);
    install(libc::SIGUSR1, ours.sa_sigaction, ours.sa_flags & !libc::SA_ONSTACK);
    use_alternate_stack(65536);
    raise(libc::SIGUSR1);
    assert_eq!(WHERE.load(SeqCst), 1000);
}

/// A frame records on the alternate stack, also more than there is room for; the handlers run where the hold ends.
fn a_replay_runs_on_the_stack_of_the_release() {
    let signal = libc::SIGRTMIN();
    register(signal);
    use_alternate_stack(frame_size() + room());
    let hold = mask::hold();
    (0..40).for_each(|value| queue(signal, value));
    assert!(mask::overflows() > 0 && WHERE.load(SeqCst) == 0);
    drop(hold);
    assert_eq!(WHERE.load(SeqCst), 40 * 1000);
    queue(signal, 40);
    assert_eq!(WHERE.load(SeqCst), 40 * 1000 + 1);
    assert!(!mask::is_held() && kernel_mask().is_empty());
}

/// Twice as much as [`Signals`] says, as this may be an unoptimized build; a sanitizer's frames are larger.
fn room() -> usize {
    if is_asan() { 16384 } else { 2 * 700 }
}

fn what_the_documents_say_is_room_enough() {
    Signals::on(libc::SIGUSR1, &FLAG).unwrap();
    Signals::on(libc::SIGUSR2, &COUNT).unwrap();
    Signals::on(libc::SIGRTMIN(), &SEEN).unwrap();
    use_alternate_stack(frame_size() + room());
    raise(libc::SIGUSR1);
    raise(libc::SIGUSR2);
    assert!(FLAG.load(SeqCst) && COUNT.load(SeqCst) == 1);
    // The queue is waited for.
    static TAKEN: AtomicBool = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let hold = mask::hold();
            let queue = SEEN.lock(&hold);
            TAKEN.store(true, SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(20));
            drop(queue);
        });
        until(|| TAKEN.load(SeqCst));
        queue(libc::SIGRTMIN(), 7);
    });
    assert_eq!(seen(), [(libc::SIGRTMIN(), 7)]);
}

fn twin_a_handler_that_takes_more_is_seen() {
    let takes_more = |_: &Info, _: &Hold| {
        let room = std::hint::black_box([1_u8; 32768]);
        COUNT.fetch_add(u32::from(room[COUNT.load(SeqCst) as usize]), SeqCst);
    };
    // SAFETY: an atomic operation.
    unsafe { Signals::call(libc::SIGUSR1, takes_more) }.unwrap();
    use_alternate_stack(frame_size() + room());
    assert_eq!(in_child(|| raise(libc::SIGUSR1)), Err(End::Signal(libc::SIGSEGV)));
    // It is the room.
    use_alternate_stack(frame_size() + 65536);
    in_child(|| raise(libc::SIGUSR1)).unwrap();
}

/// A handler lets signals through, which are recorded in frames on the same stack, and run once it has ended, there too.
fn frames_nest_on_the_alternate_stack() {
    let signal = libc::SIGRTMIN();
    let handler = |info: &Info, hold: &Hold| {
        where_am_i(info, hold);
        if info.value() == 0 {
            signal::mask(libc::SIG_SETMASK, []);
            (1..8).for_each(|value| queue(libc::SIGRTMIN(), value));
            COUNT.store(WHERE.load(SeqCst), SeqCst);
        }
    };
    // SAFETY: system calls and atomic operations.
    unsafe { Signals::call(signal, handler) }.unwrap();
    use_alternate_stack(65536);
    queue(signal, 0);
    assert_eq!(COUNT.load(SeqCst), 1, "none ran inside another");
    assert_eq!(WHERE.load(SeqCst), 8);
    assert!(!mask::is_held() && !mask::is_pending() && kernel_mask().is_empty());
}

/// Sends a signal to the process while this thread blocks it, and returns whether another thread has taken it once `passed` has
/// returned true: the other thread has gone through the kernel.
fn is_taken_by_another(mut passed: impl FnMut() -> bool) -> bool {
    let signal = libc::SIGUSR1;
    signal::mask(libc::SIG_BLOCK, [signal]);
    let mut set = signal::set_of([]);
    for _ in 0..10 {
        assert_eq!(call::kill(std::process::id() as i32, signal), 0);
        until(&mut passed);
        // SAFETY: writes one set.
        unsafe { libc::sigpending(&raw mut set) };
        // SAFETY: a set and a number.
        if unsafe { libc::sigismember(&raw const set, signal) } == 0 {
            return true;
        }
    }
    false
}

fn a_thread_of_ours_takes_no_signal_of_the_process() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let clock = Clock::process();
    let upkeep = Upkeep::start(clock).unwrap();
    // The thread has written two times, and slept between them.
    let passed = || {
        for _ in 0..2 {
            let now = clock.now();
            until(|| clock.recent() > now);
        }
        true
    };
    assert!(!is_taken_by_another(passed) && COUNT.load(SeqCst) == 0);
    drop(upkeep);
    // Its creator's mask is as it was.
    assert_eq!(kernel_mask(), [libc::SIGUSR1]);
}

fn twin_a_thread_that_blocks_none_takes_them() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            until(|| done.load(SeqCst));
        });
        let taken = is_taken_by_another(|| COUNT.load(SeqCst) > 0);
        done.store(true, SeqCst);
        assert!(taken);
    });
}
