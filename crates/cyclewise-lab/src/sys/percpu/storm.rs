//! Threads that add to per-CPU words while they are preempted, moved and interrupted, and what came of the sums.
//!
//! # Safety
//! 1. The handler uses per-CPU words and atomics, which a handler may.
//! 2. A thread is signalled by its kernel id while it is joined by nobody: it lives.
#![expect(unsafe_code, reason = "sigaction, tgkill")]

use super::here;
use crate::error::{Error, Result};
use crate::sys::affinity;
use cyclewise::percpu::{Cid, PerCpu};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

cyclewise::percpu! {
    /// Added to by handlers, in the middle of what they interrupt.
    static BY_HANDLERS: u64;
}

/// How often handlers ran.
static HANDLED: AtomicU64 = AtomicU64::new(0);

/// What a storm did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Additions to each of the words, by threads.
    pub additions: u64,
    /// Additions by signal handlers.
    pub by_handlers: u64,
    /// How often a thread was moved to another CPU.
    pub moves: u64,
    /// Additions by `cpu_id`, by threads or handlers, that the sum lacks (or has too many, as a large number).
    pub lost_by_cpu: u64,
    /// The same by `mm_cid`.
    pub lost_by_cid: u64,
    /// The same of loads and stores without a sequence.
    pub twin_lost: u64,
}

impl Counts {
    /// Whether nothing is lost.
    pub fn is_exact(&self) -> bool {
        self.lost_by_cpu == 0 && self.lost_by_cid == 0
    }

    /// Both together.
    pub fn add(&mut self, other: &Self) {
        self.additions += other.additions;
        self.by_handlers += other.by_handlers;
        self.moves += other.moves;
        self.lost_by_cpu = self.lost_by_cpu.wrapping_add(other.lost_by_cpu);
        self.lost_by_cid = self.lost_by_cid.wrapping_add(other.lost_by_cid);
        self.twin_lost = self.twin_lost.wrapping_add(other.twin_lost);
    }
}

extern "C" fn handler(_: libc::c_int) {
    BY_HANDLERS.add(1);
    HANDLED.fetch_add(1, Relaxed);
}

/// Lets `threads` threads add for `time` on `cpus`.
///
/// # Errors
/// Where the handler cannot be set.
pub fn storm(cpus: &[u32], threads: usize, time: Duration) -> Result<Counts> {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all zeroes is a valid structure.
    let action = unsafe { action.assume_init_mut() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: a handler that lives as long as the program (Invariant 1).
    let rc = unsafe { libc::sigaction(libc::SIGUSR1, action, std::ptr::null_mut()) };
    if rc != 0 {
        let cause = std::io::Error::last_os_error();
        return Err(Error::system(
            "sigaction SIGUSR1",
            &cause,
            "allow it, or leave verify percpu out",
        ));
    }
    let (by_cpu, by_cid, twin) = (PerCpu::<u64>::new(), PerCpu::<u32, Cid>::new(), PerCpu::<u64>::new());
    let (stop, additions, moves) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let ids: Vec<AtomicI32> = (0..threads).map(|_| AtomicI32::new(0)).collect();
    let before = (BY_HANDLERS.sum(), HANDLED.load(Relaxed));
    std::thread::scope(|scope| {
        for (n, id) in ids.iter().enumerate() {
            let (by_cpu, by_cid, twin, stop, additions, moves) = (&by_cpu, &by_cid, &twin, &stop, &additions, &moves);
            scope.spawn(move || {
                // SAFETY: takes nothing.
                id.store(unsafe { libc::gettid() }, Relaxed);
                let (mut mine, mut moved) = (0, 0);
                while !stop.load(Relaxed) {
                    for _ in 0..1000 {
                        by_cpu.add(1);
                        by_cid.add(1);
                        add_unprotected(twin);
                    }
                    mine += 1000;
                    if n % 2 == 0 {
                        moved += u64::from(affinity::confine(&[cpus[moved as usize % cpus.len()]]).is_ok());
                    } else {
                        std::thread::yield_now();
                    }
                }
                additions.fetch_add(mine, Relaxed);
                moves.fetch_add(moved, Relaxed);
            });
        }
        let process = std::process::id();
        let end = Instant::now() + time;
        while Instant::now() < end {
            for id in ids.iter().map(|id| id.load(Relaxed)).filter(|&id| id != 0) {
                // SAFETY: Invariant 2.
                unsafe { libc::syscall(libc::SYS_tgkill, process, id, libc::SIGUSR1) };
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        stop.store(true, Relaxed);
    });
    let additions = additions.load(Relaxed);
    let by_handlers = HANDLED.load(Relaxed) - before.1;
    let handlers_lost = by_handlers.wrapping_sub(BY_HANDLERS.sum() - before.0);
    Ok(Counts {
        additions,
        by_handlers,
        moves: moves.load(Relaxed),
        lost_by_cpu: additions.wrapping_sub(by_cpu.sum()).wrapping_add(handlers_lost),
        lost_by_cid: u64::from((additions as u32).wrapping_sub(by_cid.sum())),
        twin_lost: additions.wrapping_sub(twin.sum()),
    })
}

/// The twin: the CPU is asked for, and then its word is loaded, and then stored. Anything may happen between.
fn add_unprotected(words: &PerCpu<u64>) {
    let word = words.of(here());
    // SAFETY: a word that is valid as long as the variable, and changed by atomics alone.
    let word = unsafe { AtomicU64::from_ptr(word) };
    let found = word.load(Relaxed);
    // As long as a short function would take.
    for _ in 0..8 {
        std::hint::spin_loop();
    }
    word.store(found + 1, Relaxed);
}
