//! Signals of supervisors and lost terminals: whatever runs long keeps what it has, and ends by the signal.

use super::*;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

/// The end of a command that got the signal as soon as it said `begun` on stderr.
pub(crate) fn ended_by(signal: &str, begun: &str, args: &[&str]) -> Output {
    let mut child = command(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    for line in BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok)
    {
        said += &format!("{line}\n");
        if line.contains(begun) && said.matches(begun).count() == 1 {
            let kill = format!("kill -{signal} {}", child.id());
            assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        }
    }
    let mut output = child.wait_with_output().unwrap();
    output.stderr = said.into_bytes();
    output
}

#[test]
fn a_sweep_keeps_its_points_and_is_not_taken_for_whole() {
    let folder = Folder::new();
    let json = folder.name("s.json");
    let line = format!("simulate lockref --machine thunderx2 --threads 1..224 --ops 1000 --json {json}");
    let args = words(&line);
    let output = ended_by("TERM", " points", &args);
    let said = stderr(&output);
    assert_eq!(output.status.signal(), Some(15), "{said}");
    assert_says!(said, "SIGTERM came when ", "the others are marked");
    assert_says!(stdout(&output), "points were not simulated before SIGTERM");
    let shown = cyclewise(&["report", &json]);
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    // It is made again, and not taken for whole.
    let again = ended_by("HUP", " points", &[&args[..], &["--if-missing"]].concat());
    assert_eq!(again.status.signal(), Some(1), "{}", stderr(&again));
}

#[test]
fn a_recommendation_has_what_was_decided() {
    let args = ["recommend", "--machine", "thunderx2", "--json", "-"];
    let output = ended_by("TERM", " predictions", &args);
    let said = stderr(&output);
    assert_eq!(output.status.signal(), Some(15), "{said}");
    match serde_json::from_slice::<serde_json::Value>(&output.stdout) {
        Ok(made) => assert!(!made["missing"].as_array().unwrap().is_empty(), "{made}"),
        Err(_) => assert!(
            said.contains("SIGTERM came before anything could be recommended"),
            "{said}"
        ),
    }
}

#[test]
fn a_verification_tells_what_it_has_tried() {
    for what in ["refs", "clock", "percpu"] {
        let output = ended_by(
            "HUP",
            &format!("verify {what}"),
            &["verify", what, "--seconds", "600", "--json", "-"],
        );
        let said = stderr(&output);
        assert_eq!(output.status.signal(), Some(1), "{what}: {said}");
        let made: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let notes = made["notes"].to_string();
        assert!(notes.contains("ended early by SIGHUP"), "{what}: {notes}");
        let checks = made["checks"].as_array().unwrap();
        assert!(
            !checks.is_empty() && checks.iter().any(|c| c["tries"].as_u64() > Some(0)),
            "{what}: {made}"
        );
    }
}
