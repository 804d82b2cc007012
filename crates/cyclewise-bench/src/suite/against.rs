//! `--against`: the program that this one is compared with, an executable or a revision that is built.

use super::as_built::AsBuilt;
use super::{output, program};
use crate::error::{Error, Result};
use serde_json::Value;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What every program of this harness has in it, so that none of another is started.
#[used]
static MARK: [u8; 34] = *b"\ncyclewise-bench takes turns, 1.1\n";

/// Lines of a compiler that are shown.
const LINES: usize = 20;

/// A program to compare with.
#[derive(Debug, PartialEq)]
pub(super) struct Other {
    pub(super) path: PathBuf,
    /// What its rows are called by.
    pub(super) name: String,
}

/// The executable at this path, or this revision's, which cargo builds with these arguments, or as it built this program.
///
/// # Errors
/// Exit 2: neither, or a program of another harness. Exit 1: the revision does not build.
pub(super) fn find(what: &str, cargo_arguments: Option<&str>) -> Result<Other> {
    let path = Path::new(what);
    let other = if path.is_file() {
        Other {
            path: path.to_path_buf(),
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        }
    } else {
        of_revision(what, cargo_arguments)?
    };
    let bytes = std::fs::read(&other.path)
        .map_err(|e| Error::usage(format!("--against {}: {e}; name an executable", other.path.display())))?;
    // Opaque, so that the linker sees its use.
    let mark = std::hint::black_box(&MARK);
    match bytes.windows(mark.len()).any(|window| window == mark) {
        true => Ok(other),
        false => Err(Error::usage(format!(
            "--against {}: it is no benchmark of this version of cyclewise-bench, which takes turns with another; \
             build it with this version",
            other.path.display()
        ))),
    }
}

/// Builds the benchmark of a revision, in a worktree beside the build's own files.
fn of_revision(rev: &str, cargo_arguments: Option<&str>) -> Result<Other> {
    let wrong = |why: &str| Error::usage(format!("--against {rev}: {why}")).in_one_line();
    let no_place = "there is no such file, and a revision is built where `cargo bench` runs; name an executable";
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .ok_or_else(|| wrong(no_place))?;
    let git = |arguments: &[&str]| git(&package, arguments).map_err(|why| wrong(&why));
    let top = PathBuf::from(git(&["rev-parse", "--show-toplevel"])?);
    let commit = git(&[
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        &format!("{rev}^{{commit}}"),
    ])
    .map_err(|_| wrong("it is no file and no revision; name one that `git rev-parse` knows"))?;
    let place = builds()?;
    let tree = place.join(&commit);
    if !tree.exists() {
        git(&["worktree", "prune"])?;
        git(&[
            "worktree",
            "add",
            "--detach",
            "--force",
            &tree.display().to_string(),
            &commit,
        ])?;
    }
    let inside = package
        .strip_prefix(&top)
        .map_err(|_| wrong("the package is outside of its repository"))?;
    let as_built = cargo_arguments.map(AsBuilt::given).or_else(AsBuilt::by_parent);
    let as_built = as_built.unwrap_or_else(|| {
        output::tell(&format!(
            "cyclewise-bench: --against {rev}: built with default features, because the command line of `cargo bench` is not known here; \
             --against-cargo-args names others"
        ));
        AsBuilt::default()
    });
    let path = build(&tree.join(inside).join("Cargo.toml"), &place.join("target"), &as_built)
        .map_err(|why| Error::check(format!("--against {rev}: {why}")).in_one_line())?;
    Ok(Other {
        path,
        name: commit.chars().take(9).collect(),
    })
}

/// Runs git, and returns the line that it prints; else what it says.
fn git(folder: &Path, arguments: &[&str]) -> std::result::Result<String, String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("git: {e}; install it, or name an executable"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("git {}: {}", arguments[0], text(&output.stderr))),
    }
}

/// The folder of worktrees and of what is built in them: beside what cargo built of this program.
pub(super) fn builds() -> Result<PathBuf> {
    let program = std::env::current_exe().ok();
    let deps = program
        .as_deref()
        .and_then(Path::parent)
        .filter(|deps| deps.ends_with("deps"));
    let folder = deps.and_then(|deps| Some(deps.ancestors().nth(2)?.join("cyclewise-bench")));
    folder.ok_or_else(|| Error::usage("--against: this program is not where cargo builds; name an executable"))
}

/// Builds this program of another tree: its path, or the last lines of the compiler.
fn build(manifest: &Path, target: &Path, as_built: &AsBuilt) -> std::result::Result<PathBuf, String> {
    // A file is called with _ where its target has -.
    let name = program();
    let mut child = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "bench",
            "--no-run",
            "--message-format=json-render-diagnostics",
            "--bench",
        ])
        .arg(name.replace('_', "?"))
        .arg("--manifest-path")
        .arg(manifest)
        .args(&as_built.arguments)
        .current_dir(as_built.folder.as_deref().unwrap_or(Path::new(".")))
        .env("CARGO_TARGET_DIR", target)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cargo: {e}"))?;
    let said = child
        .stderr
        .take()
        .map(|stderr| std::thread::spawn(move || last_lines(stderr)));
    let messages = std::io::BufReader::new(child.stdout.take().ok_or("cargo: no output")?).lines();
    let built = messages
        .map_while(std::io::Result::ok)
        .filter_map(|line| executable(&line, &name))
        .last();
    let status = child.wait().map_err(|e| format!("cargo: {e}"))?;
    let said = said.and_then(|said| said.join().ok()).unwrap_or_default();
    if !status.success() {
        said.iter().for_each(|line| output::tell(line));
        return Err(format!(
            "it does not build ({status}); the compiler's last lines are above"
        ));
    }
    built.ok_or_else(|| format!("it has no benchmark {name}"))
}

fn last_lines(of: impl std::io::Read) -> Vec<String> {
    let mut lines = std::collections::VecDeque::new();
    for line in std::io::BufReader::new(of).lines().map_while(std::io::Result::ok) {
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
    lines.into()
}

/// The executable of this name that a message of cargo tells of.
fn executable(message: &str, name: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let of_target = message["target"]["name"].as_str()?.replace('-', "_");
    (message["reason"] == "compiler-artifact" && of_target == name).then_some(())?;
    message["executable"].as_str().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_another_harness_is_refused_and_one_of_this_is_not() {
        let own = std::env::current_exe().unwrap().display().to_string();
        assert_eq!(find(&own, None).unwrap().path, Path::new(&own));
        let error = find("/bin/sh", None).unwrap_err();
        assert!(error.message.contains("no benchmark of this version"), "{error}");
    }

    #[test]
    fn messages_of_cargo_name_the_executable() {
        let message = |name: &str, reason: &str| {
            format!(r#"{{"reason":"{reason}","target":{{"name":"{name}","kind":["bench"]}},"executable":"/t/x"}}"#)
        };
        assert_eq!(
            executable(&message("my-own", "compiler-artifact"), "my_own"),
            Some("/t/x".into())
        );
        assert_eq!(executable(&message("other", "compiler-artifact"), "my_own"), None);
        assert_eq!(executable(&message("my-own", "build-finished"), "my_own"), None);
        assert_eq!(executable("no json", "my_own"), None);
    }

    #[test]
    fn the_last_lines_are_kept() {
        let text: String = (0..30).map(|n| format!("{n}\n")).collect();
        let lines = last_lines(text.as_bytes());
        assert_eq!((lines.len(), &*lines[0], &*lines[19]), (LINES, "10", "29"));
    }
}
