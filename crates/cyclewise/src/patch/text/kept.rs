//! Edits that will be reversed: a descriptor stays open for that, so that a sandbox cannot prevent it.
//!
//! # Safety
//! 1. Contracts are those of [`super::apply_held`], passed on.
#![expect(unsafe_code, reason = "unsafe contracts passed on")]

use super::write::{self, Source};
use super::{change, mem_fd};
use crate::error::Refusal;
use crate::patch::text_edit::{Edit, Others};
use crate::patch::text_guard::TextGuard;

/// `apply_held` for edits that will be reversed: keeps a descriptor open, so that a sandbox cannot prevent reversing
/// them.
///
/// # Errors
/// As `apply_held`; then nothing is kept open, unless the text is half written.
///
/// # Safety
/// As `apply_held`; with [`Others::None`], the calling thread is the only one of the process that can run its code.
pub(crate) unsafe fn apply_and_keep(held: &TextGuard, edits: &mut [Edit], others: Others) -> Result<(), Refusal> {
    mem_fd::keep(held);
    // SAFETY: the caller's contract is the same, `others` included.
    let applied = unsafe { change(held, edits, None, others, Source::Kept) };
    if applied.is_err_and(|refusal| !matches!(refusal, Refusal::HalfWritten { .. })) {
        mem_fd::release(held);
    }
    applied
}

/// `apply_held` for sites that join those of [`apply_and_keep`], or leave them: the descriptor stays as it is.
///
/// # Errors
/// As `apply_held`.
///
/// # Safety
/// As `apply_held`; with [`Others::None`], the calling thread is the only one of the process that can run its code.
pub(crate) unsafe fn apply_more(held: &TextGuard, edits: &mut [Edit], others: Others) -> Result<(), Refusal> {
    // SAFETY: the caller's contract is the same, `others` included.
    unsafe { change(held, edits, None, others, first_source(others)) }
}

/// The descriptor that was kept open comes first where nobody else can close it.
fn first_source(others: Others) -> Source {
    match others {
        Others::Asked => Source::Opened,
        Others::None => Source::Kept,
    }
}

/// Reverses edits of [`apply_and_keep`], and closes the descriptor.
///
/// # Errors
/// As `apply_held`; then the descriptor stays open.
///
/// # Safety
/// As `apply_held`; with [`Others::None`], the calling thread is the only one of the process that can run its code.
pub(crate) unsafe fn apply_and_release(held: &TextGuard, edits: &mut [Edit], others: Others) -> Result<(), Refusal> {
    // SAFETY: the caller's contract is the same, `others` included.
    unsafe { change(held, edits, None, others, first_source(others)) }?;
    mem_fd::release(held);
    Ok(())
}

/// Prepares reversing edits of [`apply_and_keep`]: pages that other code has made execute-only since become readable again. LOCK comes
/// before that code's wish.
pub(crate) fn make_readable(held: &TextGuard, edits: &[Edit]) {
    // SAFETY: edits of sites, under the lock.
    unsafe { write::make_readable(held, edits) };
}
