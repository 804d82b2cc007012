//! Scripts of a planned job with made-up commands of Slurm and ssh: what they are given, and what comes of their refusals.

mod arrays;
mod local;
mod nodes;

use super::*;
use crate::common::executable::write_executable;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A folder for PATH with programs that note their arguments.
fn commands(folder: &Folder, programs: &[(&str, &str)]) -> String {
    let bin = folder.path("bin");
    fs::create_dir_all(&bin).unwrap();
    for (name, script) in programs {
        let path = bin.join(name);
        write_executable(&path, format!("#!/bin/sh\n{script}\n"));
    }
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

fn run(path: &str, dir: &Path, script: &str, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new("sh");
    command
        .arg(dir.join(script))
        .env("PATH", path)
        .envs(environment.iter().copied());
    command.output().unwrap()
}

fn plan(dir: &str, options: &[&str], planned: &[&str]) {
    assert_done(&super::plan(dir, options, planned));
}

const SWEEP_OF_2240: &str =
    "simulate lockref --machine thunderx2 --threads 1..224 --retry-limit 1,2,3,4,5,6,7,8,9,none";

/// A program that writes what it was given where `--json` says.
const RECORDS: &str = r#"case "$1" in doctor) echo "{\"given\": \"$*\"}" ;; run) echo "$*" >"$3" ;; esac"#;

/// The files of a folder in the order of their names.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
