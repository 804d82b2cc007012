//! Signals to the command, and to what it runs.

use super::*;
use std::time::Duration;

#[test]
fn signals_that_end_the_program_leave_its_counts_and_run_nothing_more() {
    if !can_count() {
        return;
    }
    let forever = "echo ready; while :; do :; done";
    // A server may end in good order, and its status does not tell then why.
    let in_good_order = format!("trap 'exit 0' INT TERM; {forever}");
    for (script, signal, status) in [
        (forever, "-INT", 130),
        (&in_good_order, "-INT", 0),
        (&in_good_order, "-TERM", 0),
    ] {
        let mut child = of_script(&[], script)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(
            said.contains("counts until then") && !said.contains("again without counting"),
            "{said}"
        );
    }
}

#[test]
fn a_server_that_a_client_ends_is_reported_and_not_started_again() {
    use std::io::{BufRead, Write};
    let folder = Folder::new();
    let Some(server) = can_count()
        .then(|| programs::compile(&folder.path(""), "server.c", &[]))
        .flatten()
    else {
        return;
    };
    let mut child = command(&["--by", "emulator", "--costs", costs(), "--", server.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    std::io::BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut port)
        .unwrap();
    for word in ["work", "work", "end"] {
        let mut client = std::net::TcpStream::connect(("127.0.0.1", port.trim().parse().unwrap())).unwrap();
        client.write_all(word.as_bytes()).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("of 1000 instructions") && said.contains("clients from outside"),
        "{said}"
    );
    assert!(!said.contains("again without counting"), "{said}");
}

/// Waits until the command has said so on stderr; what it says after that is the rest.
fn said_until(child: &mut std::process::Child, says: &str) -> String {
    use std::io::Read;
    let mut said = Vec::new();
    let stderr = child.stderr.as_mut().unwrap();
    while !String::from_utf8_lossy(&said).contains(says) {
        let mut byte = [0];
        stderr.read_exact(&mut byte).unwrap();
        said.push(byte[0]);
    }
    text(&said)
}

#[test]
fn sigterm_after_the_counted_run_leaves_out_what_was_to_come_and_keeps_the_report() {
    if !can_count() {
        return;
    }
    let folder = Folder::new();
    let mark = folder.path("mark");
    // Short when it is counted, and for ever when it runs again.
    let script = format!("test -e '{0}' && exec sleep 600; : > '{0}'; exit 7", mark.display());
    for signal in ["-TERM", "-HUP", "-INT"] {
        let _ = std::fs::remove_file(&mark);
        let json = folder.name("l.json");
        let mut child = of_script(&["--native-runs", "1", "--json", &json], &script)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let before = said_until(&mut child, "again without counting");
        assert!(
            before.contains("of 1000 instructions"),
            "counts are printed first: {before}"
        );
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(7), "{said}");
        assert!(
            said.contains("each for at most") && said.contains("a signal ended a run"),
            "{said}"
        );
        assert!(document("l.json", &folder.read("l.json")).profile.instructions > 10_000);
    }
}

#[test]
fn sigterm_ends_what_cargo_runs_and_reports_it() {
    if !can_count() {
        return;
    }
    let source = "fn main() {\n    eprintln!(\"it runs\");\n    loop {\n        std::thread::sleep(std::time::Duration::from_secs(1));\n    }\n}\n";
    let (folder, cargo) = small_package(source);
    let mut child = command(&["--by", "emulator", "--costs", costs(), "--"])
        .args([&cargo, "run", "--quiet", "--offline"])
        .current_dir(folder.path(""))
        .env("CARGO_TARGET_DIR", folder.path("target"))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    said_until(&mut child, "it runs");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert!(said.contains("of 1000 instructions"), "{said}");
    // Of `run`, cargo becomes what it runs.
    assert_eq!(output.status.code(), Some(143), "{said}");
}
