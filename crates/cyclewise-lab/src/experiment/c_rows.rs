//! Rows in C beside Rust's, in one run: the inline operations of the C headers, and C11's.

use super::elided::ElidedRows;
use crate::arch::{Body, c};
use crate::runner::{Bench, MissingVariant, Sampler};

/// A row: its name, and its loops where there are any.
pub(super) type CRow = (&'static str, fn(&'static str) -> Option<Body>);

/// The rows with LOCK in force; those that the build could not make are missing, with one note.
pub(super) fn locked(
    bench: &mut Bench,
    rows: &[CRow],
    notes: &mut Vec<String>,
    missing: &mut Vec<MissingVariant>,
) -> Vec<Box<dyn Sampler>> {
    if let Some(why) = c::why_not() {
        let names: Vec<_> = rows.iter().map(|(name, _)| *name).collect();
        super::left_out(notes, missing, &names, why);
        return Vec::new();
    }
    notes.push(NOTE.to_string());
    rows.iter()
        .filter_map(|(name, body)| Some(bench.loops(body(name)?)))
        .collect()
}

const NOTE: &str = "rows of c- are the inline operations of the headers cyclewise/*.h, and those of c11- the compiler's own, in loops \
                    compiled by a C compiler";

/// A row with LOCK elided.
pub(super) fn elided(bench: &mut Bench, rows: &mut ElidedRows, (name, body): CRow) -> Option<Box<dyn Sampler>> {
    // Where there is no C, the note of the rows with LOCK has the reason.
    let body = body(name)?;
    rows.row(name, || bench.loops(body))
}
