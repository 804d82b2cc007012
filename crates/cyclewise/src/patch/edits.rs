//! The edit list: one edit for each LOCK site of this link unit. It is kept between changes, so that restoring LOCK
//! allocates nothing.
//!
//! # Safety
//! Sites lie in this link unit's text, which stays mapped while this code runs. Only the holder of the mode lock has
//! the list, so no other thread of ours edits these sites (Invariant 1 of `mode_lock`).
#![expect(unsafe_code, reason = "applies edits of text")]

use super::sites::{Prefix, sites};
use super::text::{self, Edit, Others};
use super::text_edit::unexpected_byte;
use super::text_lock;
use crate::arch;
use crate::error::Refusal;
use std::vec::Vec;

/// The edits, sorted by address, without duplicates.
pub(super) struct EditList(Vec<Edit>);

impl EditList {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Checks that every site has LOCK, and collects the sites if that was not done yet.
    ///
    /// # Errors
    /// [`Refusal::Breakpoint`] and [`Refusal::UnexpectedByte`], the latter also where another copy of the crate elided
    /// a site.
    pub(super) fn check_locked(&mut self) -> Result<(), Refusal> {
        if self.0.is_empty() {
            self.collect_sites();
        }
        let other = sites().find_map(|site| match site.prefix() {
            Prefix::Lock => None,
            Prefix::Elided => Some((site, arch::ELIDED)),
            Prefix::Other(byte) => Some((site, byte)),
        });
        other.map_or(Ok(()), |(site, found)| Err(unexpected_byte(site.address(), found)))
    }

    /// Elides LOCK everywhere, and keeps a descriptor open for restoring it.
    ///
    /// # Errors
    /// Where the text cannot be written. [`none_elided`] tells whether that was rolled back.
    ///
    /// # Safety
    /// Until [`restore`](Self::restore) or [`restore_alone`](Self::restore_alone) returns `Ok`, all threads of this process are on one
    /// CPU at a time.
    pub(super) unsafe fn elide(&mut self) -> Result<(), Refusal> {
        // SAFETY: the caller vouches for the elided prefix, and `Others::Asked` asks the kernel for other threads.
        unsafe { self.elide_with(Others::Asked) }
    }

    /// The same where no other thread can run. Uses no membarrier, whichever threads the kernel still counts.
    ///
    /// # Errors
    /// As [`elide`](Self::elide).
    ///
    /// # Safety
    /// As [`elide`](Self::elide). And the calling thread is the only one of the process that can run its code, and creates
    /// none before this returns, in a handler either.
    pub(super) unsafe fn elide_alone(&mut self) -> Result<(), Refusal> {
        // SAFETY: the caller vouches for the elided prefix, and is the only thread that can run.
        unsafe { self.elide_with(Others::None) }
    }

    /// # Safety
    /// As [`elide`](Self::elide); with [`Others::None`], as [`elide_alone`](Self::elide_alone).
    unsafe fn elide_with(&mut self, others: Others) -> Result<(), Refusal> {
        self.set_direction(arch::LOCK, arch::ELIDED);
        let held = text_lock::lock()?;
        // SAFETY: Invariant 1. Either prefix makes one whole instruction, and the caller vouches for the elided one and for
        // `others`.
        unsafe { text::apply_and_keep(&held, &mut self.0, others) }
    }

    /// Restores LOCK everywhere, and makes every CPU that runs this process fetch it.
    ///
    /// # Errors
    /// Where the text cannot be written, or a site does not read LOCK afterwards.
    pub(super) fn restore(&mut self) -> Result<(), Refusal> {
        // SAFETY: `Others::Asked` asks the kernel for other threads.
        unsafe { self.restore_with(Others::Asked) }
    }

    /// Restores LOCK everywhere where no other thread can run, and makes the calling CPU fetch it. Uses the descriptor
    /// kept open, and no membarrier: a sandbox entered since may refuse anything else.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    ///
    /// # Safety
    /// The calling thread is the only one of the process that can run its code.
    pub(super) unsafe fn restore_alone(&mut self) -> Result<(), Refusal> {
        // SAFETY: the caller is the only thread that can run.
        unsafe { self.restore_with(Others::None) }
    }

    /// # Safety
    /// With [`Others::None`], the calling thread is the only one of the process that can run its code.
    unsafe fn restore_with(&mut self, others: Others) -> Result<(), Refusal> {
        if self.0.is_empty() {
            self.collect_sites();
        }
        self.set_direction(arch::ELIDED, arch::LOCK);
        let held = text_lock::lock()?;
        // SAFETY: Invariant 1. An instruction with LOCK is right in every mode, and the caller vouches for `others`.
        unsafe { text::apply_and_release(&held, &mut self.0, others) }?;
        self.check_locked()
    }

    fn collect_sites(&mut self) {
        self.0.extend(sites().map(|site| Edit {
            at: core::ptr::with_exposed_provenance_mut(site.address()),
            len: 1,
            expect: [0; 8],
            new: [0; 8],
        }));
        self.0.sort_unstable_by_key(|edit| edit.at);
        self.0.dedup_by_key(|edit| edit.at);
    }

    fn set_direction(&mut self, expect: u8, new: u8) {
        for edit in &mut self.0 {
            edit.expect[0] = expect;
            edit.new[0] = new;
        }
    }
}

/// Whether no site is elided. Sites with a breakpoint were refused before, so one found now replaced LOCK.
pub(super) fn none_elided() -> bool {
    sites().all(|site| site.prefix() != Prefix::Elided)
}
