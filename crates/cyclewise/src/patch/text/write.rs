//! Writing checked edits by one of two ways, reading them back, and rolling back.
//!
//! # Safety
//! 1. The edits were checked: sorted, apart, inside their pages, in text, and holding what they expect.
//! 2. Pages are written only between opening and closing them, or by the kernel.
#![expect(unsafe_code, reason = "writes text by address")]

use super::Edit;
use crate::arch::code;
use crate::error::Refusal;
use crate::sys::memory::{self, OwnMemory, PAGE};

/// Writes every edit and reads it back, or leaves everything as it was. Bytes go through the kernel, in any order, only
/// where `any_order` says that this is harmless.
///
/// # Errors
/// The second way's refusal where both were refused.
///
/// # Safety
/// The edits were checked (Invariant 1). Where `any_order` is true, no thread executes a site between two of its bytes'
/// changes, or each edit changes one byte.
pub(super) unsafe fn all(edits: &[Edit], any_order: bool) -> Result<(), Refusal> {
    if any_order {
        // SAFETY: the caller checked the edits and vouches for `any_order`.
        let kernel = unsafe { by_kernel(edits) };
        match kernel {
            // Rolled back, and another way is left.
            Err(Refusal::System { .. }) => {}
            done => return done,
        }
    }
    // SAFETY: the caller checked the edits.
    unsafe { by_store(edits) }
}

/// Takes write access from every page of the edits, whether it has any or not.
///
/// # Safety
/// The edits lie in text, and no batch is under way.
pub(super) unsafe fn close(edits: &[Edit]) {
    for run in runs(edits) {
        // SAFETY: whole pages of text, readable and executable as before. Where it is refused, so was opening them.
        let _ = unsafe { set_writable(run, false) };
    }
}

/// Which bytes of an edit.
type Bytes = fn(&Edit) -> [u8; 8];
const OLD: Bytes = |edit| edit.expect;
const NEW: Bytes = |edit| edit.new;

/// mprotect, store, mprotect. Every run is opened before the first store, so that a refusal comes in time.
///
/// # Safety
/// The edits were checked (Invariant 1).
unsafe fn by_store(edits: &[Edit]) -> Result<(), Refusal> {
    for (opened, run) in runs(edits).enumerate() {
        // SAFETY: whole pages of text that this batch changes (Invariant 1).
        if let Err(refusal) = unsafe { set_writable(run, true) } {
            // SAFETY: the runs that the loop has opened, and no more.
            unsafe { close_runs(runs(edits).take(opened)) }?;
            return Err(refusal);
        }
    }
    // SAFETY: every page is writable (Invariant 2).
    unsafe { store(edits, NEW) };
    if let Some(at) = missing(edits, NEW) {
        // SAFETY: no page was closed yet (Invariant 2).
        unsafe { store(edits, OLD) };
        // SAFETY: the pages were opened here.
        unsafe { close_runs(runs(edits)) }?;
        return Err(Refusal::NotVerified { at });
    }
    // SAFETY: the pages were opened here.
    let closed = unsafe { close_runs(runs(edits)) };
    if closed.is_err() {
        // Closing stops at the first failure, but pages before that are closed: open them again, as far as may be.
        let reopened = runs(edits).try_for_each(|run| {
            // SAFETY: whole pages of text that this batch changes (Invariant 1).
            unsafe { set_writable(run, true) }
        });
        if reopened.is_err() {
            let at = edits.first().map_or(0, Edit::start);
            return Err(Refusal::HalfWritten { at });
        }
        // SAFETY: every page is writable (Invariant 2).
        unsafe { store(edits, OLD) };
        // SAFETY: the pages were opened here. The first failure is the one to report.
        let _ = unsafe { close_runs(runs(edits)) };
    }
    closed
}

/// Stores one or the other bytes of every edit.
///
/// # Safety
/// The edits were checked (Invariant 1), and every page of theirs is writable.
unsafe fn store(edits: &[Edit], bytes: Bytes) {
    for edit in edits.iter().filter(|e| e.expect != e.new) {
        // SAFETY: text that was checked, in a page that the caller opened; the text's lock keeps other writers out.
        unsafe { code::store(edit.at, edit.len(), bytes(edit)) };
    }
}

/// Makes the pages of runs read-only again; stops at the first that cannot be.
///
/// # Safety
/// This batch has opened them, and stores no more.
unsafe fn close_runs<'a>(mut runs: impl Iterator<Item = &'a [Edit]>) -> Result<(), Refusal> {
    // SAFETY: whole pages of text that this batch has opened, says the caller.
    let closed = runs.try_for_each(|run| unsafe { set_writable(run, false) });
    closed.map_err(|refusal| match refusal {
        Refusal::System { errno, .. } => Refusal::StillWritable { errno },
        other => other,
    })
}

/// Makes the pages of a run writable, or takes that back.
///
/// # Safety
/// The edits were checked (Invariant 1), so their pages are text, which this batch changes.
unsafe fn set_writable(run: &[Edit], writable: bool) -> Result<(), Refusal> {
    let (Some(first), Some(last)) = (run.first(), run.last()) else {
        return Ok(());
    };
    let start = page(first) * PAGE;
    // SAFETY: whole pages, from the first edit's to the last's; a run has no page without an edit, and the caller
    // checked the edits.
    unsafe { memory::set_writable(start, (page(last) + 1) * PAGE - start, writable) }
}

/// One pwrite per page, from its first edit to its last.
///
/// # Safety
/// The edits were checked (Invariant 1), and their bytes may change in any order.
unsafe fn by_kernel(edits: &[Edit]) -> Result<(), Refusal> {
    let memory = OwnMemory::open()?;
    let mut refusal = None;
    for page in pages(edits) {
        // SAFETY: edits of one page that the caller checked, and in which it allows any order.
        if let Err(why) = unsafe { write_page(&memory, page, NEW) } {
            refusal = Some(why);
            break;
        }
    }
    if refusal.is_none() {
        refusal = missing(edits, NEW).map(|at| Refusal::NotVerified { at });
    }
    let Some(refusal) = refusal else { return Ok(()) };
    // Only pages that differ: where writing was refused, it is refused again.
    let mut changed = pages(edits).filter(|page| missing(page, OLD).is_some());
    // What it says does not matter: what is there does.
    let _ = changed.try_for_each(|page| {
        // SAFETY: the same edits; what is harmless in one direction is in the other, since both bytes are right.
        unsafe { write_page(&memory, page, OLD) }
    });
    Err(match missing(edits, OLD) {
        None => refusal,
        Some(at) => Refusal::HalfWritten { at },
    })
}

/// Writes one or the other bytes of one page's edits, and what is between them as it is.
///
/// # Safety
/// The edits were checked (Invariant 1), lie in one page, and may change in any order.
unsafe fn write_page(memory: &OwnMemory, page: &[Edit], bytes: Bytes) -> Result<(), Refusal> {
    let (Some(first), Some(last)) = (page.first(), page.last()) else {
        return Ok(());
    };
    let mut buffer = [0; PAGE];
    let (start, len) = (first.start(), last.end() - first.start());
    // SAFETY: inside one readable page, which is all the buffer holds (Invariant 1); under the lock no thread of this
    // process writes it.
    unsafe { core::ptr::copy_nonoverlapping(first.at, buffer.as_mut_ptr(), len) };
    for edit in page {
        let inside = edit.start() - start;
        buffer[inside..inside + edit.len()].copy_from_slice(&bytes(edit)[..edit.len()]);
    }
    // SAFETY: text of edits that the caller checked; between them stands what was read there, under the text's lock.
    unsafe { memory.write(start, &buffer[..len]) }
}

/// The first edit whose site does not hold its bytes.
fn missing(edits: &[Edit], bytes: Bytes) -> Option<usize> {
    let differs = |edit: &&Edit| {
        // SAFETY: readable text (Invariant 1).
        let there = unsafe { code::load(edit.at, edit.len()) };
        there != bytes(edit)
    };
    edits.iter().find(differs).map(Edit::start)
}

fn page(edit: &Edit) -> usize {
    edit.start() / PAGE
}

/// The edits page by page.
fn pages(edits: &[Edit]) -> impl Iterator<Item = &[Edit]> {
    edits.chunk_by(|a, b| page(a) == page(b))
}

/// The edits by runs of adjacent pages, each of which one mprotect covers.
fn runs(edits: &[Edit]) -> impl Iterator<Item = &[Edit]> {
    edits.chunk_by(|a, b| page(b) - page(a) <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn edits_are_grouped_by_page_and_by_run() {
        let at = [0x1000, 0x1ff8, 0x2000, 0x4000, 0x4010, 0x6000];
        let edits = at.map(|at| Edit {
            at: core::ptr::without_provenance_mut(at),
            len: 8,
            expect: [0; 8],
            new: [1; 8],
        });
        let lengths = |groups: Vec<&[Edit]>| groups.iter().map(|g| g.len()).collect::<Vec<_>>();
        assert_eq!(lengths(pages(&edits).collect()), [2, 1, 2, 1]);
        assert_eq!(lengths(runs(&edits).collect()), [3, 2, 1]);
    }
}
