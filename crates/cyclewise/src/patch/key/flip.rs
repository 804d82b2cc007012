//! The sites of a key, and flipping all of them in one batch.
//!
//! # Safety
//! 1. A site is one instruction in one aligned quadword: a NOP, or the JMP to its target. Both are right at any time,
//!    and the compiler made the code behind either (`arch::x86_64::key`, Invariants 1 and 2).
#![expect(unsafe_code, reason = "edits text")]

use super::StaticKey;
use crate::arch::code;
use crate::arch::key::{self, Table};
use crate::error::Refusal;
use crate::patch::canary::{self, SiteKind};
use crate::patch::sites::TextReader;
use crate::patch::text::{self, Edit, Goal};
use crate::patch::text_edit::unexpected_byte;
use crate::patch::text_guard::TextGuard;
use crate::patch::unit;
use crate::patch::unit::Unit;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

/// The edits that flip every test of a key away from its default.
pub(in crate::patch) struct Sites(Vec<Edit>);

impl Sites {
    /// Lists them.
    ///
    /// # Errors
    /// [`Refusal::NoMemory`], [`Refusal::SharedSite`].
    pub(super) fn list(key: &'static StaticKey) -> Result<Self, Refusal> {
        if let Some(unit) = unit::own() {
            // Before the lock: this waits for the dynamic linker.
            unit::examine(unit);
        }
        // Relaxed: pairs with the store below; it says something of what never changes.
        let unshared = key.unshared.load(Relaxed);
        let listed = Self::in_table(Table::own(), (&raw const *key).cast(), unshared)?;
        key.unshared.store(true, Relaxed); // Pairs with the load above.
        Ok(listed)
    }

    /// [`ask_canary`](Self::ask_canary) of this link unit.
    pub(super) fn ask_own_canary(held: &TextGuard) -> Result<(), Refusal> {
        // SAFETY: this unit is loaded while its code runs, and its text lock is the one held.
        unit::own().map_or(Ok(()), |unit| unsafe { Self::ask_canary(held, unit) })
    }

    /// Lists those in a link unit's table; checks that they are no other key's, unless that is known.
    ///
    /// # Errors
    /// [`Refusal::NoMemory`], [`Refusal::SharedSite`], [`Refusal::Misshapen`].
    pub(in crate::patch) fn in_table(table: Table, key: *const (), unshared: bool) -> Result<Self, Refusal> {
        let found = table.sites(key);
        let mut edits = Vec::new();
        let room = edits.try_reserve_exact(2 * found.clone().count());
        room.map_err(|_| Refusal::NoMemory)?;
        for site in found {
            if site.prefixes > key::MOST_PREFIXES {
                return Err(Refusal::Misshapen { at: site.at.addr() });
            }
            // Checked and not changed: a debugger puts a breakpoint on the instruction's first byte.
            if site.prefixes > 0 {
                let prefixes = [key::PREFIX; 8];
                edits.push(Edit {
                    at: site.at.wrapping_sub(site.prefixes),
                    len: site.prefixes as u8,
                    expect: prefixes,
                    new: prefixes,
                });
            }
            edits.push(Edit {
                at: site.at,
                len: key::LENGTH as u8,
                expect: padded(key::NOP),
                new: padded(site.jump()),
            });
        }
        edits.sort_unstable_by_key(|edit| edit.at);
        let is_ours = |at: &usize| edits.binary_search_by_key(at, |edit| edit.at.addr()).is_ok();
        let shared = if unshared {
            None
        } else {
            table.sites_of_others(key).find(is_ours)
        };
        shared.map_or(Ok(Self(edits)), |at| Err(Refusal::SharedSite { at }))
    }

    /// A uprobe that was added to a test that jumps, and removed before it was hit, leaves the first byte of the NOP before the others of
    /// the jump: the kernel takes it from the file. That is no instruction of ours, and is expected too.
    fn expect_leftovers(&mut self, jump: bool) {
        let mut reader = TextReader::new();
        for edit in self.0.iter_mut().filter(|edit| usize::from(edit.len) == key::LENGTH) {
            let mut left = if jump { edit.new } else { edit.expect };
            left[0] = key::NOP[0];
            if bytes(edit, &mut reader) == Some(left) {
                edit.expect = left;
            }
        }
    }

    /// Checks that what is written to tests of this unit is what runs, before the first of them is.
    ///
    /// # Errors
    /// [`Refusal::MovedText`]; as [`flip`](Self::flip).
    ///
    /// # Safety
    /// The unit is loaded, and the caller holds its text lock.
    pub(in crate::patch) unsafe fn ask_canary(held: &TextGuard, unit: &Unit) -> Result<(), Refusal> {
        // SAFETY: the bytes of a canary are right at any time, and in one quadword.
        let apply = |edits: &mut [Edit]| unsafe { text::apply_held(held, edits, None) };
        // SAFETY: the caller's promise.
        unsafe { canary::check(unit.canary(), SiteKind::Several, apply) }
    }

    /// Looks whether every test jumps or falls through, as `jump` says.
    ///
    /// # Errors
    /// [`Refusal::Breakpoint`], [`Refusal::UnexpectedByte`], [`Refusal::NotText`] of one that does not.
    pub(in crate::patch) fn read_back(&self, jump: bool) -> Result<(), Refusal> {
        let mut reader = TextReader::new();
        self.0.iter().try_for_each(|edit| {
            let expected = if jump { edit.new } else { edit.expect };
            let at = edit.at.addr();
            let there = bytes(edit, &mut reader).ok_or(Refusal::NotText { at })?;
            let differs = (0..usize::from(edit.len)).find(|i| there[*i] != expected[*i]);
            differs.map_or(Ok(()), |i| Err(unexpected_byte(at + i, there[i])))
        })
    }

    /// Makes every test jump or fall through, as `goal` says. Takes `self` by reference, so that the list is freed
    /// after the lock is released.
    ///
    /// # Errors
    /// See [`Refusal`]; no site has changed then.
    pub(in crate::patch) fn flip(&mut self, held: &TextGuard, jump: bool, goal: Goal) -> Result<(), Refusal> {
        if !jump {
            for edit in &mut self.0 {
                core::mem::swap(&mut edit.expect, &mut edit.new);
            }
        }
        self.expect_leftovers(jump);
        // SAFETY: each record is a NOP and the jump compiled for the same site (Invariant 1).
        unsafe { text::apply_held(held, &mut self.0, Some(goal)) }
    }
}

/// What a test's edit is about to replace; `None` where it cannot be read.
fn bytes(edit: &Edit, reader: &mut TextReader) -> Option<[u8; 8]> {
    let length = usize::from(edit.len);
    // SAFETY: a site of a link unit that stays mapped, of which the kernel could read the page just now.
    reader
        .can_read(edit.at.addr())
        .then(|| unsafe { code::load(edit.at, length) })
}

fn padded(bytes: [u8; key::LENGTH]) -> [u8; 8] {
    let [a, b, c, d, e] = bytes;
    [a, b, c, d, e, 0, 0, 0]
}

pub(super) fn addresses(key: &'static StaticKey) -> impl Iterator<Item = usize> {
    Table::own().sites((&raw const *key).cast()).map(|site| site.at.addr())
}
