//! Writes checked edits, reads them back, and rolls back.
//!
//! # Safety
//! 1. The edits were checked: sorted, disjoint, each inside one page, in text, and holding the expected bytes. The
//!    functions here are unsafe for that reason: the caller of [`all`] has checked them, and `all` calls the others.
//! 2. Pages are written only between opening and closing them, or by the kernel.
//! 3. The text lock is held, so no thread of this process writes what is read here.
//! 4. Bytes between the edits of a group lie in pages with edits: they are mapped and readable text too. They are written
//!    back as they were read.
#![expect(unsafe_code, reason = "writes text by address")]

use super::groups::{MOST_PAGES, page, runs, stretches};
use super::{Edit, buffer, check, mem_fd};
use crate::arch::{self, code};
use crate::error::Refusal;
use crate::patch::sites::TextReader;
use crate::patch::text_guard::TextGuard;
use crate::sys::fork_generation;
use crate::sys::mprotect::{self, PAGE};
use crate::sys::proc_mem::ProcMem;

/// Where the descriptor of this process's memory comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// It is opened for this batch.
    Opened,
    /// It was kept open. Between its check and the write another thread could close it and open a file under its
    /// number, so it comes first only where there is no other thread, or where it was just opened.
    Kept,
}

/// What the kernel may write in one call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KernelWrites {
    /// Nothing: it does not write an edit by one store.
    Nothing,
    /// The edits of a page. Other threads run, and one of them may change text without the lock: between reading and
    /// writing back the bytes around the edits, its change would be lost. So there are few such bytes.
    Pages,
    /// The edits of several adjacent pages.
    Stretches,
}

impl KernelWrites {
    fn most_pages(self) -> usize {
        if self == Self::Stretches { MOST_PAGES } else { 1 }
    }
}

/// Writes every edit and reads it back, or changes nothing. Where the kernel may write, tries a descriptor from `first`,
/// then one from the other source, and then stores; else stores only.
///
/// # Errors
/// The stores' refusal if every way was refused; [`Refusal::HalfWritten`] if one wrote a part and none completed it.
///
/// # Safety
/// The edits were checked (Invariant 1). Where the kernel may write, their bytes may be written in any order, and no
/// handler on this thread forks.
pub(super) unsafe fn all(held: &TextGuard, edits: &[Edit], kernel: KernelWrites, first: Source) -> Result<(), Refusal> {
    if kernel != KernelWrites::Nothing {
        let sources = match first {
            Source::Opened => [Source::Opened, Source::Kept],
            Source::Kept => [Source::Kept, Source::Opened],
        };
        for source in sources {
            // SAFETY: the caller checked the edits, and promises the same about order and handlers.
            if unsafe { by_kernel(held, edits, kernel, source) }.is_ok() {
                return Ok(());
            }
            // Rolled back as far as possible; try the next way.
        }
    }
    // LOCK is right in every process, so it is written wherever it is missing.
    let allowed = if edits.iter().all(restores_lock) {
        Ok(())
    } else {
        check::still_text(edits)
    };
    // SAFETY: the caller checked the edits.
    let stored = allowed.and_then(|()| unsafe { by_store(edits) });
    stored.map_err(|refusal| match (refusal, missing(edits, OLD)) {
        // The kernel wrote a part before it refused, and no other way could complete it or roll it back.
        (Refusal::System { .. } | Refusal::NotText { .. }, Some(at)) => Refusal::HalfWritten { at },
        _ => refusal,
    })
}

/// Whether an edit writes a LOCK prefix.
fn restores_lock(edit: &Edit) -> bool {
    edit.len == 1 && edit.new[0] == arch::LOCK
}

/// Makes pages readable that other code has made execute-only since their edits were written. Where that is refused, so is what comes
/// next.
///
/// # Safety
/// The edits lie in text, and no batch is in progress.
#[allow(dead_code, reason = "only a mode keeps edits")]
pub(super) unsafe fn make_readable(_: &TextGuard, edits: &[Edit]) {
    let mut reader = TextReader::new();
    for run in runs(edits) {
        if !run.iter().all(|edit| reader.can_read(edit.start())) {
            // SAFETY: whole pages of text, which become what text is.
            let _ = unsafe { set_writable(run, false) };
        }
    }
}

/// Makes every page that the batch may have opened read-only, whether it was writable or not.
///
/// # Safety
/// The edits lie in text, and no batch is in progress.
pub(super) unsafe fn close(_: &TextGuard, edits: &[Edit]) {
    for run in runs(edits) {
        // SAFETY: whole pages of text stay readable and executable. If this is refused, so was opening them.
        let _ = unsafe { set_writable(run, false) };
    }
}

/// Which bytes of an edit.
type Bytes = fn(&Edit) -> [u8; 8];
const OLD: Bytes = |edit| edit.expect;
const NEW: Bytes = |edit| edit.new;

/// mprotect, store, mprotect. Opens every run before the first store, so that a refusal comes before any change.
///
/// # Safety
/// The edits were checked (Invariant 1), and each is one store wherever another thread runs.
unsafe fn by_store(edits: &[Edit]) -> Result<(), Refusal> {
    let runs = || runs(edits);
    for (opened, run) in runs().enumerate() {
        // SAFETY: the caller checked the edits, whose pages these are.
        if let Err(refusal) = unsafe { set_writable(run, true) } {
            // A run may be several mappings, the first of which the kernel has opened before it refused. Where it has
            // not, closing does nothing and may be refused too.
            // SAFETY: pages of checked edits.
            let _ = unsafe { set_writable(run, false) };
            // SAFETY: the loop has opened these runs, and no other as a whole.
            unsafe { close_runs(runs().take(opened)) }?;
            return Err(refusal);
        }
    }
    // SAFETY: the loop has opened every run (Invariant 2).
    unsafe { store(edits, NEW) };
    if let Some(at) = missing(edits, NEW) {
        // SAFETY: every run is open still (Invariant 2).
        unsafe { store(edits, OLD) };
        // SAFETY: the loop has opened every run.
        unsafe { close_runs(runs()) }?;
        return Err(Refusal::NotVerified { at });
    }
    // SAFETY: the loop has opened every run.
    let closed = unsafe { close_runs(runs()) };
    if closed.is_err() {
        // Closing stops at the first failure, but earlier pages are closed: reopen them if possible.
        let reopened = runs().try_for_each(|run| {
            // SAFETY: the caller checked the edits, whose pages these are.
            unsafe { set_writable(run, true) }
        });
        if reopened.is_err() {
            let at = edits.first().map_or(0, Edit::start);
            return Err(Refusal::HalfWritten { at });
        }
        // SAFETY: every run was opened again (Invariant 2).
        unsafe { store(edits, OLD) };
        // SAFETY: every run was opened again. The first failure is the one to report.
        let _ = unsafe { close_runs(runs()) };
    }
    closed
}

/// Stores the edits that change something.
///
/// # Safety
/// The edits were checked (Invariant 1), and every page of theirs is open (Invariant 2).
unsafe fn store(edits: &[Edit], bytes: Bytes) {
    for edit in edits.iter().filter(|e| e.expect != e.new) {
        // SAFETY: the caller has opened the page, and no other thread writes there (Invariant 3).
        unsafe { code::store(edit.at, edit.len(), bytes(edit)) };
    }
}

/// Closes runs of pages, up to the first that is refused.
///
/// # Safety
/// The edits were checked (Invariant 1), and this batch has opened these runs.
unsafe fn close_runs<'a>(mut runs: impl Iterator<Item = &'a [Edit]>) -> Result<(), Refusal> {
    // SAFETY: the caller checked the edits, and has opened their pages.
    let closed = runs.try_for_each(|run| unsafe { set_writable(run, false) });
    closed.map_err(|refusal| match refusal {
        Refusal::System { errno, .. } => Refusal::StillWritable { errno },
        other => other,
    })
}

/// Opens or closes the pages of a run.
///
/// # Safety
/// The edits were checked (Invariant 1), and the caller stores nothing there once they are closed.
unsafe fn set_writable(run: &[Edit], writable: bool) -> Result<(), Refusal> {
    let (Some(first), Some(last)) = (run.first(), run.last()) else {
        return Ok(());
    };
    let start = page(first) * PAGE;
    // SAFETY: whole pages, all of text, because each holds a checked edit (Invariant 1).
    unsafe { mprotect::set_writable(start, (page(last) + 1) * PAGE - start, writable) }
}

/// Writes through a descriptor of this process's memory.
///
/// # Safety
/// The edits were checked (Invariant 1), their bytes may be written in any order, and no handler of this thread forks.
unsafe fn by_kernel(held: &TextGuard, edits: &[Edit], kernel: KernelWrites, source: Source) -> Result<(), Refusal> {
    // Read before a descriptor is opened: if a handler of SIGSYS forks, the descriptor shows the parent's memory.
    let process = fork_generation::current();
    match source {
        // SAFETY: the caller's promise; a new descriptor was checked for whose memory it shows.
        Source::Opened => unsafe { through(held, &ProcMem::open()?, edits, kernel, process) },
        Source::Kept => match mem_fd::borrow(held) {
            // SAFETY: the caller's promise; a borrowed descriptor was checked for whose memory it shows.
            Some(memory) => unsafe { through(held, &memory, edits, kernel, process) },
            // Never reported: stores come last.
            None => Err(Refusal::NotEnabled),
        },
    }
}

/// Writes through one descriptor, reads back, and rolls back on a mismatch.
///
/// # Safety
/// The edits were checked (Invariant 1), their bytes may be written in any order, `memory` shows the process of this
/// generation, and a handler on this thread forks only between two system calls.
unsafe fn through(
    held: &TextGuard,
    memory: &ProcMem,
    edits: &[Edit],
    kernel: KernelWrites,
    process: u32,
) -> Result<(), Refusal> {
    let groups = || stretches(edits, kernel.most_pages());
    let mut refusal = groups().find_map(|group| {
        // SAFETY: the caller's promise, of the edits in this group.
        unsafe { write_group(held, memory, group, NEW, process) }.err()
    });
    if refusal.is_none() {
        refusal = missing(edits, NEW).map(|at| Refusal::NotVerified { at });
    }
    let Some(refusal) = refusal else { return Ok(()) };
    // Only groups that differ: a refused write would be refused again. The last of them may have been written in part;
    // then the same part of it is written again.
    let mut changed = groups().filter(|group| missing(group, OLD).is_some());
    // The result does not matter; the bytes are read back below.
    let _ = changed.try_for_each(|group| {
        // SAFETY: the caller's promise; the old bytes may be written in any order too.
        unsafe { write_group(held, memory, group, OLD, process) }
    });
    Err(match missing(edits, OLD) {
        None => refusal,
        Some(at) => Refusal::HalfWritten { at },
    })
}

/// Writes the edits of one group in one call, including the unchanged bytes between them.
///
/// # Safety
/// As [`through`]; the group's edits lie in a stretch of adjacent pages that the buffer holds.
unsafe fn write_group(
    held: &TextGuard,
    memory: &ProcMem,
    group: &[Edit],
    bytes: Bytes,
    process: u32,
) -> Result<(), Refusal> {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return Ok(());
    };
    // The kernel takes a page's length at a time (mem_rw), and each time looks up the pages that it is in: from the
    // start of a page that is one.
    let before = if page(first) == page(last) {
        0
    } else {
        first.start() % PAGE
    };
    let (start, len) = (first.start() - before, last.end() - (first.start() - before));
    // SAFETY: as many bytes, and no other use of them is in progress: this thread has the lock, and nothing that this
    // function calls uses them.
    let copy = unsafe { core::slice::from_raw_parts_mut(buffer::bytes(held, len), len) };
    // SAFETY: the caller checked the edits: the range is readable text (Invariant 4), as long as the copy, and no other
    // thread writes there (Invariant 3).
    unsafe { core::ptr::copy_nonoverlapping(first.at.wrapping_sub(before), copy.as_mut_ptr(), len) };
    for edit in group {
        let inside = edit.start() - start;
        copy[inside..inside + edit.len()].copy_from_slice(&bytes(edit)[..edit.len()]);
    }
    if fork_generation::current() != process {
        // Never reported: another way is tried.
        return Err(Refusal::NotEnabled);
    }
    // SAFETY: the caller vouches for the edits and the memory, which is this process's by the check above. Bytes
    // between the edits are written unchanged (Invariant 4).
    unsafe { memory.write(start, copy) }
}

/// The first edit whose site does not hold the bytes.
fn missing(edits: &[Edit], bytes: Bytes) -> Option<usize> {
    let differs = |edit: &&Edit| {
        // SAFETY: the edits were checked, so their addresses are in readable text (Invariant 1).
        let there = unsafe { code::load(edit.at, edit.len()) };
        there != bytes(edit)
    };
    edits.iter().find(differs).map(Edit::start)
}
