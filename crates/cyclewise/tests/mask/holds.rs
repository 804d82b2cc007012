//! The soft mask with real signals: which are held, and when and how they are delivered.

use crate::common::call;
use crate::common::harness::{Check, checks};
use crate::masking::{COUNT, FLAG, SEEN, kernel_mask, queue, raise, seen};
use cyclewise::mask::{self, Hold, Info, Signals};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

pub(crate) const CHECKS: &[Check] = checks![
    an_open_thread_is_interrupted_at_once,
    a_held_one_at_the_release,
    holds_nest_and_end_in_any_order,
    save_and_restore_are_the_kernels,
    values_come_in_order_and_whole,
    standard_signals_are_merged,
    what_the_ring_has_no_room_for_the_kernel_keeps,
    a_handler_is_held_too,
    errno_is_kept,
];

fn an_open_thread_is_interrupted_at_once() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    Signals::on(libc::SIGUSR2, &FLAG).unwrap();
    raise(libc::SIGUSR1);
    assert_eq!((COUNT.load(SeqCst), FLAG.load(SeqCst)), (1, false));
    raise(libc::SIGUSR2);
    assert!(FLAG.load(SeqCst) && !mask::is_held());
}

fn a_held_one_at_the_release() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let hold = mask::hold();
    assert!(mask::is_held() && !mask::is_pending());
    raise(libc::SIGUSR1);
    assert_eq!(COUNT.load(SeqCst), 0);
    assert!(mask::is_pending());
    drop(hold);
    assert_eq!(COUNT.load(SeqCst), 1);
    assert!(!mask::is_held() && !mask::is_pending());
}

fn holds_nest_and_end_in_any_order() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let (first, second, third) = (mask::hold(), mask::hold(), mask::hold());
    raise(libc::SIGUSR1);
    drop(first);
    drop(third);
    assert_eq!(COUNT.load(SeqCst), 0);
    drop(second);
    assert_eq!(COUNT.load(SeqCst), 1);
}

fn save_and_restore_are_the_kernels() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let outer = mask::save();
    let inner = mask::save();
    assert!(!outer.are_held() && inner.are_held());
    raise(libc::SIGUSR1);
    mask::restore(inner);
    assert_eq!(COUNT.load(SeqCst), 0, "restoring held does nothing");
    let guard = mask::hold();
    mask::restore(outer);
    assert_eq!(COUNT.load(SeqCst), 0, "a guard keeps its hold");
    drop(guard);
    assert_eq!(COUNT.load(SeqCst), 1);
}

fn is_ours(info: &Info, _: &Hold) {
    let user = call::getuid();
    let ours = info.sender() as u32 == std::process::id() && info.user() == user;
    FLAG.store(ours && info.code() == libc::SI_QUEUE, SeqCst);
}

fn values_come_in_order_and_whole() {
    let (low, high) = (libc::SIGRTMIN(), libc::SIGRTMIN() + 3);
    Signals::on(low, &SEEN).unwrap();
    Signals::on(high, &SEEN).unwrap();
    let hold = mask::hold();
    for (signal, value) in [(high, 1), (low, 2), (low, 3), (high, usize::MAX)] {
        queue(signal, value);
    }
    assert_eq!(seen(), []);
    drop(hold);
    // In the kernel's delivery order, which is deterministic when a thread sends to itself.
    assert_eq!(seen(), [(high, 1), (low, 2), (low, 3), (high, usize::MAX)]);
    // SAFETY: queries numbers and stores.
    unsafe { Signals::call(low + 1, is_ours) }.unwrap();
    let hold = mask::hold();
    queue(low + 1, 0);
    drop(hold);
    assert!(FLAG.load(SeqCst), "the record is the kernel's");
}

fn standard_signals_are_merged() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let hold = mask::hold();
    for _ in 0..5 {
        raise(libc::SIGUSR1);
    }
    drop(hold);
    assert_eq!(COUNT.load(SeqCst), 1);
    raise(libc::SIGUSR1);
    assert_eq!(COUNT.load(SeqCst), 2);
}

fn what_the_ring_has_no_room_for_the_kernel_keeps() {
    let signal = libc::SIGRTMIN();
    Signals::on(signal, &SEEN).unwrap();
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let before = kernel_mask();
    for round in 1..4 {
        let hold = mask::hold();
        (0..50).for_each(|value| queue(signal, value));
        raise(libc::SIGUSR1);
        assert_eq!(kernel_mask(), [libc::SIGUSR1, signal], "ours are blocked and no others");
        let overflows = mask::overflows();
        drop(hold);
        assert!(overflows > 0);
        assert!(seen().into_iter().eq((0..50).map(|value| (signal, value))));
        assert_eq!(COUNT.load(SeqCst), round);
        assert_eq!(kernel_mask(), before);
    }
}

/// How often the nested handler ran when it must not, and whether it ran at all.
static NESTED: AtomicU32 = AtomicU32::new(0);

fn a_handler_is_held_too() {
    Signals::on(libc::SIGUSR2, &COUNT).unwrap();
    let handler = |_: &Info, _: &Hold| {
        let before = COUNT.load(SeqCst);
        raise(libc::SIGUSR2);
        drop(mask::hold());
        NESTED.fetch_add(COUNT.load(SeqCst) - before, SeqCst);
    };
    // SAFETY: raise is async-signal-safe.
    unsafe { Signals::call(libc::SIGUSR1, handler) }.unwrap();
    raise(libc::SIGUSR1);
    assert_eq!(COUNT.load(SeqCst), 1, "in the kernel's frame");
    let hold = mask::hold();
    raise(libc::SIGUSR1);
    drop(hold);
    assert_eq!((COUNT.load(SeqCst), NESTED.load(SeqCst)), (2, 0), "in a release");
}

fn errno_is_kept() {
    let handler = |_: &Info, _: &Hold| {
        // SAFETY: an invalid descriptor.
        unsafe { libc::close(-1) };
    };
    // SAFETY: close is async-signal-safe.
    unsafe { Signals::call(libc::SIGUSR1, handler) }.unwrap();
    // SAFETY: this thread's own.
    let errno = || unsafe { libc::__errno_location() };
    // SAFETY: this thread's own.
    unsafe { *errno() = 77 };
    raise(libc::SIGUSR1);
    let hold = mask::hold();
    raise(libc::SIGUSR1);
    drop(hold);
    // SAFETY: this thread's own.
    assert_eq!(unsafe { *errno() }, 77);
}
