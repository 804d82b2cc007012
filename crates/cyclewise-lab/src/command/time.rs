//! `cyclewise time`: times whole commands, interleaved in a seeded random order.

use super::anonymous;
use super::cli::TimeArgs;
use super::record_files;
use crate::error::{Error, Result};
use crate::experiment::time::{self, TimeOptions};
use crate::export;
use crate::record::{Missing, Unit};
use crate::runner::parts::Part;
use crate::runner::{self, Budget, CpuChoice, Guards, Heading, Runner, Session};
use cyclewise_report::files::output;
use cyclewise_report::files::progress::Reporter;
use std::time::Duration;

const HEADING: Heading<'static> = Heading {
    name: "time",
    question: "Which command is faster?",
    source: "the command line; method of Mathieu Desnoyers's tables of August 2008 (make -j1, hackbench), with interleaved runs",
    unit: Unit::Seconds,
    guards: Guards::WholeMachine,
};

pub(super) fn time(args: &TimeArgs) -> Result<()> {
    record_files::check(&args.common, false)?;
    let key = anonymous::key(args.common.anonymous.as_ref())?;
    let options = TimeOptions {
        prepare: args.prepare.clone(),
        shell: !args.no_shell,
        ignore_failure: args.ignore_failure,
        warmup: args.warmup,
        runs: Some(args.runs),
    };
    let mut setup = time::setup(&args.commands, &options)?;
    let choice = CpuChoice::any()?;
    let reporter = Reporter::on_stderr();
    let mut session = Session::begin(args.common.seed, args.common.test.into(), None, Part::whole());
    let runner = Runner {
        cpu: choice.cpu,
        cpus: choice.allowed.len(),
        tsc_hz: runner::tick_rate(Duration::from_millis(20)),
        seed: args.common.seed,
        parts: 1,
        turns: None,
        progress: &reporter,
    };
    let measured = runner.measure(HEADING, &mut setup, Budget::runs(args.runs as usize))?;
    reporter.done();
    measured.missing.iter().for_each(|m| session.miss(m.clone()));
    let failed = measured
        .columns
        .iter()
        .any(|c| c.rejected.contains_key(&runner::Rejection::Failed));
    session.add(HEADING, &setup, measured, |e| e)?;
    let mut record = session.end().record;
    let unlike: Vec<_> = record.experiments.iter().flat_map(time::outliers::warnings).collect();
    record.machine.warnings.extend(unlike);
    if let Some(key) = key {
        anonymous::hide(&mut record, &key);
    }
    let look = output::look(args.common.wide);
    let mut table = export::table::record(&record, look);
    for e in &record.experiments {
        table.push_str(&export::table::t_tests(e, look));
        if args.list_runs {
            table.push_str(&export::table::runs(e, look));
        }
    }
    record_files::write(&record, &args.common, &table, false)?;
    end(&record.missing, failed)
}

/// How it ends: 1 if a command `failed`, 3 if one was not measured for another reason.
fn end(missing: &[Missing], failed: bool) -> Result<()> {
    let Some(first) = missing.first() else { return Ok(()) };
    let of = first.variant.as_ref().map_or(String::new(), |v| format!("{v}: "));
    let why = format!("time: not every command was measured to the end: {of}{}", first.why);
    Err(match failed {
        true => Error::check(why),
        false => Error::unsupported(why),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    #[test]
    fn a_failure_is_one_and_too_few_samples_are_not() {
        let missing = [Missing {
            experiment: "time".to_string(),
            variant: Some("make".to_string()),
            why: "only 1 of 9 samples were usable".to_string(),
            possible: true,
        }];
        let error = |failed| end(&missing, failed).unwrap_err();
        assert_eq!(error(false).status, Status::Unsupported);
        assert!(error(false).message.contains("make: only 1 of 9"));
        assert_eq!(error(true).status, Status::CheckFailed);
        assert_eq!(end(&[], false), Ok(()));
    }
}
