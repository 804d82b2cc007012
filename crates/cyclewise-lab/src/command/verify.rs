//! `cyclewise verify`: promises checked on this machine; exit 1 where one is broken.

use super::cli::{VerifyArgs, What};
use super::output;
use super::place::Place;
use super::progress::Reporter;
use crate::error::{Error, Result};
use crate::export;
use crate::runner::{self, Progress, Runner};
use crate::verify::{Verification, clock, lab, patch, percpu, refs};
use std::path::Path;
use std::time::Duration;

pub(super) fn verify(args: &VerifyArgs) -> Result<()> {
    output::check_named(&[("--json", &args.json)], &[])?;
    let reporter = Reporter::new();
    let time = Duration::from_secs(args.seconds.into());
    let verification = match args.what {
        What::Lab => verify_lab(args.cpu, &reporter, time)?,
        What::Refs if args.cpu.is_some() => {
            return Err(Error::usage(
                "--cpu pins one thread, and verify refs lets threads race on every CPU; leave it out",
            ));
        }
        What::Refs => refs::verify(&reporter, time)?,
        What::Clock if args.cpu.is_some() => {
            return Err(Error::usage(
                "--cpu pins one thread, and verify clock holds every CPU's times against each other's; leave it out",
            ));
        }
        What::Patch if args.cpu.is_some() => {
            return Err(Error::usage(
                "--cpu pins one thread, and verify patch confines and frees its threads itself; leave it out",
            ));
        }
        What::Patch => patch::verify(&reporter, time)?,
        What::Percpu if args.cpu.is_some() => {
            return Err(Error::usage(
                "--cpu pins one thread, and verify percpu moves its threads from CPU to CPU; leave it out",
            ));
        }
        // Its threads pin themselves.
        What::Clock => clock::verify(&Place::anywhere()?.allowed, time, |share, line| {
            reporter.step(share, line)
        })?,
        What::Percpu => percpu::verify(&Place::anywhere()?.allowed, &reporter, time)?,
    };
    reporter.done();
    if !output::takes_stdout(args.json.as_ref()) {
        output::put(Path::new("-"), &export::table::verification(&verification))?;
    }
    if let Some(path) = &args.json {
        output::put(path, &export::json::pretty(&verification)?)?;
    }
    broken(args.what, &verification)
}

/// Alone on one CPU.
fn verify_lab(cpu: Option<u32>, reporter: &Reporter, time: Duration) -> Result<Verification> {
    let place = Place::choose(cpu)?;
    reporter.say(&format!("pinned to {}", place.why));
    place.pinned(|| {
        let tsc_hz = runner::tick_rate(Duration::from_millis(50));
        let runner = Runner {
            cpu: place.cpu,
            cpus: place.allowed.len(),
            tsc_hz,
            seed: 1,
            progress: reporter,
        };
        lab::verify(&runner, time)
    })
}

fn broken(what: What, verification: &Verification) -> Result<()> {
    let names: Vec<&str> = verification
        .checks
        .iter()
        .filter(|c| !c.holds)
        .map(|c| c.name)
        .collect();
    if verification.holds() {
        return Ok(());
    }
    Err(Error::check(format!(
        "verify {}: broken: {}; {}",
        verification.what,
        names.join(", "),
        match what {
            What::Lab => "run it again on an idle machine, or with more --seconds",
            What::Clock => {
                "a load excuses a late start or a wide error, so run those again on an idle machine; a step back it does not, so \
                 report that with the CPU's model and the clock source"
            }
            What::Refs | What::Patch | What::Percpu =>
                "no load excuses that: report it with the CPU's model and the kernel's version",
        }
    )))
}
