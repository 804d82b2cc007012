//! `cyclewise report`: records as one HTML page.

use super::output;
use crate::error::Result;
use crate::{experiment, export, record};
use std::path::{Path, PathBuf};

pub(super) fn report(records: &[PathBuf], html: &Path) -> Result<()> {
    if html != Path::new("-") {
        output::writable("--html", html)?;
    }
    let records = records.iter().map(|p| record::load(p)).collect::<Result<Vec<_>>>()?;
    output::put(html, &export::html::render(&records, &experiment::published)?)
}
