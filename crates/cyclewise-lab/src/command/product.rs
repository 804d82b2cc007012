//! Subcommands that are programs of other packages: `cyclewise fleet …` becomes `cyclewise-fleet …`.
//!
//! The program is looked for beside this one and then in PATH, as cargo and git look for theirs. This process becomes it (exec), so
//! its arguments, exit status, signals and terminal are those of the caller. The command line's definition has the subcommand
//! only for the lists: nothing behind its name is parsed here.

use crate::error::Error;
use cyclewise_report::files::programs;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
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
const PRODUCTS: &[Product] = &[
    Product {
        subcommand: "fleet",
        program: FLEET,
        takes_the_word: false,
    },
    Product {
        subcommand: "locks",
        program: LOCKS,
        takes_the_word: false,
    },
    Product {
        subcommand: "simulate",
        program: SIM,
        takes_the_word: true,
    },
    Product {
        subcommand: "recommend",
        program: SIM,
        takes_the_word: true,
    },
];

/// Plans, joins and reports on many machines.
const FLEET: &str = "cyclewise-fleet";

/// What counts a program's locked instructions, and reads its own documents.
pub(super) const LOCKS: &str = "cyclewise-locks";

/// The simulator, which also reports on its own documents.
pub(super) const SIM: &str = "cyclewise-sim";

/// Becomes another program, if the command line (with this program's name) names one of its subcommands; `None` if it does not.
pub(super) fn start(words: impl Iterator<Item = OsString>) -> Option<Error> {
    let (product, args) = asked(PRODUCTS, words.skip(1).collect())?;
    Some(become_program(product.program, args))
}

/// Becomes the program, which is in the package of its name. Returns only if that is not possible.
pub(super) fn become_program(name: &str, args: impl IntoIterator<Item = OsString>) -> Error {
    let program = match programs::find(name, name) {
        Ok(program) => program,
        Err(missing) => return missing,
    };
    // Its usage and its errors then begin as those of this program do.
    let cause = Command::new(&program).arg0("cyclewise").args(args).exec();
    Error::system(&program.display().to_string(), &cause, "install it again")
}

/// The error of a product's subcommand that is not the first word.
pub(super) fn not_first() -> Error {
    Error::usage("a subcommand that is a program of its own is the first word of the command line")
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
