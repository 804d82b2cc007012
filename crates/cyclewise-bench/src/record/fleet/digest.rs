//! What tells one measurement from another: a digest of its figures, not of its file's bytes.
//!
//! A copy that was compressed again, indented, or written by a program that orders fields otherwise has the same digest. So has
//! one of which only samples were changed: it is no second measurement. Two measurements differ, because no two agree in every
//! row's mean, deviation, median and least sample to the last bit.

use super::skim::Skim;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Bytes of the digest that are kept: 2⁶⁴ measurements would have to be made for two to meet by chance.
const KEPT: usize = 16;

/// The digest of a record, in hexadecimal digits.
pub(super) fn of_figures(record: &Skim) -> String {
    let mut hash = Fields(Sha256::new());
    let identity = &record.machine.identity;
    hash.text(&record.created);
    hash.number(record.seed);
    hash.text(identity.node.as_deref().unwrap_or(""));
    hash.text(identity.boot_id.as_deref().unwrap_or(""));
    hash.figure(record.machine.tsc_hz);
    for e in &record.experiments {
        hash.text(&e.name);
        hash.text(e.unit.as_str());
        hash.number(e.variants.len() as u64);
        for v in &e.variants {
            hash.text(&v.name);
            hash.number(v.n as u64);
            for figure in [v.mean, v.sd, v.median, v.min] {
                hash.figure(figure);
            }
        }
    }
    for run in &record.runs {
        hash.number(run.seed);
        for (.., median) in &run.medians {
            hash.figure(*median);
        }
    }
    hash.hex()
}

/// Fields one after another, so that no two lists of fields have the same bytes.
struct Fields(Sha256);

impl Fields {
    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text);
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    /// 0 and -0 are the same figure.
    fn figure(&mut self, figure: f64) {
        self.number((figure + 0.0).to_bits());
    }

    fn hex(self) -> String {
        let mut text = String::with_capacity(2 * KEPT);
        for byte in &self.0.finalize()[..KEPT] {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}
