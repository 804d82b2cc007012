//! `cyclewise compare`: compares records with the first one.

use super::cli::CompareArgs;
use super::output;
use crate::error::Result;
use crate::{compare, export, record};

pub(super) fn compare(args: &CompareArgs) -> Result<()> {
    output::check_named(&[("--json", &args.json), ("--html", &args.html)], &args.records)?;
    let records = args
        .records
        .iter()
        .map(|path| record::load(path))
        .collect::<Result<Vec<_>>>()?;
    let report = compare::compare(records)?;
    if let Some(rule) = &args.fail_on {
        rule.check_names(&report)?;
    }
    output::put_all(
        || export::table::comparison(&report, output::look(args.wide)),
        &[
            (&args.json, &|| export::json::pretty(&report)),
            (&args.html, &|| export::html::render_comparison(&report)),
        ],
    )?;
    args.fail_on.as_ref().map_or(Ok(()), |rule| rule.check(&report))
}
