//! `cyclewise run`: measures experiments, prints the table, writes the record and the report.

use super::cli::RunArgs;
use super::place::Place;
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

/// The rate of the counter is known this well before the first sample; the record's is taken over the whole run.
const FIRST_RATE: Duration = Duration::from_millis(50);

pub(super) fn run(args: &RunArgs) -> Result<()> {
    let chosen = experiment::select(&args.experiments)?;
    for_somebody(args, &chosen)?;
    output::check(&args.common, true)?;
    let place = Place::choose(args.cpu)?;
    let options = options(args, &place.allowed);
    let reporter = Reporter::new();
    reporter.say(&format!("pinned to {}", place.why));
    let mut session = Session::begin(args.common.seed, Some(place.cpu));
    let tsc_hz = runner::tick_rate(FIRST_RATE);

    // What this machine cannot run is an error only for who asked for it by name; else it is told at once and passed over.
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
            cpu: place.cpu,
            cpus: place.allowed.len(),
            tsc_hz,
            seed: args.common.seed,
            progress: &reporter,
        };
        let budget = Budget::of(options.mode, definition.guards).among(options.mode, together);
        match one(definition, &options, &place, &runner, budget) {
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
        let what = format!("interrupted, so not measured: {}", left.join(", "));
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

/// Whoever started this, and waits for it, is to know that it was interrupted.
fn end_if_interrupted(left: &[&str]) {
    if !left.is_empty() {
        interrupt::end();
    }
}

/// Refuses an option of an experiment that is not among the `chosen`: it would change nothing.
fn for_somebody(args: &RunArgs, chosen: &[&Definition]) -> Result<()> {
    for (option, given, name) in [
        ("--pipe", args.pipe, "hackbench"),
        ("--groups", args.groups.is_some(), "hackbench"),
        ("--loops", args.loops.is_some(), "hackbench"),
        ("--threads", !args.threads.is_empty(), "open-read-close"),
    ] {
        if given && chosen.iter().all(|d| d.name != name) {
            return Err(Error::usage(format!(
                "{option} is for {name}, which is not among those to run; name it too, or leave {option} out"
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

/// Sets up and measures one experiment: pinned throughout, or on every CPU.
fn one(
    definition: &Definition,
    options: &Options,
    place: &Place,
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
        Guards::ThisThread => place.pinned(work),
        Guards::WholeMachine => work(),
    }
}
