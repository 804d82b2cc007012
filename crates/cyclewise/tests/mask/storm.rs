//! A storm of signals from threads and timers to a thread that holds and releases: each real-time signal arrives exactly
//! once, in order, and outside holds. The twin does not test the flag, and its handlers run inside holds.
//!
//! `CYCLEWISE_STORM=1000000` sends a million.

use crate::common::harness::{Check, checks};
use crate::common::length::rounds;
use crate::common::signal;
use crate::masking::queue_to;
use cyclewise::mask::{self, Hold, Info, Signals};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

pub(crate) const CHECKS: &[Check] = checks![none_is_lost_doubled_or_inside_a_hold, the_twin_is_seen_inside_holds,];

/// Real-time signals, each with its own sender.
const STREAMS: usize = 3;

static EXPECTED: [AtomicU64; STREAMS] = [const { AtomicU64::new(0) }; STREAMS];
static DISORDER: AtomicU64 = AtomicU64::new(0);
static INSIDE: AtomicU64 = AtomicU64::new(0);
static NESTED: AtomicU64 = AtomicU64::new(0);
static STANDARD: AtomicU64 = AtomicU64::new(0);
static TICKS: AtomicU64 = AtomicU64::new(0);
static HELD: AtomicBool = AtomicBool::new(false);
static RUNNING: AtomicBool = AtomicBool::new(false);
static SENT: AtomicU64 = AtomicU64::new(0);

fn stream(n: usize) -> i32 {
    libc::SIGRTMIN() + n as i32
}

fn timer_signal() -> i32 {
    stream(STREAMS)
}

/// The body of both handlers.
fn handle(signal: i32, value: usize) {
    INSIDE.fetch_add(u64::from(HELD.load(SeqCst)), SeqCst);
    NESTED.fetch_add(u64::from(RUNNING.swap(true, SeqCst)), SeqCst);
    match usize::try_from(signal - libc::SIGRTMIN()) {
        Ok(n) if n < STREAMS => {
            let expected = EXPECTED[n].fetch_add(1, SeqCst);
            DISORDER.fetch_add(u64::from(expected != value as u64), SeqCst);
        }
        Ok(_) => drop(TICKS.fetch_add(1, SeqCst)),
        Err(_) => drop(STANDARD.fetch_add(1, SeqCst)),
    }
    RUNNING.store(false, SeqCst);
}

fn through_us(info: &Info, _: &Hold) {
    handle(info.signal(), info.value());
}

/// The twin's handler, which the kernel calls directly, without a test of the flag.
extern "C" fn at_once(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel's information.
    let info = unsafe { &*info };
    // SAFETY: every signal of the storm has a value field, even if zero.
    let value = unsafe { info.si_value() };
    handle(signal, value.sival_ptr.addr());
}

fn with_the_flag(signal: i32) {
    // SAFETY: atomic operations only.
    unsafe { Signals::call(signal, through_us) }.unwrap();
}

fn without_the_flag(signal: i32) {
    signal::handle_alone(signal, at_once, libc::SA_RESTART);
}

fn send(target: i32, number: i32, value: usize) {
    queue_to(target, number, value);
    SENT.fetch_add(1, SeqCst);
}

/// A kernel timer that signals `thread` every half millisecond.
fn start_timer(thread: i32) -> libc::timer_t {
    // SAFETY: all zeroes is a valid event.
    let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = timer_signal();
    event.sigev_notify_thread_id = thread;
    let mut timer = std::ptr::null_mut();
    // SAFETY: one event and one place for the timer.
    let rc = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) };
    assert_eq!(rc, 0);
    let period = libc::timespec {
        tv_sec: 0,
        tv_nsec: 500_000,
    };
    let every = libc::itimerspec {
        it_interval: period,
        it_value: period,
    };
    // SAFETY: our timer.
    let rc = unsafe { libc::timer_settime(timer, 0, &raw const every, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
    timer
}

struct Random(u64);

impl Random {
    /// xorshift64.
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Work of a random length. `HELD` is set only inside.
fn critical(random: &mut Random) {
    HELD.store(true, SeqCst);
    (0..random.below(300)).for_each(|_| std::hint::spin_loop());
    if random.below(16) == 0 {
        // A system call's return delivers signals sent before it: so one certainly arrives in the hold.
        let before = SENT.load(SeqCst);
        for _ in 0..50 {
            if SENT.load(SeqCst) != before {
                break;
            }
            std::thread::yield_now();
        }
    }
    HELD.store(false, SeqCst);
}

fn section(random: &mut Random) {
    match random.below(4) {
        0 => {
            let flags = mask::save();
            critical(random);
            mask::restore(flags);
        }
        1 => {
            let outer = mask::hold();
            critical(random);
            let inner = mask::hold();
            critical(random);
            drop(outer);
            critical(random);
            drop(inner);
        }
        _ => {
            let _hold = mask::hold();
            critical(random);
        }
    }
}

fn storm(install: fn(i32), each: u64) {
    let standard = [libc::SIGUSR1, libc::SIGUSR2];
    (0..=STREAMS).map(stream).chain(standard).for_each(install);
    let target = signal::this_thread();
    let timer = start_timer(target);
    let overflows = std::thread::scope(|scope| {
        for n in 0..STREAMS {
            scope.spawn(move || {
                for value in 0..each {
                    // The limit of queued signals is per user, and other tests may use it too.
                    while value > EXPECTED[n].load(SeqCst) + 1000 {
                        std::thread::yield_now();
                    }
                    send(target, stream(n), value as usize);
                    if value % 16 == n as u64 {
                        send(target, standard[n % 2], 0);
                    }
                    if value % 8 == 0 {
                        std::thread::yield_now();
                    }
                }
            });
        }
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let all = || EXPECTED.iter().all(|expected| expected.load(SeqCst) >= each);
        while !all() || TICKS.load(SeqCst) == 0 {
            section(&mut random);
            (0..random.below(100)).for_each(|_| std::hint::spin_loop());
        }
        mask::overflows()
    });
    // SAFETY: our timer, once.
    unsafe { libc::timer_delete(timer) };
    // The last sender's signals are received by now: a system call has returned since.
    println!(
        "storm: {} sent, {} ticks, {} standard handled, {overflows} overflows; \
         {} out of order, {} inside a hold, {} inside a handler",
        SENT.load(SeqCst),
        TICKS.load(SeqCst),
        STANDARD.load(SeqCst),
        DISORDER.load(SeqCst),
        INSIDE.load(SeqCst),
        NESTED.load(SeqCst),
    );
    assert!(EXPECTED.iter().all(|expected| expected.load(SeqCst) == each));
}

fn none_is_lost_doubled_or_inside_a_hold() {
    let sent = rounds("CYCLEWISE_STORM", 5_000, 20_000);
    // Each stream also sends a sixteenth as many standard signals.
    storm(with_the_flag, sent * 16 / 17 / STREAMS as u64 + 1);
    assert!(STANDARD.load(SeqCst) > 0);
    let broken = [&DISORDER, &INSIDE, &NESTED].map(|count| count.load(SeqCst));
    assert_eq!(broken, [0; 3]);
    // Merged signals too arrive after the last one sent.
    let before = STANDARD.load(SeqCst);
    let hold = mask::hold();
    signal::raise(libc::SIGUSR1);
    drop(hold);
    assert_eq!(STANDARD.load(SeqCst), before + 1);
}

/// One signal to itself inside a hold would suffice, but this tests the storm's own check.
fn the_twin_is_seen_inside_holds() {
    storm(without_the_flag, 2000);
    let before = INSIDE.load(SeqCst);
    let hold = mask::hold();
    HELD.store(true, SeqCst);
    signal::raise(libc::SIGUSR1);
    HELD.store(false, SeqCst);
    drop(hold);
    assert!(INSIDE.load(SeqCst) > before);
}
