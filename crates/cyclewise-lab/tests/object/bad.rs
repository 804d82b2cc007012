//! What is no object, or crashes: one line, and what there is.

use super::common::{Folder, refused, text};
use super::{COMPILERS, Compiler, by_cc, command, measured, run, source};
use std::fs;

/// The one line that a command prints, which exits with 2.
#[track_caller]
fn line(arguments: &[&str]) -> String {
    let (status, line) = refused(arguments);
    assert_eq!(status, 2, "{line}");
    line
}

fn made(folder: &Folder, text: &str, options: &[&str]) -> String {
    let name = folder.with("made.c", text);
    COMPILERS[0].object(name.as_ref(), options, folder, "made.so")
}

#[test]
fn what_is_no_shared_object_is_refused_in_a_line() {
    let folder = Folder::new();
    let of = |path: &str, part: &str| {
        let line = line(&["run", "--object", path]);
        assert!(
            line.starts_with(&format!("cyclewise: --object {path}: ")) && line.contains(part),
            "{line}"
        );
    };
    of("/no/such/mine.so", "No such file");
    of("/", "Is a directory");
    of(
        &folder.with("mine.so", "int x;\n"),
        "no shared object; link one with cc -shared -fPIC",
    );
    of(&folder.with("empty.so", ""), "no shared object");
    let unlinked = folder.path("mine.o");
    COMPILERS[0].compile(&source("bad.c"), &["-c"], &unlinked);
    of(&unlinked.display().to_string(), "not linked");
    // Another machine's, which is 18 bytes behind the beginning.
    let object = by_cc(&folder, "kinds.c");
    let mut bytes = fs::read(&object).unwrap();
    bytes[18] ^= 0x80;
    fs::write(folder.path("other.so"), &bytes).unwrap();
    of(&folder.name("other.so"), "another architecture");
    bytes[18] ^= 0x80;
    fs::write(folder.path("short.so"), &bytes[..200]).unwrap();
    of(&folder.name("short.so"), "does not load: ");
    // The twin: the whole file is taken.
    assert!(run(&object, &["--list"]).status.success());
}

#[test]
fn an_object_without_benchmarks_that_can_be_read_is_refused_in_a_line() {
    let folder = Folder::new();
    let of = |text: &str, options: &[&str], part: &str| {
        let object = made(&folder, text, options);
        let line = line(&["run", "--object", &object]);
        assert!(
            line.starts_with("cyclewise: --object ") && line.contains(part),
            "{line}"
        );
    };
    of("int x;\n", &[], "no benchmarks");
    of("#include <cyclewise/bench.h>\n", &[], "no benchmarks");
    of(
        "void missing(void);\nvoid *f(void);\nvoid *f(void) { return (void *)missing; }\n",
        &["-Wno-pedantic"],
        "does not load: ",
    );
    let table = |version: u32, size: u32| {
        format!("struct {{ unsigned a, b; void *c, *d; }} cyclewise_bench_table = {{ {version}, {size}, 0, 0 }};\n")
    };
    of(
        &table(2, 24),
        &[],
        "version 2 of <cyclewise/bench.h>, and this program reads version 1",
    );
    of(&table(1, 8), &[], "8 bytes");
    of(&table(1, 24), &[], "no benchmarks");
    of(
        "#include <cyclewise/bench.h>\nCW_BENCH_GROUP(\"none\")\n",
        &[],
        "no benchmarks",
    );
}

#[test]
fn what_makes_no_sense_is_refused_in_a_line() {
    let folder = Folder::new();
    let object = by_cc(&folder, "kinds.c");
    for (arguments, part) in [
        (&["run", "--object"][..], "names no file"),
        (&["run", "--object", "a.so", "--object", "b.so"], "twice"),
        (&["run", "--object", &object, "--pipe"], "there is no option --pipe"),
        (
            &["run", "--object", &object, "--memory-limit", "7"],
            "for programs of Rust",
        ),
        (&["run", "--object", &object, "--time", "0"], "--time 0"),
        (
            &["run", "--object", &object, "--csv", "/no/such/a.csv"],
            "/no/such/a.csv",
        ),
        (&["planned-run", "run", "--object", &object], "one machine"),
    ] {
        let line = line(arguments);
        assert!(line.contains(part), "{line}");
    }
    let twice = made(
        &folder,
        "#include <cyclewise/bench.h>\nCW_BENCH(a, 1)\nCW_BENCH(a, 2)\n",
        &[],
    );
    let line = line(&["run", "--object", &twice, "--test"]);
    assert_says!(line, "has a twice");
}

#[test]
fn a_crash_is_named_and_what_was_measured_before_it_is_kept() {
    let folder = Folder::new();
    let object = by_cc(&folder, "bad.c");
    for (row, how) in [
        ("bad/segv", "ended in SIGSEGV"),
        ("bad/stack", "ended in SIGSEGV"),
        ("bad/abort", "ended in SIGABRT"),
        ("bad/exit", "called exit(3)"),
    ] {
        let Some((ran, record)) = measured(&object, &["before", row, "after"]) else {
            return;
        };
        assert_eq!(ran.status.code(), Some(1), "{row}");
        let said = text(&ran.stderr);
        assert_says!(said, &format!("cyclewise-bench: {row}: {how}"));
        let groups: Vec<&str> = record.experiments.iter().map(|e| &*e.name).collect();
        assert_eq!(groups, ["before"], "{row}");
    }
    // The twin: without them the last group is measured.
    let ran = run(&object, &["--test", "--skip", "bad"]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    assert_says!(text(&ran.stdout), "test after/good ... ok");
}

#[test]
fn an_exception_does_not_leave_a_benchmark() {
    let folder = Folder::new();
    let text_of = "#include <cyclewise/bench.h>\nCW_BENCH(thrown, throw 7)\n";
    let name = folder.with("thrown.cc", text_of);
    for compiler in Compiler::all().into_iter().filter(|c| c.cxx) {
        let object = compiler.object(name.as_ref(), &["-O1", "-Wno-error"], &folder, "thrown.so");
        let ran = run(&object, &["--test"]);
        assert_eq!(ran.status.code(), Some(1), "{compiler:?}");
        let said = text(&ran.stderr);
        assert!(said.contains("thrown/thrown: ended in SIGABRT"), "{compiler:?}: {said}");
    }
}

#[test]
fn a_constructor_that_crashes_is_told() {
    let folder = Folder::new();
    let object = made(
        &folder,
        "__attribute__((constructor)) static void now(void) { __builtin_trap(); }\n",
        &["-O0"],
    );
    let ran = command(&["run", "--object", &object]).output().unwrap();
    assert!(!ran.status.success());
    let said = text(&ran.stderr);
    assert_says!(said, "cyclewise: loading the object ended in SIG");
}
