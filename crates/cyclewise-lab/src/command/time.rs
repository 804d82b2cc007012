//! `cyclewise time`: times whole commands, interleaved in a seeded random order.

use super::record_files::{self, Document};
use super::time_args::TimeArgs;
use super::{anonymous, missing};
use crate::error::{Error, Result};
use crate::experiment::time::{self, Prepared};
use crate::export::{self, hyperfine};
use crate::machine::Key;
use crate::record::{Experiment, Missing, Record, Unit};
use crate::runner::parts::Part;
use crate::runner::{self, Budget, CpuChoice, Guards, Heading, Measurement, Progress, Runner, Session, Setup};
use crate::sys::interrupt;
use cyclewise_report::export::table::Look;
use cyclewise_report::files::output::{self, tell};
use cyclewise_report::files::progress::Reporter;
use std::cell::Cell;
use std::time::{Duration, Instant};

const HEADING: Heading<'static> = Heading {
    name: "time",
    question: "Which command is faster?",
    source: "the command line; method of Mathieu Desnoyers's tables of August 2008 (make -j1, hackbench), with interleaved runs",
    unit: Unit::Seconds,
    guards: Guards::WholeMachine,
};

/// The time for each command, unless its number of runs is given.
const TIME_FOR_EACH: Duration = Duration::from_secs(3);
/// The most rounds, where the user gives no limit.
const MOST_ROUNDS: usize = 100_000;

pub(super) fn time(args: &TimeArgs) -> Result<()> {
    let markdown = |record: &Record| hyperfine::markdown(record, args.time_unit);
    let mut documents: Vec<Document<'_>> = record_files::documents(&args.common).into();
    documents.extend([
        (
            "--export-json",
            &args.export_json,
            &hyperfine::json as record_files::Exporter<'_>,
        ),
        ("--export-csv", &args.export_csv, &hyperfine::csv),
        ("--export-markdown", &args.export_markdown, &markdown),
    ]);
    record_files::check(&documents, &args.common, false)?;
    let key = anonymous::key(args.common.anonymous.as_ref())?;
    let commands = args.named()?;
    let (budget, least_time) = budget(args, commands.len())?;
    let mut prepared = time::setup(&commands, &args.options(commands.len())?)?;
    prepared.setup.most_time = args.max_time;
    prepared.setup.least_time = least_time;
    numeric_name(args)
        .iter()
        .chain(&prepared.warnings)
        .for_each(|w| tell(&format!("cyclewise: warning: {w}")));
    interrupt::listen();
    let measured = prepared
        .begin()
        .and_then(|()| measure(args, &mut prepared, budget, &documents, key.as_ref()));
    let cleaned = prepared.end();
    let (record, failed, interrupted) = match measured {
        Err(_) if interrupt::asked() => {
            tell(&format!(
                "cyclewise: time: {} came before two rounds were done: there is no result",
                interrupt::name()
            ));
            interrupt::end();
        }
        measured => measured?,
    };
    let look = Look {
        unit: args.time_unit.map(Into::into),
        ..output::look(args.common.wide)
    };
    let mut table = export::table::record(&record, look);
    for e in &record.experiments {
        table.push_str(&export::table::t_tests(e, look));
        if args.list_runs {
            table.push_str(&export::table::runs(e, look));
        }
    }
    record_files::write(&record, &documents, &table, false)?;
    if interrupted {
        interrupt::end();
    }
    end(&record.missing, failed).and(cleaned)
}

/// The rounds, and the time that they shall take at least.
fn budget(args: &TimeArgs, commands: usize) -> Result<(Budget, Duration)> {
    if let Some(runs) = args.runs {
        return Ok((Budget::runs(runs as usize), Duration::ZERO));
    }
    let (least, most) = args.range()?;
    let budget = Budget {
        most: most.map_or(MOST_ROUNDS, |most| most as usize),
        ..Budget::runs(least as usize)
    };
    Ok((budget, TIME_FOR_EACH * commands as u32))
}

/// What someone meant who gave a number of runs by -n, as it was before that letter had hyperfine's meaning.
fn numeric_name(args: &TimeArgs) -> Option<String> {
    let number = args.names.iter().find(|name| name.parse::<u32>().is_ok())?;
    Some(format!(
        "-n {number} names a command {number:?}; the number of runs is -r {number}"
    ))
}

/// Measures; the record, whether a command failed, and whether a signal ended it.
fn measure(
    args: &TimeArgs,
    prepared: &mut Prepared,
    budget: Budget,
    documents: &[Document<'_>],
    key: Option<&Key>,
) -> Result<(Record, bool, bool)> {
    let choice = CpuChoice::any()?;
    let reporter = Reporter::on_stderr();
    let mut session = Session::begin(args.common.seed, args.common.test.into(), None, Part::whole());
    let settings = prepared.settings.clone();
    let complete = |e| Experiment {
        timing: Some(settings.clone()),
        ..e
    };
    let known = Setup {
        compare: prepared.setup.compare.clone(),
        notes: prepared.setup.notes.clone(),
        ..Setup::default()
    };
    let save = |so_far: Measurement| {
        let rounds = so_far.columns.iter().map(|c| c.rounds.len()).max().unwrap_or(0);
        if let Some(mut record) = session.preview(HEADING, &known, so_far, complete) {
            record.missing.push(Missing {
                experiment: HEADING.name.to_owned(),
                variant: None,
                why: format!("saved after {rounds} rounds, while it ran"),
                possible: true,
            });
            key.iter().for_each(|key| anonymous::hide(&mut record, key));
            record_files::save(&record, documents);
        }
    };
    let saver = Saver {
        reporter: &reporter,
        save: &save,
        next: Cell::new(Instant::now() + SAVE_EVERY),
    };
    let runner = Runner {
        cpu: choice.cpu,
        cpus: choice.allowed.len(),
        tsc_hz: runner::tick_rate(Duration::from_millis(20)),
        seed: args.common.seed,
        parts: 1,
        turns: None,
        progress: &saver,
    };
    let measured = runner.measure(HEADING, &mut prepared.setup, budget);
    reporter.done();
    let measured = measured?;
    measured.missing.iter().for_each(|m| session.miss(m.clone()));
    let interrupted = measured.interrupted;
    let failed = measured
        .columns
        .iter()
        .any(|c| c.rejected.contains_key(&runner::Rejection::Failed));
    let rounds = session
        .add(HEADING, &prepared.setup, measured, complete)?
        .map_or(0, |e| e.rounds);
    if interrupted {
        session.miss(missing::cut_short(HEADING.name, rounds));
    }
    let mut record = session.end().record;
    let unlike: Vec<_> = record.experiments.iter().flat_map(time::outliers::warnings).collect();
    record.machine.warnings.extend(unlike);
    key.iter().for_each(|key| anonymous::hide(&mut record, key));
    Ok((record, failed, interrupted))
}

/// The shortest time between two savings, and from the start to the first.
const SAVE_EVERY: Duration = Duration::from_secs(1);
/// Saving takes at most one part in so many of the time.
const SAVE_SHARE: u32 = 20;

/// Reports progress, and saves what is measured.
struct Saver<'a> {
    reporter: &'a Reporter,
    save: &'a dyn Fn(Measurement),
    next: Cell<Instant>,
}

impl Progress for Saver<'_> {
    fn step(&self, share: f64, line: &str) {
        self.reporter.step(share, line);
    }

    fn round(&self, so_far: &dyn Fn() -> Measurement) {
        let begun = Instant::now();
        if begun >= self.next.get() {
            (self.save)(so_far());
            self.next
                .set(Instant::now() + SAVE_EVERY.max(begun.elapsed() * SAVE_SHARE));
        }
    }
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
