//! `cargo xtask ci`: every check a change must pass, in the order in which they are cheapest to fail.

use crate::cargo::{cargo, succeeds};
use crate::{docs_rs, features, licences, tidy};
use std::path::Path;
use std::time::{Duration, Instant};

/// One check.
struct Step {
    name: &'static str,
    kind: Kind,
}

/// How a check is run.
enum Kind {
    /// `cargo` with these arguments and environment.
    Cargo(&'static [&'static str], &'static [(&'static str, &'static str)]),
    /// A check of this program's own, on the tree at a folder.
    Own(fn(&Path) -> bool),
}

const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        kind: Kind::Cargo(&["fmt", "--all", "--check"], &[]),
    },
    Step {
        name: "tidy",
        kind: Kind::Own(tidy::run),
    },
    Step {
        name: "licences",
        kind: Kind::Own(licences::run),
    },
    Step {
        name: "clippy",
        kind: Kind::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]),
    },
    Step {
        name: "features",
        kind: Kind::Own(features::run),
    },
    Step {
        name: "test",
        kind: Kind::Cargo(&["test", "--workspace"], &[]),
    },
    Step {
        name: "doc",
        kind: Kind::Cargo(
            &[
                "doc",
                "--workspace",
                "--no-deps",
                "--all-features",
                "--document-private-items",
            ],
            &[("RUSTDOCFLAGS", "-D warnings")],
        ),
    },
    Step {
        name: "docs.rs",
        kind: Kind::Own(docs_rs::run),
    },
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
                    if !STEPS.iter().any(|s| s.name == step) {
                        return Err(format!("ci has no step {step:?}; it has {}", names(STEPS)));
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
    for step in STEPS {
        if options.skip.iter().any(|s| s == step.name) {
            println!("ci: {} left out by --skip", step.name);
            continue;
        }
        println!("ci: {} ...", step.name);
        let (passed, took) = timed(|| step.run(root, options.long));
        println!(
            "ci: {} {} in {:.1} s",
            step.name,
            if passed { "passed" } else { "FAILED" },
            took.as_secs_f64()
        );
        if !passed {
            failed.push(step.name);
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

impl Step {
    fn run(&self, root: &Path, long: bool) -> bool {
        match self.kind {
            Kind::Own(check) => check(root),
            Kind::Cargo(arguments, environment) => {
                let long: &[_] = if long { &[("CYCLEWISE_LONG", "1")] } else { &[] };
                let environment = [environment, long].concat();
                println!("    {}cargo {}", assignments(&environment), arguments.join(" "));
                let mut command = cargo(root);
                succeeds(command.args(arguments).envs(environment), "ci")
            }
        }
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed())
}

/// The environment as a shell would take it, so that a failed step can be repeated by hand.
fn assignments(environment: &[(&str, &str)]) -> String {
    environment
        .iter()
        .map(|(name, value)| format!("{name}='{value}' "))
        .collect()
}

fn names(steps: &[Step]) -> String {
    let names: Vec<_> = steps.iter().map(|s| s.name).collect();
    names.join(", ")
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
