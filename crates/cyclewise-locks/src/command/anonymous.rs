//! `--anonymous`: a document without the names of its machine and user.
//!
//! The node, its boot and its job have hashed names; the paths of the command line are left out; all texts are searched for the node's
//! name and the home folder. The program's own words stay, but for such names.

use super::args::Cli;
use crate::error::Result;
use crate::record::{Locks, with_texts};
use clap::CommandFactory;
use cyclewise_bench::machine::{Key, Secrets};
use cyclewise_report::files::hidden::without_paths;
use std::path::PathBuf;

/// A document of a program's locked instructions without the names. Files below the folder where it was counted are named from there.
///
/// # Errors
/// Exit 3: it has a number that JSON has not, so that nothing is written.
pub(super) fn hidden(document: &Locks, key: &Key) -> Result<Locks> {
    let secrets = Secrets::of_machine(&document.machine.identity);
    let folder = std::env::current_dir().ok().filter(|folder| folder.parent().is_some());
    let below = folder.map(|folder| format!("{}/", folder.display()));
    let mut hidden = with_texts(document, &|text| {
        let below = below.as_deref().unwrap_or("\0");
        secrets.hidden(key, &text.replace(below, ""))
    })?;
    hidden.machine = document.machine.clone();
    key.hide(&mut hidden.machine.identity);
    hidden.command = without_paths(&hidden.command, &path_options());
    Ok(hidden)
}

/// The long options whose values are paths, so that a new one is not forgotten here.
fn path_options() -> Vec<String> {
    let paths = clap::value_parser!(PathBuf).type_id();
    let cli = Cli::command();
    let options = cli.get_arguments().filter(|a| a.get_value_parser().type_id() == paths);
    options.filter_map(|a| Some(format!("--{}", a.get_long()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::path_options;

    #[test]
    fn every_option_that_names_a_file_is_known() {
        let mut options = path_options();
        options.sort();
        assert_eq!(
            options,
            ["--anonymous", "--costs", "--html", "--json", "--sysroot", "--table"]
        );
    }
}
