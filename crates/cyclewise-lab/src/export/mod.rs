//! Outputs of what only this package knows; records, comparisons, fleets and limits are `cyclewise-report`'s.

pub(crate) mod doctor;
pub(crate) mod json;
pub(crate) mod table;

pub use cyclewise_report::export::html;
pub(crate) use cyclewise_report::export::{bmf, csv, hyperfine, markdown};
