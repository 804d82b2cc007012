//! The storm: threads that use per-CPU data while they are preempted, moved, interrupted and forked.
//!
//! # Invariants
//! 1. `TARGET` points to a target on the stack of [`storm`] while its threads run, and is null otherwise. One storm runs
//!    at a time.
//!
//! # Safety
//! 1. The handler does only what its target's `interrupt` allows.
//! 2. A thread is signalled by its kernel id only before it is joined, so the id is still its own.
#![expect(unsafe_code, reason = "tgkill, and a handler with its pointer")]

use crate::error::{Error, Result};
use crate::sys::process::{Fork, fork};
use crate::sys::{affinity, signal};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering::*};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// What the storm's threads use.
pub(crate) trait StormTarget: Sync {
    /// One step of a thread. The number is pseudo-random and differs each time.
    fn step(&self, chance: u64);
    /// What a signal handler does in the middle of a step. No lock, no allocation.
    fn interrupt(&self);
    /// Checks in a forked child, whose other threads vanished in the middle of a step; returns whether all is correct. No
    /// lock, no allocation, no panic.
    fn in_child(&self) -> bool;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StormStats {
    /// Steps that threads did.
    pub steps: u64,
    /// Runs of the handler.
    pub signals: u64,
    /// Moves of a thread to another CPU.
    pub moves: u64,
    pub forks: u64,
    /// Children that found an error, or did not end by themselves.
    pub bad_forks: u64,
}

impl StormStats {
    /// Adds the counts of another storm.
    pub(crate) fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.signals += other.signals;
        self.moves += other.moves;
        self.forks += other.forks;
        self.bad_forks += other.bad_forks;
    }
}

/// A pointer to the target is two words; this points to them.
static TARGET: AtomicPtr<&'static dyn StormTarget> = AtomicPtr::new(std::ptr::null_mut());
static SIGNALS: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: libc::c_int) {
    // Acquire: pairs with the Release of `storm`.
    let target = TARGET.load(Acquire);
    if !target.is_null() {
        // SAFETY: Invariant 1: the threads that are signalled end before it does.
        let target = unsafe { *target };
        target.interrupt();
        SIGNALS.fetch_add(1, Relaxed);
    }
}

/// Time between two forks. A fork stops every thread at its next write to a page, so they must be rare.
const FORK_EVERY: Duration = Duration::from_millis(20);
/// Advice where no thread can be made.
const THREADS: &str = "raise `ulimit -u` or the cgroup's pids.max, or free memory";
/// A child works for microseconds, but may take minutes on a machine that is stopped for minutes.
const CHILD_LIMIT_S: u32 = 600;

/// Runs `threads` threads on `cpus` for `time`.
///
/// # Errors
/// Where the handler cannot be set, or no thread or process can be made.
pub(crate) fn storm(target: &dyn StormTarget, cpus: &[u32], threads: usize, time: Duration) -> Result<StormStats> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    handle()?;
    // SAFETY: only the lifetime changes; it is out of reach again before this returns (Invariant 1).
    let mut lasting: &'static dyn StormTarget = unsafe { std::mem::transmute(target) };
    // Release: pairs with the Acquire of the handler.
    TARGET.store(&raw mut lasting, Release);
    let (stop, steps, moves) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let ids: Vec<AtomicI32> = (0..threads).map(|_| AtomicI32::new(0)).collect();
    let before = SIGNALS.load(Relaxed);
    let children = std::thread::scope(|scope| {
        let made = ids.iter().enumerate().try_for_each(|(n, id)| {
            let (stop, steps, moves) = (&stop, &steps, &moves);
            let work = move || {
                id.store(rustix::thread::gettid().as_raw_pid(), Relaxed);
                let (mut mine, mut moved) = (0, 0);
                let mut chance = n as u64;
                while mine == 0 || !stop.load(Relaxed) {
                    for _ in 0..100 {
                        // SplitMix64's odd constant: every number once.
                        chance = chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
                        target.step((chance ^ chance >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8);
                    }
                    mine += 100;
                    if n % 2 == 0 {
                        moved += u64::from(affinity::confine(&[cpus[moved as usize % cpus.len()]]).is_ok());
                    } else {
                        std::thread::yield_now();
                    }
                }
                steps.fetch_add(mine, Relaxed);
                moves.fetch_add(moved, Relaxed);
            };
            Builder::new().spawn_scoped(scope, work).map(drop)
        });
        let children = match made {
            Ok(()) => disturb(target, &ids, time),
            Err(e) => Err(Error::system("verify percpu: making a thread", &e, THREADS)),
        };
        // In any case: the other threads end by this alone.
        stop.store(true, Relaxed);
        children
    });
    TARGET.store(std::ptr::null_mut(), Relaxed);
    let (forks, bad_forks) = children?;
    Ok(StormStats {
        steps: steps.into_inner(),
        signals: SIGNALS.load(Relaxed) - before,
        moves: moves.into_inner(),
        forks,
        bad_forks,
    })
}

/// Signals every thread repeatedly, and forks now and then. Returns the forks, and the children that found an error.
fn disturb(target: &dyn StormTarget, ids: &[AtomicI32], time: Duration) -> Result<(u64, u64)> {
    let process = std::process::id();
    let (begun, mut forks, mut bad) = (Instant::now(), 0, 0);
    while forks == 0 || begun.elapsed() < time {
        for id in ids.iter().map(|id| id.load(Relaxed)).filter(|&id| id != 0) {
            // SAFETY: Safety 2.
            unsafe { libc::syscall(libc::SYS_tgkill, process, id, libc::SIGUSR1) };
        }
        std::thread::sleep(Duration::from_micros(200));
        if begun.elapsed() >= FORK_EVERY * forks as u32 {
            bad += u64::from(!child(target)?);
            forks += 1;
        }
    }
    Ok((forks, bad))
}

/// Whether a forked child finds all correct.
fn child(target: &dyn StormTarget) -> Result<bool> {
    let failed = |e: &std::io::Error| Error::system("fork", e, "allow more processes, or leave verify percpu out");
    // SAFETY: the child calls `in_child` only, which takes no lock, allocates nothing and does not panic.
    match unsafe { fork(CHILD_LIMIT_S) }.map_err(|e| failed(&e))? {
        Fork::Child(me) => me.exit(u8::from(!target.in_child())),
        Fork::Parent(child) => Ok(child.wait().map_err(|e| failed(&e))?.success()),
    }
}

fn handle() -> Result<()> {
    // SAFETY: Safety 1.
    unsafe { signal::handle(libc::SIGUSR1, handler, 0) }
        .map_err(|e| Error::system("sigaction SIGUSR1", &e, "allow it, or leave verify percpu out"))
}
