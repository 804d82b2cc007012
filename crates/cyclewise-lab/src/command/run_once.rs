//! The experiments of one run, one after the other in this process.

use super::cli::RunArgs;
use super::missing;
use crate::error::{Error, Result};
use crate::experiment::{Definition, Mode, Options};
use crate::record::Missing;
use crate::runner::parts::Part;
use crate::runner::{self, Budget, CpuChoice, Guards, Runner, Session};
use crate::sys::interrupt;
use cyclewise_report::files::progress::Reporter;
use std::time::{Duration, Instant};

/// The counter's rate is measured this long before the first sample; the record has the rate over the whole run.
const FIRST_RATE: Duration = Duration::from_millis(50);

/// Measures this process' part of `chosen`. What cannot be measured, or not whole, is missed.
///
/// # Errors
/// Nothing can be measured at all: no CPU can be chosen.
pub(super) fn measure(args: &RunArgs, chosen: &[&Definition], part: Part) -> Result<Session> {
    let choice = CpuChoice::new(args.cpu.or(part.cpu()))?;
    let (parts, seed) = (part.of, part.seed(args.common.seed));
    let options = options(args, &choice.allowed);
    let reporter = Reporter::on_stderr();
    reporter.say(&format!("pinned to {}", choice.why));
    let mut session = Session::begin(seed, args.common.test.into(), Some(choice.cpu), part);
    let tsc_hz = runner::tick_rate(FIRST_RATE);
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
            seed,
            parts,
            turns: None,
            progress: &reporter,
        };
        let left: Vec<Guards> = chosen[i..].iter().map(|d| d.guards).collect();
        // As if each process had taken as long.
        let spent = begun.elapsed() * parts;
        let budget = Budget::of(options.mode, definition.guards).among(options.mode, &left, spent);
        match one(definition, &options, &choice, &runner, budget, &mut session) {
            Ok(missing) => missing.into_iter().for_each(|m| session.miss(m)),
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
    Ok(session)
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
        most_time: args.time,
        cpus: cpus.to_vec(),
    }
}

/// Sets up and measures one experiment, pinned to one CPU or on all of them. What is missing of it.
fn one(
    definition: &Definition,
    options: &Options,
    choice: &CpuChoice,
    runner: &Runner,
    budget: Budget,
    session: &mut Session,
) -> Result<Vec<Missing>> {
    let mut work = || {
        let mut setup = (definition.setup)(options)?;
        setup.most_time = setup.most_time.into_iter().chain(options.most_time).min();
        // What was set up can be measured here: a failure from now on is one.
        let could = |error: Error| Error {
            possible: true,
            ..error
        };
        let measured = runner
            .measure(definition.heading(), &mut setup, budget)
            .map_err(could)?;
        let (mut missing, interrupted) = (measured.missing.clone(), measured.interrupted);
        let experiment = session
            .add(definition.heading(), &setup, measured, |e| e)
            .map_err(could)?;
        let rounds = experiment.map_or(0, |e| e.rounds);
        missing.extend(experiment.map(missing::of_guest).unwrap_or_default());
        if interrupted {
            missing.push(missing::cut_short(definition.name, rounds));
        }
        Ok(missing)
    };
    match definition.guards {
        Guards::ThisThread => choice.pinned(work),
        Guards::WholeMachine => work(),
    }
}
