//! `cyclewise planned-run`: what `fleet plan` asks about a command `run …` or `verify …`, since this program will parse it on the nodes.

use super::cli::{Cli, Command};
use super::verify;
use crate::error::{Error, Result, Status};
use crate::experiment;
use crate::record::planned;
use clap::Parser;
use cyclewise_report::files::output::{put, tell};
use std::path::{Path, PathBuf};
use std::process::exit;

/// Prints the options that name files, with the files' names, as JSON.
///
/// # Errors
/// Exit 2: the command has wrong arguments.
pub(super) fn check(words: &[String]) -> Result<()> {
    let argv = std::iter::once("cyclewise").chain(words.iter().map(String::as_str));
    let args = match Cli::try_parse_from(argv) {
        Ok(Cli {
            command: Command::Run(args),
        }) => args,
        Ok(Cli {
            command: Command::Verify(args),
        }) => {
            verify::check(&args)?;
            return put_named(&[("--json", &args.json)]);
        }
        Ok(_) => return Err(Error::usage("planned-run is for `run …` and `verify …`")),
        // As a whole: `fleet plan` takes the error out of it.
        Err(error) => {
            tell(error.to_string().trim_end());
            exit(Status::Usage as i32);
        }
    };
    if args.object.is_some() {
        return Err(Error::usage(
            "--object loads a file of one machine; run it there, or name experiments",
        ));
    }
    let common = &args.common;
    let files = [
        ("--json", &common.json),
        ("--csv", &common.csv),
        ("--bmf", &common.bmf),
        ("--html", &common.html),
        ("--anonymous", &common.anonymous),
    ];
    put_named(&files)?;
    experiment::select(&args.experiments).map(drop)
}

fn put_named(files: &[(&str, &Option<PathBuf>)]) -> Result<()> {
    let named = files
        .iter()
        .filter_map(|(option, file)| Some((*option, file.as_deref()?)));
    put(Path::new("-"), &planned::to_text(&named.collect::<Vec<_>>())?)
}
