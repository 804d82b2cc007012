//! `cyclewise fleet plan` and `fleet join` of sweeps, without Slurm.

#[path = "../common/mod.rs"]
mod common;
mod planned;
mod submitted;

use common::{Folder, cyclewise, refused, simulator, text};

/// Its output; it must have succeeded.
fn printed(args: &[&str]) -> String {
    let output = cyclewise(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

const SWEEP: [&str; 12] = [
    "simulate",
    "fetch-add",
    "lockref",
    "--machine",
    "i7-6700hq",
    "--threads",
    "1..4",
    "--retry-limit",
    "none,5",
    "--ops",
    "200",
    "--json",
];

fn sweep<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    [&SWEEP[..], rest].concat()
}
