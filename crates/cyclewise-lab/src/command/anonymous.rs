//! `--anonymous`: a record without the names of its machine and user.
//!
//! The node, its boot and its job have hashed names; the paths of the command line are left out; the free texts of the record
//! are searched for the node's name and the home folder. The commands of `time` are the user's own words, and stay; so is the program
//! of `locks`, but for such names.

use super::cli::Cli;
use crate::error::Result;
use crate::machine::{Key, Secrets};
use crate::record::Record;
use crate::record::locks::{self, Locks};
use clap::CommandFactory;
use std::path::{Path, PathBuf};

/// Stands for a path of the command line.
const HIDDEN: &str = "FILE";

/// The key that `--anonymous` names, if it is given.
///
/// # Errors
/// Exit 2: the file is no key.
pub(super) fn key(path: Option<&PathBuf>) -> Result<Option<Key>> {
    path.map(|path: &PathBuf| Key::load(Path::new(path))).transpose()
}

/// Hides the names in a record.
pub(super) fn hide(record: &mut Record, key: &Key) {
    let secrets = Secrets::of(&record.machine.identity);
    key.hide(&mut record.machine.identity);
    record.command = without_paths(&record.command);
    let experiments = &mut record.experiments;
    let of_experiments = experiments.iter_mut().flat_map(|e| {
        let reasons = e.comparisons.iter_mut().filter_map(|c| c.reason.as_mut());
        e.notes.iter_mut().chain(reasons)
    });
    let missing = record.missing.iter_mut().map(|m| &mut m.why);
    for text in record.machine.warnings.iter_mut().chain(of_experiments).chain(missing) {
        *text = secrets.hidden(key, text);
    }
}

/// A document of a program's locked instructions without the names. Files below the folder where it was counted are named from there.
///
/// # Errors
/// Exit 3: it has a number that JSON has not, so that nothing is written.
pub(super) fn hidden_locks(document: &Locks, key: &Key) -> Result<Locks> {
    let secrets = Secrets::of(&document.machine.identity);
    let folder = std::env::current_dir().ok().filter(|folder| folder.parent().is_some());
    let below = folder.map(|folder| format!("{}/", folder.display()));
    let mut hidden = locks::with_texts(document, &|text| {
        let below = below.as_deref().unwrap_or("\0");
        secrets.hidden(key, &text.replace(below, ""))
    })?;
    hidden.machine = document.machine.clone();
    key.hide(&mut hidden.machine.identity);
    hidden.command = without_paths(&hidden.command);
    Ok(hidden)
}

/// The command line with every path of an option replaced.
fn without_paths(command: &[String]) -> Vec<String> {
    let options = command.first().map(|name| path_options(name)).unwrap_or_default();
    let mut words = command.iter().cloned();
    let mut out = Vec::new();
    while let Some(word) = words.next() {
        if word == "--" {
            out.push(word);
            out.extend(words.by_ref());
        } else if options.contains(&word) {
            out.push(word);
            out.extend(words.next().map(|_| HIDDEN.to_owned()));
        } else {
            let assigned = word
                .split_once('=')
                .filter(|(option, _)| options.iter().any(|o| o == option));
            out.push(assigned.map_or(word.clone(), |(option, _)| format!("{option}={HIDDEN}")));
        }
    }
    out
}

/// The long options of a subcommand whose values are paths, so that a new one is not forgotten here.
fn path_options(subcommand: &str) -> Vec<String> {
    let cli = Cli::command();
    let paths = clap::value_parser!(PathBuf).type_id();
    let arguments = cli
        .find_subcommand(subcommand)
        .into_iter()
        .flat_map(|s| s.get_arguments());
    arguments
        .filter(|a| a.get_value_parser().type_id() == paths)
        .filter_map(|a| Some(format!("--{}", a.get_long()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_run_that_names_a_file_is_known_to_the_fleet() {
        let mut options = path_options("run");
        options.sort();
        assert_eq!(options, crate::fleet::key::OUTPUTS);
        assert!(!path_options("fleet").contains(&"--json".to_owned()), "the twin");
    }

    #[track_caller]
    fn is_hidden(line: &str, expected: &str) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        assert_eq!(without_paths(&words).join(" "), expected);
    }

    #[test]
    fn paths_of_options_are_left_out_and_nothing_else() {
        is_hidden(
            "run popf --json /users/alice/n17.json --html=x.html --seed 7 --anonymous key --threads=1,2",
            "run popf --json FILE --html=FILE --seed 7 --anonymous FILE --threads=1,2",
        );
        is_hidden("time --csv a -n 2 make", "time --csv FILE -n 2 make");
        is_hidden("time -- --json x", "time -- --json x");
        is_hidden("run --json", "run --json");
        assert_eq!(without_paths(&[]), Vec::<String>::new());
    }

    #[test]
    fn every_option_that_names_a_document_is_known() {
        let options = path_options("run");
        for option in ["--json", "--csv", "--csv-comparisons", "--bmf", "--html", "--anonymous"] {
            assert!(options.iter().any(|o| o == option), "{option} is not in {options:?}");
        }
        assert!(!options.contains(&"--seed".to_owned()));
    }
}
