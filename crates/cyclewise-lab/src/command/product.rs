//! Subcommands that are programs of other packages: `cyclewise fleet …` becomes `cyclewise-fleet …`.
//!
//! The program is looked for beside this one and then in PATH, as cargo and git look for theirs. This process becomes it (exec), so
//! its arguments, exit status, signals and terminal are those of the caller. The command line's definition has the subcommand
//! only for the lists: nothing behind its name is parsed here.

use crate::error::{Error, Result};
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A subcommand, and the program that has it.
struct Product {
    /// The word behind `cyclewise`.
    subcommand: &'static str,
    /// The program, which has the name of its package.
    program: &'static str,
    /// Whether the program has several such subcommands, and takes the word too.
    takes_the_word: bool,
}

/// The subcommands of other programs.
const PRODUCTS: &[Product] = &[];

/// Becomes another program, if the command line (with this program's name) names one of its subcommands; `None` if it does not.
pub(super) fn start(mut words: impl Iterator<Item = OsString>) -> Option<Error> {
    let (product, args) = asked(PRODUCTS, words.by_ref().skip(1).collect())?;
    let beside = env::current_exe().ok();
    let path = env::var_os("PATH").unwrap_or_default();
    Some(match find(product.program, beside.as_deref(), &path) {
        // Its usage and its errors then begin as those of this program do.
        Ok(program) => become_it(Command::new(program).arg0("cyclewise").args(args)),
        Err(missing) => missing,
    })
}

/// The product that the words behind `cyclewise` name, and the arguments of its program.
fn asked(products: &[Product], words: Vec<OsString>) -> Option<(&Product, Vec<OsString>)> {
    let is_help = words.first().is_some_and(|word| word == "help");
    let at = usize::from(is_help);
    let product = products
        .iter()
        .find(|product| words.get(at).is_some_and(|w| w == product.subcommand))?;
    let mut args = words;
    if !product.takes_the_word {
        args.remove(at);
    }
    Some((product, args))
}

/// The program's file: beside `this` program, or in a folder of `path`.
fn find(program: &str, this: Option<&Path>, path: &OsStr) -> Result<PathBuf> {
    let beside = this.and_then(Path::parent).map(Path::to_owned);
    let folders = beside.into_iter().chain(env::split_paths(path));
    let mut files = folders.map(|folder| folder.join(program));
    files.find(|file| file.is_file()).ok_or_else(|| {
        Error::unsupported(format!(
            "{program} is neither beside this program nor in PATH; build it with `cargo build --release -p {program}`, \
             or install it with `cargo install --path crates/{program}`"
        ))
    })
}

/// Returns only if the program cannot be executed.
fn become_it(command: &mut Command) -> Error {
    let cause = command.exec();
    let program = command.get_program().display().to_string();
    let hint = match cause.kind() {
        ErrorKind::PermissionDenied => "allow it to be executed (chmod +x)",
        _ => "build it again, for this machine",
    };
    Error::system(&program, &cause, hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;
    use std::os::unix::fs::symlink;

    const TWO: &[Product] = &[
        Product {
            subcommand: "fleet",
            program: "cyclewise-fleet",
            takes_the_word: false,
        },
        Product {
            subcommand: "simulate",
            program: "cyclewise-sim",
            takes_the_word: true,
        },
    ];

    #[track_caller]
    fn becomes(line: &str, expected: Option<(&str, &[&str])>) {
        let words = line.split_whitespace().map(OsString::from).collect();
        let found = asked(TWO, words).map(|(product, args)| (product.program, args));
        let expected = expected.map(|(program, args)| (program, args.iter().map(OsString::from).collect()));
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn the_program_gets_the_arguments_as_they_are() {
        becomes(
            "fleet plan -- run --help",
            Some(("cyclewise-fleet", &["plan", "--", "run", "--help"])),
        );
        becomes("fleet", Some(("cyclewise-fleet", &[])));
        becomes("help fleet plan", Some(("cyclewise-fleet", &["help", "plan"])));
        becomes("simulate --help", Some(("cyclewise-sim", &["simulate", "--help"])));
        becomes("help simulate", Some(("cyclewise-sim", &["help", "simulate"])));
        // The twins: a product's name elsewhere is not its subcommand.
        for line in ["", "help", "run fleet", "--help fleet", "fleets", "help run fleet"] {
            becomes(line, None);
        }
    }

    #[test]
    fn the_program_beside_this_one_comes_before_those_in_path() {
        let folder = tempfile::tempdir().unwrap();
        let [beside, first, second] = ["beside", "first", "second"].map(|name| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            path
        });
        let path = env::join_paths([&first, &second]).unwrap();
        let this = beside.join("cyclewise");
        let found = || find("program", Some(&this), &path);

        let missing = found().unwrap_err();
        assert_eq!(missing.status, Status::Unsupported);
        assert!(
            missing.message.contains("cargo build --release -p program"),
            "{missing}"
        );
        // What only has the name is no program.
        std::fs::create_dir(first.join("program")).unwrap();
        symlink("/nowhere", beside.join("program")).unwrap();
        assert_eq!(found().unwrap_err(), missing);

        std::fs::write(second.join("program"), "").unwrap();
        assert_eq!(found().unwrap(), second.join("program"));
        std::fs::remove_file(beside.join("program")).unwrap();
        std::fs::write(beside.join("program"), "").unwrap();
        assert_eq!(found().unwrap(), beside.join("program"));
        // The twin: without this program's own folder, PATH decides.
        assert_eq!(find("program", None, &path).unwrap(), second.join("program"));
    }
}
