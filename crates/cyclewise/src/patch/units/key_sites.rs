//! The tests of a key of C in its unit, as the text's writer takes them.
//!
//! # Safety
//! Descriptors are C's: callers vouch that they are what they say.
#![expect(unsafe_code, reason = "descriptors of C, by their address")]

use crate::error::Refusal;
use crate::patch::text::Goal;
use crate::patch::text_guard::TextGuard;
use crate::patch::unit::Unit;

pub(super) struct Sites(crate::patch::key::flip::Sites);

impl Sites {
    /// # Safety
    /// The descriptor is a link unit's that is loaded.
    pub(super) unsafe fn list(unit: &Unit, key: *const ()) -> Result<Self, Refusal> {
        let [start, stop] = unit.keys();
        // SAFETY: the caller vouches for the descriptor, and so for the bounds in it.
        let table = unsafe { crate::arch::key::Table::between(start, stop) }.ok_or_else(|| unit.bad())?;
        crate::patch::key::flip::Sites::in_table(table, key, false).map(Self)
    }

    pub(super) fn read_back(&self, jump: bool) -> Result<(), Refusal> {
        self.0.read_back(jump)
    }

    /// # Safety
    /// The unit is loaded, and the caller holds its text lock.
    pub(super) unsafe fn ask_canary(held: &TextGuard, unit: &Unit) -> Result<(), Refusal> {
        // SAFETY: the caller's promise.
        unsafe { crate::patch::key::flip::Sites::ask_canary(held, unit) }
    }

    pub(super) fn flip(&mut self, held: &TextGuard, jump: bool, goal: Goal) -> Result<(), Refusal> {
        self.0.flip(held, jump, goal)
    }
}
