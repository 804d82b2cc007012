//! `hackbench`: groups of senders that each write to every receiver of their group, all at once.
//!
//! It measures the scheduler and the kernel's channels under far more tasks than CPUs. Kernel code is full of atomics,
//! which made it the macro-benchmark of the LOCK prefix. The protocol is that of rt-tests' program of this name: tasks
//! start, report on one channel that they are ready, and wait for a byte on another. The time runs from that byte until
//! the last task is reaped.
//!
//! # References
//! The program: rt-tests, `src/hackbench`, by Rusty Russell, Yanmin Zhang, Ingo Molnar and David Sommerseth.

mod plan;
mod preflight;
mod processes;
mod protocol;
mod threads;

pub use plan::{Carrier, Outcome, Plan};

use super::{Definition, Mode, Options, Published};
use crate::error::{Error, Result};
use crate::record::Unit;
use crate::runner::{Guards, Sample, Sampler, Setup, metrics};
use crate::sys::channel::ChannelKind;
use crate::sys::usage::CpuTime;

const XEON: &str = "2.0 GHz E5405 Core 2 dual Quad-Core Xeon, 1 CPU in use, Linux 2.6.27-rc2";

pub(super) static DEFINITION: Definition = Definition {
    name: "hackbench",
    question: "How long do groups of senders and receivers take, as processes and as threads?",
    source: "Mathieu Desnoyers, \"x86: alternatives: fix LOCK_PREFIX race with preemptible kernel and CPU hotplug\", August 2008; measured with hackbench",
    unit: Unit::Seconds,
    guards: Guards::WholeMachine,
    published: PUBLISHED,
    setup,
};

/// What the mail on the LOCK prefix published of `hackbench 50`: processes over socket pairs, on one kernel whose LOCK
/// prefixes were replaced and one whose were not. We run on one kernel, so these are context and not our variants.
static PUBLISHED: &[Published] = &published! {
    XEON => {
        _: "hackbench 50, no lock prefix (DS segment prefix), +/- 0.01", 2.99, "s";
        _: "hackbench 50, no lock prefix (0x90 NOP), +/- 0.01", 3.00, "s";
        "processes-socketpair": "hackbench 50, with lock prefix, +/- 0.01", 3.74, "s";
    }
};

/// Prepares the experiment.
///
/// # Errors
/// Exit 2 if a count is out of range; exit 3 if a limit of this machine forbids the run.
fn setup(options: &Options) -> Result<Setup> {
    let plans = plans(options)?;
    let mut notes = vec![
        describe(&plans[0]),
        "user and sys are the CPU time of all tasks (getrusage), from before they are started until they are reaped: \
         starting them is part of it, and not of the figure"
            .to_string(),
    ];
    for plan in &plans {
        notes.extend(preflight::check(plan)?);
    }
    // Pairs of (threads, processes) on each channel; then pipe against socket pair for each carrier.
    let mut compare = vec![(1, 0)];
    if options.pipe {
        compare.extend([(3, 2), (2, 0), (3, 1)]);
    }
    let samplers = plans
        .into_iter()
        .map(|plan| {
            Box::new(Hackbench {
                name: plan.name(),
                plan,
            }) as Box<dyn Sampler>
        })
        .collect();
    Ok(Setup {
        samplers,
        compare,
        control: options.control(0),
        notes,
        ..Setup::default()
    })
}

fn plans(options: &Options) -> Result<Vec<Plan>> {
    let groups = options.groups.unwrap_or(match options.mode {
        Mode::Quick => 1,   // some 60 ms on 2 CPUs of 2023
        Mode::Normal => 10, // rt-tests' default
        Mode::Full => 50,   // the mail's parameter
    });
    let loops = options.loops.unwrap_or(100); // rt-tests' default
    let kinds: &[ChannelKind] = if options.pipe {
        &[ChannelKind::SocketPair, ChannelKind::Pipe]
    } else {
        &[ChannelKind::SocketPair]
    };
    let mut plans = Vec::new();
    for &channel in kinds {
        for carrier in [Carrier::Processes, Carrier::Threads] {
            plans.push(Plan::new(carrier, channel, groups, loops)?);
        }
    }
    Ok(plans)
}

fn describe(plan: &Plan) -> String {
    format!(
        "{} group{} of {} senders and {} receivers ({} tasks), {} messages of {} bytes from each sender to each receiver \
         of its group, {} messages in all; the time runs from the wake-up until the last task is reaped",
        plan.groups(),
        if plan.groups() == 1 { "" } else { "s" },
        Plan::FDS,
        Plan::FDS,
        plan.tasks(),
        plan.loops(),
        protocol::MESSAGE,
        plan.messages()
    )
}

struct Hackbench {
    name: &'static str,
    plan: Plan,
}

impl Sampler for Hackbench {
    fn name(&self) -> &str {
        self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let before = CpuTime::of_all();
        let outcome = run(&self.plan)?;
        let used = CpuTime::of_all().since(before);
        Ok(Sample {
            metrics: metrics([("user", "s", used.user_s), ("sys", "s", used.system_s)]),
            ..Sample::new(outcome.elapsed.as_secs_f64())
        })
    }
}

/// Runs it once.
///
/// # Errors
/// Exit 3 if a task failed, exit 1 if messages were lost.
pub fn run(plan: &Plan) -> Result<Outcome> {
    let outcome = match plan.carrier() {
        Carrier::Processes => processes::run(plan)?,
        Carrier::Threads => threads::run(plan)?,
    };
    if outcome.received != plan.messages() {
        return Err(Error::check(format!(
            "{}: only {} of {} messages were received; the kernel lost some, or a task ended early unnoticed",
            plan.name(),
            outcome.received,
            plan.messages()
        )));
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests;
