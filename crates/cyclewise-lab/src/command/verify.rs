//! `cyclewise verify`: promises checked on this machine; exit 1 where one is broken.

use super::cli::{VerifyArgs, What};
use super::output;
use super::place::Place;
use super::progress::Reporter;
use crate::error::{Error, Result};
use crate::export;
use crate::runner::{self, Runner};
use crate::verify::{Verification, lab};
use std::path::Path;
use std::time::Duration;

pub(super) fn verify(args: &VerifyArgs) -> Result<()> {
    if let Some(path) = args.json.as_deref().filter(|p| *p != Path::new("-")) {
        output::writable("--json", path)?;
    }
    let place = Place::choose(args.cpu)?;
    let reporter = Reporter::new();
    reporter.say(&format!("pinned to {}", place.why));
    let verification = place.pinned(|| {
        let tsc_hz = runner::tick_rate(Duration::from_millis(50));
        let runner = Runner {
            cpu: place.cpu,
            cpus: place.allowed.len(),
            tsc_hz,
            seed: 1,
            progress: &reporter,
        };
        match args.what {
            What::Lab => lab::verify(&runner, Duration::from_secs(args.seconds.into())),
        }
    })?;
    reporter.done();
    if !output::takes_stdout(args.json.as_ref()) {
        output::put(Path::new("-"), &export::table::verification(&verification))?;
    }
    if let Some(path) = &args.json {
        output::put(path, &export::json::pretty(&verification)?)?;
    }
    broken(&verification)
}

fn broken(verification: &Verification) -> Result<()> {
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
        "verify {}: broken: {}; run it again on an idle machine, or with more --seconds",
        verification.what,
        names.join(", ")
    )))
}
