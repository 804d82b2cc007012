//! The command: counts what a program executes, times it, forecasts what it would gain, and reports.
//!
//! # Invariants
//! 1. Whatever can be refused is refused before the program is started, so that no run is lost to a wrong option.
//! 2. The program has this process's stdin and stderr, and its stdout unless a document takes that. Its exit status is ours.
//! 3. What fails after the run costs no result: the report is printed first, and each document is tried. A signal that asks this process
//!    to end before that leaves out what was still to be measured, and no more.

mod anonymous;
mod args;
mod cargo;
mod costs;
mod counter;
mod emulator;
mod native;
mod program;
mod report;
mod runner;
mod show;
mod way;

use crate::class::known::Table;
use crate::counts::Counts;
use crate::error::{Error, Result};
use crate::forecast::{self, NativeTime};
use crate::profile::{Options, Profile};
use crate::record::{Exit, Locks, Part, SCHEMA};
use args::{Cli, Command, LocksArgs};
use clap::CommandFactory;
use costs::Costs;
use cyclewise_bench::machine::{self, Key};
use cyclewise_bench::record::Tool;
use cyclewise_bench::runner::tick_rate;
use cyclewise_bench::sys::{file_size, interrupt, stdout, usage::CpuTime};
use cyclewise_report::files::output::{self, tell};
use native::{CountedEnd, Stdin};
use program::Program;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};
use std::time::{Duration, Instant};
use way::{CountedRun, Launch, Way};

/// All ways of counting, the one that slows programs least first.
fn ways(program: &Program, sysroot: Option<&Path>) -> Vec<Box<dyn Way>> {
    let by_emulator = emulator::ByEmulator::new(program, sysroot.map(Path::to_path_buf));
    match emulator::arch_of(program) {
        emulator::MACHINE => vec![Box::new(counter::ByCounter), Box::new(by_emulator)],
        // No CPU of this machine executes it.
        _ => vec![Box::new(by_emulator)],
    }
}

/// The counter's rate is measured for so long where no forecast measures it anyway.
const RATE: Duration = Duration::from_millis(20);

/// What was found out before the program is started.
struct Prepared {
    program: Program,
    way: Box<dyn Way>,
    table: Table,
    costs: Option<Costs>,
    /// What the documents' names are hidden by.
    key: Option<Key>,
}

/// Parses and runs the command line; returns the exit status.
pub fn main() -> ExitCode {
    let cli = Cli::of_this_process();
    // A limit on the size of files is then an error of the write, on stdout too, not the end of the process.
    file_size::refuse_beyond_limit();
    let done = match &cli.command {
        None => locks(&cli.args),
        Some(Command::Report(args)) => report::report(args).map(|()| ExitCode::SUCCESS),
        Some(Command::LocksRunner(args)) => runner::locks_runner(args),
        Some(Command::Docs(docs)) => docs.run("cyclewise-locks", Cli::command()).map(|()| ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|error| {
        tell(&format!("cyclewise: {error}"));
        ExitCode::from(error.status as u8)
    })
}

fn locks(args: &LocksArgs) -> Result<ExitCode> {
    let mut prepared = prepare(args)?;
    let on_stdout = [&args.json, &args.html]
        .iter()
        .any(|p| output::takes_stdout(p.as_ref()));
    let document = match on_stdout {
        true => Some(stdout::lend_stderr().map_err(|e| Error::system("stdout", &e, "name a file instead of `-`"))?),
        false => None,
    };
    interrupt::listen();
    let (mut parts, exit, counted) = count(args, &prepared)?;
    if parts.is_empty() {
        return show::ended(
            Err(Error::check(
                "nothing was counted: cargo failed before it started a program",
            )),
            exit,
        );
    }
    let mut report = counted_document(args, &prepared.table, &mut parts, exit);
    show::counts(&report, args, document.as_ref());
    if let ([part], Some(counted)) = (parts.as_mut_slice(), &counted) {
        time_again(part, &prepared.program, native_runs(args), counted);
    }
    add_forecast(&mut report, args, prepared.costs.take(), &parts);
    let shown = show::rest(&report, args, prepared.key.as_ref(), document.as_ref());
    show::ended(shown, exit)
}

/// Refuses what can be refused before the program is started.
fn prepare(args: &LocksArgs) -> Result<Prepared> {
    let mut inputs = args.table.clone();
    inputs.extend(args.costs.clone());
    inputs.extend(args.anonymous.clone());
    output::check_named(&[("--json", &args.json), ("--html", &args.html)], &inputs)?;
    let mut table = Table::built_in();
    for file in &args.table {
        table.add_file(file).map_err(Error::in_one_line)?;
    }
    let costs = args.costs.as_deref().map(Costs::of_record).transpose()?;
    let key = args.anonymous.as_deref().map(Key::load).transpose()?;
    let program = Program::find(&args.program)?;
    let way = way::choose(args.by, ways(&program, args.sysroot.as_deref()))?;
    if !cargo::is_cargo(&program) {
        way.check(&program)?;
    }
    Ok(Prepared {
        program,
        way,
        table,
        costs,
        key,
    })
}

/// Counts the program, or those that cargo runs; the status is the program's or cargo's. A program that is to be run again comes with
/// what that needs; those of cargo have been.
fn count(args: &LocksArgs, prepared: &Prepared) -> Result<(Vec<Part>, Exit, Option<CountedEnd>)> {
    let options = PartOptions {
        way: prepared.way.as_ref(),
        native_runs: native_runs(args),
        processes: args.processes,
        callers: !args.no_callers,
        sysroot: args.sysroot.as_deref(),
    };
    if cargo::is_cargo(&prepared.program) {
        let (parts, exit) = cargo::count(&prepared.program, &options)?;
        return Ok((parts, exit, None));
    }
    let (part, counted) = count_one(&prepared.program, &options)?;
    let exit = part.exit;
    Ok((vec![part], exit, Some(counted)))
}

/// How often a program is run without counting.
fn native_runs(args: &LocksArgs) -> u32 {
    match args.user_seconds {
        Some(_) => 0,
        None => args.native_runs,
    }
}

/// How a program is counted.
struct PartOptions<'a> {
    way: &'a dyn Way,
    /// Runs without counting.
    native_runs: u32,
    /// Programs that are counted with it.
    processes: u32,
    /// Whether calls are followed.
    callers: bool,
    /// Where the libraries of another architecture are.
    sysroot: Option<&'a Path>,
}

fn count_one(program: &Program, options: &PartOptions<'_>) -> Result<(Part, CountedEnd)> {
    let stdin = Stdin::before();
    let before = CpuTime::of_all();
    let start = Instant::now();
    let launch = Launch {
        program,
        processes: options.processes,
        callers: options.callers,
    };
    let CountedRun {
        status,
        asked_to_end,
        counts,
        notes,
    } = options.way.run(&launch)?;
    let counted = CountedEnd {
        status,
        elapsed: start.elapsed(),
        stdin,
        has_clients: counts.has_outside_clients(),
        is_foreign: counts.arch != emulator::MACHINE,
    };
    let mut exit = exit(status);
    exit.interrupted |= asked_to_end;
    let part = Part {
        counts,
        exit,
        counted_user_s: CpuTime::of_all().since(before).user_s,
        native: None,
        ended_otherwise: None,
        notes,
    };
    Ok((part, counted))
}

fn time_again(part: &mut Part, program: &Program, runs: u32, counted: &CountedEnd) {
    if part.exit.interrupted {
        let why = "the run was ended early, so there was none without counting";
        part.notes.push(why.to_owned());
    } else {
        (part.native, part.ended_otherwise) = native::time(program, runs, counted, &mut part.notes);
    }
}

/// Signals by which people and supervisors end programs.
const ENDING: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

fn exit(status: ExitStatus) -> Exit {
    let is_ending = |signal| ENDING.contains(&signal);
    // A shell that passes on such an end has a status for it.
    let passed_on = status.code().map(|code| code - 128);
    Exit {
        code: status.code(),
        signal: status.signal(),
        interrupted: interrupt::asked() || status.signal().or(passed_on).is_some_and(is_ending),
    }
}

/// Joins counts and code; there is one part at least.
fn counted_document(args: &LocksArgs, table: &Table, parts: &mut [Part], exit: Exit) -> Locks {
    let counted_user_s = parts.iter().map(|part| part.counted_user_s).sum();
    let counts = joined(parts.iter_mut().map(Part::take_counts)).expect("somebody looked whether there are parts");
    let mut machine = machine::fingerprint();
    machine.tsc_hz = tick_rate(RATE);
    Locks {
        schema: SCHEMA.to_owned(),
        created: humantime::format_rfc3339_micros(std::time::SystemTime::now()).to_string(),
        tool: Tool::this(),
        machine,
        command: command_line(),
        program: args
            .program
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        exit,
        counted_user_s,
        slowdown: None,
        profile: Profile::new(&counts, table, &Options::default()),
        forecast: None,
        costs: None,
        notes: Vec::new(),
    }
}

/// Joins time and costs with what was counted.
fn add_forecast(report: &mut Locks, args: &LocksArgs, costs: Option<Costs>, parts: &[Part]) {
    report.notes = parts.iter().flat_map(|part| part.notes.iter().cloned()).collect();
    let native = match args.user_seconds {
        Some(user_s) => Some(NativeTime {
            user_s,
            range: [user_s; 2],
            runs: 0,
        }),
        None => native::sum(parts.iter().map(|part| part.native)),
    };
    let ended_otherwise = parts.iter().find_map(|part| part.ended_otherwise.clone());
    let costs = match costs {
        Some(costs) => costs,
        None if report.profile.sites.is_empty() => Costs::not_needed("no locked instruction was executed"),
        None if report.exit.interrupted || interrupt::asked() => Costs::not_needed("the run was ended early"),
        None if ended_otherwise.is_some() => Costs::not_needed("there is no forecast"),
        None if report.profile.arch != emulator::MACHINE => Costs::not_needed(
            "the program is for another architecture; give a record of a machine that executes it by --costs",
        ),
        None => Costs::measure(),
    };
    report.notes.extend(costs.note);
    report.costs = costs.source;
    let time = native.filter(|n| n.user_s > 0.0);
    report.slowdown = time.map(|n| report.counted_user_s / n.user_s);
    report.forecast = Some(match ended_otherwise {
        Some(why) => forecast::refused(&why),
        None => forecast::forecast(&report.profile, &costs.costs, native.as_ref()),
    });
}

/// The command line as `cyclewise` takes it, whichever of both programs was called.
fn command_line() -> Vec<String> {
    let words = std::env::args_os().skip(1);
    let words = words.map(|word| word.to_string_lossy().into_owned());
    std::iter::once("locks".to_owned()).chain(words).collect()
}

/// The counts of several programs as those of one run; `None` of none.
fn joined(mut all: impl Iterator<Item = Counts>) -> Option<Counts> {
    let mut first = all.next()?;
    for counts in all {
        first.processes.extend(counts.processes);
        first.missing.extend(counts.missing);
    }
    Some(first)
}

/// Tells that the program is run again, which its owner may not want.
fn tell_again(program: &Program, runs: u32, limit: Duration) {
    tell(&format!(
        "runs {} again without counting, at most {runs} times and each for at most {} s, for its user time; --native-runs 0 leaves that out",
        program.name(),
        limit.as_secs()
    ));
}

#[cfg(test)]
mod tests;
