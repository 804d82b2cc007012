//! `cyclewise verify`: checks the project's guarantees on this machine.

use super::cli::{VerifyArgs, What};
use crate::runner::CpuChoice;
use cyclewise_report::files::output;

use crate::error::{Error, Result};
use crate::record::Tool;
use crate::record::doctor::MachineHead;
use crate::runner::{self, Progress, Runner};
use crate::sys::interrupt;
use crate::verify::{Verification, clock, lab, patch, percpu, refs};
use crate::{export, machine};
use cyclewise_report::files::progress::Reporter;

use serde::Serialize;
use std::time::{Duration, Instant};

pub(super) fn verify(args: &VerifyArgs) -> Result<()> {
    output::check_named(&[("--json", &args.json)], &[])?;
    interrupt::listen();
    let (reporter, begun) = (Reporter::on_stderr(), Instant::now());
    let time = args.seconds;
    check(args)?;
    let mut verification = match args.what {
        What::Lab => verify_lab(args.cpu, &reporter, time)?,
        What::Refs => refs::verify(&reporter, time)?,
        What::Patch => patch::verify(&reporter, time)?,
        // The threads of these pin themselves.
        What::Clock => clock::verify(&CpuChoice::any()?.allowed, time, |share, line| {
            reporter.step(share, line)
        })?,
        What::Percpu => percpu::verify(&CpuChoice::any()?.allowed, &reporter, time)?,
    };
    reporter.done();
    if interrupt::asked() {
        verification.notes.push(format!(
            "ended early by {}, after {:.0} of {} s: the checks have fewer tries, or none",
            interrupt::name(),
            begun.elapsed().as_secs_f64(),
            time.as_secs_f64()
        ));
    }
    output::put_all(
        || export::table::verification(&verification, output::look(false)),
        &[(&args.json, &|| export::json::pretty(&OfMachine::new(&verification)))],
    )?;
    if interrupt::asked() {
        interrupt::end();
    }
    outcome(args.what, &verification)
}

/// Rejects options that do not fit what is verified.
pub(super) fn check(args: &VerifyArgs) -> Result<()> {
    args.cpu.map_or(Ok(()), |_| reject_cpu(args.what))
}

#[derive(Serialize)]
struct OfMachine<'a> {
    #[serde(flatten)]
    found: &'a Verification,
    created: String,
    tool: Tool,
    machine: MachineHead,
}

impl<'a> OfMachine<'a> {
    fn new(found: &'a Verification) -> Self {
        Self {
            found,
            created: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
            tool: Tool::this(),
            machine: machine::doctor::this_machine(),
        }
    }
}

/// Only `verify lab` runs on one CPU.
fn reject_cpu(what: What) -> Result<()> {
    let does = match what {
        What::Lab => return Ok(()),
        What::Refs => "refs runs threads on every CPU",
        What::Clock => "clock compares the times of all CPUs",
        What::Patch => "patch sets its threads' affinity itself",
        What::Percpu => "percpu moves its threads between CPUs",
    };
    Err(Error::usage(format!(
        "--cpu pins one thread, but verify {does}; leave it out"
    )))
}

/// Runs pinned to one CPU.
fn verify_lab(cpu: Option<u32>, reporter: &Reporter, time: Duration) -> Result<Verification> {
    let choice = CpuChoice::new(cpu)?;
    reporter.say(&format!("pinned to {}", choice.why));
    choice.pinned(|| {
        let tsc_hz = runner::tick_rate(Duration::from_millis(50));
        let runner = Runner {
            cpu: choice.cpu,
            cpus: choice.allowed.len(),
            tsc_hz,
            seed: 1,
            parts: 1,
            turns: None,
            progress: reporter,
        };
        lab::verify(&runner, time)
    })
}

/// Exit status 1 where a promise is broken, 3 where one is not shown.
fn outcome(what: What, verification: &Verification) -> Result<()> {
    let (names, not_shown) = (verification.names(Some(false)), verification.names(None));
    match (names.is_empty(), not_shown.is_empty()) {
        (true, true) => return Ok(()),
        (true, false) => {
            return Err(Error {
                possible: true,
                ..Error::unsupported(format!(
                    "verify {}: not shown, after too few tries: {}; run it again with more --seconds, or on an idle machine",
                    verification.what,
                    not_shown.join(", ")
                ))
            });
        }
        (false, _) => {}
    }
    Err(Error::check(format!(
        "verify {}: broken: {}; {}",
        verification.what,
        names.join(", "),
        match what {
            What::Lab => "run it again on an idle machine, or with more --seconds",
            What::Clock => {
                "load can explain a late start or a wide error: run those again on an idle machine; it cannot explain a step back: \
                 report that with the CPU model and the clocksource"
            }
            What::Refs | What::Patch | What::Percpu =>
                "load cannot explain this: report it with the CPU model and the kernel version",
        }
    )))
}
