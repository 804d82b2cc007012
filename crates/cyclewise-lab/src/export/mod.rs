//! Outputs of what only this package knows; records, comparisons, fleets and limits are `cyclewise-report`'s.

pub(crate) mod csv;
pub(crate) mod doctor;
pub mod html;
pub(crate) mod job;
pub(crate) mod json;
pub(crate) mod table;

pub(crate) use cyclewise_report::export::{bmf, markdown, openmetrics};
