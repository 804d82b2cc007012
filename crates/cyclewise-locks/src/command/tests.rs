//! The order of things, with a way of counting that is made up.

use super::args::By;
use super::*;
use crate::counts::{Arch, Counts, Method};
use clap::Parser;

/// Runs the program and makes no counts.
struct Pretended {
    by: By,
    ready: Result<()>,
}

impl Way for Pretended {
    fn by(&self) -> By {
        self.by
    }

    fn ready(&self) -> Result<()> {
        self.ready.clone()
    }

    fn check(&self, _: &Program) -> Result<()> {
        Ok(())
    }

    fn run(&self, launch: &Launch<'_>) -> Result<CountedRun> {
        let Program { path, arguments, .. } = launch.program;
        let status = std::process::Command::new(path).args(arguments).status();
        let status = status.map_err(|e| Error::usage(e.to_string()))?;
        Ok(CountedRun {
            asked_to_end: false,
            status,
            counts: empty("pretended"),
            notes: Vec::new(),
        })
    }
}

fn empty(missing: &str) -> Counts {
    Counts {
        method: Method::Emulator {
            version: "none".to_owned(),
        },
        arch: Arch::X86_64,
        processes: Vec::new(),
        missing: vec![missing.to_owned()],
    }
}

fn way(by: By, ready: Result<()>) -> Box<dyn Way> {
    Box::new(Pretended { by, ready })
}

fn args(line: &[&str]) -> LocksArgs {
    Cli::try_parse_from(["cyclewise-locks"].iter().chain(line))
        .unwrap()
        .args
}

fn program(script: &str) -> Program {
    // A shell that is started with a signal ignored cannot end by it.
    Program::find(&["env", "--default-signal", "sh", "-c", script].map(Into::into)).unwrap()
}

#[test]
fn the_programs_own_options_are_its_own() {
    for line in [
        &["--wide", "--", "prog", "--json", "-"][..],
        &["--wide", "prog", "--json", "-"],
    ] {
        let args = args(line);
        assert!(args.wide && args.json.is_none());
        assert_eq!(args.program, ["prog", "--json", "-"]);
    }
}

#[test]
fn the_first_way_that_works_is_used_and_every_reason_is_told() {
    let no = |why: &str| Err(Error::unsupported(why));
    let ways = || vec![way(By::Counter, no("no PMU")), way(By::Emulator, Ok(()))];
    assert_eq!(way::choose(None, ways()).unwrap().by(), By::Emulator);
    assert_eq!(way::choose(Some(By::Emulator), ways()).unwrap().by(), By::Emulator);
    assert_eq!(way::choose(Some(By::Counter), ways()).err().unwrap().message, "no PMU");
    let none = vec![way(By::Counter, no("no PMU")), way(By::Emulator, no("no qemu"))];
    let error = way::choose(None, none).err().unwrap();
    assert_eq!(
        error.message,
        "no way of counting works here: by counter: no PMU; by emulator: no qemu"
    );
    assert_eq!(error.status, crate::error::Status::Unsupported);
}

/// A shell's script that was counted and run again, twice at most.
fn counted(script: &str) -> Part {
    let (program, way) = (program(script), way(By::Emulator, Ok(())));
    let options = PartOptions {
        way: way.as_ref(),
        native_runs: 2,
        processes: 1,
        callers: true,
        sysroot: None,
    };
    let (mut part, end) = count_one(&program, &options).unwrap();
    time_again(&mut part, &program, options.native_runs, &end);
    part
}

#[test]
fn a_counted_program_keeps_its_status_and_is_timed() {
    let part = counted("exit 7");
    assert_eq!((part.exit.code, part.exit.status()), (Some(7), 7));
    assert_eq!(part.native.unwrap().runs, 2);
    let part = counted("kill -9 $$");
    assert_eq!((part.exit.signal, part.exit.status()), (Some(9), 137));
    assert!(!part.exit.interrupted);
    // The program does that by itself.
    assert_eq!(part.ended_otherwise, None);
    for early in ["kill -INT $$", "exit 130"] {
        let part = counted(early);
        assert!(part.exit.interrupted && part.native.is_none(), "{early}");
        assert_eq!(part.exit.status(), 130);
    }
}

#[test]
fn a_counted_run_that_crashes_where_the_program_does_not_is_no_forecasts_base() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("counted");
    // Counted, it dies as an emulator does that cannot run it; again, it ends well.
    let script = format!("[ -e '{0}' ] && exit 0; : > '{0}'; kill -SEGV $$", mark.display());
    let part = counted(&script);
    assert!(part.native.is_none());
    let line = args(&["--costs", "none.json", "prog"]);
    let (exit, mut parts) = (part.exit, [part]);
    let mut report = counted_document(&line, &Table::built_in(), &mut parts, exit);
    add_forecast(&mut report, &line, Some(Costs::not_needed("a test")), &parts);
    let forecast = report.forecast.unwrap();
    assert!(
        forecast
            .answer
            .starts_with("no forecast: the counted run did not end as"),
        "{}",
        forecast.answer
    );
    assert!(
        forecast.answer.contains("SIGSEGV") && forecast.remedies.is_empty(),
        "{}",
        forecast.answer
    );
}

#[test]
fn after_ctrl_c_nothing_more_is_run() {
    interrupt::pretend(true);
    let part = counted("exit 0");
    interrupt::pretend(false);
    assert!(part.exit.interrupted && part.native.is_none());
    assert!(part.notes[0].contains("ended early"), "{:?}", part.notes);
}

#[test]
fn the_counts_of_several_programs_are_joined() {
    let both = joined([empty("a"), empty("b")].into_iter()).unwrap();
    assert_eq!(both.missing, ["a", "b"]);
    assert!(joined(std::iter::empty()).is_none());
}

#[test]
fn a_document_that_fails_is_the_status_only_of_a_program_that_succeeded() {
    let failed = || Err(Error::unsupported("disk full"));
    let exit = |code| Exit {
        code: Some(code),
        ..Exit::default()
    };
    assert!(show::ended(failed(), exit(0)).is_err());
    assert_eq!(show::ended(failed(), exit(4)), Ok(ExitCode::from(4)));
    assert_eq!(show::ended(Ok(()), exit(4)), Ok(ExitCode::from(4)));
}

#[test]
fn wrong_options_are_refused_before_the_program_starts() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("started");
    let touch = format!("touch {}", mark.display());
    for (options, says) in [
        (&["--json", "/no/such/folder/x.json"][..], "does not exist"),
        (&["--costs", "/no/such/record.json"], "No such file"),
        (&["--table", "/no/such/table.toml"], "table.toml"),
        (&["--json", "-", "--html", "-"], "cannot all write to stdout"),
    ] {
        let line = [options, &["--", "sh", "-c", &touch]].concat();
        let error = prepare(&args(&line)).err().unwrap();
        assert!(error.message.contains(says), "{error}");
    }
    assert!(
        prepare(&args(&["--", "no-such-program"]))
            .err()
            .unwrap()
            .message
            .contains("PATH")
    );
    assert!(!mark.exists());
}
