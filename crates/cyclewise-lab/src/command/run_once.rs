//! The experiments of one run, one after the other in this process.

use super::cli::RunArgs;
use super::missing;
use crate::error::{Error, Result};
use crate::experiment::{Definition, Mode, Options};
use crate::record::{Experiment, Missing, Record};
use crate::runner::CpuChoice;
use crate::runner::Session;
use crate::runner::{self, Budget, Guards, Measurement, Runner};
use crate::sys::interrupt;
use cyclewise_report::files::progress::Reporter;
use std::time::{Duration, Instant};

/// The counter's rate is measured this long before the first sample; the record has the rate over the whole run.
const FIRST_RATE: Duration = Duration::from_millis(50);

/// Measures `chosen`. What cannot be measured, or not whole, is among the record's missing.
///
/// # Errors
/// Nothing can be measured at all: no CPU can be chosen.
pub(super) fn measure(args: &RunArgs, chosen: &[&Definition]) -> Result<Record> {
    let choice = CpuChoice::new(args.cpu)?;
    let options = options(args, &choice.allowed);
    let reporter = Reporter::on_stderr();
    reporter.say(&format!("pinned to {}", choice.why));
    let mut session = Session::begin(args.common.seed, args.common.test.into(), Some(choice.cpu));
    let tsc_hz = runner::tick_rate(FIRST_RATE);
    let mut add_chain = Vec::new();
    let begun = Instant::now();
    for (i, definition) in chosen.iter().enumerate() {
        if interrupt::asked() {
            session.miss(missing::not_begun(definition.name));
            continue;
        }
        let runner = Runner {
            cpu: choice.cpu,
            cpus: choice.allowed.len(),
            tsc_hz,
            seed: args.common.seed,
            progress: &reporter,
        };
        let left: Vec<Guards> = chosen[i..].iter().map(|d| d.guards).collect();
        let budget = Budget::of(options.mode, definition.guards).among(options.mode, &left, begun.elapsed());
        match one(definition, &options, &choice, &runner, budget) {
            Ok(Measured {
                experiment,
                measurement,
                missing,
            }) => {
                add_chain.extend(measurement.add_chain.map(|c| c.kept()).unwrap_or_default());
                missing.into_iter().for_each(|m| session.miss(m));
                session.add(experiment);
            }
            Err(error) => {
                if chosen.len() > 1 {
                    reporter.say(&format!("cyclewise: {}: {error}", definition.name));
                }
                session.miss(match interrupt::asked() {
                    true => missing::cut_short(definition.name, 0),
                    false => missing::experiment(definition.name, &error),
                });
            }
        }
    }
    reporter.done();
    Ok(session.end(&add_chain))
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
        named: !args.experiments.is_empty(),
        cpus: cpus.to_vec(),
    }
}

/// An experiment of the record, and what is missing of it.
struct Measured {
    experiment: Experiment,
    measurement: Measurement,
    missing: Vec<Missing>,
}

/// Sets up and measures one experiment, pinned to one CPU or on all of them.
fn one(
    definition: &Definition,
    options: &Options,
    choice: &CpuChoice,
    runner: &Runner,
    budget: Budget,
) -> Result<Measured> {
    let work = || {
        let mut setup = (definition.setup)(options)?;
        // What was set up can be measured here: a failure from now on is one.
        let could = |error: Error| Error {
            possible: true,
            ..error
        };
        let measurement = runner
            .measure(definition.heading(), &mut setup, budget)
            .map_err(could)?;
        let experiment = runner::conclude(definition.heading(), &setup, &measurement, runner.seed).map_err(could)?;
        let mut missing = measurement.missing.clone();
        missing.extend(missing::of_guest(&experiment));
        if measurement.interrupted {
            missing.push(missing::cut_short(definition.name, experiment.rounds));
        }
        Ok(Measured {
            experiment,
            measurement,
            missing,
        })
    };
    match definition.guards {
        Guards::ThisThread => choice.pinned(work),
        Guards::WholeMachine => work(),
    }
}
