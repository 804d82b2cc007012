//! Confined mode under load, and its twin: the same load, elided on two CPUs, loses updates.
//!
//! `CYCLEWISE_FLIPS` sets how often the mode is entered and left; a million takes some minutes.

use crate::common::call;
use crate::common::cpu::{allowed_cpus, pin, run_before_others};
use crate::common::harness::{Check, checks};
use crate::common::length::rounds;
use crate::common::signal;
use crate::common::text::poke;
use crate::confined::{enter, watch};
use cyclewise::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use cyclewise::patch::{Mode, sites, state};
use std::sync::atomic;
use std::time::Duration;

/// How often the twin tries to lose updates.
const TRIES: u32 = 100;
/// Divisor of the flips where each waits for the scheduler's tick.
const SLOWER: u64 = 100;
/// How often a signal arrives meanwhile.
const SIGNAL_EVERY_US: i64 = 200;
/// Enough threads to keep two CPUs busy while one of them flips.
const THREADS: u64 = 3;
/// How long the mode is kept now and then, so that the load runs in each mode.
const REST: Duration = Duration::from_micros(50);

pub(crate) const CHECKS: &[Check] = checks![
    no_update_is_lost_while_the_mode_flips,
    twin_elided_on_two_cpus_loses_updates,
];

/// Sets the stop flag when dropped, also by a panic: a scope waits for its threads.
struct Stop<'a>(&'a atomic::AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, atomic::Ordering::Relaxed);
    }
}

/// A counter for every kind of site.
#[derive(Default)]
struct Load {
    stop: atomic::AtomicBool,
    byte: AtomicU8,
    short: AtomicU16,
    xadd: AtomicU32,
    exchanged: AtomicU64,
    effect: AtomicUsize,
    tested: AtomicUsize,
    bits: AtomicU64,
    /// Rounds done, counted without sites.
    rounds: atomic::AtomicU64,
    /// Batches of rounds that ended on another CPU than the previous batch.
    moves: atomic::AtomicU64,
}

impl Load {
    /// Runs rounds until the stop flag is set. Each adds one to every counter; only this thread uses `bit`.
    fn work(&self, bit: u32) {
        let mut cpu = -1;
        while !self.stop.load(atomic::Ordering::Relaxed) {
            self.rounds(bit);
            let now = call::sched_getcpu();
            if now != cpu {
                self.moves.fetch_add(1, atomic::Ordering::Relaxed);
            }
            cpu = now;
        }
    }

    /// Creates threads that do a few rounds each, until the stop flag is set; returns how many.
    fn create(&self, stop: &atomic::AtomicBool) -> u64 {
        let mut created = 0;
        while !stop.load(atomic::Ordering::Relaxed) {
            std::thread::scope(|scope| scope.spawn(|| self.rounds(THREADS as u32)).join()).unwrap();
            created += 1;
        }
        created
    }

    /// A batch of rounds, counted without sites.
    fn rounds(&self, bit: u32) {
        for _ in 0..32 {
            self.byte.fetch_add(1, Ordering::Relaxed);
            self.short.inc(Ordering::Relaxed);
            self.xadd.fetch_sub(1, Ordering::Relaxed);
            self.exchanged
                .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |n| Some(n + 1))
                .unwrap();
            self.effect.add(3, Ordering::Relaxed);
            self.tested.add_negative(1, Ordering::Relaxed);
            self.bits.xor(1 << bit, Ordering::Relaxed);
        }
        self.rounds.fetch_add(32, atomic::Ordering::Relaxed);
    }

    /// Runs the load, pinned to `cpus` in turn where given, until `beside` returns; returns how many kinds lost updates.
    fn lost_beside(cpus: Option<&[usize]>, beside: impl FnOnce(&Load)) -> (u64, Self) {
        let load = Self::default();
        std::thread::scope(|scope| {
            for bit in 0..THREADS as u32 {
                let load = &load;
                scope.spawn(move || {
                    if let Some(cpus) = cpus {
                        pin(cpus[bit as usize % cpus.len()]);
                    }
                    load.work(bit);
                });
            }
            let _stop = Stop(&load.stop);
            beside(&load);
        });
        let rounds = load.rounds.load(atomic::Ordering::Relaxed);
        let differences = [
            u64::from(load.byte.load(Ordering::Relaxed) ^ rounds as u8),
            u64::from(load.short.load(Ordering::Relaxed) ^ rounds as u16),
            u64::from(load.xadd.load(Ordering::Relaxed).wrapping_neg() ^ rounds as u32),
            rounds - load.exchanged.load(Ordering::Relaxed),
            3 * rounds - load.effect.load(Ordering::Relaxed) as u64,
            rounds - load.tested.load(Ordering::Relaxed) as u64,
            // The number of rounds is even, so every bit is restored.
            load.bits.load(Ordering::Relaxed),
        ];
        (differences.iter().filter(|&&d| d != 0).count() as u64, load)
    }
}

/// Signals handled, counted with a site and without one.
static SIGNALLED: (AtomicU64, atomic::AtomicU64) = (AtomicU64::new(0), atomic::AtomicU64::new(0));

extern "C" fn on_alarm(_: i32) {
    SIGNALLED.0.inc(Ordering::Relaxed);
    SIGNALLED.1.fetch_add(1, atomic::Ordering::Relaxed); // Read when the handling threads are joined.
}

/// Sends SIGALRM to the process again and again, or no more; any thread but the calling one gets it.
fn alarm_the_others(every_us: i64) {
    signal::mask(libc::SIG_BLOCK, [libc::SIGALRM]);
    signal::handle(libc::SIGALRM, on_alarm);
    signal::every(libc::SIGALRM, every_us);
}

fn no_update_is_lost_while_the_mode_flips() {
    let mut flips = rounds("CYCLEWISE_FLIPS", 3_000, 10_000);
    let cpus = allowed_cpus();
    if cpus.len() < 2 {
        println!("skipped: one CPU, so threads never run in parallel");
        return;
    }
    let start = std::time::Instant::now();
    watch();
    let (lost, load) = Load::lost_beside(None, |load| {
        let stop = atomic::AtomicBool::new(false);
        let created = std::thread::scope(|scope| {
            let creator = scope.spawn(|| load.create(&stop));
            alarm_the_others(SIGNAL_EVERY_US);
            let stopping = Stop(&stop);
            if !run_before_others() {
                println!("SCHED_FIFO is not allowed here: {SLOWER} times fewer flips");
                flips /= SLOWER;
            }
            // As many as requested, and more where a busy machine seldom runs the threads.
            let ran = || {
                let moves = load.moves.load(atomic::Ordering::Relaxed);
                moves > flips / 100 && SIGNALLED.1.load(atomic::Ordering::Relaxed) > 0
            };
            let mut flip = 0;
            while flip < flips || !ran() {
                if flip == flips / 20 {
                    // Most of a change's time is waiting for creators to pause, so not every change has creators.
                    stop.store(true, atomic::Ordering::Relaxed);
                }
                let guard = enter(Some(cpus[flip as usize % cpus.len()])).unwrap();
                if flip % 16 == 0 {
                    std::thread::sleep(REST);
                }
                guard.leave().unwrap();
                if flip % 16 == 8 {
                    std::thread::sleep(REST);
                }
                flip += 1;
            }
            alarm_the_others(0);
            drop(stopping);
            creator.join().unwrap()
        });
        println!("{created} threads were created meanwhile");
    });
    let moves = load.moves.load(atomic::Ordering::Relaxed);
    let rounds = load.rounds.load(atomic::Ordering::Relaxed);
    let signals = SIGNALLED.1.load(atomic::Ordering::Relaxed);
    println!(
        "{flips} flips in {:.1?}, {rounds} rounds, {moves} moves between CPUs, {signals} signals",
        start.elapsed()
    );
    assert_eq!(lost, 0, "kinds of site that lost updates");
    assert_eq!(SIGNALLED.0.load(Ordering::Relaxed), signals, "updates lost by handlers");
    assert_eq!((allowed_cpus(), state().mode), (cpus, Mode::Locked));
}

fn twin_elided_on_two_cpus_loses_updates() {
    let cpus = allowed_cpus();
    if cpus.len() < 2 {
        println!("skipped: one CPU, so nothing can be lost");
        return;
    }
    // Pinned to different CPUs and retried: a busy machine may run the threads on one CPU for a while.
    let mut most = 0;
    for _ in 0..TRIES {
        let (lost, load) = Load::lost_beside(Some(&cpus), |_| {
            sites().for_each(|site| poke(site.address(), &[0x3e]));
            std::thread::sleep(Duration::from_millis(100));
            sites().for_each(|site| poke(site.address(), &[0xf0]));
        });
        most = most.max(lost);
        if lost >= 5 {
            let rounds = load.rounds.load(atomic::Ordering::Relaxed);
            println!("{lost} of 7 kinds of site lost updates in {rounds} rounds");
            return;
        }
    }
    panic!("the harness does not detect lost updates: {most} kinds at most");
}
