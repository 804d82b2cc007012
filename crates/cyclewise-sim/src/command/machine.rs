//! Machines that the command line describes: from a matrix, or for printing.

use super::cli::{MachineArgs, MatrixArgs};
use crate::from_matrix::{self, Asked, Made};
use crate::machine::template;
use crate::sweep::machines::{self, Source};
use crate::{Machine, Relax};
use cyclewise_bench::error::{Error, Result};
use cyclewise_bench::record::read_text;
use cyclewise_report::files::output::{self, Documents};
use std::path::Path;

/// The machine of a matrix; `None` without one.
pub(super) fn of_matrix(args: &MatrixArgs, relax: &[Relax]) -> Result<Option<Made>> {
    let (Some(path), Some(ghz)) = (&args.from, args.clock) else {
        return Ok(None);
    };
    if args.pause.is_none() && relax.iter().any(|relax| *relax != Relax::None) {
        return Err(Error::usage(
            "what a pause costs differs between cores by a factor of ten, so it is not assumed; give --pause CYCLES",
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
        Some(name) => match machines::source(name)? {
            Source::Preset(_) => Machine::preset(name).map_or_else(String::new, |preset| preset.text.to_owned()),
            Source::File { text, .. } => text,
        },
        None => made(&args.matrix)?,
    };
    output::put(Path::new("-"), &template(&text))
}

/// The file of a matrix's machine.
fn made(matrix: &MatrixArgs) -> Result<String> {
    // A file is for all workloads, also those that pause.
    let Some(Made { machine, agrees }) = of_matrix(matrix, &[Relax::Pause])? else {
        return Err(Error::usage(
            "simulate machine: no machine is named; give --print NAME or --from MATRIX.csv",
        ));
    };
    if !agrees {
        output::tell(
            "the row of --anchor and the matrix disagree about a transfer: what the machine says of locks that are handed on is a guess",
        );
    }
    machine.to_toml().map_err(|e| Error::usage(e.to_string()))
}

/// Rejects documents of machines without a scale: they have times.
pub(super) fn check_absolute(machines: &[Machine], documents: &Documents) -> Result<()> {
    let Documents { json, csv, html } = documents;
    let Some(document) = json.as_ref().or(csv.as_ref()).or(html.as_ref()) else {
        return Ok(());
    };
    match machines.iter().find(|machine| machine.topology_only) {
        None => Ok(()),
        Some(machine) => Err(Error::usage(format!(
            "{} is topology only, and {} would have times; print the table, which has ratios, or give a contended row: --anchor with --from",
            machine.name,
            document.display()
        ))),
    }
}
