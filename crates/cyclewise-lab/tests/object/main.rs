//! `cyclewise run --object`: benchmarks in C and C++, by each compiler that is there; and what is no such object.
#![cfg(target_os = "linux")]

#[macro_use]
extern crate cyclewise_bench;

mod bad;
#[path = "../common/mod.rs"]
mod common;

use common::{Folder, command, text};
use cyclewise_lab::record::{self, Record};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A compiler, and the language that it compiles.
#[derive(Clone, Copy, Debug)]
struct Compiler {
    name: &'static str,
    cxx: bool,
}

const COMPILERS: [Compiler; 4] = [
    Compiler { name: "cc", cxx: false },
    Compiler {
        name: "clang",
        cxx: false,
    },
    Compiler { name: "g++", cxx: true },
    Compiler {
        name: "clang++",
        cxx: true,
    },
];

/// Warnings of a careful user, and the oldest standard.
const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

impl Compiler {
    fn all() -> Vec<Self> {
        let is_there = |compiler: &Self| {
            let mut command = Command::new(compiler.name);
            let ran = command.arg("--version").stdin(Stdio::null()).output();
            let there = ran.is_ok_and(|output| output.status.success());
            if !there {
                println!("skipped: {} is not installed", compiler.name);
            }
            there
        };
        COMPILERS.into_iter().filter(is_there).collect()
    }

    fn compile(self, source: &Path, options: &[&str], into: &Path) {
        let (language, standard) = if self.cxx {
            ("c++", "-std=c++11")
        } else {
            ("c", "-std=c99")
        };
        let mut command = Command::new(self.name);
        command.args(STRICT).args(["-x", language, standard, "-I"]);
        command.arg(package("cyclewise-c/include")).args(options);
        let output = command.arg(source).arg("-o").arg(into).output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    }

    /// Compiles to a shared object of this name in the folder.
    fn object(self, source: &Path, options: &[&str], folder: &Folder, name: &str) -> String {
        let object = folder.path(name);
        self.compile(source, &[options, &["-fPIC", "-shared"]].concat(), &object);
        object.display().to_string()
    }
}

/// A path below the folder of the packages.
fn package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn source(name: &str) -> PathBuf {
    package("cyclewise-lab/tests/object").join(name)
}

/// The object that cc makes of a source of these tests.
fn by_cc(folder: &Folder, name: &str) -> String {
    COMPILERS[0].object(&source(name), &["-O1"], folder, "by-cc.so")
}

fn run(object: &str, arguments: &[&str]) -> Output {
    command(&[&["run", "--object", object], arguments].concat())
        .output()
        .unwrap()
}

/// Measures for a moment; `None`, with the reason printed, where other work on this machine leaves too few samples.
fn measured(object: &str, arguments: &[&str]) -> Option<(Output, Record)> {
    let folder = Folder::new();
    let path = folder.name("record.json");
    for time in ["0.2", "1", "5"] {
        let ran = run(object, &[&["--time", time, "--json", &path], arguments].concat());
        if !text(&ran.stderr).contains("samples were usable") {
            let record = record::load(Path::new(&path)).unwrap_or_else(|e| panic!("{e}: {}", text(&ran.stderr)));
            return Some((ran, record));
        }
    }
    println!("skipped: this machine is too busy to measure");
    None
}

/// The lines that `--test` prints, each of a body that ran once.
fn tested(object: &str) -> Vec<String> {
    let ran = run(object, &["--test"]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let printed = text(&ran.stdout);
    let names = printed
        .lines()
        .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... ok"));
    names.map(str::to_string).collect()
}

#[test]
fn the_example_is_c_and_cplusplus_and_a_record_as_a_rust_programs() {
    let folder = Folder::new();
    let example = package("cyclewise-c/examples/bench.c");
    let rows = ["sum/one by one", "sum/by four", "sort/qsort", "sort/insertion"];
    for compiler in Compiler::all() {
        let object = compiler.object(&example, &["-O2"], &folder, "example.so");
        assert_eq!(tested(&object), rows, "{compiler:?}");
    }
    let object = COMPILERS[0].object(&example, &["-O2"], &folder, "example.so");
    let Some((ran, record)) = measured(&object, &["--runs", "2"]) else {
        return;
    };
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    assert_eq!(record.runs.len(), 2, "each process loads the object");
    let [sum, sort] = &record.experiments[..] else {
        panic!("{:?}", record.experiments.len())
    };
    assert_eq!((&*sum.name, &*sum.source, &*sort.name), ("sum", "example.so", "sort"));
    let compared = |e: &record::Experiment| {
        e.comparisons
            .iter()
            .map(|c| (c.a.clone(), c.b.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(compared(sum), [("by four".to_string(), "one by one".to_string())]);
    assert_eq!(compared(sort), [("insertion".to_string(), "qsort".to_string())]);
    // 256 words are added, however wide the vectors: less than 2 ns is no sum.
    let ns = |v: &record::Variant| v.median / record.machine.tsc_hz * 1e9;
    assert!(sum.variants.iter().all(|v| ns(v) > 2.0), "{}", text(&ran.stdout));
    let printed = text(&ran.stdout);
    assert!(printed.starts_with("sum: "), "{printed}");
    assert_says!(printed, "\nsum\nrow ");
}

#[test]
fn every_kind_of_expression_is_measured_at_every_level() {
    let folder = Folder::new();
    for compiler in Compiler::all() {
        let (name, count) = if compiler.cxx {
            ("kinds.cc", 17)
        } else {
            ("kinds.c", 20)
        };
        for level in ["-O0", "-O2"] {
            let object = compiler.object(&source(name), &[level], &folder, "kinds.so");
            let rows = tested(&object);
            assert_eq!(rows.len(), count, "{compiler:?} {level}: {rows:?}");
            let first = if compiler.cxx { "types/int" } else { "kinds/ungrouped" };
            assert_eq!(rows[0], first);
        }
    }
}

#[test]
fn loops_call_as_often_as_the_harness_counts() {
    let folder = Folder::new();
    for compiler in Compiler::all().into_iter().filter(|c| !c.cxx) {
        for level in ["-O0", "-O3"] {
            let program = folder.path("program");
            compiler.compile(&source("kinds.c"), &[level, "-DPROGRAM"], &program);
            let ran = Command::new(&program).output().unwrap();
            assert!(ran.status.success(), "{compiler:?} {level}: {}", text(&ran.stdout));
            assert_eq!(text(&ran.stdout), "72 bytes, 3 counted\n");
        }
    }
}

#[test]
fn units_that_are_linked_into_one_object_share_groups() {
    let folder = Folder::new();
    let unit = |name: &str, rows: &str| {
        let text = format!("#include <cyclewise/bench.h>\n{rows}\n");
        folder.with(name, &text);
        let object = folder.path(&format!("{name}.o"));
        COMPILERS[0].compile(&folder.path(name), &["-O2", "-fPIC", "-c"], &object);
        object
    };
    let units = [
        unit(
            "one.c",
            "CW_BENCH_GROUP(\"both\") CW_BENCH(b, CW_BLACK_BOX(1))\nCW_BENCH(a, CW_BLACK_BOX(2))",
        ),
        unit(
            "two.c",
            "CW_BENCH(own, CW_BLACK_BOX(3))\nCW_BENCH_GROUP(\"both\")\nCW_BENCH(c, CW_BLACK_BOX(4))",
        ),
    ];
    let object = folder.name("both.so");
    // As large projects link: what nothing refers to is left out.
    let linked = Command::new("cc")
        .args(["-shared", "-Wl,--gc-sections", "-o", &object])
        .args(&units)
        .output()
        .unwrap();
    assert!(linked.status.success(), "{}", text(&linked.stderr));
    assert_eq!(tested(&object), ["both/b", "both/a", "both/c", "two/own"]);
}

#[test]
fn rows_are_chosen_and_documents_written_as_of_a_rust_program() {
    let folder = Folder::new();
    let object = by_cc(&folder, "kinds.c");
    let list = text(&run(&object, &["counted", "--list"]).stdout);
    assert_eq!(
        list,
        "counted/value: benchmark\ncounted/nothing: benchmark\ncounted/input: benchmark\n"
    );
    let markdown = folder.name("a.md");
    let asked = ["--exact", "counted/value", "--markdown", &markdown, "--quick"];
    let Some((_, record)) = measured(&object, &asked) else {
        return;
    };
    assert_eq!(record.experiments.len(), 1);
    assert!(folder.read("a.md").starts_with("## counted\n"));
    let help = run(&object, &["--help"]);
    assert!(text(&help.stdout).starts_with("Usage: cyclewise run --object FILE") && help.status.success());
}
