//! Runs a job on a machine: starts its threads, processes events until the length is reached, and computes the outcome.

use crate::engine::{Cpu, Meter, Model, Timing};
use crate::machine::Machine;
use crate::programs::{self, Prepared};
use crate::workload::{Job, Length, Start, Workload};
use crate::{Error, Outcome, placement};
use std::rc::Rc;

/// This many events without a finished operation count as no progress.
const PATIENCE: u64 = 20_000_000;

/// After so many events, a run that is not stationary by then ends with its next operation, and after half of them its warm-up does: some seconds.
const MOST_EVENTS: u64 = 20_000_000;

/// Threads begin within this many steps, each; and all within so many, so that the first do not make millions of operations before the
/// last begins.
const START_STEPS: u64 = 100;
const MOST_START_STEPS: u64 = 10_000;

/// The longest simulated time: 53 days, a quarter of the range of 64-bit picoseconds, so that no step overflows.
const LONGEST: u64 = u64::MAX / 4;

/// Simulates a job.
pub(crate) fn run(machine: &Machine, job: &Job) -> Result<Outcome, Error> {
    let mut run = Run::new(machine, job)?;
    run.measure()?;
    Ok(run.outcome())
}

/// Simulates a job, then checks the lines' values against the finished operations.
pub(crate) fn run_checked(machine: &Machine, job: &Job) -> Result<Outcome, Error> {
    let mut run = Run::new(machine, job)?;
    run.measure()?;
    let outcome = run.outcome();
    run.finish()?;
    run.check()?;
    Ok(outcome)
}

/// A running job.
pub(crate) struct Run {
    model: Model,
    meter: Rc<Meter>,
    prepared: Prepared,
    workers: u32,
    events: u64,
    patience: u64,
}

impl Run {
    pub(crate) fn new(machine: &Machine, job: &Job) -> Result<Self, Error> {
        check(machine)?;
        let cpus = placement::cpus(machine, job)?;
        if let Length::Operations { measured: 0, .. } | Length::Steady { most_per_thread: 0 } = job.length {
            return Err(Error::NoLength);
        }
        let prepared = programs::prepare(job);
        let timing = Rc::new(Timing::new(machine));
        let meter = Rc::new(Meter::new(job.length, job.threads));
        let lines = prepared.memory.values();
        let mut model = Model::new(machine, Rc::clone(&timing), Rc::clone(&meter), job.seed, lines);
        // A worker's line that all access: there is none where each has its own.
        if job.start == Start::Crowd && job.workload != Workload::PercpuCounter {
            model.gather(job.threads);
        }
        let window = match job.start {
            Start::Scattered => (START_STEPS * u64::from(job.threads)).min(MOST_START_STEPS),
            Start::Crowd => START_STEPS,
        };
        for (thread, cpu_number) in (0..).zip(&cpus) {
            let cpu = Cpu::new(thread, job.seed, Rc::clone(&meter), Rc::clone(&timing));
            let mailbox = cpu.mailbox();
            let is_worker = thread < job.threads;
            let start = if is_worker {
                &prepared.start
            } else {
                &prepared.start_reader
            };
            let core = cpu_number / machine.topology.threads_per_core;
            model.start(core, mailbox, start(cpu), is_worker, window);
        }
        Ok(Self {
            model,
            meter,
            prepared,
            workers: job.threads,
            events: 0,
            patience: PATIENCE,
        })
    }

    /// Runs to the end of the job's length.
    pub(crate) fn measure(&mut self) -> Result<(), Error> {
        let meter = Rc::clone(&self.meter);
        self.run_while(|_| meter.again())
    }

    /// Finishes every operation that has begun. Readers never finish.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.run_while(|model| model.live() > 0)
    }

    fn run_while(&mut self, goes_on: impl Fn(&Model) -> bool) -> Result<(), Error> {
        let (mut ops, mut events) = (0, 0);
        while goes_on(&self.model) {
            if !self.model.step() || events >= self.patience && self.meter.all_ops() == ops {
                return Err(Error::NoProgress { events });
            }
            if self.model.now() > LONGEST {
                return Err(Error::TooLong);
            }
            if self.events == MOST_EVENTS / 2 {
                self.meter.end_warm_up();
            }
            if self.events == MOST_EVENTS {
                self.meter.hurry();
            }
            if events >= self.patience {
                (ops, events) = (self.meter.all_ops(), 0);
            }
            self.events += 1;
            events += 1;
        }
        Ok(())
    }

    /// Checks the lines' values; no operation may be in progress.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let values = self.model.values();
        for expected in (self.prepared.expected)(self.meter.all_ops()) {
            let found = values[expected.line.0 as usize] & expected.mask;
            if found != expected.value {
                return Err(Error::NotConserved {
                    line: expected.line.0,
                    found,
                    expected: expected.value,
                });
            }
        }
        Ok(())
    }

    /// Breaks a law, for tests.
    #[cfg(test)]
    pub(crate) fn broken(machine: &Machine, job: &Job, law: crate::engine::Law) -> Result<Outcome, Error> {
        let mut run = Self::new(machine, job)?;
        run.model.broken = Some(law);
        run.measure()?;
        Ok(run.outcome())
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.meter.outcome(self.workers, self.events)
    }
}

/// Rejects values that would stop or overflow time. Parsing a machine file checks it more closely.
fn check(machine: &Machine) -> Result<(), Error> {
    let must = |field, holds, must| {
        if holds {
            Ok(())
        } else {
            Err(Error::InvalidMachine { field, must })
        }
    };
    must("ghz", (0.01..=100.0).contains(&machine.ghz), "from 0.01 to 100")?;
    must(
        "topology",
        machine.topology.cpus() <= 1 << 20,
        "of 1048576 CPUs at most",
    )?;
    let latency = machine.latency;
    let given = [
        latency.sibling_ns,
        latency.cluster_ns,
        latency.socket_ns,
        latency.remote_ns,
    ];
    let mut given = given.into_iter().flatten().chain([latency.hit_ns]);
    let are_times = given.all(|ns| (0.0..=1e6).contains(&ns));
    must("latency", are_times, "from 0 to 1000000 ns in each class")?;
    let share = |value: f64| (0.0..=1.0).contains(&value);
    must("latency.spread", share(latency.spread), "from 0 to 1")?;
    must("line.probe_share", share(machine.line.probe_share), "from 0 to 1")?;
    must("cost.jitter", share(machine.cost.jitter), "from 0 to 1")
}

#[cfg(test)]
mod tests;
