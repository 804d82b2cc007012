//! The parent of the processes that measure: it starts them, and prints what they came to.

use super::options::Options;
use super::state::{status, tell_too_few, written};
use super::{against, output};
use crate::answer::{LimitedRow, SlowerLimit};
use crate::error::{Error, Result, Status};
use crate::record::{Comparison, Experiment, Record};
use crate::runner::parts::{self, Chain};
use crate::runner::{CpuChoice, command_line};
use crate::sys::interrupt;
use std::path::Path;
use std::process::ExitStatus;

/// Measures in several processes, and prints and writes what they came to; the exit status.
///
/// # Errors
/// No process can be started, or none came to an end of its own.
pub(super) fn parent(options: &Options) -> Result<u8> {
    interrupt::listen();
    let chain = parts::run(options.runs, |_| {})?;
    let mut failures: Vec<Status> = chain.ended.iter().map(of_process).collect();
    conclude(chain, options, &mut failures)?;
    Ok(status(&failures))
}

/// Prints and writes the record, and checks what shall fail.
fn conclude(chain: Chain, options: &Options, failures: &mut Vec<Status>) -> Result<Option<Status>> {
    let Some(mut ended) = chain.last else {
        // A process that ended by itself has said why.
        if chain.ended.iter().all(|ended| ended.code().is_some()) {
            return Ok(None);
        }
        let lines = chain.missing.iter().map(|m| format!("{}: {}", m.experiment, m.why));
        return Err(Error::check(lines.collect::<Vec<_>>().join("; ")));
    };
    failures.extend(tell_too_few(&ended));
    ended.record.seed = options.seed;
    ended.record.command = command_line();
    ended.record.missing.extend(chain.missing);
    if let Err(error) = written(&ended.record, options) {
        output::tell(&format!("cyclewise-bench: {error}"));
        failures.push(error.status);
    }
    Ok(options.fail_on.and_then(|limit| beyond(&ended.record, limit)))
}

/// Compares this program's rows with those of another, which takes turns with it; the exit status.
///
/// # Errors
/// Exit 2: there is no other program, or no row in common.
pub(super) fn against(options: &Options, what: &str) -> Result<u8> {
    if let Some(why) = parts::hindrance() {
        return Err(Error::unsupported(format!(
            "--against needs several processes, and {why}"
        )));
    }
    let other = against::find(what, options.cargo_arguments.as_deref())?;
    let own =
        std::env::current_exe().map_err(|e| Error::system("the path of this program", &e, "is /proc mounted?"))?;
    let cpu = CpuChoice::new(options.cpu)?.cpu;
    let asked = options.arguments(None, cpu);
    let rows = |program: &Path| {
        let silent = || {
            Error::check(format!(
                "{} does not list its variants; its reason is above",
                program.display()
            ))
        };
        parts::rows_of(program, &asked)?.ok_or_else(silent)
    };
    let (mut common, theirs) = (rows(&own)?, rows(&other.path)?);
    let only = |these: &[String], those: &[String]| these.iter().filter(|row| !those.contains(row)).count();
    let (new, gone) = (only(&common, &theirs), only(&theirs, &common));
    common.retain(|row| theirs.contains(row));
    if common.is_empty() {
        return Err(Error::usage(format!(
            "no variant that was asked for is in both programs; {what} has {} others",
            theirs.len()
        )));
    }
    if new + gone > 0 {
        output::tell(&format!(
            "cyclewise-bench: not compared, because one program has them: {new} variants here, {gone} of {what}"
        ));
    }
    interrupt::listen();
    let programs = [other.path.as_path(), own.as_path()];
    let chain = parts::compare(
        options.runs,
        programs,
        &options.arguments(Some(&common), cpu),
        &other.name,
    )?;
    let mut failures: Vec<Status> = chain.ended.iter().map(of_process).collect();
    if let Some(ended) = chain.last.as_ref().filter(|ended| ended.record.experiments.is_empty()) {
        failures.extend(tell_too_few(ended));
        // What failed was told by who failed.
        if failures.is_empty() {
            let lines = ended
                .record
                .missing
                .iter()
                .map(|m| format!("{}: {}", m.experiment, m.why));
            return Err(Error::unsupported(lines.collect::<Vec<_>>().join("; ")));
        }
        return Ok(status(&failures));
    }
    let limit = conclude(chain, options, &mut failures)?;
    failures.extend(limit);
    Ok(status(&failures))
}

/// Whether a row is slower than the limit allows, or may be.
fn beyond(record: &Record, limit: SlowerLimit) -> Option<Status> {
    let comparisons = record
        .experiments
        .iter()
        .flat_map(|e| e.comparisons.iter().map(move |c| (e, c)));
    let row = |(e, c): (&Experiment, &Comparison)| {
        let (ratio, ci95) = c.ratio_of();
        LimitedRow {
            name: format!("{}/{}", e.name, c.a),
            unit: e.unit,
            verdict: c.verdict,
            ratio,
            ci95,
        }
    };
    let error = limit
        .check(&comparisons.map(row).collect::<Vec<_>>(), "give it more --time")
        .err()?;
    output::tell(&format!("cyclewise-bench: {error}"));
    Some(error.status)
}

fn of_process(ended: &ExitStatus) -> Status {
    let known = [Status::CheckFailed, Status::Usage, Status::Unsupported];
    let of_code = |code: i32| known.into_iter().find(|status| *status as i32 == code);
    ended.code().and_then(of_code).unwrap_or(Status::CheckFailed)
}
