//! The whole way, from a program to counts, on the kernel's task clock in place of an event of locked instructions.

use super::*;
use crate::counts::{End, Method, Process};
use cyclewise_bench::machine::lock_event::{Exercise, SampleMeaning};
use cyclewise_bench::sys::perf_sampling::{Event, Rate, Spec};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Nanoseconds instead of locked instructions, and instead of all.
pub(super) fn stand_in() -> LockEvent {
    LockEvent {
        name: "task-clock".to_owned(),
        sampled: Spec {
            rate: Rate::PerSecond(1000),
            ..Spec::task_clock()
        },
        kind: SampleMeaning::Instructions,
        exercise: Exercise::Add,
        total: None,
        instructions: Spec::task_clock(),
        cpus: None,
    }
}

/// Where functions are told apart by the samples that fall into them.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static long word;
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
#define HOT(name) __attribute__((noinline)) void name(double seconds) { \
    double end = now() + seconds; \
    while (now() < end) for (int i = 0; i < 20000; i++) __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST); }
HOT(hot_main) HOT(hot_thread) HOT(hot_child)
static void *thread(void *a) { pthread_setname_np(pthread_self(), "second"); hot_thread(0.2); return a; }
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    hot_main(0.1);
    if (!strcmp(what, "threads")) { pthread_t t; pthread_create(&t, 0, thread, 0); pthread_join(t, 0); return 0; }
    if (!strcmp(what, "fork")) { if (!fork()) { hot_child(0.2); _exit(0); } wait(0); return 3; }
    if (!strcmp(what, "exec")) { execl(argv[0], argv[0], "again", (char *)0); return 1; }
    if (!strcmp(what, "signal")) { fflush(stdout); raise(SIGKILL); }
    puts(what);
    return 0;
}
"#;

/// The compiled program; none, with the reason printed, where it cannot be sampled here.
fn program() -> Option<&'static PathBuf> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(compiled).as_ref()
}

fn compiled() -> Option<PathBuf> {
    if let Err(e) = Event::of_next_program(&stand_in().sampled, 0, true) {
        println!("skipped: perf_event_open of the task clock: {e}");
        return None;
    }
    // Where the tests are, so that nothing is left that the next run does not replace.
    let of_tests = std::env::current_exe().unwrap().with_file_name("sampled-program");
    std::fs::create_dir_all(&of_tests).unwrap();
    let program = of_tests.join("p");
    let folder = tempfile::tempdir_in(&of_tests).unwrap();
    let (source, made) = (folder.path().join("p.c"), folder.path().join("p"));
    std::fs::write(&source, PROGRAM).unwrap();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O2", "-pthread", "-fno-inline", "-o"])
        .arg(&made)
        .arg(&source);
    match compiler.output() {
        Ok(done) if done.status.success() => {
            std::fs::rename(made, &program).unwrap();
            Some(program)
        }
        Ok(done) => panic!("{}", String::from_utf8_lossy(&done.stderr)),
        Err(e) => {
            println!("skipped: no C compiler `cc`: {e}");
            None
        }
    }
}

fn sampled(what: &str) -> Option<Sampled> {
    let mut command = Command::new(program()?);
    command.arg(what).stdout(std::process::Stdio::null());
    Some(run_with(&Sysfs::machine(), &mut command, &[stand_in()]).unwrap())
}

fn executed(process: &Process) -> u64 {
    process.sites.iter().map(crate::counts::Site::total).sum()
}

/// Seconds in `nanoseconds`, within a wide band: the machine is shared.
#[track_caller]
fn is_about(nanoseconds: u64, seconds: f64) {
    let s = nanoseconds as f64 * 1e-9;
    assert!(
        s > 0.6 * seconds && s < 1.5 * seconds + 0.05,
        "{s} s, and not {seconds} s"
    );
}

#[test]
fn a_thread_is_told_from_the_main_one() {
    let Some(run) = sampled("threads") else { return };
    assert_eq!(run.status.and_then(|s| s.code()), Some(0));
    let [process] = &run.counts.processes[..] else {
        panic!("{:?}", run.counts.processes)
    };
    assert_eq!(
        (process.end, process.arguments.as_slice()),
        (End::Exited, &["threads".to_owned()][..])
    );
    assert!(process.program.ends_with("p"), "{:?}", process.program);
    let [main, second] = &process.threads[..] else {
        panic!("{:?}", process.threads)
    };
    assert_eq!((main.name.as_str(), second.name.as_str()), ("p", "second"));
    // Counts of a thread, by the record at its end.
    is_about(main.instructions, 0.1);
    is_about(second.instructions, 0.2);
    // Samples fall on locked instructions of the program, in the two functions.
    let hot: Vec<_> = process.sites.iter().filter(|s| s.total() > 20_000_000).collect();
    assert_eq!(hot.len(), 2, "{:?}", process.sites);
    for site in hot {
        let mapping = &process.mappings[site.mapping.unwrap() as usize];
        assert!(mapping.path.ends_with("p") && (mapping.start..mapping.end).contains(&site.address));
        assert!(
            crate::sampling::locked::Function {
                arch: arch(),
                start: 0,
                bytes: &site.code
            }
            .meant(0, true)
                == Some(0),
            "{site:?}"
        );
        // One loop before the thread, one in it.
        assert!(
            site.before_threads == 0 || site.before_threads == site.total(),
            "{site:?}"
        );
        assert_eq!(site.executed.len(), 1);
    }
    assert!(matches!(&run.counts.method, Method::Counter { event, period } if event == "task-clock" && *period > 1000));
}

#[test]
fn a_child_is_followed_and_the_status_kept() {
    let Some(run) = sampled("fork") else { return };
    assert_eq!(run.status.and_then(|s| s.code()), Some(3));
    let [parent, child] = &run.counts.processes[..] else {
        panic!("{:?}", run.counts.processes)
    };
    assert_eq!((child.parent, child.end), (Some(parent.pid), End::Exited));
    assert_eq!(child.program, parent.program);
    is_about(parent.threads[0].instructions, 0.1);
    is_about(child.threads[0].instructions, 0.2);
    assert!(executed(child) > 50_000_000, "{child:?}");
}

#[test]
fn each_program_that_a_process_executes_is_an_image() {
    let Some(run) = sampled("exec") else { return };
    let ends: Vec<_> = run
        .counts
        .processes
        .iter()
        .map(|p| (p.end, p.arguments.join(" ")))
        .collect();
    assert_eq!(ends[0].0, End::Executed);
    assert_eq!(ends[1], (End::Exited, "again".to_owned()));
    assert_eq!(run.counts.processes[0].pid, run.counts.processes[1].pid);
    // The kernel counts the process, and each program's share is by the time that passed: where the machine is busy, not by halves.
    let shares: Vec<_> = run.counts.processes.iter().map(|p| p.threads[0].instructions).collect();
    assert!(shares.iter().all(|&s| s > 0), "{shares:?}");
    is_about(shares.iter().sum(), 0.2);
    assert!(
        run.counts.missing.iter().any(|l| l.contains("by time")),
        "{:?}",
        run.counts.missing
    );
}

#[test]
fn a_program_that_a_signal_ends_has_its_counts_and_status() {
    let Some(run) = sampled("signal") else { return };
    assert_eq!(run.status.and_then(|s| s.signal()), Some(9));
    let [process] = &run.counts.processes[..] else {
        panic!("{:?}", run.counts.processes)
    };
    assert_eq!(process.end, End::Unknown);
    is_about(process.threads[0].instructions, 0.1);
    assert!(executed(process) > 20_000_000, "{process:?}");
}

#[test]
fn output_is_left_alone() {
    let Some(program) = program() else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut command = Command::new(program);
    command.arg("a word").stdout(std::fs::File::create(&out).unwrap());
    run_with(&Sysfs::machine(), &mut command, &[stand_in()]).unwrap();
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "a word\n");
}

#[test]
fn ctrl_c_gives_the_counts_so_far() {
    if program().is_none() {
        return;
    }
    interrupt::pretend(true);
    // Where the tests were started with SIGINT ignored, the program would be too.
    let mut command = Command::new("env");
    command.args(["--default-signal", "sleep", "100"]);
    let run = run_with(&Sysfs::machine(), &mut command, &[stand_in()]);
    interrupt::pretend(false);
    let run = run.unwrap();
    assert_eq!(run.status.and_then(|s| s.signal()), Some(libc::SIGINT));
    let program = &run.counts.processes[0].program;
    assert!(program.ends_with("env") || program.ends_with("sleep"), "{program:?}");
}

#[test]
fn a_program_that_is_not_there_and_a_pmu_that_is_not_there_are_refused_in_a_line() {
    let fs = Sysfs::machine();
    let mut command = Command::new("/does/not/exist");
    if program().is_some() {
        let error = run_with(&fs, &mut command, &[stand_in()]).unwrap_err();
        assert!(error.message.contains("no such program"), "{error}");
    }
    let mut event = stand_in();
    event.instructions.pmu = 0x7fff_0000;
    let error = run_with(&fs, &mut command, &[event]).unwrap_err();
    assert!(
        error.message.contains("perf_event_open") && error.message.contains("--by emulator"),
        "{error}"
    );
}

#[test]
fn the_cost_is_measured_and_bounds_the_overhead() {
    let Some(run) = sampled("threads") else { return };
    assert!(run.overhead.sample_ns > 0.0, "{:?}", run.overhead);
    assert!(run.overhead.samples > 0, "{:?}", run.overhead);
    is_about(run.overhead.program_ns, 0.3);
    println!("{:?}: {:.3} %", run.overhead, 100.0 * run.overhead.share());
    // Reading takes what the machine's load makes of it; how many samples there are, the cost bounds.
    let overhead::Overhead {
        samples,
        sample_ns,
        measured,
        program_ns,
        ..
    } = run.overhead;
    let a_second = overhead::Cost { sample_ns, measured }.most_per_second() as f64;
    assert!(
        samples as f64 <= 2.0 * a_second * program_ns as f64 * 1e-9 + 5.0,
        "{:?}",
        run.overhead
    );
}
