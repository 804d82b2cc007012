//! `cyclewise time`: times whole commands, interleaved in a seeded random order.

use super::cli::TimeArgs;
use super::cpu_choice::CpuChoice;
use super::output;

use super::progress::Reporter;
use super::session::Session;
use crate::error::{Error, Result};
use crate::experiment::time::{self, TimeOptions};
use crate::export;
use crate::record::Unit;
use crate::runner::{self, Budget, Guards, Heading, Runner};
use std::time::Duration;

const HEADING: Heading<'static> = Heading {
    name: "time",
    question: "Which command is faster?",
    source: "the command line; method of Mathieu Desnoyers's tables of August 2008 (make -j1, hackbench), with interleaved runs",
    unit: Unit::Seconds,
    guards: Guards::WholeMachine,
};

pub(super) fn time(args: &TimeArgs) -> Result<()> {
    output::check(&args.common, false)?;
    let options = TimeOptions {
        prepare: args.prepare.clone(),
        shell: !args.no_shell,
        ignore_failure: args.ignore_failure,
        warmup: args.warmup,
        runs: Some(args.runs),
    };
    let mut setup = time::setup(&args.commands, &options)?;
    let choice = CpuChoice::any()?;
    let reporter = Reporter::new();
    let mut session = Session::begin(args.common.seed, args.common.test.into(), None);
    let runner = Runner {
        cpu: choice.cpu,
        cpus: choice.allowed.len(),
        tsc_hz: runner::tick_rate(Duration::from_millis(20)),
        seed: args.common.seed,
        progress: &reporter,
    };
    let measured = runner.measure(HEADING, &mut setup, Budget::runs(args.runs as usize))?;
    reporter.done();
    measured.missing.iter().for_each(|m| session.miss(m.clone()));
    session.add(runner::conclude(HEADING, &setup, &measured, args.common.seed)?);
    let record = session.end(&[]);
    let look = output::look(args.common.wide);
    let mut table = export::table::record(&record, look);
    for e in &record.experiments {
        table.push_str(&export::table::t_tests(e, look));
        if args.list_runs {
            table.push_str(&export::table::runs(e, look));
        }
    }
    output::write(&record, &args.common, &table, false)?;
    match record.missing.first() {
        None => Ok(()),
        Some(failed) => Err(Error::check(format!(
            "time: not every command was measured to the end: {}",
            failed.why
        ))),
    }
}
