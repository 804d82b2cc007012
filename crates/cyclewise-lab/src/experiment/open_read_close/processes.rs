//! Processes, pinned round robin to the CPUs, that begin together and each do their iterations.
//!
//! # Invariants
//! 1. A process writes only its own slot, and the first failure; the parent reads them after it has reaped it.
//!
//! # Safety
//! A child runs `work`, which pins itself, waits at the barrier, opens, reads, closes, reads the clock and stores: no
//! allocation, no lock, no panic, as [`fork`] requires.
#![expect(unsafe_code, reason = "fork")]

use super::target::Target;
use crate::error::{Error, Result};
use crate::runner::barrier::Barrier;
use crate::sys::file::{Step, open_read_close};
use crate::sys::process::{Child, Fork, fork};
use crate::sys::shared_atomics::SharedAtomics;
use crate::sys::{affinity, clock};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Processes that do the same work.
pub(super) struct Processes {
    target: Arc<Target>,
    cpus: Vec<u32>,
    count: u32,
    iterations: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Iterations done.
    pub(super) ops: u64,
    /// From the earliest start to the latest end.
    pub(super) seconds: f64,
}

const SLOT: usize = 16; // words a process: two cache lines, as neighbours are fetched in pairs
const START: usize = 0; // CLOCK_MONOTONIC, nanoseconds
const END: usize = 1; // the same
const OPS: usize = 2; // iterations done

// Steps beside those of the file, as the first failure stores them.
const PIN: u64 = 4;
const MEET: u64 = 5;

impl Processes {
    /// `cpus`: the CPUs that may be used, at least one.
    pub(super) fn new(target: Arc<Target>, cpus: Vec<u32>, count: u32, iterations: u64) -> Self {
        Self {
            target,
            cpus,
            count,
            iterations,
        }
    }

    /// Runs once.
    ///
    /// # Errors
    /// Exit 3 if a process cannot be created or fails, with the step and the cause.
    pub(super) fn run(&self) -> Result<Run> {
        let no_memory = |e: io::Error| self.failed("cannot map shared memory", &e, "give fewer --threads");
        let gates = SharedAtomics::<AtomicU32>::zeroed(64).map_err(no_memory)?; // two words, a cache line apart or more
        let slots = SharedAtomics::<AtomicU64>::zeroed(SLOT * (1 + self.count as usize)).map_err(no_memory)?;
        let barrier = Barrier {
            gate: &gates[0],
            arrived: &gates[32],
            parties: self.count,
        };
        let mut children: Vec<Child> = Vec::with_capacity(self.count as usize);
        for i in 0..self.count as usize {
            let cpu = self.cpus[i % self.cpus.len()];
            let (first_failure, slot) = (&slots[0], &slots[SLOT * (1 + i)..][..SLOT]);
            // SAFETY: the child's arm runs what this file's header promises.
            match unsafe { fork(self.limit_s()) } {
                Ok(Fork::Child(me)) => me.exit(self.work(cpu, &barrier, first_failure, slot)),
                Ok(Fork::Parent(child)) => children.push(child),
                Err(e) => return Err(self.failed("cannot fork", &e, "raise `ulimit -u`, or give fewer --threads")),
            }
        }
        let reaped = self.reap(children);
        // A recorded failure is more informative than the exit status.
        match slots[0].load(Relaxed) {
            0 => reaped?,
            failure => return Err(self.explain(failure)),
        }
        let word = |which: usize| {
            let slots = &slots;
            (1..=self.count as usize).map(move |i| slots[SLOT * i + which].load(Relaxed))
        };
        let (start, end) = (word(START).min().unwrap_or(0), word(END).max().unwrap_or(0));
        Ok(Run {
            ops: word(OPS).sum(),
            seconds: end.saturating_sub(start).max(1) as f64 * 1e-9,
        })
    }

    /// Seconds after which a process is stopped: a minute plus 1 ms an iteration, some 500 times what one takes.
    fn limit_s(&self) -> u32 {
        let shared = self.iterations * u64::from(self.count).div_ceil(self.cpus.len() as u64);
        60 + u32::try_from(shared / 1000).unwrap_or(u32::MAX / 2)
    }

    /// The work of a child (Invariant 1).
    fn work(&self, cpu: u32, barrier: &Barrier<'_>, first_failure: &AtomicU64, slot: &[AtomicU64]) -> u8 {
        let fail = |step: u64, e: io::Error| {
            let errno = e.raw_os_error().unwrap_or(0) as u64;
            // Relaxed, here and below: the parent reads after it has reaped us.
            let _ = first_failure.compare_exchange(0, step << 32 | errno, Relaxed, Relaxed);
            1
        };
        if let Err(e) = affinity::confine(&[cpu]) {
            barrier.break_it();
            return fail(PIN, e);
        }
        if let Err(e) = barrier.wait() {
            return match e.kind() {
                io::ErrorKind::Interrupted => 1, // the process that broke it recorded the cause
                _ => fail(MEET, e),
            };
        }
        let mut buffer = [0; 64];
        slot[START].store(clock::monotonic_ns(), Relaxed);
        for _ in 0..self.iterations {
            if let Err((step, e)) = open_read_close(self.target.path(), &mut buffer) {
                let step = match step {
                    Step::Open => 1,
                    Step::Read => 2,
                    Step::Close => 3,
                };
                return fail(step, e);
            }
        }
        slot[END].store(clock::monotonic_ns(), Relaxed);
        slot[OPS].store(self.iterations, Relaxed);
        0
    }

    /// Waits for all children. If that fails, dropping the rest kills them.
    fn reap(&self, children: Vec<Child>) -> Result<()> {
        let mut bad = None;
        for child in children {
            let status = child.wait().map_err(|e| {
                let hint = "start this program without ignoring SIGCHLD";
                self.failed("cannot wait for a process", &e, hint)
            })?;
            bad = bad.or((!status.success()).then_some(status));
        }
        match bad {
            None => Ok(()),
            Some(status) => Err(Error::unsupported(match status.signal() {
                Some(libc::SIGALRM) => format!(
                    "p{}: stopped because it was not done after {} s; use fewer --threads",
                    self.count,
                    self.limit_s()
                ),
                _ => format!(
                    "p{}: a process ended early ({status}); see `dmesg` for killed processes",
                    self.count
                ),
            })),
        }
    }

    fn explain(&self, failure: u64) -> Error {
        let what = match failure >> 32 {
            1 => "cannot open its file",
            2 => "cannot read its file",
            3 => "cannot close its file",
            PIN => "cannot pin a process to its CPU",
            _ => "a process timed out waiting for the others to start",
        };
        let cause = io::Error::from_raw_os_error((failure & 0xffff_ffff) as i32);
        self.failed(
            what,
            &cause,
            "do not change the temporary directory or the cpuset while it runs",
        )
    }

    fn failed(&self, what: &str, cause: &io::Error, hint: &str) -> Error {
        Error::system(&format!("p{}: {what}", self.count), cause, hint)
    }
}
