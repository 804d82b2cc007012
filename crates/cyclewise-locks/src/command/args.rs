//! The command line, and what cargo runs on its behalf.

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use cyclewise_report::docs::DocsCommand;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Lines of code that a report lists, unless told otherwise.
const LINES_OF_CODE: u32 = 10;

/// Show what atomics cost a program: which lines of code, and what it would gain without
///
/// Runs PROG ARGS and counts its locked instructions, those of all its threads and of the programs that it starts. The report goes
/// to stderr, and stdin, stdout and the exit status are PROG's own; a program that signal N ended gives 128 + N. Once the counts are
/// printed, PROG is run again without counting, for its time (--native-runs), and what instructions cost on this machine is measured
/// (--costs); both are for the forecast, which is an estimate, not a guarantee. Ctrl-C ends what runs, and the results so far are reported.
///
/// `cyclewise locks -- cargo bench` (or test, or run) counts the programs that cargo built, and not cargo and rustc.
///
/// A program whose name is that of a command below is named after `--`.
///
/// Exit status 2: PROG was not started, because something is wrong with it or with an option. 3: this machine cannot count it, or a
/// document could not be written.
#[derive(Parser)]
#[command(
    name = "cyclewise-locks",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) args: LocksArgs,
}

impl Cli {
    /// Parses this process's command line, or ends it. Usage and errors name the command as it was called: `cyclewise` gives its own name.
    pub(super) fn of_this_process() -> Self {
        let called = std::env::args_os().next().unwrap_or_default();
        let by_the_lab = Path::new(&called).file_name().is_some_and(|name| name == "cyclewise");
        let name = if by_the_lab {
            "cyclewise locks"
        } else {
            "cyclewise-locks"
        };
        let matches = Self::command().bin_name(name).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

#[derive(Subcommand)]
pub(super) enum Command {
    /// Print the tables of documents, or write the HTML page of one
    Report(ReportArgs),
    /// Count a program that cargo built
    #[command(hide = true)]
    LocksRunner(LocksRunnerArgs),
    #[command(flatten)]
    Docs(DocsCommand),
}

#[derive(Args)]
pub(super) struct ReportArgs {
    /// Documents written by `--json`
    #[arg(required = true, value_name = "LOCKS.json")]
    pub(super) documents: Vec<PathBuf>,
    /// Write the HTML page here, instead of printing tables
    #[arg(long, value_name = "PATH")]
    pub(super) html: Option<PathBuf>,
    /// Print every column [default: those that fit the terminal, at most 100 characters]
    #[arg(long)]
    pub(super) wide: bool,
    /// List this many lines of code
    #[arg(long, value_name = "N", default_value_t = LINES_OF_CODE, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) lines: u32,
}

#[derive(Args)]
pub(super) struct LocksArgs {
    /// How to count [default: by a counter of the CPU where one answers, else by an emulator]
    #[arg(long, value_name = "WAY", value_enum)]
    pub(super) by: Option<By>,
    /// Write the counts, classes and the forecast as JSON; `-` writes them to stdout instead of the report, and what PROG prints goes
    /// to stderr then
    #[arg(long, value_name = "PATH")]
    pub(super) json: Option<PathBuf>,
    /// Write the report as an HTML page
    #[arg(long, value_name = "PATH")]
    pub(super) html: Option<PathBuf>,
    /// Read a table of known functions besides the built-in one; the last table that knows a function counts
    #[arg(long, value_name = "FILE")]
    pub(super) table: Vec<PathBuf>,
    /// Take what instructions cost from this record of `run in-context` [default: measure it after the run, in ten seconds]
    #[arg(long, value_name = "RECORD.json")]
    pub(super) costs: Option<PathBuf>,
    /// Run PROG at most this many times more, without counting, for its user time; 0 never
    ///
    /// A run is ended once it takes longer than the counted one did, and none is begun that would end after ten seconds in all. There is
    /// none at all where a signal ended the counted run or clients from outside used it.
    #[arg(long, visible_alias = "native", value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(super) native_runs: u32,
    /// The user time of PROG in seconds, so that it needs no further run
    #[arg(long, value_name = "S", conflicts_with = "native_runs", value_parser = seconds)]
    pub(super) user_seconds: Option<f64>,
    /// Count at most this many programs that PROG starts; others run without being counted, and a line says how many
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(super) processes: u32,
    /// Folder with the dynamic linker and the libraries of a program for another architecture
    ///
    /// AArch64 programs are counted on x86-64, and x86-64 ones on AArch64, where qemu's emulator of that architecture is installed. They are
    /// not timed, so savings are in seconds, not shares, unless --user-seconds and --costs give the figures of a machine that runs them.
    #[arg(long, value_name = "DIR")]
    pub(super) sysroot: Option<PathBuf>,
    /// Do not follow calls and returns: counting is faster, and locks and allocators have the library's lines instead of their callers'
    #[arg(long)]
    pub(super) no_callers: bool,
    /// Leave out of the documents who measured, with the key in this file (see `run --help`)
    ///
    /// The names of the node, its boot and its job become hashes, the home folder `~`, and files below the current folder are named from
    /// there. The names of functions and the program's arguments stay. So does the report on the terminal.
    #[arg(long, value_name = "KEYFILE")]
    pub(super) anonymous: Option<PathBuf>,
    /// List this many lines of code
    #[arg(long, value_name = "N", default_value_t = LINES_OF_CODE, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) lines: u32,
    /// Print every column [default: those that fit the terminal, at most 100 characters]
    #[arg(long)]
    pub(super) wide: bool,
    /// The program to count, and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROG ARGS")]
    pub(super) program: Vec<OsString>,
}

/// A program that cargo starts: it is counted into a folder.
#[derive(Args)]
pub(super) struct LocksRunnerArgs {
    /// The folder of the counts
    pub(super) folder: PathBuf,
    /// As of `locks`
    #[arg(long, value_enum)]
    pub(super) by: By,
    /// As of `locks`
    #[arg(long)]
    pub(super) native_runs: u32,
    /// As of `locks`
    #[arg(long)]
    pub(super) processes: u32,
    /// As of `locks`
    #[arg(long)]
    pub(super) no_callers: bool,
    /// As of `locks`
    #[arg(long)]
    pub(super) sysroot: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true)]
    pub(super) program: Vec<OsString>,
}

/// A way of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum By {
    /// Samples by an event of the CPU's own counters: PROG runs about as fast as ever, and figures are estimates
    Counter,
    /// By qemu-user: exact, on any machine, and 20 to 70 times slower
    Emulator,
}

impl By {
    /// The name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            By::Counter => "counter",
            By::Emulator => "emulator",
        }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds > 0.0 => Ok(seconds),
        _ => Err("give seconds above 0, for example 1.25".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Cli, Command};
    use clap::{CommandFactory, Parser};

    #[test]
    fn a_command_is_one_before_the_program_only() {
        Cli::command().debug_assert();
        let parse = |line: &str| Cli::try_parse_from(line.split(' ')).unwrap();
        assert!(matches!(
            parse("cyclewise-locks report a.json").command,
            Some(Command::Report(_))
        ));
        for (line, program) in [
            ("cyclewise-locks -- report a.json", "report a.json"),
            ("cyclewise-locks sh report", "sh report"),
            ("cyclewise-locks --wide sh -c report --wide", "sh -c report --wide"),
        ] {
            let parsed = parse(line);
            assert!(parsed.command.is_none(), "{line}");
            let words: Vec<_> = parsed.args.program.iter().map(|word| word.to_str().unwrap()).collect();
            assert_eq!(words.join(" "), program);
        }
        assert!(Cli::try_parse_from(["cyclewise-locks"]).is_err(), "no program");
        // What only cargo starts is there, and in no help.
        let runner = "cyclewise-locks locks-runner folder --by emulator --native-runs 0 --processes 1 -- prog";
        assert!(matches!(parse(runner).command, Some(Command::LocksRunner(_))));
        let help = Cli::command().render_long_help().to_string();
        assert!(help.contains("report") && !help.contains("locks-runner"), "{help}");
    }
}
