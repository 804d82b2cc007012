//! Machines that the command line describes: from a matrix, or for printing.

use super::cli::{MachineArgs, MatrixArgs};
use crate::Machine;
use crate::from_matrix::{self, Asked, Made};
use crate::machine::template;
use crate::sweep::machines;
use cyclewise_bench::error::{Error, Result};
use cyclewise_bench::record::read_text;
use cyclewise_report::files::output;
use std::path::{Path, PathBuf};

/// The machine of a matrix; `None` without one. Where something pauses, the cost of a pause is asked for.
pub(super) fn of_matrix(args: &MatrixArgs, pauses: bool) -> Result<Option<Made>> {
    let (Some(path), Some(ghz)) = (&args.from, args.clock) else {
        return Ok(None);
    };
    if args.pause.is_none() && pauses {
        return Err(Error::usage(
            "the cost of a pause differs between cores by a factor of ten, so none is assumed; give --pause CYCLES",
        ));
    }
    let text = read_text(path).map_err(|e| Error::usage(format!("{}: {e}; name a readable matrix", path.display())))?;
    let asked = Asked {
        ghz,
        smt: args.smt,
        sockets: args.sockets.unwrap_or(1),
        family: args.family.clone(),
        pause: args.pause,
        anchor: args.anchor,
    };
    from_matrix::machine(path, &text, &asked).map(Some)
}

/// `simulate machine`.
pub(super) fn print(args: &MachineArgs) -> Result<()> {
    let text = match &args.print {
        Some(name) => machines::source(name)?.text,
        None => made(&args.matrix)?,
    };
    output::put(Path::new("-"), &template(&text))
}

/// The file of a matrix's machine.
fn made(matrix: &MatrixArgs) -> Result<String> {
    // A file is for all workloads, also those that pause.
    let Some(Made { machine, agrees }) = of_matrix(matrix, true)? else {
        return Err(Error::usage(
            "simulate machine: no machine is named; give --print NAME or --from MATRIX.csv",
        ));
    };
    if !agrees {
        output::tell(
            "the row of --anchor and the matrix disagree about a transfer: predictions of ticket locks and of locks with a queue are guesses",
        );
    }
    machine.to_toml().map_err(|e| Error::usage(e.to_string()))
}

/// Rejects documents of machines without a scale: they have times.
pub(super) fn check_absolute(machines: &[Machine], documents: &[&Option<PathBuf>]) -> Result<()> {
    let asked = documents.iter().any(|document| document.is_some());
    match machines.iter().find(|machine| asked && machine.topology_only) {
        None => Ok(()),
        Some(machine) => Err(Error::usage(format!(
            "{} is topology only, and a document would have times; print the table, which has ratios, or give a machine with a contended row, \
             such as --from MATRIX.csv with --anchor",
            machine.name
        ))),
    }
}
