//! A job on a machine: threads placed and started, events until the length is reached, and the figures.

use crate::engine::{Cpu, Meter, Model, Timing};
use crate::machine::Machine;
use crate::programs::{self, Plan};
use crate::workload::{Job, Length};
use crate::{Error, Outcome, placement};
use std::rc::Rc;

/// So many events without an operation done are taken for no progress.
const PATIENCE: u64 = 20_000_000;

/// No run goes on beyond this: 53 days, a quarter of what 64 bits of picoseconds hold, so that no step overruns them.
const LONGEST: u64 = u64::MAX / 4;

/// Plays it out.
pub(crate) fn run(machine: &Machine, job: &Job) -> Result<Outcome, Error> {
    let mut run = Run::new(machine, job)?;
    run.measure()?;
    Ok(run.outcome())
}

/// Plays it out, and then holds what is in the lines against the operations that were done.
pub(crate) fn run_checked(machine: &Machine, job: &Job) -> Result<Outcome, Error> {
    let mut run = Run::new(machine, job)?;
    run.measure()?;
    let outcome = run.outcome();
    run.finish()?;
    run.check()?;
    Ok(outcome)
}

/// A job under way.
pub(crate) struct Run {
    model: Model,
    meter: Rc<Meter>,
    plan: Plan,
    workers: u32,
    events: u64,
    patience: u64,
}

impl Run {
    pub(crate) fn new(machine: &Machine, job: &Job) -> Result<Self, Error> {
        check(machine)?;
        let cpus = placement::cpus(machine.topology, job)?;
        if let Length::Operations { measured: 0, .. } | Length::Nanoseconds { measured: 0, .. } = job.length {
            return Err(Error::NoLength);
        }
        let plan = programs::plan(job);
        let timing = Rc::new(Timing::new(machine));
        let meter = Rc::new(Meter::new(job.length, job.threads));
        let lines = plan.memory.values();
        let mut model = Model::new(machine, Rc::clone(&timing), Rc::clone(&meter), job.seed, lines);
        for (thread, place) in (0..).zip(&cpus) {
            let cpu = Cpu::new(thread, job.seed, Rc::clone(&meter), Rc::clone(&timing));
            let mailbox = cpu.mailbox();
            let works = thread < job.threads;
            let start = if works { &plan.start } else { &plan.read };
            model.start(place / machine.topology.threads_per_core, mailbox, start(cpu), works);
        }
        Ok(Self {
            model,
            meter,
            plan,
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

    /// Lets every operation that has begun come to its end. Readers never do.
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
            if events >= self.patience {
                (ops, events) = (self.meter.all_ops(), 0);
            }
            self.events += 1;
            events += 1;
        }
        Ok(())
    }

    /// Whether the lines hold what all operations come to, none of which is under way.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let values = self.model.values();
        for holds in (self.plan.after)(self.meter.all_ops()) {
            let found = values[holds.line.0 as usize] & holds.mask;
            if found != holds.value {
                return Err(Error::NotConserved {
                    line: holds.line.0,
                    found,
                    expected: holds.value,
                });
            }
        }
        Ok(())
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.meter.outcome(self.workers, self.events)
    }
}

/// Refuses figures that would stop time or overrun it. Machine files are looked at more closely when they are read.
fn check(machine: &Machine) -> Result<(), Error> {
    let must = |field, holds, must| {
        if holds {
            Ok(())
        } else {
            Err(Error::NoMachine { field, must })
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
    must("line.probe_share", share(machine.line.probe_share), "from 0 to 1")?;
    must("cost.jitter", share(machine.cost.jitter), "from 0 to 1")
}

#[cfg(test)]
mod tests;
