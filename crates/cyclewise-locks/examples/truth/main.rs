//! How long programs take without LOCK, which is what a forecast is compared with: `cargo run --release -p cyclewise-locks --example truth`.
//!
//! Each program is built or found, its copy without LOCK is made, both are run once and have to print the same, and `cyclewise time` runs them in
//! turn on one CPU. A row has the user time: what the kernel does is the same on both sides. [README](README.md) has the programs.
//!
//! `table` has the programs, `pair` counts it and makes the two sides (`copies` those that are copied, by [`elide`]), and `row` has the figures.

mod command;
mod copies;
mod elide;
mod pair;
mod row;
mod table;

use pair::Pair;
use row::{HEADER, Row, Times};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use table::{PROGRAMS, Program, SIDES};

const USAGE: &str = "\
usage: truth [--check] [--runs N] [--cpu K] [--cyclewise PROGRAM] [--into FILE] [PROGRAM]...

Times programs with and without LOCK on one CPU, a row each.

exit status: 0 done, 1 a program failed, 2 usage error, 3 something is not here";

/// How a command ended.
enum Outcome {
    Passed,
    Failed,
    /// Something that is needed is not here; the command has said what, and the rest passed.
    Impossible,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments
        .iter()
        .any(|argument| argument == "--help" || argument == "-h")
    {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let outcome = workspace().and_then(|root| run(&root, &Options::parse(&root, &arguments)?));
    match outcome {
        Ok(Outcome::Passed) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Ok(Outcome::Impossible) => ExitCode::from(3),
        Err(message) => {
            eprintln!("truth: {message}");
            ExitCode::from(2)
        }
    }
}

/// The checkout that the example is run in.
fn workspace() -> Result<PathBuf, String> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let root = package.and_then(|package| Some(package.ancestors().nth(2)?.to_owned()));
    root.ok_or_else(|| "start it by cargo run -p cyclewise-locks --example truth".to_owned())
}

/// Where cargo puts what it builds.
fn target_folder(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from))
}

/// What the command line asked for.
#[derive(Debug)]
struct Options {
    programs: Vec<&'static Program>,
    /// Whether both sides are run once, and not timed.
    is_check: bool,
    runs: usize,
    cpu: usize,
    cyclewise: PathBuf,
    into: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments.
    ///
    /// # Errors
    /// One line that says which argument is wrong and what would be right.
    fn parse(root: &Path, arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            programs: Vec::new(),
            is_check: false,
            // The sign test's interval leaves 67 of 160 rounds out at each end.
            runs: 160,
            cpu: 0,
            cyclewise: target_folder(root).join("release/cyclewise"),
            into: None,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = |what: &str| arguments.next().ok_or(format!("{argument} takes {what}"));
            let number = |text: &String| {
                let wrong = format!("{argument} takes a number, not {text:?}");
                text.parse::<usize>().map_err(|_| wrong)
            };
            match argument.as_str() {
                "--check" => options.is_check = true,
                "--runs" => options.runs = number(value("a number")?)?.max(1),
                "--cpu" => options.cpu = number(value("a CPU")?)?,
                "--cyclewise" => options.cyclewise = value("a program")?.into(),
                "--into" => options.into = Some(value("a file")?.into()),
                name => options.programs.push(named(name)?),
            }
        }
        if options.programs.is_empty() {
            options.programs = PROGRAMS.iter().collect();
        }
        options.cyclewise = std::path::absolute(&options.cyclewise)
            .map_err(|error| format!("{}: {error}", options.cyclewise.display()))?;
        Ok(options)
    }
}

fn named(name: &str) -> Result<&'static Program, String> {
    PROGRAMS.iter().find(|program| program.name == name).ok_or_else(|| {
        let names: Vec<_> = PROGRAMS.iter().map(|program| program.name).collect();
        format!(
            "truth does not know {name:?}; it takes --check, --runs N, --cpu K, --cyclewise PROGRAM, --into FILE and any of {}",
            names.join(", ")
        )
    })
}

/// Prints a row for each program, or what else the options ask for. A program that is not here is left out and named.
///
/// # Errors
/// One line, where this is the wrong machine, `cyclewise` is not built, or the file cannot be written.
fn run(root: &Path, options: &Options) -> Result<Outcome, String> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        println!("truth: nothing timed: only x86-64 Linux has LOCK prefixes and programs to copy");
        return Ok(Outcome::Impossible);
    }
    let target = target_folder(root);
    if !options.cyclewise.is_file() {
        let name = options.cyclewise.display();
        return Err(format!(
            "no {name}; run cargo build --release --workspace, or name it by --cyclewise"
        ));
    }
    let header = match options.is_check {
        false => HEADER,
        true => "program\tprefixes\toutput",
    };
    let mut rows = format!("{header}\n");
    println!("{header}");
    let (mut is_missing, mut has_failed) = (false, false);
    for program in &options.programs {
        let folder = target.join("truth").join(program.name);
        let pair = match Pair::prepare(root, &folder, program, (&options.cyclewise, options.cpu)) {
            Ok(pair) => pair,
            Err(why) => {
                eprintln!("truth: {} is left out: {why}", program.name);
                is_missing = true;
                continue;
            }
        };
        match row(program, &pair, options) {
            Ok(row) => {
                println!("{row}");
                rows.push_str(&format!("{row}\n"));
                // After each row: a run of an hour that ends early leaves what it has.
                if let Some(into) = &options.into {
                    std::fs::write(into, &rows).map_err(|error| format!("{}: {error}", into.display()))?;
                }
            }
            Err(why) => {
                eprintln!("truth: {}: {why}", program.name);
                has_failed = true;
            }
        }
    }
    Ok(match (has_failed, is_missing) {
        (true, _) => Outcome::Failed,
        (false, true) => Outcome::Impossible,
        (false, false) => Outcome::Passed,
    })
}

fn row(program: &Program, pair: &Pair, options: &Options) -> Result<String, String> {
    let output = pair.check(program, options.cpu)?;
    if options.is_check {
        let replaced = pair.replaced.map_or("-".to_owned(), |count| count.to_string());
        return Ok(format!("{}\t{replaced}\t{output}", program.name));
    }
    let mut time = Command::new(&options.cyclewise);
    time.args(["time", "--no-shell", "--runs", &options.runs.to_string()]);
    time.args(["--json", "record.json"]);
    time.args(SIDES.map(|side| pair.timed(program, side, options.cpu)));
    command::output(time.current_dir(&pair.folder), "cyclewise time")?;
    let record = pair.folder.join("record.json");
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", record.display());
    let text = std::fs::read(&record).map_err(|error| wrong(&error))?;
    let record_value = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
    let times = Times::of_record(&record_value).map_err(|error| wrong(&error))?;
    let row = Row::of(program.name, program.elided_by.name(), &times);
    row.map(|row| row.to_string())
        .ok_or_else(|| "no round has a sample of both sides".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(
            Path::new("/"),
            &line.split_whitespace().map(String::from).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn programs_are_named_or_all() {
        assert_eq!(parse("").unwrap().programs.len(), PROGRAMS.len());
        let options = parse("redis --runs 6 node --check").unwrap();
        assert_eq!(
            options.programs.iter().map(|p| p.name).collect::<Vec<_>>(),
            ["redis", "node"]
        );
        assert_eq!((options.runs, options.is_check), (6, true));
    }

    #[test]
    fn a_wrong_argument_is_named() {
        assert!(parse("perl").unwrap_err().contains("any of interpreter, rpds-ours"));
        assert!(parse("--runs many").unwrap_err().contains("not \"many\""));
        assert!(parse("--cpu").unwrap_err().contains("takes a CPU"));
    }
}
