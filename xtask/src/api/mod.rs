//! `cargo xtask api`: compares the library's public interface with `crates/cyclewise/api.txt`, and asks for examples.
//!
//! The interface is what rustdoc knows of it, with every feature on. `--bless` writes the file. `--since REVISION` compares
//! with the file at a revision of git, and says which version the next release needs.

mod change;
mod examples;
mod rustdoc;

pub(crate) use rustdoc::docs_rs;

use crate::Outcome;
use change::Changes;
use std::path::Path;
use std::process::{Command, Stdio};

/// One item a line, as rustdoc orders them.
const FILE: &str = "crates/cyclewise/api.txt";

/// What the command line asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Options {
    Compare,
    Bless,
    Since(String),
}

impl Options {
    /// Reads the arguments after `api`.
    ///
    /// # Errors
    /// One line that says what would be right.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        match arguments[..] {
            [] => Ok(Self::Compare),
            ["--bless"] => Ok(Self::Bless),
            // git would take it for an option.
            ["--since", revision] if !revision.starts_with('-') => Ok(Self::Since(revision.to_owned())),
            _ => Err("api takes nothing, --bless or --since REVISION".to_owned()),
        }
    }
}

/// Runs it on the workspace at `root`.
pub(crate) fn run(root: &Path, options: &Options) -> Outcome {
    let documented = match rustdoc::read(root) {
        Ok(documented) => documented,
        Err(why) => {
            println!("api: not checked: {why}");
            return Outcome::Impossible;
        }
    };
    let lacking = examples::lacking(&documented.json);
    for item in &lacking {
        println!("api: {item} has no example; write one in its documentation, or name it in one of its module");
    }
    let compared = match options {
        Options::Bless => bless(root, &documented.lines),
        Options::Compare => std::fs::read_to_string(root.join(FILE))
            .map_err(|error| error.to_string())
            .map(|old| report(&Changes::between(&old, &documented.lines), &documented.version)),
        Options::Since(revision) => at(root, revision).map(|old| {
            // A report on what is meant, not a check.
            report(&Changes::between(&old, &documented.lines), &documented.version);
            true
        }),
    };
    match compared {
        Ok(same) => (same && lacking.is_empty()).into(),
        Err(why) => {
            println!("api: FAILED: {FILE}: {why}");
            Outcome::Failed
        }
    }
}

/// Prints what changed; true where nothing did.
fn report(changes: &Changes, version: &str) -> bool {
    for line in &changes.removed {
        println!("- {line}");
    }
    for (line, why) in &changes.restricting {
        println!("+ {line}\n  ({why})");
    }
    for line in &changes.added {
        println!("+ {line}");
    }
    match changes.needs(version) {
        None => println!("api: the interface is as in {FILE}"),
        Some(needed) => println!(
            "api: {}: the release after {version} must be at least {needed}. If that is meant: cargo xtask api --bless, and \
             an entry in CHANGELOG.md",
            changes.summary()
        ),
    }
    changes.is_empty()
}

fn bless(root: &Path, lines: &str) -> Result<bool, String> {
    std::fs::write(root.join(FILE), lines).map_err(|error| error.to_string())?;
    println!("api: {} items written to {FILE}", lines.lines().count());
    Ok(true)
}

/// The file at a revision.
fn at(root: &Path, revision: &str) -> Result<String, String> {
    let mut command = Command::new("git");
    command.args(["show", &format!("{revision}:{FILE}")]);
    let output = command.current_dir(root).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("git did not start: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(said.lines().next().unwrap_or("git show failed").to_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read_and_wrong_ones_refused() {
        assert_eq!(parse(""), Ok(Options::Compare));
        assert_eq!(parse("--bless"), Ok(Options::Bless));
        assert_eq!(parse("--since v0.1.0"), Ok(Options::Since("v0.1.0".to_owned())));
        for wrong in ["--since", "--since --output=x", "--since a b", "bless"] {
            assert!(parse(wrong).unwrap_err().contains("--bless"), "{wrong}");
        }
    }
}
