//! hackbench with a thread for each sender and receiver.
//!
//! Threads share their descriptors, so a thread's end closes no channel: a thread that fails must free the others.
//!
//! # Invariants
//! 1. A thread that ends without having done its share calls [`Crew::release`], as does the watchdog.
//! 2. After `release`, no read or write begins to block, and those that block already are woken again and again until
//!    their threads have ended.

use super::plan::{Fault, Outcome, Plan};
use super::protocol::{Gate, MESSAGE, receive, send};
use crate::error::{Error, Result};
use crate::sys::channel::{Pair, set_nonblocking};
use crate::sys::thread::{Crew as Tasks, LEAST_STACK, crew as with_tasks};
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Mutex, mpsc};
use std::thread::{Builder, scope, sleep};
use std::time::{Duration, Instant};

/// Bytes of a thread's stack. rt-tests uses the minimum; our frames fit that too, but barely.
const STACK: usize = 2 * LEAST_STACK;

/// A group's channels: receiver n reads `reads[n]`, every sender writes to all of `writes`.
struct Group {
    reads: Vec<File>,
    writes: Vec<File>,
}

struct Crew<'a> {
    plan: &'a Plan,
    gate: Gate,
    groups: Vec<Group>,
    received: AtomicU64,
    running: AtomicU32,
    abort: AtomicBool,
    first_failure: Mutex<Option<String>>,
}

/// Runs `plan` once.
pub(super) fn run(plan: &Plan) -> Result<Outcome> {
    let failed = |e: io::Error| {
        let what = format!("{}: cannot make a channel", plan.name());
        Error::system(&what, &e, "raise `ulimit -n`, or give fewer --groups")
    };
    let mut groups = Vec::with_capacity(plan.groups() as usize);
    for _ in 0..plan.groups() {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for _ in 0..Plan::FDS {
            let Pair { read, write } = Pair::new(plan.channel()).map_err(failed)?;
            reads.push(read);
            writes.push(write);
        }
        groups.push(Group { reads, writes });
    }
    let crew = Crew {
        plan,
        gate: Gate::new(plan.channel()).map_err(failed)?,
        groups,
        received: AtomicU64::new(0),
        running: AtomicU32::new(0),
        abort: AtomicBool::new(false),
        first_failure: Mutex::new(None),
    };
    let elapsed = with_tasks(STACK, |tasks| crew.drive(tasks));
    let failure = crew.first_failure.into_inner().unwrap_or_else(|e| e.into_inner());
    match (failure, elapsed) {
        (None, Ok(elapsed)) => Ok(Outcome {
            elapsed,
            received: crew.received.into_inner(),
        }),
        (Some(why), _) => Err(Error::unsupported(format!(
            "{}: {why}; try fewer --groups",
            plan.name()
        ))),
        (None, Err(e)) => Err(Error::system(
            &format!("{}: cannot start its threads", plan.name()),
            &e,
            "raise `ulimit -u`, or give fewer --groups",
        )),
    }
}

/// Subtracts a task from the running ones, even if it panics.
struct Leaving<'a>(&'a AtomicU32);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Crew<'_> {
    fn drive<'w>(&'w self, tasks: &mut Tasks<'w>) -> io::Result<Duration> {
        let started = self
            .start(tasks)
            .and_then(|()| self.gate.gather(self.plan.tasks(), || self.still_well()));
        if let Err(e) = started {
            self.abort.store(true, SeqCst);
            self.gate.open()?; // they check `abort` when they wake
            return Err(e);
        }
        let (done, watch) = mpsc::channel::<()>();
        scope(|s| {
            Builder::new()
                .spawn_scoped(s, move || self.guard(&watch))
                .inspect_err(|_| {
                    self.abort.store(true, SeqCst);
                    // The error that follows is the one to report.
                    let _ = self.gate.open();
                })?;
            let start = Instant::now();
            self.gate.open()?;
            let panicked = tasks.join_all();
            let elapsed = start.elapsed();
            drop(done); // ends the watchdog
            if panicked > 0 {
                self.fail("a task panicked".to_string());
            }
            Ok(elapsed)
        })
    }

    fn start<'w>(&'w self, tasks: &mut Tasks<'w>) -> io::Result<()> {
        let mut spawn = |work: Box<dyn Fn() + Send + Sync + 'w>| -> io::Result<()> {
            self.running.fetch_add(1, SeqCst);
            tasks.spawn(work).inspect_err(|_| {
                self.running.fetch_sub(1, SeqCst);
            })
        };
        for (g, group) in self.groups.iter().enumerate() {
            for (i, read) in group.reads.iter().enumerate() {
                spawn(Box::new(move || self.receiver(read, g == 0 && i == 0)))?;
            }
            for i in 0..group.writes.len() {
                spawn(Box::new(move || self.sender(&group.writes, g == 0 && i == 0)))?;
            }
        }
        Ok(())
    }

    fn receiver(&self, input: &File, first: bool) {
        let _leaving = Leaving(&self.running);
        let messages = match self.plan.fault {
            Some(Fault::ReceiverStops(after)) if first => after,
            Some(Fault::ReceiverSleeps) if first => {
                let _ = self.pass();
                while !self.abort.load(SeqCst) {
                    sleep(Duration::from_millis(10));
                }
                return self.end(Ok(()));
            }
            _ => self.plan.share(),
        };
        let outcome = self.pass().and_then(|()| receive(input, messages)).and_then(|count| {
            // Relaxed: read after every thread was joined.
            self.received.fetch_add(count, Relaxed);
            match count == self.plan.share() {
                true => Ok(()),
                false => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        });
        self.end(outcome);
    }

    fn sender(&self, outs: &[File], first: bool) {
        let _leaving = Leaving(&self.running);
        let stops = first && self.plan.fault == Some(Fault::SenderStops);
        let loops = if stops { 0 } else { self.plan.loops() };
        let outcome = self.pass().and_then(|()| send(outs, loops));
        self.end(match stops {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => outcome,
        });
    }

    fn pass(&self) -> io::Result<()> {
        self.gate.pass()?;
        match self.abort.load(SeqCst) {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => Ok(()),
        }
    }

    /// Called by a task before it ends (Invariant 1).
    fn end(&self, outcome: io::Result<()>) {
        if let Err(e) = outcome {
            let what = match e.kind() {
                io::ErrorKind::UnexpectedEof => "a task ended before it had done its share".to_string(),
                _ => format!("a task failed ({e})"),
            };
            if self.fail(what) {
                self.release(1); // all but this one
            }
        }
    }

    /// Records a failure; returns whether it is the first, which caused the others.
    fn fail(&self, why: String) -> bool {
        let first = !self.abort.swap(true, SeqCst);
        if first {
            *self.first_failure.lock().unwrap_or_else(|e| e.into_inner()) = Some(why);
        }
        first
    }

    /// Frees tasks that wait on a channel, until at most `left` tasks run (Invariant 2).
    fn release(&self, left: u32) {
        let channels = || self.groups.iter().flat_map(|g| g.reads.iter().zip(&g.writes));
        for (read, write) in channels() {
            // Cannot fail on open descriptors; if it did, the loop below would still drain and feed.
            let _ = set_nonblocking(read);
            let _ = set_nonblocking(write);
        }
        let mut junk = vec![0; 64 * MESSAGE]; // not on these small stacks
        while self.running.load(SeqCst) > left {
            // Readers first, with time to take their messages before the channel is drained for the writers.
            for (_, mut write) in channels() {
                let _ = write.write(&junk[..MESSAGE]);
            }
            sleep(Duration::from_millis(1));
            for (mut read, _) in channels() {
                while read.read(&mut junk).is_ok_and(|n| n > 0) {}
            }
            sleep(Duration::from_millis(1));
        }
    }

    fn still_well(&self) -> io::Result<()> {
        match self.abort.load(SeqCst) {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => Ok(()),
        }
    }

    /// The watchdog: sleeps until the run is done, or too late.
    fn guard(&self, done: &mpsc::Receiver<()>) {
        let limit_s = self.plan.limit_s();
        let late = done.recv_timeout(Duration::from_secs(limit_s.into())) == Err(mpsc::RecvTimeoutError::Timeout);
        if late && self.fail(format!("not done after {limit_s} s, so it was stopped")) {
            self.release(0);
        }
    }
}
