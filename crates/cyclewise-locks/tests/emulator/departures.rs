//! Processes that leave what they began with: another user, another root, a program without a name, or the program's own end.
//! They run as they would without the emulator, and what is not counted of them is named.

use crate::common::long::short_or_long;
use crate::common::{compiled, copy_executable, count, count_with, sites_at, symbols, total};
use cyclewise_locks::counts::End;
use cyclewise_locks::emulator::{Emulator, Launch, Ran, Settings, run};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The program of the process tests, where others may reach it too.
fn program(options: &[&str]) -> Option<(Emulator, tempfile::TempDir, PathBuf)> {
    let (emulator, folder, path) = compiled("processes.c", options)?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    Some((emulator, folder, path))
}

/// Whether the program can do without the emulator what the test asks of it: only root may.
fn may(program: &Path, arguments: &[&str], status: i32) -> bool {
    let native = Command::new(program).args(arguments).status().unwrap();
    if native.code() != Some(status) {
        println!("skipped: {arguments:?} ends with {native} without the emulator");
    }
    native.code() == Some(status)
}

#[test]
fn another_users_process() {
    let Some((emulator, _folder, program)) = program(&[]) else {
        return;
    };
    let path = program.to_str().unwrap();
    let arguments = ["user", "65534", path, "x", "own", "5", "42"];
    if !may(&program, &arguments, 42) {
        return;
    }
    let (output, counts) = count_with(&emulator, &Settings::default(), &program, &arguments);
    assert_eq!(output.status.code(), Some(42), "{output:?}");
    assert_eq!(output.stderr, b"");
    assert_eq!(counts.processes.len(), 1);
    let expected =
        format!("not counted: {path}: its process runs as user 65534, who may not use the folder of the counts");
    assert_eq!(counts.missing, [expected]);
    // The same user may.
    let (_, counts) = count(&emulator, &program, &["user", "0", path, "x", "own", "5"]);
    assert_eq!(counts.processes.len(), 2);
}

#[test]
fn a_process_that_becomes_another_user_is_counted_on() {
    let Some((emulator, _folder, program)) = compiled("million_words.c", &[]) else {
        return;
    };
    let arguments = ["8000", "65534"];
    if !may(&program, &arguments, 0) {
        return;
    }
    // The words need more room than the file has by then, and this user may not open it.
    let (_, counts) = count(&emulator, &program, &arguments);
    let process = &counts.processes[0];
    let site = sites_at(process, symbols(&program)["site_word"]).next().unwrap();
    assert_eq!((site.total(), site.words.private), (8000, 8000));
}

#[test]
fn another_root() {
    let Some((emulator, folder, program)) = program(&["-static"]) else {
        return;
    };
    let arguments = [
        "root",
        folder.path().to_str().unwrap(),
        "/processes",
        "x",
        "own",
        "5",
        "42",
    ];
    if !may(&program, &arguments, 42) {
        return;
    }
    let (output, counts) = count_with(&emulator, &Settings::default(), &program, &arguments);
    assert_eq!(output.status.code(), Some(42), "{output:?}");
    assert_eq!(output.stderr, b"");
    assert_eq!(counts.processes.len(), 1);
    assert_eq!(
        counts.missing,
        ["not counted: /processes: its process has another root folder, where the emulator and the counts are not"]
    );
}

#[test]
fn programs_without_a_name() {
    let Some((emulator, _folder, program)) = program(&[]) else {
        return;
    };
    for closed in ["0", "1"] {
        for how in ["descriptor", "path"] {
            let arguments = ["memory", closed, how, "x", "own", "9", "3"];
            let (output, counts) = count_with(&emulator, &Settings::default(), &program, &arguments);
            assert_eq!(output.status.code(), Some(3), "{arguments:?}: {output:?}");
            let [missing] = &counts.missing[..] else {
                panic!("{:?}", counts.missing)
            };
            assert!(
                missing.ends_with("executes a file without a name: its code is taken for generated code"),
                "{missing}"
            );
            let [first, second] = &counts.processes[..] else {
                panic!("two images")
            };
            assert_eq!((first.end, second.end), (End::Executed, End::Exited));
            assert!(total(second) >= 9, "it has been counted");
            assert_eq!(second.program, Path::new("/memfd:copy (deleted)"));
            let arguments = ["memory", closed, how, "x", "descriptors"];
            let (output, _) = count_with(&emulator, &Settings::default(), &program, &arguments);
            let said = String::from_utf8(output.stdout).unwrap();
            let native = Command::new(&program)
                .args(["memory", closed, how, "x", "descriptors"])
                .output()
                .unwrap();
            // The emulator itself has a few after those.
            let native = String::from_utf8(native.stdout).unwrap();
            assert!(
                said.starts_with(native.trim_end()),
                "{arguments:?}: {said}, and natively {native}"
            );
        }
    }
}

#[test]
fn processes_that_outlive_the_program() {
    let Some((emulator, folder, program)) = program(&[]) else {
        return;
    };
    let file = |name: &str| folder.path().join(name);
    let (go, done) = (file("go"), file("done"));
    let launch = Launch {
        program: program.clone().into(),
        arguments: vec!["outlive".into(), go.clone().into(), done.clone().into()],
        emulator,
        settings: Settings::default(),
    };
    let Ran {
        status,
        counts,
        asked_to_end,
    } = run(&launch).unwrap();
    assert!(status.code() == Some(6) && !asked_to_end);
    let expected = format!(
        "incomplete: 1 processes were still running when the program had ended ({}): these are their counts until then",
        program.display()
    );
    assert_eq!(counts.missing, [expected]);
    let child = &counts.processes[1];
    let site = symbols(&program)["site_own"];
    assert_eq!(
        crate::common::sites_at(child, site).map(|s| s.total()).sum::<u64>(),
        2,
        "the counts so far"
    );
    assert_eq!(child.end, End::Unknown);
    // The folder is gone by now; the child executes something all the same.
    std::fs::write(&go, "").unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done.exists() {
        assert!(Instant::now() < deadline, "the child did not go on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The folder stays until the emulator has begun, which needs it.
#[test]
fn a_program_that_is_started_while_the_run_ends() {
    let Some((emulator, folder, program)) = program(&[]) else {
        return;
    };
    // The shell ends while its child executes the program.
    for round in 0..short_or_long(5, 20) {
        let done = folder.path().join(format!("done {round}"));
        let line = format!("{} touch '{}' >/dev/null 2>&1 &", program.display(), done.display());
        let launch = Launch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), line.into()],
            emulator: emulator.clone(),
            settings: Settings::default(),
        };
        let status = run(&launch).unwrap().status;
        assert!(status.success());
        let deadline = Instant::now() + Duration::from_secs(20);
        while !done.exists() {
            assert!(Instant::now() < deadline, "round {round}: the program was not run");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_program_whose_file_is_removed() {
    let Some((emulator, folder, program)) = program(&[]) else {
        return;
    };
    let copy = folder.path().join("copy");
    copy_executable(&program, &copy);
    let arguments = ["removed", copy.to_str().unwrap()];
    let (_, counts) = count_with(&emulator, &Settings::default(), &copy, &arguments);
    let expected = format!(
        "not run: {}: it executes itself after its file has been removed, which the emulator cannot do",
        copy.display()
    );
    assert_eq!(counts.missing, [expected]);
}
