//! `cyclewise compare`: compares records with the first one.

use super::cli::CompareArgs;
use super::output;
use crate::error::Result;
use crate::{compare, export, record};
use std::path::PathBuf;

pub(super) fn compare(args: &CompareArgs) -> Result<()> {
    output::check_named(&[("--json", &args.json), ("--html", &args.html)], &args.records)?;
    let load = |path: &PathBuf| Ok((path.display().to_string(), record::load(path)?));
    let labelled = args.records.iter().map(load).collect::<Result<Vec<_>>>()?;
    let report = compare::compare(&labelled, args.seed)?;
    output::put_all(
        || export::table::comparison(&report, output::look(args.wide)),
        &[
            (&args.json, &|| export::json::pretty(&report)),
            (&args.html, &|| export::html::render_comparison(&report)),
        ],
    )
}
