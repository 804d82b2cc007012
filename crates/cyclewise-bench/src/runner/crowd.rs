//! A crowd: threads that begin together, work for a while, and end together.
//!
//! # Invariants
//! 1. No thread begins before all have arrived at the barrier; if one cannot be started or pinned, none begins.
//! 2. No thread is stopped before all have worked for the whole span: on a busy machine a thread may leave the barrier
//!    late, so the span begins with the last one.

use super::barrier::Barrier;
use crate::arch::stamp;
use crate::error::{Error, Result};
use crate::sys::thread::crew;
use crate::sys::{affinity, clock};
use std::io;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Operations of [`repeat`] between two checks of the stop flag.
pub const STRIDE: u64 = 64;

/// Bytes of a thread's stack: enough for a panic's message.
const STACK: usize = 256 * 1024;

/// Sleep between two checks of how many threads have begun.
const PAUSE: Duration = Duration::from_micros(50);

/// The threads of a run, their CPUs, and the run's length.
#[derive(Clone)]
pub struct Crowd {
    /// CPUs that the threads may use.
    pub cpus: Vec<u32>,
    pub threads: usize,
    /// Pins threads to the CPUs round robin; else the scheduler places them.
    pub pinned: bool,
    /// How long all of them work.
    pub span: Duration,
}

/// The outcome of a run: its threads' parts, in the order in which they ended.
#[derive(Debug)]
pub struct Run<T>(Vec<Part<T>>);

#[derive(Debug)]
struct Part<T> {
    ticks: [u64; 2],
    ns: [u64; 2],
    result: T,
}

impl Crowd {
    /// Runs `work` on every thread until it returns. It gets the thread's number, from 0, and the flag that ends it.
    ///
    /// # Errors
    /// Exit 3 if a thread cannot be started or pinned, or panicked; `name` is the row's.
    pub fn run<T: Send>(&self, name: &str, work: impl Fn(usize, &AtomicBool) -> T + Sync) -> Result<Run<T>> {
        self.run_on_stacks(STACK, name, work)
    }

    /// The same on stacks of this many bytes.
    pub fn run_on_stacks<T: Send>(
        &self,
        stack: usize,
        name: &str,
        work: impl Fn(usize, &AtomicBool) -> T + Sync,
    ) -> Result<Run<T>> {
        self.try_run(stack, work).map_err(|e| {
            Error::system(
                &format!("{name}: cannot run {} threads", self.threads),
                &e,
                "raise `ulimit -u`, and do not change the cpuset while it runs",
            )
        })
    }

    fn try_run<T: Send>(&self, stack: usize, work: impl Fn(usize, &AtomicBool) -> T + Sync) -> io::Result<Run<T>> {
        let (gate, arrived) = (AtomicU32::new(0), AtomicU32::new(0));
        let barrier = Barrier {
            gate: &gate,
            arrived: &arrived,
            parties: self.threads as u32,
        };
        let (begun, stop) = (AtomicU32::new(0), AtomicBool::new(false));
        let parts = Mutex::new(Vec::with_capacity(self.threads));
        let failure = Mutex::new(None);
        let fail = |e: io::Error| {
            lock(&failure).get_or_insert(e);
            barrier.break_it();
        };
        let member = |thread: usize| {
            if let Err(e) = self.place(thread).and_then(|()| barrier.wait()) {
                return fail(e);
            }
            let ns = clock::monotonic_ns();
            // Release: pairs with the Acquire below, so that the span begins after `ns`.
            begun.fetch_add(1, Release);
            let start = stamp::start();
            let result = work(thread, &stop);
            let part = Part {
                ticks: [start, stamp::stop()],
                ns: [ns, clock::monotonic_ns()],
                result,
            };
            lock(&parts).push(part);
        };
        let panicked = crew(stack, |crew| {
            let member = &member;
            for thread in 0..self.threads {
                if let Err(e) = crew.spawn(Box::new(move || member(thread))) {
                    fail(e);
                    break;
                }
            }
            while !barrier.is_broken() && (begun.load(Acquire) as usize) < self.threads {
                std::thread::sleep(PAUSE);
            }
            if !barrier.is_broken() {
                std::thread::sleep(self.span);
            }
            // Relaxed: the flag publishes nothing.
            stop.store(true, Relaxed);
            crew.join_all()
        });
        if let Some(e) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(e);
        }
        if panicked > 0 {
            return Err(io::Error::other("a thread panicked"));
        }
        Ok(Run(parts.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }

    fn place(&self, thread: usize) -> io::Result<()> {
        match self.pinned {
            true => affinity::confine(&[self.cpus[thread % self.cpus.len()]]),
            false => affinity::confine(&self.cpus),
        }
    }
}

impl<T> Run<T> {
    /// Ticks from the first start to the last end.
    pub fn ticks(&self) -> u64 {
        self.span(|part| part.ticks)
    }

    /// Seconds from the first start to the last end.
    pub fn seconds(&self) -> f64 {
        self.span(|part| part.ns) as f64 * 1e-9
    }

    fn span(&self, of: fn(&Part<T>) -> [u64; 2]) -> u64 {
        let start = self.0.iter().map(|part| of(part)[0]).min().unwrap_or(0);
        let end = self.0.iter().map(|part| of(part)[1]).max().unwrap_or(0);
        end.saturating_sub(start).max(1)
    }

    /// Ticks that each thread took.
    pub fn own_ticks(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|part| part.ticks[1] - part.ticks[0])
    }

    /// What `work` returned.
    pub fn results(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|part| &part.result)
    }
}

/// Repeats `operation` until `stop` and returns the count: at least one stride.
#[inline(always)]
pub fn repeat(stop: &AtomicBool, operation: impl Fn()) -> u64 {
    let mut operations = 0;
    loop {
        for _ in 0..STRIDE {
            operation();
        }
        operations += STRIDE;
        // Relaxed: a flag and nothing else.
        if stop.load(Relaxed) {
            return operations;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(any(test, feature = "testing"))]
impl Crowd {
    /// Pinned, for 2 ms, on every CPU that may be used.
    pub fn brief(threads: usize) -> Self {
        Self {
            cpus: affinity::allowed().unwrap(),
            threads,
            pinned: true,
            span: Duration::from_millis(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn every_operation_of_every_thread_is_counted() {
        let done = AtomicU64::new(0);
        let run = Crowd::brief(3)
            .try_run(STACK, |_, stop| {
                repeat(stop, || {
                    done.fetch_add(1, Relaxed);
                })
            })
            .unwrap();
        assert_eq!(run.results().sum::<u64>(), done.into_inner());
        assert_eq!(run.results().count(), 3);
        assert!(run.results().all(|&n| n >= STRIDE) && run.ticks() > 0);
        assert!(run.seconds() >= 0.002, "{}", run.seconds());
    }

    #[test]
    fn every_thread_has_a_number_of_its_own() {
        let run = Crowd::brief(3).try_run(STACK, |thread, _| thread).unwrap();
        let mut numbers: Vec<_> = run.results().copied().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2]);
    }

    #[test]
    fn a_cpu_that_cannot_be_used_sends_all_home() {
        let began = AtomicBool::new(false);
        let mut crowd = Crowd::brief(2);
        crowd.cpus = vec![crowd.cpus[0], 1023];
        let error = crowd.try_run(STACK, |_, _| began.store(true, Relaxed)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
        assert!(!began.into_inner());
    }

    #[test]
    fn a_panic_is_an_error() {
        let quiet = |_: usize, _: &AtomicBool| std::panic::resume_unwind(Box::new(()));
        let run: io::Result<Run<()>> = Crowd::brief(1).try_run(STACK, quiet);
        assert_eq!(run.unwrap_err().to_string(), "a thread panicked");
    }
}
