//! A job on a machine: threads placed and started, events until the length is reached, and the figures.

use crate::engine::{Cpu, Meter, Model, Timing};
use crate::machine::Machine;
use crate::programs::{self, Plan};
use crate::workload::{Job, Length};
use crate::{Error, Outcome, placement};
use std::rc::Rc;

/// So many events without an operation done are taken for no progress.
const PATIENCE: u64 = 20_000_000;

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

#[cfg(test)]
mod tests;
