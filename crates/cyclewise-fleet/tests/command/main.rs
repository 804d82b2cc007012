//! The contract of `fleet` with scripts: exit status, streams, and the content of each document. Planned jobs run without Slurm here.

#[macro_use]
extern crate cyclewise_bench;

#[path = "../common/mod.rs"]
mod common;
mod mangle;
#[path = "../../../cyclewise-lab/tests/common/nodes.rs"]
mod nodes;
mod outputs;
mod planned;
mod records;
mod report;
mod submitted;
mod verified;
#[path = "../../../cyclewise-report/src/export/html/visible.rs"]
mod visible;

use common::{Folder, command, cyclewise, refused, text, with, words};
use std::process::Output;

fn stdout(output: &Output) -> String {
    text(&output.stdout)
}

fn stderr(output: &Output) -> String {
    text(&output.stderr)
}

/// It must have ended with 0.
#[track_caller]
fn assert_done(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// Plans a job into `dir`.
fn plan(dir: &str, options: &[&str], planned: &[&str]) -> Output {
    cyclewise(&[&["fleet", "plan", "--into", dir], options, planned].concat())
}

/// The smallest record of the tree.
const SMALL: &str = include_str!("../../../../records/2026-11-21-epyc-genoa-kvm-interpreter.json");

/// Its output; it must have succeeded.
fn printed(args: &[&str]) -> String {
    let output = cyclewise(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

const SWEEP: &str = "simulate fetch-add lockref --machine i7-6700hq --threads 1..4 --retry-limit none,5 --ops 200";

/// With where its document goes.
fn sweep<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    with(SWEEP, &[&["--json"], rest].concat())
}

#[test]
fn its_own_pages_and_completions_are_installed() {
    let folder = tempfile::tempdir().unwrap();
    let output = cyclewise(&["fleet", "install-docs", "--prefix", folder.path().to_str().unwrap()]);
    assert_done(&output);
    let read = |file: &str| std::fs::read_to_string(folder.path().join("share").join(file)).unwrap();
    assert_says!(read("man/man1/cyclewise-fleet-plan.1").replace('\\', ""), "--shards");
    let bash = cyclewise(&["fleet", "completions", "bash"]);
    assert_eq!(text(&bash.stdout), read("bash-completion/completions/cyclewise-fleet"));
    assert_says!(text(&bash.stdout), "--shards");
}
