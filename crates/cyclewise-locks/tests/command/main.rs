//! The command as people and scripts run it: the program's streams and status, the documents, and what is refused.
//!
//! Programs are counted by the emulator; where there is none, a test says so and ends.

#[path = "../../../cyclewise-lab/tests/html/browser/chromium.rs"]
#[allow(dead_code, reason = "the lab's tests use more of it")]
mod chromium;
mod common;
#[path = "../common/mod.rs"]
mod programs;
mod signals;

use common::*;
use cyclewise_locks::record;
use programs::{copy_executable, write_executable};
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[test]
fn streams_and_status_are_the_programs() {
    // Long enough for a kernel that counts user time in ticks.
    let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo out; echo error >&2; exit 7";
    let Some(output) = counted(&["--native-runs", "1"], script) else {
        return;
    };
    let said = text(&output.stderr);
    assert_eq!(
        (output.status.code(), text(&output.stdout)),
        (Some(7), "out\n".to_owned()),
        "{said}"
    );
    for says in [
        "error\n",
        "runs sh again",
        "of 1000 instructions",
        "status 7",
        "times as slow",
    ] {
        assert!(said.contains(says), "no {says}: {said}");
    }
    let killed = of_script(&["--native-runs", "0"], "kill -9 $$").output().unwrap();
    assert_eq!(killed.status.code(), Some(137));
    assert!(text(&killed.stderr).contains("signal 9 ended it"));
}

#[test]
fn a_document_has_stdout_for_itself_and_is_read_back() {
    let Some(output) = counted(&["--json", "-", "--native-runs", "0"], "echo out") else {
        return;
    };
    let said = text(&output.stderr);
    assert!(
        said.contains("out\n") && !said.contains("of 1000 instructions"),
        "{said}"
    );
    let json = text(&output.stdout);
    let read = document("stdout", &json);
    assert_eq!(read.program, ["sh", "-c", "echo out"]);
    assert!(
        read.profile.instructions > 10_000 && read.exit.code == Some(0),
        "{read:?}"
    );
    let folder = Folder::new();
    let file = folder.with("l.json", &json);
    let table = text(&locks(&["report", &file]).stdout);
    assert!(
        table.contains("of 1000 instructions") && table.contains("sh -c echo out"),
        "{table}"
    );
    let page = folder.name("l.html");
    assert!(locks(&["report", &file, "--html", &page]).status.success());
    assert!(folder.read("l.html").contains("What atomics cost sh"));
    // Two programs have no page in common, and a newer document is not guessed at.
    let (status, line) = refused(&["report", &file, &file, "--html", &page]);
    assert!(status == 2 && line.contains("one program"), "{line}");
    let newer = folder.with("newer.json", &json.replace("locks/1", "locks/2"));
    let (status, line) = refused(&["report", &newer]);
    assert!(status == 2 && line.contains("newer cyclewise"), "{line}");
}

#[test]
fn an_anonymous_document_names_neither_the_home_nor_the_folder() {
    if !can_count() {
        return;
    }
    let folder = Folder::new();
    let home = folder.path("home");
    let here = home.join("project");
    std::fs::create_dir_all(&here).unwrap();
    let key = folder.with("key", &"0123456789abcdef".repeat(4));
    let script = format!("exit 0 # {0} {0}/there", home.display());
    copy_executable(Path::new("/bin/sh"), &here.join("tool"));
    let counted = |options: &[&str]| {
        let output = command(&[
            "--by",
            "emulator",
            "--costs",
            costs(),
            "--native-runs",
            "0",
            "--json",
            "-",
        ])
        .args(options)
        .args(["--", "./tool", "-c", &script])
        .current_dir(&here)
        .env("HOME", &home)
        .output()
        .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let hidden = counted(&["--anonymous", &key]);
    let names = [home.to_str().unwrap(), &key];
    for name in names {
        assert!(!hidden.contains(name), "{name}: {hidden}");
    }
    let read = document("stdout", &hidden);
    assert_eq!(read.program[2], "exit 0 # ~ ~/there");
    assert!(read.command.iter().any(|word| word == "FILE"), "{:?}", read.command);
    // The twin: without the option they are there.
    assert!(counted(&[]).contains(names[0]));
    let (status, line) = refused(&["--anonymous", "no/key", "--", "true"]);
    assert!(status == 2 && line.contains("--anonymous no/key"), "{line}");
}

#[test]
fn the_front_page_says_what_its_record_does() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let record = format!("{folder}/records/2026-11-24-epyc-milan-kvm-locks/shared-ptr.json.gz");
    let table = text(&locks(&["report", &record, "--wide"]).stdout).replace('\u{a0}', " ");
    let front = std::fs::read_to_string(format!("{folder}/README.md")).unwrap();
    for (line, share) in [("malloc.c:4549", "21 %"), ("malloc.c:3874", "18 %")] {
        let has = |text: &str| text.lines().any(|l| l.contains(line) && l.contains(share));
        assert!(has(&table) && has(&front), "{line}: {share}: {table}");
    }
    assert!(
        table.contains("11.2 with LOCK") && front.contains("11.2 LOCKs"),
        "{table}"
    );
}

#[test]
fn a_full_disk_costs_no_report_and_no_other_document() {
    if !Path::new("/dev/full").exists() {
        println!("skipped: no /dev/full");
        return;
    }
    let folder = Folder::new();
    let page = folder.name("l.html");
    let options = ["--json", "/dev/full", "--html", &page, "--native-runs", "0"];
    let Some(output) = counted(&options, "exit 0") else {
        return;
    };
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("No space left") && said.contains("of 1000 instructions"),
        "{said}"
    );
    assert!(folder.read("l.html").contains("What atomics cost sh"));
    // A program's own failure is the status all the same.
    let failed = of_script(&options, "exit 9").output().unwrap();
    assert_eq!(failed.status.code(), Some(9));
    assert!(text(&failed.stderr).contains("No space left"));
}

#[test]
fn each_run_has_the_same_input() {
    if !can_count() {
        return;
    }
    let folder = Folder::new();
    let file = folder.with("input", "one\n");
    let output = of_script(
        &["--native-runs", "2"],
        "read line; test \"$line\" = one && echo \"$line\"",
    )
    .stdin(std::fs::File::open(file).unwrap())
    .output()
    .unwrap();
    let said = text(&output.stderr);
    assert_eq!(text(&output.stdout), "one\n", "{said}");
    assert!(said.contains("the median of 2 runs"), "{said}");
}

#[test]
fn what_cargo_builds_is_counted_and_cargo_is_not() {
    if !can_count() {
        return;
    }
    let source = "use std::sync::Arc;\nfn main() {\n    let a = Arc::new(5);\n    for _ in 0..1000 {\n        drop(Arc::clone(&a));\n    }\n}\n";
    let (folder, cargo) = small_package(source);
    let output = command(&["--by", "emulator", "--costs", costs(), "--json", "-", "--"])
        .args([&cargo, "run", "--quiet", "--offline"])
        .current_dir(folder.path(""))
        .env("CARGO_TARGET_DIR", folder.path("target"))
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let read = document("stdout", &text(&output.stdout));
    let processes = &read.profile.processes;
    assert!(
        processes.len() == 1 && processes[0].command.contains("small"),
        "{processes:?}"
    );
    let lines = record::by_line(&read.profile);
    assert!(lines[0].executed >= 1000, "{:?}", lines[0]);
    // A program that is only built is none that was counted.
    let built = command(&[
        "--costs",
        costs(),
        "--",
        &cargo,
        "test",
        "--no-run",
        "--quiet",
        "--offline",
    ])
    .current_dir(folder.path(""))
    .env("CARGO_TARGET_DIR", folder.path("target"))
    .output()
    .unwrap();
    let said = text(&built.stderr);
    assert!(
        built.status.code() == Some(1) && said.contains("started no program"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_counted_is_refused_before_it_starts() {
    let folder = Folder::new();
    let mark = folder.path("started");
    let touch = format!("touch '{}'", mark.display());
    for (options, program, status, says) in [
        (&["--json", "no/such/folder/x.json"][..], "sh", 2, "does not exist"),
        (&["--costs", "no-such-record.json"], "sh", 2, "No such file"),
        (&["--user-seconds", "0"], "sh", 2, "above 0"),
        (
            &["--user-seconds", "1", "--native-runs", "1"],
            "sh",
            2,
            "cannot be used with",
        ),
        (&[], "no-such-program-here", 2, "no such program in PATH"),
        (&[], "/", 2, "is a folder"),
    ] {
        let line = [options, &["--", program, "-c", &touch]].concat();
        let (found, text) = refused(&line);
        assert!(found == status && text.contains(says), "{line:?}: {found} {text}");
        assert!(!text.contains("panicked"), "{text}");
    }
    assert!(!mark.exists());
}

/// Counts a program that calls the C library's locks, compiled with this option, and does not time it.
fn of_callers(options: &[&str], compiled_with: &[&str]) -> Option<Output> {
    let folder = Folder::new();
    let program = can_count().then(|| programs::compile(&folder.path(""), "callers.c", compiled_with))??;
    let asked = ["--by", "emulator", "--costs", costs(), "--native", "0", "--json", "-"];
    let line = [&asked, options, &["--", program.to_str().unwrap()]].concat();
    Some(locks(&line))
}

#[test]
fn callers_are_known_unless_calls_are_not_followed() {
    let callers = |options: &[&str]| {
        let output = of_callers(options, &[])?;
        assert!(output.status.success(), "{}", text(&output.stderr));
        let profile = document("stdout", &text(&output.stdout)).profile;
        Some(profile.sites.iter().map(|site| site.callers.len()).sum::<usize>())
    };
    let Some(followed) = callers(&[]) else { return };
    assert!(followed > 0);
    assert_eq!(callers(&["--no-callers"]), Some(0));
}

#[test]
fn a_dynamic_linker_that_is_not_here_is_looked_for_below_the_sysroot() {
    let elsewhere = "-Wl,--dynamic-linker=/lib/no-such-linker.so";
    let Some(refused) = of_callers(&[], &[elsewhere]) else {
        return;
    };
    let said = text(&refused.stderr);
    assert!(
        refused.status.code() == Some(2) && said.contains("by --sysroot") && said.lines().count() == 1,
        "{said}"
    );
    let root = Folder::new();
    std::fs::create_dir(root.path("lib")).unwrap();
    let linker = root.path("lib/no-such-linker.so");
    std::os::unix::fs::symlink("/lib64/ld-linux-x86-64.so.2", linker).unwrap();
    let counted = of_callers(&["--sysroot", root.path("").to_str().unwrap()], &[elsewhere]).unwrap();
    assert!(counted.status.success(), "{}", text(&counted.stderr));
}

#[test]
fn costs_are_measured_by_the_lab_beside_it_and_without_one_a_note_says_how_to_get_it() {
    if !can_count() {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = folder.path().join("cyclewise-locks");
    std::fs::hard_link(env!("CARGO_BIN_EXE_cyclewise-locks"), &program).unwrap();
    let counted = || {
        let mut command = Command::new(&program);
        command.args(["--by", "emulator", "--native-runs", "0", "--json", "-", "--", "true"]);
        // The emulator, and no lab.
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(folder.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        document("stdout", &text(&output.stdout))
    };
    let without = counted();
    let says = |note: &String| note.contains("cargo build --release -p cyclewise-lab");
    assert!(
        without.costs.is_none() && without.notes.iter().any(says),
        "{:?}",
        without.notes
    );
    let lab = folder.path().join("cyclewise");
    let script = format!("#!/bin/sh\nprintf '%s ' \"$@\" > asked\nexec zcat '{RECORD}'\n");
    write_executable(&lab, script);
    let with = counted();
    assert!(
        with.costs
            .unwrap()
            .starts_with("in-context, measured after the run on AMD"),
        "{:?}",
        with.notes
    );
    let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
    assert_eq!(asked, "run in-context --quick --json - ");
}

/// Says how a page fails a reader at this width, if it does.
fn fails(chromium: &chromium::Chromium, page: &str, width: u32) -> Option<String> {
    let layout = chromium.lay_out(page, width);
    let is_small = |plot: &chromium::Plot| plot.width < 200.0 || plot.height < 40.0;
    match layout.plots.iter().position(is_small) {
        _ if layout.scroll_width > width => Some(format!("it is {} wide at {width}", layout.scroll_width)),
        _ if layout.plots.is_empty() => Some("it has no plot".to_owned()),
        small => small.map(|at| format!("plot {at} is small")),
    }
}

#[test]
fn a_browser_shows_the_page_on_a_desktop_and_on_a_phone() {
    let Some(chromium) = chromium::Chromium::find() else {
        return;
    };
    let record = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../records/2026-11-24-epyc-milan-kvm-locks/shared-ptr.json.gz"
    );
    let folder = Folder::new();
    assert!(
        locks(&["report", record, "--html", &folder.name("l.html")])
            .status
            .success()
    );
    let page = folder.read("l.html");
    for width in [1200, 360] {
        assert_eq!(fails(&chromium, &page, width), None);
    }
    // The twins: a page that is too wide, and one without its plot.
    let wide = page.replace("<main>", "<main><div style=\"width:50rem\">wide</div>");
    assert!(fails(&chromium, &wide, 360).unwrap().contains("wide at 360"));
    let bare = page.replace("<svg class=\"plot", "<svg class=\"none");
    assert_eq!(fails(&chromium, &bare, 360).unwrap(), "it has no plot");
}

#[test]
fn its_own_pages_and_completions_are_installed() {
    let folder = tempfile::tempdir().unwrap();
    let output = locks(&["install-docs", "--prefix", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let read = |file: &str| std::fs::read_to_string(folder.path().join("share").join(file)).unwrap();
    assert!(read("man/man1/cyclewise-locks.1").replace('\\', "").contains("--lines"));
    let bash = locks(&["completions", "bash"]);
    assert_eq!(text(&bash.stdout), read("bash-completion/completions/cyclewise-locks"));
    assert!(text(&bash.stdout).contains("--lines"));
}
