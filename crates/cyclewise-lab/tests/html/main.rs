//! The report's page: its content, what it must not contain, odd data, and its rendering in a browser.

#[macro_use]
extern crate cyclewise_bench;

mod browser;
mod content;
mod fixtures;
#[path = "../../../cyclewise-report/src/export/html/visible.rs"]
mod visible;
