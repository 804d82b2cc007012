//! The edits that turn every site of this link unit, kept between changes so that going back needs no memory.
//!
//! # Safety
//! Sites lie in this link unit's text, which stays mapped while this code runs; whoever holds the plan holds the mode_lock,
//! so nobody else of ours edits them (Invariant 1).
#![expect(unsafe_code, reason = "applies edits of text")]

use super::sites::{Prefix, sites};
use super::text::{self, Edit, Others};
use super::text_lock;
use crate::arch;
use crate::error::Refusal;
use std::vec::Vec;

/// INT3, which debuggers and uprobes put in place of an instruction's first byte.
const BREAKPOINT: u8 = 0xcc;

/// The edits, ascending by address, each address once.
pub(super) struct EditList(Vec<Edit>);

impl EditList {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Lists the sites, each of which has to have LOCK.
    ///
    /// # Errors
    /// [`Refusal::Breakpoint`] and [`Refusal::UnexpectedByte`], also where a site is elided and not by this copy of the crate.
    pub(super) fn check_locked(&mut self) -> Result<(), Refusal> {
        if self.0.is_empty() {
            self.collect_sites();
        }
        let other = sites().find_map(|site| match site.prefix() {
            Prefix::Lock => None,
            Prefix::Elided => Some((site, arch::ELIDED)),
            Prefix::Other(byte) => Some((site, byte)),
        });
        match other {
            None => Ok(()),
            Some((site, BREAKPOINT)) => Err(Refusal::Breakpoint { at: site.address() }),
            Some((site, found)) => Err(Refusal::UnexpectedByte {
                at: site.address(),
                found,
            }),
        }
    }

    /// Takes LOCK away everywhere, and keeps open what putting it back needs.
    ///
    /// # Errors
    /// Where the text cannot be written; [`none_elided`] tells whether that was undone.
    ///
    /// # Safety
    /// Until [`restore`](Self::restore) or [`restore_alone`](Self::restore_alone) returns `Ok`, all threads of this process are on one
    /// CPU at a time.
    pub(super) unsafe fn elide(&mut self) -> Result<(), Refusal> {
        self.set_direction(arch::LOCK, arch::ELIDED);
        let held = text_lock::lock()?;
        // SAFETY: Invariant 1. Either prefix makes one whole instruction, and the caller vouches for the elided one.
        unsafe { text::apply_and_keep(&held, &mut self.0) }
    }

    /// Puts LOCK back everywhere, and makes every CPU that runs this process fetch it.
    ///
    /// # Errors
    /// Where the text cannot be written, or a site does not read LOCK afterwards.
    pub(super) fn restore(&mut self) -> Result<(), Refusal> {
        // SAFETY: whether there are other threads is asked.
        unsafe { self.restore_with(Others::Asked) }
    }

    /// Puts LOCK back everywhere in a process of one thread, and makes the calling CPU fetch it. Asks nothing of the
    /// kernel that a sandbox may have refused since LOCK was taken away, as far as that can be had: it writes by what was
    /// kept, and calls no membarrier.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    ///
    /// # Safety
    /// The calling thread is the only one of the process.
    pub(super) unsafe fn restore_alone(&mut self) -> Result<(), Refusal> {
        // SAFETY: the caller is the only thread.
        unsafe { self.restore_with(Others::None) }
    }

    /// # Safety
    /// With [`Others::None`], the calling thread is the only one of the process.
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

/// Whether no site is elided. A breakpoint on a site was refused before, so it stands where LOCK was.
pub(super) fn none_elided() -> bool {
    sites().all(|site| site.prefix() != Prefix::Elided)
}
