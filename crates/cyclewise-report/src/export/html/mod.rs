//! The report: a self-contained HTML page of records, a comparison, a fleet, a program's locked instructions or a sweep.
//!
//! # Invariants
//! 1. The page loads nothing (no script, font or image), and its content security policy forbids it.
//! 2. Text from a record is always escaped, by askama or by the SVG writer.
//! 3. The dots of a page are bounded: every finite kept sample is one, or of a row with more, as many of its quantiles. The
//!    caption says which, and how many samples lie beyond the axis.
//! 4. A page begins with what its record answers. Facts about the machine and other people's figures come last.
//! 5. Odd data (no samples, one sample, infinities) are described in words; they cause no failure.

mod comparison;
mod experiment;
mod fleet;
mod guest;
mod in_context;
pub mod machine;
pub mod page;
pub mod pieces;
pub mod plot;
mod published;
pub mod table;
#[cfg(test)]
mod visible;
pub mod words;

use crate::error::{Error, Result};
use crate::export::in_unit;
use crate::record::compare::CompareReport;
use crate::record::fleet_report::FleetReport;
use crate::record::{Published, Record};
use askama::Template;
use std::borrow::Cow;

/// Renders one or more records. `published` returns the published figures of an experiment by name.
///
/// # Errors
/// Exit 3 if rendering fails; no content of a record causes it.
pub fn render(records: &[Record], published: &dyn Fn(&str) -> &'static [Published]) -> Result<String> {
    let shown: Vec<Cow<'_, Record>> = records.iter().map(|r| in_unit::record(r, None)).collect();
    if shown.iter().all(|record| matches!(record, Cow::Borrowed(_))) {
        return finish(&page::RunPage::new(records, published)?);
    }
    let records: Vec<Record> = shown.into_iter().map(Cow::into_owned).collect();
    finish(&page::RunPage::new(&records, published)?)
}

/// Renders a comparison.
pub fn render_comparison(report: &CompareReport) -> Result<String> {
    finish(&comparison::ComparePage::new(&in_unit::comparison(report))?)
}

/// Renders the report on many machines.
pub fn render_fleet(report: &FleetReport) -> Result<String> {
    finish(&fleet::FleetPage::new(report)?)
}

/// Renders a page.
pub fn finish(page: &impl Template) -> Result<String> {
    page.render().map_err(broken)
}

/// A renderer's failure: a bug, so the error asks for a report.
pub fn broken(cause: impl std::fmt::Display) -> Error {
    Error::unsupported(format!(
        "the report's page could not be written: {cause}; please report it with the record"
    ))
}
