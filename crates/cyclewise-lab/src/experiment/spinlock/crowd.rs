//! A crowd: threads that all want one lock, over and over, until they are told to stop.

use super::locks::Lock;
use crate::arch::stamp;
use crate::error::{Error, Result};
use crate::experiment::gate::Gate;
use crate::sys::{affinity, clock};
use std::hint::black_box;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Operations between two looks at the clock.
pub(super) const STRIDE: u64 = 32;

/// Numbers that the section counts up, all in one line beside the lock's.
const NUMBERS: usize = 4;
/// Dependent multiplications outside.
const OUTSIDE: u32 = 8;

/// What is guarded. The two lines around keep the lock's own away.
#[derive(Default)]
#[repr(align(128))]
struct Numbers([AtomicU64; NUMBERS]);

impl Numbers {
    /// The section. Relaxed: the lock orders it, or else the sums are wrong in the end.
    #[inline(always)]
    fn count_up(&self) {
        for number in &self.0 {
            number.store(number.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }
}

/// The work outside.
#[inline(always)]
fn outside(mut x: u64) -> u64 {
    for _ in 0..OUTSIDE {
        x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    }
    x
}

/// How long the section and the work outside take on their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    inside_ns: f64,
    outside_ns: f64,
}

impl Work {
    /// The quickest of some runs.
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
            "in a crowd, the section counts {NUMBERS} numbers up, {:.1} ns alone, and {OUTSIDE} multiplications outside take {:.1} ns; \
             an operation is both and the lock, and its figure the time from one to the next, by whichever thread",
            self.inside_ns, self.outside_ns
        )
    }
}

/// So many threads on these CPUs.
#[derive(Clone)]
pub(super) struct Crowd {
    cpus: Vec<u32>,
    threads: usize,
    pinned: bool,
    span: Duration,
}

/// How a run went.
#[derive(Debug)]
pub(super) struct Run {
    /// From the first start to the last end.
    pub(super) ticks: u64,
    /// By thread.
    pub(super) operations: Vec<u64>,
    /// The longest that a thread took for [`STRIDE`] operations.
    pub(super) longest_ms: f64,
}

impl Run {
    pub(super) fn ticks_per_op(&self) -> f64 {
        self.ticks as f64 / self.operations.iter().sum::<u64>() as f64
    }

    /// Jain's index.
    pub(super) fn fairness(&self) -> f64 {
        let shares = || self.operations.iter().map(|&n| n as f64);
        let squares: f64 = shares().map(|x| x * x).sum();
        shares().sum::<f64>().powi(2) / (self.operations.len() as f64 * squares)
    }
}

/// One thread's part of a run.
struct Part {
    start: u64,
    end: u64,
    operations: u64,
    longest_ns: u64,
}

impl Crowd {
    /// `pinned`: one thread on each CPU, round robin; else wherever the scheduler puts them.
    pub(super) fn new(cpus: Vec<u32>, threads: usize, pinned: bool, span: Duration) -> Self {
        Self {
            cpus,
            threads,
            pinned,
            span,
        }
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    pub(super) fn cpus(&self) -> usize {
        self.cpus.len()
    }

    /// Runs once, and checks that no count was lost.
    ///
    /// # Errors
    /// Exit 3: a thread could not be made or placed. Exit 1: the lock let two threads in.
    pub(super) fn run<L: Lock>(&self) -> Result<Run> {
        let lock = Box::new(L::new(self.threads));
        let numbers = Box::<Numbers>::default();
        let (gate, stop) = (Gate::default(), AtomicBool::new(false));
        let parts: Vec<Part> = std::thread::scope(|scope| {
            let (lock, numbers, gate, stop) = (&*lock, &*numbers, &gate, &stop);
            let spawn = |thread| {
                let work = move || gate.pass(self.place(thread)).then(|| part(lock, numbers, thread, stop));
                Builder::new().spawn_scoped(scope, work)
            };
            let spawned: io::Result<Vec<_>> = (0..self.threads).map(spawn).collect();
            let threads = spawned.unwrap_or_else(|e| {
                gate.fail(e);
                Vec::new()
            });
            if gate.open(self.threads) {
                std::thread::sleep(self.span);
            }
            // Relaxed: a flag and nothing else.
            stop.store(true, Relaxed);
            threads.into_iter().filter_map(|thread| thread.join().ok()?).collect()
        });
        let failed = |e: io::Error| self.failed(L::NAME, &e);
        if let Some(e) = gate.into_failure() {
            return Err(failed(e));
        }
        if parts.len() < self.threads {
            return Err(failed(io::Error::other("a thread panicked")));
        }
        let run = Run {
            ticks: ticks(&parts),
            operations: parts.iter().map(|part| part.operations).collect(),
            longest_ms: parts.iter().map(|part| part.longest_ns).max().unwrap_or(0) as f64 * 1e-6,
        };
        let sum: u64 = run.operations.iter().sum();
        if numbers.0.iter().any(|number| number.load(Relaxed) != sum) {
            return Err(Error::check(format!(
                "spinlock {}: {sum} sections were run, and the numbers they count say otherwise; the lock let two threads in",
                L::NAME
            )));
        }
        Ok(run)
    }

    fn place(&self, thread: usize) -> io::Result<()> {
        match self.pinned {
            true => affinity::confine(&[self.cpus[thread % self.cpus.len()]]),
            false => affinity::confine(&self.cpus),
        }
    }

    fn failed(&self, lock: &str, cause: &io::Error) -> Error {
        Error::system(
            &format!("spinlock {lock}: cannot run {} threads", self.threads),
            cause,
            "raise `ulimit -u`, and do not change the cpuset while it runs",
        )
    }
}

fn ticks(parts: &[Part]) -> u64 {
    let start = parts.iter().map(|part| part.start).min().unwrap_or(0);
    let end = parts.iter().map(|part| part.end).max().unwrap_or(0);
    end.saturating_sub(start).max(1)
}

/// What a thread does. At least one operation, so that nobody's share is nothing.
fn part<L: Lock>(lock: &L, numbers: &Numbers, thread: usize, stop: &AtomicBool) -> Part {
    let mut x = black_box(thread as u64);
    let (mut operations, mut longest_ns) = (0, 0);
    let start = stamp::start();
    let mut before = clock::monotonic_ns();
    loop {
        lock.section(thread, || numbers.count_up());
        x = black_box(outside(x));
        operations += 1;
        // Relaxed: a flag and nothing else; the counts are read after the join. Looked at each time, because some locks
        // take milliseconds to come round.
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
    let end = stamp::stop();
    black_box(x);
    Part {
        start,
        end,
        operations,
        longest_ns,
    }
}
