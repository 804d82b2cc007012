//! `run --runs`: several runs, each in a process of its own, joined to one record.
//!
//! A process has its own address layout and its own random order of experiments, so that what these change is part of the
//! variance between runs. Ctrl-C goes to this process alone, which asks the run in progress to end; its rounds and the
//! runs before it are kept.

use super::cli::{Common, RunArgs};
use super::missing;
use crate::compare;
use crate::error::{Error, Result};
use crate::experiment::Definition;
use crate::record::{self, Missing, Record};
use crate::sys::{interrupt, memfd, process};
use clap::ValueEnum as _;
use cyclewise_report::files::output::tell;
use std::ffi::OsString;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How often a run in progress is looked at: for a Ctrl-C that it has to hear of.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// In the process of one run: ends with its parent.
pub(super) fn follow_parent(parent: u32) {
    process::die_with_parent(parent);
}

/// Measures `chosen` in each of the runs asked for. What is missing, a whole run included, is among the record's missing.
///
/// # Errors
/// No run gave a record.
pub(super) fn measure(args: &RunArgs, chosen: &[&Definition]) -> Result<Record> {
    let mut records = Vec::new();
    let mut missing = Vec::new();
    for n in 0..args.runs {
        let name = format!("run {} of {}", n + 1, args.runs);
        if interrupt::asked() {
            missing.push(missing::not_begun(&name));
            continue;
        }
        tell(&name);
        match one(args, n, &name) {
            Ok(record) => records.push((name, record)),
            Err(error) => {
                tell(&format!("cyclewise: {error}"));
                missing.push(missing::experiment(&name, &error));
            }
        }
    }
    let order: Vec<&str> = chosen.iter().map(|d| d.name).collect();
    let Some(mut joined) = compare::join_runs(records, &order) else {
        return Err(Error::unsupported(format!(
            "no run gave a record; {}",
            missing
                .iter()
                .map(|m: &Missing| m.why.as_str())
                .collect::<Vec<_>>()
                .join("; ")
        )));
    };
    joined.seed = args.common.seed;
    joined.command = crate::runner::command_line();
    joined.missing.extend(missing);
    Ok(joined)
}

/// One run in a process of its own: its record, which may lack what its `missing` says.
fn one(args: &RunArgs, n: u32, name: &str) -> Result<Record> {
    let failed = |e: &io::Error| Error {
        possible: true,
        ..Error::system(
            &format!("{name}: starting this program again"),
            e,
            "raise `ulimit -u`, or leave out --runs",
        )
    };
    let program = std::env::current_exe().map_err(|e| failed(&e))?;
    // A file, which this process need not read meanwhile: it only waits, and takes no time from the run.
    let mut written = memfd::file(c"cyclewise-run").map_err(|e| failed(&e))?;
    let mut child = Command::new(program)
        .args(arguments(args, n))
        .stdin(Stdio::null())
        .stdout(written.try_clone().map_err(|e| failed(&e))?)
        // A terminal's Ctrl-C reaches this process only, which passes it on once: a second would lose the run.
        .process_group(0)
        .spawn()
        .map_err(|e| failed(&e))?;
    let status = end(&mut child).map_err(|e| failed(&e))?;
    let mut text = String::new();
    written
        .rewind()
        .and_then(|()| written.read_to_string(&mut text))
        .map_err(|e| failed(&e))?;
    if text.is_empty() {
        return Err(Error::check(format!(
            "{name} gave no record ({status}); its reason is above"
        )));
    }
    record::from_str(name, &text)
}

/// Waits for the end of `child`; passes a Ctrl-C on to it.
fn end(child: &mut Child) -> io::Result<ExitStatus> {
    let mut told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupt::asked() && !told {
            process::interrupt(child);
            told = true;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The command line of run `n`, which counts from 0: all that is measured, and another seed.
fn arguments(args: &RunArgs, n: u32) -> Vec<OsString> {
    // Named one by one, so that a new option is not forgotten here.
    let RunArgs {
        experiments,
        quick,
        full,
        runs: _,
        run_of,
        cpu,
        pipe,
        groups,
        loops,
        threads,
        // Has a command line of its own.
        object: _,
        common:
            Common {
                seed,
                test,
                json: _,
                csv: _,
                csv_comparisons: _,
                bmf: _,
                html: _,
                // The joined record is made anonymous, and no other leaves this process.
                anonymous: _,
                wide: _,
            },
    } = args;
    debug_assert!(run_of.is_none(), "a run of several does not repeat itself");
    let mut line: Vec<OsString> = vec!["run".into()];
    line.extend(experiments.iter().map(OsString::from));
    for (given, option) in [(quick, "--quick"), (full, "--full"), (pipe, "--pipe")] {
        line.extend(given.then(|| option.into()));
    }
    for (value, option) in [(cpu, "--cpu"), (groups, "--groups"), (loops, "--loops")] {
        line.extend(value.map(|v| format!("{option}={v}").into()));
    }
    if !threads.is_empty() {
        let list: Vec<String> = threads.iter().map(u32::to_string).collect();
        line.push(format!("--threads={}", list.join(",")).into());
    }
    line.push(format!("--seed={}", seed.wrapping_add(u64::from(n))).into());
    let test = test
        .to_possible_value()
        .map_or(String::new(), |test| test.get_name().to_string());
    line.push(format!("--test={test}").into());
    line.push("--json=-".into());
    line.push(format!("--run-of={}", std::process::id()).into());
    line
}

#[cfg(test)]
mod tests {
    use super::super::cli::{Cli, Command, DecidingTest};
    use super::*;
    use clap::Parser;

    fn parsed(line: &[&str]) -> RunArgs {
        match Cli::try_parse_from(line).map(|cli| cli.command) {
            Ok(Command::Run(args)) => args,
            _ => panic!("{line:?}"),
        }
    }

    #[test]
    fn a_run_gets_what_is_measured_and_a_seed_of_its_own() {
        let line = "cyclewise run popf open-read-close hackbench --quick --runs 3 --seed 7 --test welch --cpu 1 --groups 2 --loops 9 --pipe \
                    --threads 1,2 --json x.json --html x.html";
        let args = parsed(&line.split_whitespace().collect::<Vec<_>>());
        let text: Vec<String> = arguments(&args, 2)
            .into_iter()
            .map(|a| a.into_string().unwrap())
            .collect();
        let program = std::iter::once("cyclewise");
        let run = parsed(&program.chain(text.iter().map(String::as_str)).collect::<Vec<_>>());
        assert_eq!(run.experiments, args.experiments);
        assert_eq!((run.common.seed, run.runs, run.cpu), (9, 1, Some(1)));
        assert_eq!((run.groups, run.loops, run.threads), (Some(2), Some(9), vec![1, 2]));
        assert_eq!(run.common.test, DecidingTest::Welch);
        assert!(run.quick && run.pipe && !run.full && run.run_of == Some(std::process::id()));
        assert!(run.common.html.is_none() && run.common.json == Some("-".into()));
    }
}
