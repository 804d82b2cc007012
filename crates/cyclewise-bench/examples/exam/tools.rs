//! The harnesses: how each compares two functions, as its own documentation says, and its verdict.
//!
//! | harness | a comparison | its verdict |
//! |---|---|---|
//! | cyclewise | one program with both functions in a group | faster or slower in the record |
//! | criterion | a run with `--save-baseline base`, then one with `--baseline base` | "Performance has improved" or "has regressed" |
//! | tango | `compare` of two builds, for the second in which it says that it finds 1 % | the sign of a line that ends with its mark of significance, `*` |
//! | divan | one program with both functions | none: it prints intervals of each and compares nothing, so only its seconds count |
//!
//! All else has its default, but for one: criterion and tango call a change below 1 % noise, and so could not find 1 %. They get the 0.5 % that
//! cyclewise has.

use super::bodies::WORK;
use cyclewise_bench::record::{self, Verdict};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The shares of more work, in percents.
pub(crate) const PERCENTS: [u64; 4] = [0, 1, 2, 5];

/// What the other harnesses' programs are made of, and their names there.
const SOURCES: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("peers/manifest.toml")),
    ("src/bodies.rs", include_str!("bodies.rs")),
    ("src/criterion.rs", include_str!("peers/criterion.rs")),
    ("src/divan.rs", include_str!("peers/divan.rs")),
    ("src/tango.rs", include_str!("peers/tango.rs")),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Cyclewise,
    Criterion,
    Tango,
    Divan,
}

impl Tool {
    pub(crate) const ALL: [Self; 4] = [Self::Cyclewise, Self::Criterion, Self::Tango, Self::Divan];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Tool::Cyclewise => "cyclewise",
            Tool::Criterion => "criterion",
            Tool::Tango => "tango",
            Tool::Divan => "divan",
        }
    }
}

/// What a harness says of the second function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Faster,
    Slower,
    Nothing,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) body: (&'static str, u64),
    pub(crate) percent: u64,
}

/// Where programs and their files lie, and how ours is started.
pub(crate) struct Programs {
    pub(crate) folder: PathBuf,
    /// The command of a program whose `main` is [`super::ours`], with these arguments.
    pub(crate) ours: fn(&[OsString]) -> Command,
    pub(crate) options: Vec<&'static str>,
}

impl Programs {
    /// Lays out and builds the other harnesses' programs.
    ///
    /// # Errors
    /// One line: what cargo could not do.
    pub(crate) fn build(&self) -> Result<(), String> {
        let root = self.folder.join("peers");
        for (name, text) in SOURCES {
            let file = root.join(name);
            // Written only where it differs, so that cargo builds once.
            if fs::read_to_string(&file).ok().as_deref() != Some(text) {
                fs::create_dir_all(file.parent().unwrap_or(&root)).map_err(|e| format!("{}: {e}", root.display()))?;
                fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
            }
        }
        for percent in PERCENTS {
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.args(["build", "--release", "--quiet"]).current_dir(&root);
            cargo.env("CARGO_TARGET_DIR", root.join("target"));
            cargo.env("CYCLEWISE_EXAM_PERCENT", percent.to_string());
            let status = cargo.status().map_err(|e| format!("cargo cannot be started: {e}"))?;
            if !status.success() {
                return Err(format!(
                    "the other harnesses cannot be built ({status}), which needs a package registry once; where there is none, run \
                     `cargo fetch` in {} elsewhere and copy ~/.cargo/registry, or pass --tools cyclewise",
                    root.display()
                ));
            }
            let built = root.join("target/release/tango");
            fs::copy(&built, self.tango(percent)).map_err(|e| format!("{}: {e}", built.display()))?;
        }
        Ok(())
    }

    fn tango(&self, percent: u64) -> PathBuf {
        self.folder.join(format!("tango-{percent}"))
    }

    fn peer(&self, name: &str) -> Command {
        Command::new(self.folder.join("peers/target/release").join(name))
    }

    /// Compares once.
    ///
    /// # Errors
    /// One line: which program failed, and what it said.
    pub(crate) fn compare(&self, tool: Tool, asked: Asked) -> Result<Said, String> {
        let work = format!("{} {}", asked.body.1, asked.percent);
        match tool {
            Tool::Cyclewise => {
                let file = self.folder.join("record.json");
                let _ = fs::remove_file(&file);
                let mut arguments: Vec<OsString> = ["--bench", "--json"].map(OsString::from).to_vec();
                arguments.push(file.clone().into());
                arguments.extend(self.options.iter().map(OsString::from));
                run((self.ours)(&arguments).env(WORK, work))?;
                of_record(&file)
            }
            Tool::Criterion => {
                let home = self.folder.join("criterion");
                let with = |option: &str| {
                    let mut command = self.peer("criterion");
                    command.args(["--bench", option, "base", "--noise-threshold", "0.005"]);
                    command.env("CRITERION_HOME", &home).env(WORK, &work);
                    command
                };
                run(&mut with("--save-baseline"))?;
                run(with("--baseline").env("CYCLEWISE_EXAM_CHANGED", "1")).map(|text| of_criterion(&text))
            }
            Tool::Tango => {
                let mut command = Command::new(self.tango(asked.percent));
                command
                    .arg("compare")
                    .arg(self.tango(0))
                    .args(["--filter", asked.body.0]);
                command.args(["--time", "1", "--noise-threshold", "0.5"]);
                // A regression is its status 1.
                of_tango(&run_to(&[0, 1], &mut command)?)
            }
            Tool::Divan => run(self.peer("divan").arg("--bench").env(WORK, work)).map(|_| Said::Nothing),
        }
    }
}

/// Runs a program to its success, and returns what it printed.
fn run(command: &mut Command) -> Result<String, String> {
    run_to(&[0], command)
}

/// The same, where it ends with one of these statuses.
fn run_to(statuses: &[i32], command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{name}: {e}"))?;
    match output.status.code().is_some_and(|code| statuses.contains(&code)) {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "{name}: {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ")
        )),
    }
}

fn of_record(file: &Path) -> Result<Said, String> {
    let record = record::load(file).map_err(|e| e.to_string())?;
    let compared = record.experiments.iter().flat_map(|e| &e.comparisons).next();
    Ok(match compared.map(|c| c.verdict) {
        Some(Verdict::Faster) => Said::Faster,
        Some(Verdict::Slower) => Said::Slower,
        _ => Said::Nothing,
    })
}

fn of_criterion(text: &str) -> Said {
    match text {
        _ if text.contains("Performance has improved") => Said::Faster,
        _ if text.contains("Performance has regressed") => Said::Slower,
        _ => Said::Nothing,
    }
}

/// `1 ns     [   1.0 ns ...   1.1 ns ]      +1.05%*`.
fn of_tango(text: &str) -> Result<Said, String> {
    let line = text.lines().rfind(|line| line.contains("%"));
    let line = line.ok_or_else(|| format!("tango printed no comparison: {}", text.trim()))?;
    let change = line.rsplit(']').next().unwrap_or(line).trim();
    Ok(match change.strip_suffix("%*") {
        Some(change) if change.starts_with('-') => Said::Faster,
        Some(_) => Said::Slower,
        None => Said::Nothing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read_as_they_are_printed() {
        assert_eq!(
            of_criterion("change: [+1.2%]\n   Performance has regressed.\n"),
            Said::Slower
        );
        assert_eq!(of_criterion("Performance has improved."), Said::Faster);
        for text in ["No change in performance detected.", "Change within noise threshold."] {
            assert_eq!(of_criterion(text), Said::Nothing);
        }
        assert_eq!(of_tango("1 ns  [ 2.6 ns ... 3.0 ns ]   +14.74%*\n"), Ok(Said::Slower));
        assert_eq!(of_tango("1 ns  [ 3.0 ns ... 2.6 ns ]   -14.74%*\n"), Ok(Said::Faster));
        // The twin: without the mark it is none.
        assert_eq!(of_tango("1 ns  [ 2.6 ns ... 3.0 ns ]   +14.74%\n"), Ok(Said::Nothing));
        assert!(of_tango("").is_err());
    }
}
