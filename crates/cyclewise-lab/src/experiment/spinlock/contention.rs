//! Contention: threads that repeatedly take one lock.

use super::locks::Lock;
use crate::error::{Error, Result};
use crate::runner::crowd::Crowd;
use crate::sys::clock;
use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

/// Operations between two reads of the clock.
pub(super) const STRIDE: u64 = 32;

/// Numbers that the critical section increments, all in one cache line next to the lock's.
const NUMBERS: usize = 4;
/// Dependent multiplications outside the critical section.
const OUTSIDE: u32 = 8;

/// The guarded data. The alignment keeps the lock out of its cache lines.
#[derive(Default)]
#[repr(align(128))]
struct Numbers([AtomicU64; NUMBERS]);

impl Numbers {
    /// The critical section. Relaxed: the lock orders it; if it did not, the sums would differ.
    #[inline(always)]
    fn count_up(&self) {
        for number in &self.0 {
            number.store(number.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }
}

/// The work outside the critical section.
#[inline(always)]
fn outside(mut x: u64) -> u64 {
    for _ in 0..OUTSIDE {
        x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    }
    x
}

/// How long the critical section and the work outside take alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    inside_ns: f64,
    outside_ns: f64,
}

impl Work {
    /// The fastest of some runs.
    pub(super) fn measured() -> Self {
        const TIMES: u32 = 10_000;
        let quickest = |run: &mut dyn FnMut()| {
            let once = |_| {
                let start = Instant::now();
                run();
                start.elapsed().as_secs_f64() * 1e9 / f64::from(TIMES)
            };
            (0..20).map(once).fold(f64::INFINITY, f64::min)
        };
        let numbers = Box::<Numbers>::default();
        let mut x = black_box(1);
        Self {
            inside_ns: quickest(&mut || (0..TIMES).for_each(|_| black_box(&numbers).count_up())),
            outside_ns: quickest(&mut || {
                x = (0..TIMES).fold(x, |x, _| black_box(outside(x)));
            }),
        }
    }

    pub(super) fn describe(&self) -> String {
        format!(
            "in a crowd, the section increments {NUMBERS} numbers, which takes {:.1} ns alone, and {OUTSIDE} multiplications outside \
             take {:.1} ns; an operation is both plus the lock; the figure is the time from one to the next, by any thread",
            self.inside_ns, self.outside_ns
        )
    }
}

#[derive(Debug)]
pub(super) struct LockRun {
    /// From the first start to the last end.
    pub(super) ticks: u64,
    /// By thread.
    pub(super) operations: Vec<u64>,
    /// The longest that a thread took for [`STRIDE`] operations.
    pub(super) longest_ms: f64,
}

impl LockRun {
    pub(super) fn ticks_per_op(&self) -> f64 {
        self.ticks as f64 / self.operations.iter().sum::<u64>() as f64
    }

    /// Jain's index of the shares.
    pub(super) fn fairness(&self) -> f64 {
        let shares = || self.operations.iter().map(|&n| n as f64);
        let squares: f64 = shares().map(|x| x * x).sum();
        shares().sum::<f64>().powi(2) / (self.operations.len() as f64 * squares)
    }
}

/// A thread's share of a run.
struct Share {
    operations: u64,
    longest_ns: u64,
}

/// Runs `crowd` on one lock, and checks that no count was lost.
///
/// # Errors
/// Exit 3 if a thread cannot be started or pinned, exit 1 if the lock let two threads in.
pub(super) fn contend<L: Lock>(crowd: &Crowd) -> Result<LockRun> {
    let (lock, numbers) = (Box::new(L::new(crowd.threads)), Box::<Numbers>::default());
    let name = L::NAME;
    let run = crowd.run(name, |thread, stop| share(&*lock, &numbers, thread, stop))?;
    let sum: u64 = run.results().map(|share| share.operations).sum();
    if numbers.0.iter().any(|number| number.load(Relaxed) != sum) {
        return Err(Error::check(format!(
            "{name}: {sum} sections were run, but the numbers they increment differ from that; the lock let two threads in"
        )));
    }
    Ok(LockRun {
        ticks: run.ticks(),
        operations: run.results().map(|share| share.operations).collect(),
        longest_ms: run.results().map(|share| share.longest_ns).max().unwrap_or(0) as f64 * 1e-6,
    })
}

/// A thread's work: at least one operation, so that no share is zero.
fn share<L: Lock>(lock: &L, numbers: &Numbers, thread: usize, stop: &AtomicBool) -> Share {
    let mut x = black_box(thread as u64);
    let (mut operations, mut longest_ns) = (0, 0);
    let mut before = clock::monotonic_ns();
    loop {
        lock.section(thread, || numbers.count_up());
        x = black_box(outside(x));
        operations += 1;
        // Relaxed: the flag publishes nothing; the counts are read after the join. Read each time, because with some
        // locks an operation takes milliseconds.
        let stopped = stop.load(Relaxed);
        if operations % STRIDE == 0 || stopped {
            let now = clock::monotonic_ns();
            longest_ns = longest_ns.max(now - before);
            before = now;
        }
        if stopped {
            break;
        }
    }
    black_box(x);
    Share { operations, longest_ns }
}
