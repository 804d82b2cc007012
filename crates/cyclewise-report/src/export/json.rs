//! JSON: records, comparisons, lists.

use crate::record::fleet_report::FleetReport;
pub use cyclewise_bench::export::json::*;
use std::io::{self, Write};

/// A fleet's report, in one line: most of it is counts in bins.
pub fn fleet(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, report)?;
    out.write_all(b"\n")
}
