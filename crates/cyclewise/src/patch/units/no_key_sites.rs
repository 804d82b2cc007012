//! The counterpart where text is not patched: tests read the key's value.
//!
//! # Safety
//! No contract is needed here; the signatures are the other file's.
#![expect(unsafe_code, reason = "the counterpart of functions with a contract")]

use crate::error::Refusal;
use crate::patch::text::Goal;
use crate::patch::text_guard::TextGuard;
use crate::patch::unit::Unit;

pub(super) struct Sites;

impl Sites {
    pub(super) unsafe fn list(_: &Unit, _: *const ()) -> Result<Self, Refusal> {
        Ok(Self)
    }

    pub(super) fn read_back(&self, _: bool) -> Result<(), Refusal> {
        Ok(())
    }

    pub(super) unsafe fn ask_canary(_: &TextGuard, _: &Unit) -> Result<(), Refusal> {
        Ok(())
    }

    pub(super) fn flip(&mut self, _: &TextGuard, _: bool, _: Goal) -> Result<(), Refusal> {
        Ok(())
    }
}
