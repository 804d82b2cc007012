//! Signals that ask for an end: what was measured is kept, and nothing that was started goes on.

use super::*;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Whether the process is gone, or only waits for its parent's look, within ten seconds.
pub(super) fn is_gone(pid: &str) -> bool {
    let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat"));
    (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        stat().map_or(true, |stat| {
            stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z"))
        })
    })
}

fn send(signal: &str, pid: u32) {
    let kill = format!("kill -{signal} {pid}");
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

/// Whether the file has so many lines within twenty seconds.
fn has_lines(path: &std::path::Path, lines: usize) -> bool {
    (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        std::fs::read_to_string(path).is_ok_and(|text| text.lines().count() >= lines)
    })
}

/// A command that writes its line and that of a process of its own, which would go on.
fn hanging(folder: &Folder, hangs_at: usize) -> String {
    let (log, pid) = (folder.name("log"), folder.name("pid"));
    format!("echo run >> '{log}'; [ $(wc -l < '{log}') -lt {hangs_at} ] || {{ sleep 600 & echo $! > '{pid}'; wait; }}")
}

fn ended_by(signal: &str, number: i32, name: &str) {
    let folder = Folder::new();
    let json = folder.name("r.json");
    let cleaned = folder.path("cleaned");
    let command_line = hanging(&folder, 4);
    let cleanup = format!("echo yes > '{}'", cleaned.display());
    let options = format!("time -r 50 --json {json}");
    let args = with(&options, &["--cleanup", &cleanup, &command_line]);
    let mut child = common::command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert!(has_lines(&folder.path("pid"), 1));
    send(signal, child.id());
    let (mut table, mut said) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut table).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(number), "{said}");
    assert!(is_gone(folder.read("pid").trim()));
    assert!(cleaned.exists(), "{said}");
    let record = record::load(&folder.path("r.json")).unwrap();
    let (e, missing) = (&record.experiments[0], &record.missing);
    assert_eq!((e.rounds, e.variants[0].n + e.variants[0].rejected), (3, 3), "{said}");
    assert!(
        missing
            .iter()
            .any(|m| m.why.contains(&format!("cut short by {name} after 3 rounds"))),
        "{missing:?}"
    );
    assert_says!(table, "echo run");
}

/// An interrupt, a supervisor's signal, and the end of a terminal.
#[test]
fn a_signal_keeps_the_rounds_and_ends_what_was_started() {
    for (signal, number, name) in [("INT", 2, "Ctrl-C"), ("TERM", 15, "SIGTERM"), ("HUP", 1, "SIGHUP")] {
        ended_by(signal, number, name);
    }
}

#[test]
fn before_two_rounds_there_is_no_result_and_a_line_says_so() {
    let folder = Folder::new();
    let json = folder.name("r.json");
    let line = hanging(&folder, 1);
    let child = common::command(&["time", "--json", &json, &line])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert!(has_lines(&folder.path("pid"), 1));
    send("TERM", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(15));
    let said = text(&output.stderr);
    assert_says!(said, "SIGTERM came before two rounds were done");
    assert!(!folder.path("r.json").exists() && is_gone(folder.read("pid").trim()));
}

#[test]
fn what_is_killed_leaves_what_it_has_saved() {
    let folder = Folder::new();
    let (json, exported) = (folder.name("r.json"), folder.name("h.json"));
    let options = format!("time -r 1000 --json {json} --export-json {exported}");
    let mut child = common::command(&with(&options, &["sleep 0.1"]))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert!(has_lines(&folder.path("h.json"), 1));
    child.kill().unwrap();
    child.wait().unwrap();
    let record = record::load(&folder.path("r.json")).unwrap();
    assert!(record.experiments[0].variants[0].n >= 2);
    assert_says!(record.missing[0].why, "while it ran");
    assert_says!(folder.read("h.json"), "\"times\"");
}

/// `script` gives it a terminal, whose Ctrl-C reaches the group in the foreground, as does the input of the commands.
#[test]
fn at_a_terminal_ctrl_c_ends_all_and_the_command_may_use_the_terminal() {
    if Command::new("script")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        return println!("skipped: there is no script(1)");
    }
    let folder = Folder::new();
    let (json, pid) = (folder.name("r.json"), folder.name("pid"));
    let log = folder.name("log");
    // In the background it would be stopped when it changes the terminal, as a prompt for a password does.
    let command_line = format!(
        "stty -echo < /dev/tty; stty echo < /dev/tty; echo run >> {log}; [ $(wc -l < {log}) -lt 4 ] || (sleep 600 & echo $! > {pid}; wait)"
    );
    let line = format!(
        "env --default-signal '{}' time -r 50 --json {json} '{command_line}'",
        env!("CARGO_BIN_EXE_cyclewise")
    );
    let mut child = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    assert!(has_lines(&folder.path("pid"), 1));
    child.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    let said: Vec<String> = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .collect();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{said:?}");
    assert!(is_gone(folder.read("pid").trim()));
    let record = record::load(&folder.path("r.json")).unwrap();
    assert_eq!(record.experiments[0].rounds, 3, "{said:?}");
}
