//! The report's page: its content, what it must not contain, odd data, and its rendering in a browser.

#[macro_use]
extern crate cyclewise_bench;

mod browser;
mod content;
mod fixtures;
#[path = "../../../cyclewise-report/src/export/html/visible.rs"]
mod visible;

use cyclewise_lab::export::html::{render, render_comparison};

#[test]
#[ignore = "writes the pages into REPORT_DIR for a person to look at"]
fn write_the_pages() {
    let dir = std::path::PathBuf::from(std::env::var_os("REPORT_DIR").expect("REPORT_DIR names a directory"));
    let one = render(&[fixtures::record(7, 500)], &fixtures::published).unwrap();
    let several = [fixtures::small(), fixtures::record(2, 100)];
    let several = render(&several, &fixtures::published).unwrap();
    let comparison = render_comparison(&fixtures::comparison()).unwrap();
    for (name, page) in [
        ("run.html", one),
        ("records.html", several),
        ("compare.html", comparison),
    ] {
        std::fs::write(dir.join(name), page).unwrap();
    }
}
