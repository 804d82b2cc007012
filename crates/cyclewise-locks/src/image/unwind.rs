//! Where functions are by the table for unwinding, which files keep when their symbols are taken out.
//!
//! # References
//! Linux Standard Base Core Specification 5.0, 10.6, "Exception Frames".

use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection};
use std::ops::Range;

/// Functions by the bytes of `.eh_frame`, which is loaded at `at`, of a file whose code is loaded at `text`; by their starts.
///
/// A table that cannot be read to its end gives what came before.
pub(super) fn functions(table: &[u8], at: u64, text: Option<u64>) -> Vec<Range<u64>> {
    let mut bases = BaseAddresses::default().set_eh_frame(at);
    if let Some(text) = text {
        bases = bases.set_text(text);
    }
    let table = EhFrame::new(table, LittleEndian);
    let mut entries = table.entries(&bases);
    let mut functions = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        if let Ok(entry) = partial.parse(EhFrame::cie_from_offset) {
            functions.push(entry.initial_address()..entry.end_address());
        }
    }
    functions.sort_unstable_by_key(|function| (function.start, function.end));
    functions
}

/// That of them which an address lies in.
pub(super) fn find(functions: &[Range<u64>], address: u64) -> Option<Range<u64>> {
    let after = functions.partition_point(|function| function.start <= address);
    let last = functions.get(after.checked_sub(1)?)?;
    last.contains(&address).then(|| last.clone())
}
