//! Every option that an answer, a warning or an error names is one of the command that says so.
//!
//! The texts are the string literals of the sources: an answer that this machine never gives is looked at as well.

use super::*;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Which commands print the texts of a file, by the beginning of its path below `crates/`: the first that fits. All of them must have
/// an option that is named without its command.
const SPEAKERS: &[(&str, &[&str])] = &[
    ("cyclewise-bench/src/suite/", &["bench"]),
    ("cyclewise-bench/src/runner/parts/", &["run", "bench"]),
    // A function of `run` and `verify lab`, which alone have the option.
    ("cyclewise-bench/src/runner/cpu_choice.rs", &["run", "verify", "bench"]),
    (
        "cyclewise-bench/src/machine/identity/key.rs",
        &["run", "time", "doctor"],
    ),
    ("cyclewise-bench/src/", &["run", "time", "verify", "bench"]),
    ("cyclewise-report/src/compare/", &["compare"]),
    ("cyclewise-report/src/export/side_by_side.rs", &["compare"]),
    ("cyclewise-report/src/export/table/fleet.rs", &["fleet"]),
    ("cyclewise-report/src/export/table/", &["run", "report"]),
    ("cyclewise-report/src/files/default_names.rs", &["run"]),
    ("cyclewise-report/src/fleet/", &["fleet"]),
    ("cyclewise-report/src/docs.rs", &["install-docs"]),
    ("cyclewise-lab/src/command/object.rs", &["run"]),
    ("cyclewise-lab/src/command/planned_run.rs", &["run"]),
    ("cyclewise-lab/src/command/run", &["run"]),
    ("cyclewise-lab/src/command/report.rs", &["report"]),
    ("cyclewise-lab/src/command/time", &["time"]),
    ("cyclewise-lab/src/command/verify.rs", &["verify"]),
    ("cyclewise-lab/src/command/limits.rs", &["limits"]),
    ("cyclewise-lab/src/experiment/time/", &["time"]),
    ("cyclewise-lab/src/experiment/", &["run"]),
    ("cyclewise-lab/src/machine/doctor/", &["doctor"]),
    ("cyclewise-sim/src/recommend/", &["recommend"]),
    ("cyclewise-sim/src/sweep/machines.rs", &["simulate"]),
    ("cyclewise-sim/src/", &["simulate"]),
    ("cyclewise-fleet/src/", &["fleet"]),
    ("cyclewise-locks/src/", &["locks"]),
];

/// Texts that are no advice: what another program is called with, and formats of other programs.
const FOREIGN: &[&str] = &[
    "cargo ",
    "openssl ",
    "git ",
    "sbatch ",
    "node -",
    "qemu",
    "cd -P",
    "--version:",
];

#[test]
fn each_option_that_a_text_names_is_one_of_its_command() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let parsers = Parsers::default();
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for file in sources(&crates) {
        let name = file.strip_prefix(&crates).unwrap().display().to_string();
        for text in literals(&std::fs::read_to_string(&file).unwrap()) {
            for (command, option) in named(&text) {
                let speakers = match &command {
                    Some(command) => vec![command.as_str()],
                    None => match SPEAKERS.iter().find(|(start, _)| name.starts_with(start)) {
                        Some((_, speakers)) => speakers.to_vec(),
                        None => {
                            wrong.push(format!("{name}: nobody is known to say {option} of {text:?}"));
                            continue;
                        }
                    },
                };
                tried += 1;
                let lacks = speakers.into_iter().filter(|speaker| !parsers.have(speaker, &option));
                wrong.extend(lacks.map(|speaker| format!("{name}: `{speaker}` has no {option}: {text:?}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(tried > 60, "the walk found {tried} options only");
}

#[test]
fn the_walk_finds_an_option_that_a_command_lacks() {
    let text = r#"fn f() { say("too few; choose another CPU with --cpu, or `run --runs 5`"); } // not "--here" nor"#;
    let found: Vec<_> = literals(text).iter().flat_map(|text| named(text)).collect();
    assert_eq!(
        found,
        [
            (None, "--cpu".to_string()),
            (Some("run".to_string()), "--runs".to_string())
        ]
    );
    let parsers = Parsers::default();
    assert!(parsers.have("run", "--cpu") && !parsers.have("time", "--cpu") && !parsers.have("run", "--run"));
    assert!(parsers.have("fleet", "--nodes") && !parsers.have("fleet", "--cpu"));
}

/// The options of each command: its help, or where its program is not built here the definition of its arguments.
#[derive(Default)]
struct Parsers(RefCell<HashMap<String, String>>);

impl Parsers {
    fn have(&self, command: &str, option: &str) -> bool {
        let mut known = self.0.borrow_mut();
        let text = known.entry(command.to_string()).or_insert_with(|| Self::text(command));
        let field = format!("{}: ", option.trim_start_matches('-').replace('-', "_"));
        let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        text.match_indices(option)
            .any(|(at, _)| is_end(&text[at + option.len()..]))
            // A field of a definition; in a help it would be a value of that name.
            || (matches!(command, "bench" | "fleet" | "locks") && text.contains(&format!(" {field}")))
    }

    fn text(command: &str) -> String {
        let source = |name: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
            std::fs::read_to_string(path).unwrap()
        };
        match command {
            "bench" => source("cyclewise-bench/src/suite/options.rs"),
            "fleet" => source("cyclewise-fleet/src/command/cli.rs"),
            "locks" => source("cyclewise-locks/src/command/args.rs"),
            "simulate" => {
                let subcommands = ["", "fit", "examine", "machine"].map(|sub| {
                    let args = ["simulate", sub, "--help"];
                    stdout(&cyclewise(
                        &args.into_iter().filter(|a| !a.is_empty()).collect::<Vec<_>>(),
                    ))
                });
                subcommands.concat()
            }
            command => stdout(&cyclewise(&[command, "--help"])),
        }
    }
}

/// The sources of texts, but for tests and the definitions of command lines.
fn sources(crates: &Path) -> Vec<PathBuf> {
    let packages = ["bench", "report", "lab", "sim", "fleet", "locks"];
    let mut folders: Vec<PathBuf> = packages.map(|p| crates.join(format!("cyclewise-{p}/src"))).into();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_left_out =
                name.contains("test") || ["cli.rs", "args.rs", "exam", "made_up", "mangled.rs"].contains(&&*name);
            match path.is_dir() {
                _ if is_left_out => {}
                true => folders.push(path),
                false if name.ends_with(".rs") => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    files
}

/// The string literals of a source, without those of its tests. Escapes stay as they are.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(next) = source[at..].find(['"', '\'', '/']) {
        at += next + 1;
        let (before, after) = (&source[..at - 1], &source[at..]);
        at += match source.as_bytes()[at - 1] {
            b'/' if after.starts_with('/') => after.find('\n').unwrap_or(after.len()),
            // A quote as a character.
            b'\'' if after.starts_with("\"'") => 2,
            b'\'' if after.starts_with("\\\"'") => 3,
            b'"' => {
                let hashes = before.len() - before.trim_end_matches('#').len();
                let is_raw = before.trim_end_matches('#').ends_with('r');
                let length = match is_raw {
                    true => after.find(&format!("\"{}", "#".repeat(hashes))).unwrap_or(after.len()),
                    false => length(after),
                };
                found.push(after[..length].to_string());
                (length + 1).min(after.len())
            }
            _ => 0,
        };
    }
    found
}

/// The length of a literal up to its quote.
fn length(after: &str) -> usize {
    let mut is_escaped = false;
    let is_end = |c: char| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    };
    after.find(is_end).unwrap_or(after.len())
}

/// The options that a text names, each with its command where the text has that: `run --runs 5`. A text without a space is no text.
fn named(text: &str) -> Vec<(Option<String>, String)> {
    if !text.trim().contains(' ') || FOREIGN.iter().any(|foreign| text.contains(foreign)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (i, span) in text.split('`').enumerate() {
        let words: Vec<&str> = span.split_whitespace().skip_while(|w| *w == "cyclewise").collect();
        // Every second span is quoted.
        let command = words
            .first()
            .filter(|w| i % 2 == 1 && !w.starts_with('-'))
            .map(|w| w.to_string());
        for word in words {
            let word = word.trim_start_matches(['(', '\\', 'n', ';']);
            let end = word
                .find(|c: char| !(c.is_ascii_lowercase() || c == '-'))
                .unwrap_or(word.len());
            let option = word[..end].trim_end_matches('-');
            if option.starts_with("--") && option.len() > 3 {
                found.push((command.clone(), option.to_string()));
            }
        }
    }
    found
}
