//! Records of a user's own benchmarks, in every command that reads records.

use super::*;
use cyclewise_bench::record::fleet::{Document, Names};
use std::fs::File;
use std::process::Stdio;

/// A benchmark program's record; `None` where other work leaves too few samples.
fn measured(folder: &Folder, name: &str) -> Option<String> {
    let path = folder.name(name);
    // In this process: another one would run the tests of this program.
    let arguments = ["--bench", "--runs", "1", "--time", "0.5", "--json", &path].map(std::ffi::OsString::from);
    let status = cyclewise_bench::suite::run(arguments, |s| {
        let data = vec![1u64; 64];
        s.group("own sum")
            .elements(64)
            .bench("iter", || cyclewise_bench::black_box(&data).iter().sum::<u64>())
            .bench("reduce", || {
                cyclewise_bench::black_box(&data).iter().copied().reduce(|a, b| a + b)
            });
    });
    assert!(status == 0 || status == 3, "{status}");
    (status == 0).then_some(path)
}

#[test]
fn records_of_own_functions_are_compared_drawn_and_joined() {
    let folder = Folder::new();
    let [Some(a), Some(b)] = ["a.json", "b.json"].map(|name| measured(&folder, name)) else {
        println!("skipped: this machine is too busy to measure");
        return;
    };
    let compared = cyclewise(&["compare", &a, &b]);
    assert_eq!(compared.status.code(), Some(0), "{}", stderr(&compared));
    assert_says!(stdout(&compared), "own sum");
    let three = cyclewise(&["compare", &a, &b, &a]);
    assert_eq!(three.status.code(), Some(0), "{}", stderr(&three));
    let report = cyclewise(&["report", &a]);
    assert_says!(stdout(&report), "elements/s");
    // As the harness has its page made.
    let page = folder.name("page.html");
    let mut command = command(&["report", "/dev/stdin", "--html", &page]);
    let made = command.stdin(Stdio::from(File::open(&a).unwrap())).output().unwrap();
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    assert_says!(folder.read("page.html"), "own sum");
    let text = std::fs::read_to_string(&a).unwrap();
    match Document::parse("a.json", &text, &Names::default()) {
        Ok(Document::Member(member)) => assert_eq!(member.rows.len(), 2),
        _ => panic!("no member of a fleet"),
    }
}
