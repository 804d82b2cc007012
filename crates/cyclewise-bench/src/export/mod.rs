//! Formats that need a record and nothing else. Pages, comparisons of records and fleets are `cyclewise-report`'s.

pub mod bmf;
pub mod csv;
pub mod json;
