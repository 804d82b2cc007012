//! `--anonymous`: a record without the names of its machine and user.
//!
//! The node, its boot and its job have hashed names; the paths of the command line are left out; the free texts of the record
//! are searched for the node's name and the home folder. The commands of `time` are the user's own words, and stay.

use super::cli::Cli;
use crate::error::Result;
use crate::machine::{Key, Secrets};
use crate::record::{Reason, Record, Warning};
use clap::CommandFactory;
use cyclewise_report::files::hidden::without_paths;
use std::path::{Path, PathBuf};

/// The key that `--anonymous` names, if it is given.
///
/// # Errors
/// Exit 2: the file is no key.
pub(super) fn key(path: Option<&PathBuf>) -> Result<Option<Key>> {
    path.map(|path: &PathBuf| Key::load(Path::new(path))).transpose()
}

pub(super) fn hide(record: &mut Record, key: &Key) {
    let secrets = Secrets::of_machine(&record.machine.identity);
    key.hide(&mut record.machine.identity);
    let options = record.command.first().map(|name| path_options(name));
    record.command = without_paths(&record.command, &options.unwrap_or_default());
    let experiments = &mut record.experiments;
    let of_experiments = experiments.iter_mut().flat_map(|e| {
        let reasons = e
            .comparisons
            .iter_mut()
            .filter_map(|c| c.reason.as_mut().map(Reason::text_mut));
        e.notes.iter_mut().chain(reasons)
    });
    let warnings = record.machine.warnings.iter_mut().map(Warning::text_mut);
    let missing = record.missing.iter_mut().map(|m| &mut m.why);
    for text in warnings.chain(of_experiments).chain(missing) {
        *text = secrets.hidden(key, text);
    }
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
        // What is measured is no file of a task: commands that differ in it are of two jobs.
        let objects = options.iter().filter(|o| *o == "--object").count();
        options.retain(|o| o != "--object");
        options.sort();
        assert_eq!(objects, 1);
        assert_eq!(options, crate::record::fleet::FILES_OF_RUN);
        assert!(!path_options("fleet").contains(&"--json".to_owned()), "the twin");
    }

    #[test]
    fn every_option_that_names_a_document_is_known() {
        let options = path_options("run");
        for option in ["--json", "--csv", "--bmf", "--html", "--anonymous"] {
            assert!(options.iter().any(|o| o == option), "{option} is not in {options:?}");
        }
        assert!(!options.contains(&"--seed".to_owned()));
    }
}
