//! `cyclewise compare`: compares records with the first one.

use super::cli::CompareArgs;
use crate::error::Result;
use crate::record::fleet::Member;
use crate::record::fleet_report::FleetReport;
use crate::record::{Record, letters};
use crate::{compare, export, record};
use cyclewise_report::files::output;
use cyclewise_report::fleet::{self, Settings};

pub(super) fn compare(args: &CompareArgs) -> Result<()> {
    output::check_named(&[("--json", &args.json), ("--html", &args.html)], &args.records)?;
    let records = args
        .records
        .iter()
        .map(|path| record::load(path))
        .collect::<Result<Vec<_>>>()?;
    let fleet = side_by_side(&records)?;
    let mut report = compare::compare(records)?;
    report.fleet = fleet;
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

/// The false discovery rate of outliers among records.
const FDR: f64 = 0.05;

/// Of three or more records, the report on all of them: each is a machine, by its letter.
fn side_by_side(records: &[Record]) -> Result<Option<FleetReport>> {
    if records.len() < 3 {
        return Ok(None);
    }
    let members = records
        .iter()
        .enumerate()
        .map(|(i, record)| Member::alone(&letters(i), record));
    let settings = Settings {
        by: Vec::new(),
        fdr: FDR,
    };
    fleet::analyse(members.collect(), &[], Vec::new(), &settings).map(Some)
}
