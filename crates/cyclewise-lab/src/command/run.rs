//! `cyclewise run`: measures experiments, prints the table, writes the record and the report.

use super::cli::RunArgs;
use super::cpu_choice::CpuChoice;
use super::progress::{Reporter, tell};
use super::session::Session;
use super::{finish, output};
use crate::error::{Error, Result};
use crate::experiment::{self, Definition, Mode, Options};
use crate::export;
use crate::record::Experiment;
use crate::runner::{self, Budget, Guards, Measurement, Runner};
use crate::sys::interrupt;

use std::time::Duration;

/// The counter's rate is measured this long before the first sample; the record has the rate over the whole run.
const FIRST_RATE: Duration = Duration::from_millis(50);

pub(super) fn run(args: &RunArgs) -> Result<()> {
    let chosen = experiment::select(&args.experiments)?;
    reject_unused_options(args, &chosen)?;
    output::check(&args.common, true)?;
    let choice = CpuChoice::new(args.cpu)?;
    let options = options(args, &choice.allowed);
    let reporter = Reporter::new();
    reporter.say(&format!("pinned to {}", choice.why));
    let mut session = Session::begin(args.common.seed, Some(choice.cpu));
    let tsc_hz = runner::tick_rate(FIRST_RATE);

    // An experiment that this machine cannot run is an error only if it was named; otherwise it is reported and skipped.
    let asked = !args.experiments.is_empty();
    let mut failures = Vec::new();
    let mut add_chain = Vec::new();
    let together = chosen.len();
    let mut left = Vec::new();
    interrupt::listen();
    for definition in chosen {
        if interrupt::asked() {
            left.push(definition.name);
            continue;
        }
        let runner = Runner {
            cpu: choice.cpu,
            cpus: choice.allowed.len(),
            tsc_hz,
            seed: args.common.seed,
            progress: &reporter,
        };
        let budget = Budget::of(options.mode, definition.guards).among(options.mode, together);
        match one(definition, &options, &choice, &runner, budget) {
            Ok((experiment, measured)) => {
                add_chain.extend(measured.add_chain.map(|c| c.kept()).unwrap_or_default());
                session.add(experiment);
            }
            Err(_) if interrupt::asked() => left.push(definition.name),
            Err(error) => {
                let error = Error {
                    message: format!("{}: {}", definition.name, error.message),
                    ..error
                };
                if !asked {
                    reporter.say(&format!("cyclewise: {error}"));
                }
                session.warn(error.message.clone());
                failures.push(error);
            }
        }
    }
    reporter.done();
    if !left.is_empty() {
        let what = format!("interrupted; not measured: {}", left.join(", "));
        tell(&format!("cyclewise: {what}"));
        session.warn(what);
    }
    let record = session.end(&add_chain);
    if record.experiments.is_empty() {
        end_if_interrupted(&left);
        return finish(failures);
    }
    let written = output::write(&record, &args.common, &export::table::record(&record), true);
    if written.is_ok() {
        end_if_interrupted(&left);
    }
    if asked {
        failures.extend(written.err());
        return finish(failures);
    }
    written
}

/// Ends by the signal after an interrupt, so that the parent process sees it.
fn end_if_interrupted(left: &[&str]) {
    if !left.is_empty() {
        interrupt::end();
    }
}

/// Rejects an option whose experiment is not among the `chosen`: it would have no effect.
fn reject_unused_options(args: &RunArgs, chosen: &[&Definition]) -> Result<()> {
    for (option, given, name) in [
        ("--pipe", args.pipe, "hackbench"),
        ("--groups", args.groups.is_some(), "hackbench"),
        ("--loops", args.loops.is_some(), "hackbench"),
        ("--threads", !args.threads.is_empty(), "open-read-close"),
    ] {
        if given && chosen.iter().all(|d| d.name != name) {
            return Err(Error::usage(format!(
                "{option} applies only to {name}, which would not run; add {name}, or leave {option} out"
            )));
        }
    }
    Ok(())
}

fn options(args: &RunArgs, cpus: &[u32]) -> Options {
    Options {
        mode: match (args.quick, args.full) {
            (true, _) => Mode::Quick,
            (_, true) => Mode::Full,
            _ => Mode::Normal,
        },
        pipe: args.pipe,
        groups: args.groups,
        loops: args.loops,
        threads: args.threads.clone(),
        cpus: cpus.to_vec(),
    }
}

/// Sets up and measures one experiment, pinned to one CPU or on all of them.
fn one(
    definition: &Definition,
    options: &Options,
    choice: &CpuChoice,
    runner: &Runner,
    budget: Budget,
) -> Result<(Experiment, Measurement)> {
    let work = || {
        let mut setup = (definition.setup)(options)?;
        let measured = runner.measure(definition.heading(), &mut setup, budget)?;
        Ok((
            runner::conclude(definition.heading(), &setup, &measured, runner.seed)?,
            measured,
        ))
    };
    match definition.guards {
        Guards::ThisThread => choice.pinned(work),
        Guards::WholeMachine => work(),
    }
}
