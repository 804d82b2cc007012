//! The sites of a key, and flipping all of them in one batch.
//!
//! # Safety
//! 1. A site is one instruction in one aligned quadword: a NOP, or the JMP to its target. Both are right at any time,
//!    and the compiler made the code behind either (`arch::x86_64::key`, Invariants 1 and 2).
#![expect(unsafe_code, reason = "edits text")]

use super::StaticKey;
use crate::arch::key::{self, Table};
use crate::error::Refusal;
use crate::patch::canary::{self, SiteKind};
use crate::patch::text::{self, Edit, Goal};
use crate::patch::text_lock::TextGuard;
use crate::patch::units;
use crate::patch::units::Unit;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

/// The edits that flip every test of a key away from its default.
pub(in crate::patch) struct Sites(Vec<Edit>);

impl Sites {
    /// Lists them.
    ///
    /// # Errors
    /// [`Refusal::NoMemory`], [`Refusal::SharedSite`].
    pub(super) fn of(key: &'static StaticKey) -> Result<Self, Refusal> {
        if let Some(unit) = units::own() {
            // Before the lock: this waits for the dynamic linker.
            units::examine(unit);
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
        units::own().map_or(Ok(()), |unit| unsafe { Self::ask_canary(held, unit) })
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
        unsafe { canary::check(unit, SiteKind::Several, apply) }
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
        // SAFETY: each record is a NOP and the jump compiled for the same site (Invariant 1).
        unsafe { text::apply_held(held, &mut self.0, Some(goal)) }
    }
}

fn padded(bytes: [u8; key::LENGTH]) -> [u8; 8] {
    let [a, b, c, d, e] = bytes;
    [a, b, c, d, e, 0, 0, 0]
}

/// The addresses of the key's tests.
pub(super) fn addresses(key: &'static StaticKey) -> impl Iterator<Item = usize> {
    Table::own().sites((&raw const *key).cast()).map(|site| site.at.addr())
}
