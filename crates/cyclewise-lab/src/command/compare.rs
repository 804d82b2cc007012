//! `cyclewise compare`: records held against the first.

use super::cli::CompareArgs;
use super::output;
use crate::error::Result;
use crate::{compare, export, record};
use std::path::Path;

pub(super) fn compare(args: &CompareArgs) -> Result<()> {
    output::check_named(&[("--json", &args.json), ("--html", &args.html)], &args.records)?;
    let load = |path: &std::path::PathBuf| Ok((path.display().to_string(), record::load(path)?));
    let labelled = args.records.iter().map(load).collect::<Result<Vec<_>>>()?;
    let report = compare::compare(&labelled, args.seed)?;
    if !output::takes_stdout(args.json.as_ref()) && !output::takes_stdout(args.html.as_ref()) {
        output::put(Path::new("-"), &export::table::comparison(&report))?;
    }
    if let Some(path) = &args.json {
        output::put(path, &export::json::pretty(&report)?)?;
    }
    if let Some(path) = &args.html {
        output::put(path, &export::html::render_comparison(&report)?)?;
    }
    Ok(())
}
