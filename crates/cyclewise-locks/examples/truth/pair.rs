//! A program's two sides, ready to run: `locked` and `elided` in the program's folder.
//!
//! Each side of a program that is copied has the program and all of its libraries, those of `locked` as they are. The names of the sides are of one
//! length, because the length of the environment moves the stack, and that alone changes times.

use super::command::output;
use super::copies::{copied, elided, with_libraries};
use super::table::{Elided, Program, SIDES, Source};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that is ready.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) folder: PathBuf,
    /// How many prefixes the copies lack; none where there are no copies.
    pub(super) replaced: Option<usize>,
    home: String,
    port: u16,
}

impl Pair {
    /// Builds or finds the program, counts it by `cyclewise locks` on one CPU into the document beside `folder`, and makes its sides in `folder`.
    ///
    /// # Errors
    /// One line, where something is not here or cannot be built, counted or copied.
    pub(super) fn prepare(
        root: &Path,
        folder: &Path,
        program: &Program,
        (cyclewise, cpu): (&Path, usize),
    ) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        for side in SIDES {
            fs::create_dir_all(folder.join(side)).map_err(failed)?;
        }
        for (name, text) in program.files {
            fs::write(folder.join(name), text).map_err(failed)?;
        }
        let file = found(root, folder, program.source)?;
        let name = match program.source {
            // As it is called, not as the link to it ends.
            Source::Installed(name) => name.to_owned(),
            _ => file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        };
        let real = fs::canonicalize(&file).map_err(failed)?;
        copied(&real, &folder.join("locked").join(&name))?;
        if program.elided_by == Elided::Copies {
            with_libraries(folder, &real)?;
        }
        let home = real.ancestors().nth(2).unwrap_or(Path::new("/"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
        let mut pair = Self {
            folder: folder.to_owned(),
            replaced: None,
            home: home.display().to_string(),
            port: listener.local_addr().map_err(failed)?.port(),
        };
        drop(listener);
        // What its script prepares once is not counted.
        pair.run(program, SIDES[0], cpu)?;
        let document = folder.with_extension("json");
        let mut locks = Command::new(cyclewise);
        locks.args(["locks", "--by", "emulator", "--native-runs", "0", "--json"]);
        locks.arg(&document).args(["--", "sh", "-c"]);
        locks.arg(pair.timed(program, SIDES[0], cpu)).current_dir(folder);
        output(&mut locks, "cyclewise locks")?;
        if program.elided_by == Elided::Copies {
            let replaced = elided(folder, &name, &document)?;
            if replaced == 0 {
                return Err("the counted run has executed no LOCK of it or of its libraries".to_owned());
            }
            pair.replaced = Some(replaced);
        }
        Ok(pair)
    }

    /// The text with what the braces stand for.
    fn filled(&self, text: &str, side: &str) -> String {
        text.replace("{side}", side)
            .replace("{home}", &self.home)
            .replace("{port}", &self.port.to_string())
    }

    /// What is timed: the command of a side on one CPU, where it is right without LOCK.
    pub(super) fn timed(&self, program: &Program, side: &str, cpu: usize) -> String {
        let words = program.environment.iter().chain([&program.command]);
        let words: Vec<_> = words.map(|text| self.filled(text, side)).collect();
        format!("taskset -c {cpu} env {}", words.join(" "))
    }

    /// Runs both sides once, and compares what they print.
    ///
    /// # Errors
    /// One line, where a side fails or they differ.
    pub(super) fn check(&self, program: &Program, cpu: usize) -> Result<String, String> {
        same(&self.run(program, SIDES[0], cpu)?, &self.run(program, SIDES[1], cpu)?)
    }

    /// What a side prints.
    fn run(&self, program: &Program, side: &str, cpu: usize) -> Result<String, String> {
        let mut shell = Command::new("sh");
        shell.args(["-c", &self.timed(program, side, cpu)]);
        output(shell.current_dir(&self.folder), &format!("the {side} side"))
    }
}

/// What both sides have printed.
fn same(locked: &str, elided: &str) -> Result<String, String> {
    let line = |text: &str| text.trim().replace('\n', " / ");
    if locked.trim().is_empty() {
        Err("the locked side prints nothing, so nothing tells whether the elided one is right".to_owned())
    } else if locked == elided {
        Ok(line(locked))
    } else {
        Err(format!(
            "without LOCK it prints {:?} in place of {:?}",
            line(elided),
            line(locked)
        ))
    }
}

/// Builds or finds the program.
fn found(root: &Path, folder: &Path, source: Source) -> Result<PathBuf, String> {
    match source {
        Source::Example { package, name } => {
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.args(["build", "--quiet", "--release", "--package", package, "--example", name]);
            output(cargo.current_dir(root), "cargo build")?;
            Ok(crate::target_folder(root).join("release/examples").join(name))
        }
        Source::Cpp(file) => {
            let program = folder.join(stem(file));
            let mut compiler = Command::new("c++");
            compiler.args(["-std=c++17", "-O2", "-pthread", "-o"]).arg(&program);
            output(compiler.arg(folder.join(file)), "c++")?;
            Ok(program)
        }
        Source::Go(file) => {
            let program = folder.join(stem(file));
            let mut go = Command::new("go");
            // The toolchain that is here, and no module around the file.
            go.envs([("GOTOOLCHAIN", "local"), ("GO111MODULE", "off"), ("CGO_ENABLED", "0")]);
            go.args(["build", "-o"]).arg(&program).arg(file);
            output(go.current_dir(folder), "go build")?;
            Ok(program)
        }
        Source::Installed(name) => installed(name),
    }
}

fn stem(file: &str) -> &str {
    file.split('.').next().unwrap_or(file)
}

/// The first ELF file of that name in the search path: a version manager's script in its place cannot be copied.
fn installed(name: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_elf = |file: &PathBuf| fs::read(file).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF"));
    let file = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(is_elf);
    file.ok_or_else(|| format!("no program {name} in the search path; install it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_that_print_the_same_pass_and_a_wrong_or_silent_one_is_told() {
        assert_eq!(same("a\nb\n", "a\nb\n"), Ok("a / b".to_owned()));
        assert!(
            same("sum 3\n", "sum 2\n")
                .unwrap_err()
                .contains("\"sum 2\" in place of \"sum 3\"")
        );
        assert!(same("\n", "\n").unwrap_err().contains("prints nothing"));
    }

    #[test]
    fn sides_are_of_one_length() {
        assert_eq!(SIDES[0].len(), SIDES[1].len());
    }
}
