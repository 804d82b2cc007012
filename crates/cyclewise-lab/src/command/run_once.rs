//! The experiments of one run, one after the other in this process: a suite, as of any program that measures.

use super::cli::RunArgs;
use crate::error::{Error, Result};
use crate::experiment::{Definition, Mode, Options};
use crate::runner::Session;
use crate::runner::parts::Part;
use cyclewise_bench::suite::{self, Settings};
use cyclewise_report::files::progress::Reporter;
use std::rc::Rc;

/// Measures this process' part of `chosen`. What cannot be measured, or not whole, is missed.
///
/// # Errors
/// Nothing can be measured at all: no CPU can be chosen.
pub(super) fn measure(args: &RunArgs, chosen: &[&Definition], part: Part) -> Result<Session> {
    let reporter = Rc::new(Reporter::on_stderr());
    let (teller, several) = (Rc::clone(&reporter), chosen.len() > 1);
    let settings = Settings {
        mode: mode(args),
        time: args.time,
        seed: args.common.seed,
        cpu: args.cpu,
        estimator: args.common.test.into(),
        part,
        progress: reporter.clone(),
        // Of one experiment the last line tells.
        observer: Box::new(move |name: &str, error: &Error| {
            if several {
                teller.say(&format!("cyclewise: {name}: {error}"));
            }
        }),
    };
    let session = suite::session(settings, |suite, choice| {
        reporter.say(&format!("pinned to {}", choice.why));
        let options = options(args, &choice.allowed);
        suite.expect(chosen.iter().map(|d| d.guards));
        for definition in chosen {
            suite.experiment(definition.heading(), || (definition.setup)(&options));
        }
    })?;
    reporter.done();
    Ok(session)
}

fn mode(args: &RunArgs) -> Mode {
    match (args.quick, args.full) {
        (true, _) => Mode::Quick,
        (_, true) => Mode::Full,
        _ => Mode::Normal,
    }
}

fn options(args: &RunArgs, cpus: &[u32]) -> Options {
    Options {
        mode: mode(args),
        pipe: args.pipe,
        groups: args.groups,
        loops: args.loops,
        threads: args.threads.clone(),
        named: !args.experiments.is_empty(),
        cpus: cpus.to_vec(),
    }
}
