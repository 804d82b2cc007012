//! A waiter with real-time priority above the holder, both on one CPU: how much CPU time it uses before the holder runs.
//!
//! The tests measure CPU time, which no other load changes. The holder runs for a fixed amount and then releases the lock.
//! A waiter that spins uses far more than that where the kernel throttles real-time threads (`sched_rt_runtime_us`), and
//! never ends where it does not.

use crate::common::child::in_child;
use crate::common::cpu::{allowed_cpus, pin, run_before_others};
use crate::common::harness::{Check, checks};
use cyclewise::lock::{DefaultPark, Park, RawSpinLock, SpinOnly};
use cyclewise::refs::LockRef;
use lock_api::RawMutex;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// CPU time of the holder's critical section.
const SECTION: Duration = Duration::from_millis(20);
/// CPU time a waiter may use: far more than a sleeping one uses, and far less than a spinning one.
const LIMIT: Duration = Duration::from_millis(20);
/// Tries of a waiter that should sleep: a virtual machine may count time in which it did not run.
const TRIES: u32 = 3;
/// CPU time after which the twin is killed.
const ENOUGH_S: u64 = 5;

pub(crate) const CHECKS: &[Check] = checks![
    a_waiter_above_the_holder_sleeps = || assert!(sleeps_once(|hold, inside| with_lock(&SLEEPING, hold, inside))),
    a_waiter_above_the_holder_of_a_lockref_sleeps = || assert!(sleeps_once(with_lockref)),
    twin_a_waiter_that_spins_is_seen,
];

fn twin_a_waiter_that_spins_is_seen() {
    let outcome = in_child(|| {
        let limit = libc::rlimit {
            rlim_cur: ENOUGH_S,
            rlim_max: ENOUGH_S,
        };
        // SAFETY: reads the limits; the kernel kills a process that exceeds them.
        let rc = unsafe { libc::setrlimit(libc::RLIMIT_CPU, &raw const limit) };
        assert_eq!(rc, 0);
        assert!(sleeps(|hold, inside| with_lock(&SPINNING, hold, inside)));
    });
    let skipped = thread::spawn(|| !run_before_others()).join().unwrap();
    assert!(skipped || outcome.is_err(), "it burnt nothing");
}

/// CPU time of the calling thread.
fn spent() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec; the clock exists for every thread.
    let rc = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(rc, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

static SLEEPING: RawSpinLock<DefaultPark> = RawSpinLock::INIT;
static SPINNING: RawSpinLock<SpinOnly> = RawSpinLock::INIT;

fn with_lock<P: Park>(lock: &RawSpinLock<P>, hold: bool, inside: &mut dyn FnMut()) {
    lock.lock();
    if hold {
        inside();
    }
    // SAFETY: just locked.
    unsafe { lock.unlock() };
}

fn with_lockref(hold: bool, inside: &mut dyn FnMut()) {
    static ENTRY: LockRef<()> = LockRef::new(());
    if hold {
        let _guard = ENTRY.lock();
        inside();
    } else {
        ENTRY.get();
    }
}

/// Whether a waiter sleeps in at least one of several tries.
fn sleeps_once(with: fn(bool, &mut dyn FnMut())) -> bool {
    (0..TRIES).any(|_| sleeps(with))
}

/// Whether a waiter sleeps while a holder of lower priority runs. `with` takes the lock, waiting if necessary, and runs
/// `inside` under it.
fn sleeps(with: fn(bool, &mut dyn FnMut())) -> bool {
    let cpu = allowed_cpus()[0];
    let (ready, is_held) = channel();
    thread::scope(|scope| {
        let waiter = scope.spawn(move || {
            pin(cpu);
            if !run_before_others() {
                println!("skipped: SCHED_FIFO is not allowed here");
                return None;
            }
            is_held.recv().unwrap();
            let before = spent();
            with(false, &mut || {});
            Some(spent() - before)
        });
        scope.spawn(move || {
            pin(cpu);
            with(true, &mut || {
                let _ = ready.send(());
                let begun = spent();
                while spent() - begun < SECTION {
                    std::hint::spin_loop();
                }
            });
        });
        let burnt = waiter.join().unwrap();
        println!("  {burnt:?} used while waiting for a section of {SECTION:?}");
        burnt.is_none_or(|burnt| burnt < LIMIT)
    })
}
