//! A signal at every instruction of a hold and its release, by the trap flag.
//!
//! With the trap flag set the processor traps after each instruction. The trap's handler counts, and at the chosen count
//! sends a signal, which the trap's own frame keeps waiting: the kernel delivers it between that instruction and the next.

use crate::common::call;
use crate::common::child::HANG_S;
use crate::common::harness::{Check, checks};
use crate::common::length::is_long;
use crate::common::trap_flag::{self, turn};
use crate::masking::queue;
use cyclewise::mask::{self, Hold, Info, Signals, Woken};
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    a_signal_at_every_instruction,
    two_signals_a_few_instructions_apart,
    a_frame_is_interrupted_at_every_instruction,
    a_signal_before_the_sleep_ends_it,
    a_look_and_then_a_sleep_miss_one,
];

const SYSCALL: [u8; 2] = [0x0f, 0x05]; // Intel SDM vol. 2, SYSCALL
/// Instructions so far, and those at which to send.
static STEPS: AtomicI64 = AtomicI64::new(0);
static FIRST: AtomicI64 = AtomicI64::new(-1);
/// The instruction that polls.
static ASLEEP: AtomicI64 = AtomicI64::new(-1);
static SECOND: AtomicI64 = AtomicI64::new(-1);
static SECOND_IS: AtomicI32 = AtomicI32::new(0);
/// 1 while the hold exists.
static HELD: AtomicU64 = AtomicU64::new(0);
static INSIDE: AtomicU64 = AtomicU64::new(0);
static ORDER: AtomicUsize = AtomicUsize::new(0);

extern "C" fn on_trap(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let step = STEPS.fetch_add(1, SeqCst);
    // SAFETY: the kernel's frame.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    // SAFETY: the next instruction, or two of them.
    let next = unsafe { (registers[libc::REG_RIP as usize] as *const [u8; 2]).read() };
    if next == SYSCALL && [libc::SYS_poll, libc::SYS_ppoll].contains(&registers[libc::REG_RAX as usize]) {
        ASLEEP.store(step, SeqCst);
    }
    if step == FIRST.load(SeqCst) {
        queue(libc::SIGRTMIN(), 1);
    }
    if step == SECOND.load(SeqCst) {
        queue(SECOND_IS.load(SeqCst), 2);
    }
}

fn handler(info: &Info, _: &Hold) {
    INSIDE.fetch_add(HELD.load(SeqCst), SeqCst);
    ORDER.store(ORDER.load(SeqCst) * 10 + info.value(), SeqCst);
}

fn set_up() {
    trap_flag::step_by(on_trap);
    SECOND_IS.store(libc::SIGRTMIN(), SeqCst);
    // SAFETY: atomic operations only.
    unsafe { Signals::call(libc::SIGRTMIN(), handler) }.unwrap();
}

#[inline(never)]
fn section() {
    let hold = mask::hold();
    HELD.store(1, SeqCst);
    let flags = mask::save();
    mask::restore(flags);
    HELD.store(0, SeqCst);
    drop(hold);
}

/// Runs a section with a signal at one or two instructions; returns the instructions executed.
fn run(first: i64, second: i64) -> i64 {
    ORDER.store(0, SeqCst);
    STEPS.store(0, SeqCst);
    FIRST.store(first, SeqCst);
    SECOND.store(second, SeqCst);
    turn();
    section();
    let all = ORDER.load(SeqCst);
    turn();
    let steps = STEPS.load(SeqCst);
    // Signals sent after the section, in the call that ends the stepping, arrive later.
    let late = ORDER.load(SeqCst);
    let expected = match (first >= 0 && first < steps, second >= 0 && second < steps) {
        (true, true) => 12,
        (true, false) => 1,
        _ => 0,
    };
    assert_eq!(late, expected, "sent at {first} and {second}");
    assert!([0, 1, 12].contains(&all));
    assert!(!mask::is_held() && !mask::is_pending());
    steps
}

fn a_signal_at_every_instruction() {
    set_up();
    let steps = run(-1, -1);
    assert!(steps > 20, "{steps} instructions: the trap flag does nothing here");
    for at in 0..steps {
        run(at, -1);
    }
    assert_eq!(INSIDE.load(SeqCst), 0);
    println!("a signal at each of {steps} instructions");
}

fn two_signals_a_few_instructions_apart() {
    set_up();
    let apart = if is_long() { 16 } else { 4 };
    for first in 0..run(-1, -1) {
        // The first signal's replay lengthens the run.
        let steps = run(first, -1);
        for second in first..steps.min(first + apart) {
            run(first, second);
        }
    }
    assert_eq!(INSIDE.load(SeqCst), 0);
}

/// The action installed before [`over_ours`].
static OURS: AtomicUsize = AtomicUsize::new(0);

/// Another library's handler, installed over ours without blocking signals, that chains to ours.
extern "C" fn over_ours(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: installed with SA_SIGINFO, and so of this type.
    let ours = unsafe {
        std::mem::transmute::<usize, extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void)>(OURS.load(SeqCst))
    };
    turn();
    ours(signal, info, context);
    turn();
}

fn a_frame_is_interrupted_at_every_instruction() {
    set_up();
    // SAFETY: atomic operations only.
    unsafe { Signals::call(libc::SIGRTMIN() + 1, handler) }.unwrap();
    SECOND_IS.store(libc::SIGRTMIN() + 1, SeqCst);
    let action = libc::sigaction {
        sa_sigaction: over_ours as *const () as usize,
        // SAFETY: all zeroes is an empty set.
        sa_mask: unsafe { std::mem::zeroed() },
        sa_flags: libc::SA_SIGINFO,
        sa_restorer: None,
    };
    let mut old = action;
    // SAFETY: one action to read and one to write.
    let rc = unsafe { libc::sigaction(libc::SIGRTMIN(), &raw const action, &raw mut old) };
    assert_eq!(rc, 0);
    OURS.store(old.sa_sigaction, SeqCst);
    // The first signal's frame in a hold, interrupted by the second signal.
    let one = |second: i64| {
        ORDER.store(0, SeqCst);
        STEPS.store(0, SeqCst);
        FIRST.store(-1, SeqCst);
        SECOND.store(second, SeqCst);
        let hold = mask::hold();
        queue(libc::SIGRTMIN(), 1);
        let steps = STEPS.load(SeqCst);
        assert_eq!(ORDER.load(SeqCst), 0, "handled in the hold");
        drop(hold);
        (steps, ORDER.load(SeqCst))
    };
    let (steps, order) = one(-1);
    assert!(steps > 50 && order == 1, "{steps} instructions, {order}");
    for at in (0..steps).step_by(if is_long() { 1 } else { 2 }) {
        let (_, order) = one(at);
        assert!([12, 21].contains(&order), "the second at {at} of {steps}: {order}");
    }
    println!("a frame of {steps} instructions interrupted");
}

/// A stepped wait with a signal at its instruction `at`; returns whether a signal woke it.
fn waited(at: i64, wait: impl FnOnce(&Hold) -> bool) -> bool {
    let hold = mask::hold();
    ORDER.store(0, SeqCst);
    STEPS.store(0, SeqCst);
    ASLEEP.store(-1, SeqCst);
    FIRST.store(at, SeqCst);
    SECOND.store(-1, SeqCst);
    turn();
    let woken = wait(&hold);
    turn();
    woken
}

fn a_signal_before_the_sleep_ends_it() {
    set_up();
    let wait = |ms| move |hold: &Hold| hold.wait(&mut [], Some(Duration::from_millis(ms))) == Ok(Woken::Signal);
    assert!(!waited(-1, wait(1)));
    let asleep = ASLEEP.load(SeqCst);
    assert!(asleep > 32, "the sleep begins at {asleep}");
    call::alarm(HANG_S);
    // The last instructions, between looking for signals and the sleep, are all tried in the short form, too.
    let stride = if is_long() { 1 } else { 3 };
    let last = asleep - 32;
    for at in (0..last).step_by(stride).chain(last..=asleep) {
        assert!(waited(at, wait(3_600_000)), "a signal at {at}");
    }
    println!("a signal before the sleep, {asleep} instructions in");
}

/// The twin: a check followed by a separate sleep.
fn a_look_and_then_a_sleep_miss_one() {
    set_up();
    let twin = |_: &Hold| {
        if mask::is_pending() {
            return true;
        }
        // SAFETY: no descriptors; a timeout of 2 ms.
        unsafe { libc::poll(std::ptr::null_mut(), 0, 2) < 0 }
    };
    assert!(!waited(-1, twin));
    let asleep = ASLEEP.load(SeqCst);
    let missed = (0..=asleep).filter(|&at| !waited(at, twin)).count();
    println!("slept through {missed} of {}", asleep + 1);
    assert!(missed > 0);
}
