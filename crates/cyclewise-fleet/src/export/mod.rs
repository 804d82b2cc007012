//! Outputs: the files of a job; reports are `cyclewise-report`'s.

pub(crate) mod job;

pub(crate) use cyclewise_report::export::{csv, html, json, openmetrics, table};
