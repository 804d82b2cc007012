//! `cargo xtask ci`: every check a change must pass, in the order in which they are cheapest to fail.

use crate::cargo::{cargo, succeeds};
use crate::{docs_rs, features, licences, tidy};
use std::path::Path;
use std::time::Instant;

/// How a check is run.
enum Check {
    /// `cargo` with these arguments and environment.
    Cargo(&'static str, &'static [(&'static str, &'static str)]),
    /// A check of this program's own, on the tree at a folder.
    Own(fn(&Path) -> bool),
}

const STEPS: &[(&str, Check)] = &[
    ("fmt", Check::Cargo("fmt --all --check", &[])),
    ("tidy", Check::Own(tidy::run)),
    ("licences", Check::Own(licences::run)),
    (
        "clippy",
        Check::Cargo("clippy --workspace --all-targets -- -D warnings", &[]),
    ),
    ("features", Check::Own(features::run)),
    ("test", Check::Cargo("test --workspace", &[])),
    (
        "doc",
        Check::Cargo(
            "doc --workspace --no-deps --all-features --document-private-items",
            &[("RUSTDOCFLAGS", "-D warnings")],
        ),
    ),
    ("docs.rs", Check::Own(docs_rs::run)),
];

/// What the command line asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    keep_going: bool,
    /// Tests run their long forms.
    long: bool,
    skip: Vec<String>,
}

impl Options {
    /// Reads the arguments after `ci`.
    ///
    /// # Errors
    /// One line that says which argument is wrong and what would be right.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--keep-going" => options.keep_going = true,
                "--long" => options.long = true,
                "--skip" => {
                    let step = rest.next().map_or("", String::as_str);
                    if !STEPS.iter().any(|(name, _)| *name == step) {
                        let names: Vec<_> = STEPS.iter().map(|(name, _)| *name).collect();
                        return Err(format!("ci has no step {step:?}; it has {}", names.join(", ")));
                    }
                    options.skip.push(step.to_owned());
                }
                other => {
                    return Err(format!(
                        "ci does not know {other:?}; it takes --keep-going, --long and --skip STEP"
                    ));
                }
            }
        }
        Ok(options)
    }
}

/// Runs the steps at `root`; true where all of them passed.
pub(crate) fn run(root: &Path, options: &Options) -> bool {
    let mut failed = Vec::new();
    let started = Instant::now();
    for (name, kind) in STEPS {
        if options.skip.iter().any(|s| s == name) {
            println!("ci: {name} left out by --skip");
            continue;
        }
        println!("ci: {name} ...");
        let began = Instant::now();
        let passed = kind.run(root, options.long);
        let verdict = if passed { "passed" } else { "FAILED" };
        println!("ci: {name} {verdict} in {:.1} s", began.elapsed().as_secs_f64());
        if !passed {
            failed.push(*name);
            if !options.keep_going {
                break;
            }
        }
    }
    let total = started.elapsed().as_secs_f64();
    if failed.is_empty() {
        println!("ci: passed in {total:.1} s");
    } else {
        println!("ci: FAILED at {} after {total:.1} s", failed.join(", "));
    }
    failed.is_empty()
}

impl Check {
    fn run(&self, root: &Path, long: bool) -> bool {
        match self {
            Self::Own(check) => check(root),
            Self::Cargo(arguments, environment) => {
                let long: &[_] = if long { &[("CYCLEWISE_LONG", "1")] } else { &[] };
                let environment = [*environment, long].concat();
                println!("    {}cargo {arguments}", assignments(&environment));
                let mut command = cargo(root);
                succeeds(command.args(arguments.split(' ')).envs(environment), "ci")
            }
        }
    }
}

/// The environment as a shell would take it, so that a failed step can be repeated by hand.
fn assignments(environment: &[(&str, &str)]) -> String {
    environment
        .iter()
        .map(|(name, value)| format!("{name}='{value}' "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let options = parse("--skip test --keep-going --long").unwrap();
        assert!(options.keep_going && options.long);
        assert_eq!(options.skip, ["test"]);
        assert_eq!(parse("").unwrap(), Options::default());
    }

    #[test]
    fn a_wrong_step_is_refused_with_the_right_ones() {
        assert!(
            parse("--skip tests")
                .unwrap_err()
                .contains("fmt, tidy, licences, clippy, features, test, doc, docs.rs")
        );
        assert!(parse("--skip").unwrap_err().contains("no step"));
        assert!(parse("--fast").unwrap_err().contains("--keep-going"));
    }
}
