//! Threads on their own CPUs that all do the same, over and over, from one moment until they are told to stop.
//!
//! # Invariants
//! 1. Nobody begins before all have come to the gate, and where one cannot be started or placed nobody begins.
//! 2. Nobody is told to stop before all have been at it for the whole span: on a busy machine a thread sees the gate
//!    open late, and the span begins with the last of them.

use crate::arch::stamp;
use crate::sys::thread::crew;
use crate::sys::{affinity, clock};
use std::io;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Operations between two looks at the flag that ends it.
pub(super) const STRIDE: u64 = 64;

/// Bytes of a thread's stack: enough for a panic's message.
const STACK: usize = 256 * 1024;

/// How long to sleep between two looks at the gate. Not a spin: there may be more threads than CPUs.
const GATE_PAUSE: Duration = Duration::from_micros(50);

// States of the gate.
const SHUT: u32 = 0; // not all have come
const OPEN: u32 = 1; // go
const BROKEN: u32 = 2; // go home

/// So many threads on these CPUs, round robin, for so long.
#[derive(Clone)]
pub(super) struct Threads {
    pub(super) cpus: Vec<u32>,
    pub(super) count: usize,
    pub(super) span: Duration,
}

/// How a run went.
#[derive(Debug)]
pub(super) struct Run<T> {
    /// From the first start to the last end.
    pub(super) ticks: u64,
    /// The same in seconds.
    pub(super) seconds: f64,
    /// Operations that were done, by all.
    pub(super) operations: u64,
    /// What each thread said in the end.
    pub(super) said: Vec<T>,
}

struct Part<T> {
    ticks: [u64; 2],
    ns: [u64; 2],
    operations: u64,
    said: T,
}

impl Threads {
    /// Runs `operation` on every thread; afterwards each says something.
    ///
    /// # Errors
    /// A thread could not be made or placed, or panicked.
    pub(super) fn run<T: Send>(&self, operation: impl Fn() + Sync, say: impl Fn() -> T + Sync) -> io::Result<Run<T>> {
        let (gate, come) = (AtomicU32::new(SHUT), AtomicU32::new(0));
        let (begun, stop) = (AtomicU32::new(0), AtomicBool::new(false));
        let parts = Mutex::new(Vec::with_capacity(self.count));
        let failure = Mutex::new(None);
        let fail = |e: io::Error| {
            lock(&failure).get_or_insert(e);
            gate.store(BROKEN, Release);
        };
        let work = |cpu: u32| {
            if let Err(e) = affinity::confine(&[cpu]) {
                return fail(e);
            }
            // Release, Acquire: what was made before is there when all go.
            come.fetch_add(1, Release);
            while gate.load(Acquire) == SHUT {
                std::thread::sleep(GATE_PAUSE);
            }
            if gate.load(Acquire) == OPEN {
                let part = part(&operation, &say, &begun, &stop);
                lock(&parts).push(part);
            }
        };
        let panicked = crew(STACK, |crew| {
            let work = &work;
            for i in 0..self.count {
                let cpu = self.cpus[i % self.cpus.len()];
                if let Err(e) = crew.spawn(Box::new(move || work(cpu))) {
                    fail(e);
                    break;
                }
            }
            let all = |counter: &AtomicU32| counter.load(Acquire) as usize == self.count;
            while gate.load(Relaxed) == SHUT && !all(&come) {
                std::thread::sleep(GATE_PAUSE);
            }
            // Fails where it is broken.
            if gate.compare_exchange(SHUT, OPEN, Release, Relaxed).is_ok() {
                while !all(&begun) {
                    std::thread::sleep(GATE_PAUSE);
                }
                std::thread::sleep(self.span);
            }
            // Relaxed: a flag and nothing else.
            stop.store(true, Relaxed);
            crew.join_all()
        });
        if let Some(e) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(e);
        }
        if panicked > 0 {
            return Err(io::Error::other("a thread panicked"));
        }
        let parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let span = |of: fn(&Part<T>) -> [u64; 2]| {
            let start = parts.iter().map(|p| of(p)[0]).min().unwrap_or(0);
            let end = parts.iter().map(|p| of(p)[1]).max().unwrap_or(0);
            end.saturating_sub(start).max(1)
        };
        Ok(Run {
            ticks: span(|p| p.ticks),
            seconds: span(|p| p.ns) as f64 * 1e-9,
            operations: parts.iter().map(|p| p.operations).sum(),
            said: parts.into_iter().map(|p| p.said).collect(),
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a thread does: at least one stride.
fn part<T>(operation: &impl Fn(), say: &impl Fn() -> T, begun: &AtomicU32, stop: &AtomicBool) -> Part<T> {
    let mut operations = 0;
    let ns = clock::monotonic_ns();
    // Release: whoever sees it reads a later time.
    begun.fetch_add(1, Release);
    let start = stamp::start();
    loop {
        for _ in 0..STRIDE {
            operation();
        }
        operations += STRIDE;
        if stop.load(Relaxed) {
            break;
        }
    }
    Part {
        ticks: [start, stamp::stop()],
        ns: [ns, clock::monotonic_ns()],
        operations,
        said: say(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    fn threads(cpus: Vec<u32>, count: usize) -> Threads {
        Threads {
            cpus,
            count,
            span: Duration::from_millis(2),
        }
    }

    #[test]
    fn every_operation_of_every_thread_is_counted() {
        let done = AtomicU64::new(0);
        let run = threads(affinity::allowed().unwrap(), 3)
            .run(
                || {
                    done.fetch_add(1, Relaxed);
                },
                || 7,
            )
            .unwrap();
        assert_eq!(run.operations, done.into_inner());
        assert_eq!(run.said, [7; 3]);
        assert!(run.operations >= 3 * STRIDE && run.ticks > 0);
        assert!(run.seconds >= 0.002, "{}", run.seconds);
    }

    #[test]
    fn a_cpu_that_cannot_be_used_sends_all_home() {
        let good = affinity::allowed().unwrap()[0];
        let began = AtomicBool::new(false);
        let error = threads(vec![good, 1023], 2)
            .run(|| began.store(true, Relaxed), || ())
            .unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
        assert!(!began.into_inner());
    }

    #[test]
    fn a_panic_is_an_error() {
        let quiet = || std::panic::resume_unwind(Box::new(()));
        let run = threads(affinity::allowed().unwrap(), 1).run(quiet, || ());
        assert_eq!(run.unwrap_err().to_string(), "a thread panicked");
    }
}
