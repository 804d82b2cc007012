//! Cells and quantiles beside naive ones, with twins; the text; the protocol as models, with twins; and a storm.

mod cells;
#[cfg(not(loom))]
mod histogram;
mod models;
