//! `cyclewise fleet report`.

use crate::command::cli::FleetReportArgs;
use crate::error::{Error, Result};
use crate::fleet::{self, Settings};
use crate::{export, files};
use cyclewise_report::files::output::{self, tell};
use cyclewise_report::files::progress::Reporter;
use cyclewise_report::number::counted;
use std::io;

pub(super) fn report(args: &FleetReportArgs) -> Result<()> {
    let named = [
        ("--json", &args.json),
        ("--csv", &args.csv),
        ("--openmetrics", &args.openmetrics),
        ("--html", &args.html),
    ];
    output::check_named(&named, &args.sources)?;
    for target in named.iter().filter_map(|(_, path)| path.as_ref()) {
        files::input::refuse(target, &args.sources, &files::input::is_report)?;
    }
    let settings = Settings {
        by: args.by.clone(),
        fdr: args.fdr,
    };
    // Of no records: what is wrong with the settings is said before the reading.
    fleet::analyse(Vec::new(), &[], Vec::new(), &settings)?;
    let read = |progress: &(dyn Fn(usize, usize) + Sync)| files::read_figures(&args.sources, progress);
    let inventory = Reporter::shared("files", read)?;
    if inventory.measured.records.is_empty() && inventory.checkups.is_empty() {
        return Err(nothing(args, inventory.problems.len()));
    }
    tell(&format!(
        "analysing {}",
        counted(inventory.measured.records.len(), "record")
    ));
    let report = fleet::measured(inventory.measured, &inventory.checkups, inventory.problems, &settings)?;
    let page = |out: &mut dyn io::Write| {
        let page = export::html::render_fleet(&report).map_err(io::Error::other)?;
        out.write_all(page.as_bytes())
    };
    output::stream_all(
        || export::table::fleet(&report, output::look(args.wide)),
        &[
            (&args.json, &|out| export::json::fleet(&report, out)),
            (&args.csv, &|out| export::csv::fleet(&report, out)),
            (&args.openmetrics, &|out| export::openmetrics::fleet(&report, out)),
            (&args.html, &page),
        ],
    )
}

/// The error of sources without records.
fn nothing(args: &FleetReportArgs, problems: usize) -> Error {
    let sources: Vec<String> = args.sources.iter().map(|s| s.display().to_string()).collect();
    let why = match problems {
        0 => "no records",
        _ => "no records that can be read",
    };
    let hint = match problems {
        0 => "`cyclewise run --json` writes them",
        _ => "`cyclewise fleet join` says what is wrong with each file",
    };
    Error::usage(format!("{}: {why}; {hint}", sources.join(", "))).in_one_line()
}
