//! The hook is process state, so each action is tested in its own process.

use cyclewise::refs::Refcount;
use cyclewise::refs::refcount::{Action, Event, Misuse, misuses, on_misuse};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

/// Runs `part`, a closure of the test that calls this, in a new process. `None` in that process, and under an emulator, where a
/// program cannot start another.
fn alone<F: FnOnce()>(part: F) -> Option<Output> {
    if std::env::var_os("ACTION").is_some() {
        part();
        return None;
    }
    let test = std::any::type_name::<F>().split_once("::").unwrap().1;
    let test = test.strip_suffix("::{{closure}}").unwrap();
    let program = || Command::new(std::env::current_exe().unwrap());
    if !program().arg("--list").output().is_ok_and(|o| o.status.success()) {
        println!("skipped: this program cannot be started from itself, under an emulator of another architecture");
        return None;
    }
    let args = ["--exact", test, "--nocapture", "--test-threads=1"];
    Some(program().args(args).env("ACTION", "1").output().unwrap())
}

fn print(misuse: &Misuse) {
    eprintln!("told: {misuse}");
}

#[test]
fn a_function_is_told_who_and_where() {
    let Some(output) = alone(|| {
        on_misuse(Action::Call(print));
        let count = Refcount::new(0);
        let line = line!() + 1;
        count.inc();
        let address = (&raw const count).addr();
        eprintln!("expected: {address:#x} at {}:{line}:", file!());
        on_misuse(Action::Count);
        count.inc();
        eprintln!(
            "counted: {} {}",
            misuses(Event::AddUseAfterFree),
            misuses(Event::AddOverflow)
        );
    }) else {
        return;
    };
    let text = String::from_utf8(output.stderr).unwrap();
    let line = |start: &str| {
        text.lines()
            .find_map(|l| l.strip_prefix(start))
            .unwrap_or_else(|| panic!("{text}"))
    };
    let (address, place) = line("expected: ").split_once(" at ").unwrap();
    let told = line("told: ");
    assert!(
        told.contains(&format!("at {address} incremented from zero; use after free")),
        "{text}"
    );
    assert!(told.contains(place), "{text}");
    assert_eq!(text.matches("told: ").count(), 1, "{text}");
    assert_eq!(line("counted: "), "1 1");
}

#[test]
fn abort_ends_the_process() {
    let Some(output) = alone(|| {
        on_misuse(Action::Abort);
        Refcount::new(1).dec();
        eprintln!("alive");
    }) else {
        return;
    };
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("alive"));
}

#[test]
fn a_function_that_panics_leaves_the_count_saturated() {
    let Some(output) = alone(|| {
        on_misuse(Action::Call(|misuse| panic!("{misuse}")));
        let count = Refcount::new(Refcount::MAX);
        assert!(std::panic::catch_unwind(|| count.inc()).is_err());
        eprintln!("saturated: {}", count.is_saturated());
    }) else {
        return;
    };
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("saturated: true"),
        "{output:?}"
    );
}
