//! Cells and quantiles beside naive ones, with twins; the text; and a storm.

mod cells;
#[cfg(not(loom))]
mod histogram;
