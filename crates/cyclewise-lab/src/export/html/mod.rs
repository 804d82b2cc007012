//! The report people read: records, or a comparison of records, as one self-contained HTML page.
//!
//! # Invariants
//! 1. The page asks for nothing from outside itself, and its content security policy says so: no script, font or image.
//! 2. Text from a record reaches the page through askama's escaping or the SVG writer's, never around them.
//! 3. Every finite kept sample is a marker in the plot, on a wide page and on a narrow one.
//! 4. Odd data (nothing kept, one sample, infinities) become words; they are no reason to fail.

mod comparison;
mod experiment;
mod machine;
mod number;
mod page;
mod phase;
mod plot;
mod published;
mod simulation;
mod table;
mod words;

use crate::error::{Error, Result};
use crate::experiment::Published;
use crate::record::Record;
use crate::record::compare::CompareReport;
use crate::record::simulation::Simulation;
use crate::simulate::phase::Phase;
use askama::Template;

/// Writes the page of one or more records. `published` gives an experiment's published figures by its name.
///
/// # Errors
/// Exit 3 where the page cannot be put together; no content of a record causes it.
pub fn render(records: &[Record], published: &dyn Fn(&str) -> &'static [Published]) -> Result<String> {
    finish(&page::RunPage::new(records, published)?)
}

/// Writes the page of a comparison.
///
/// # Errors
/// As [`render`].
pub fn render_comparison(report: &CompareReport) -> Result<String> {
    finish(&comparison::ComparePage::new(report)?)
}

/// Writes the page of a simulated sweep.
///
/// # Errors
/// As [`render`].
pub fn render_simulation(simulation: &Simulation) -> Result<String> {
    finish(&simulation::SimulationPage::new(simulation)?)
}

/// Writes the page of a phase diagram.
///
/// # Errors
/// As [`render`].
pub fn render_phase(phase: &Phase) -> Result<String> {
    finish(&phase::PhasePage::new(phase)?)
}

fn finish(page: &impl Template) -> Result<String> {
    page.render().map_err(broken)
}

/// What a failure of a writer becomes: nothing that the reader did, so it asks for a report.
fn broken(cause: impl std::fmt::Display) -> Error {
    Error::unsupported(format!(
        "the report's page could not be written: {cause}; please report it with the record"
    ))
}
