//! A key's sites where text is not patched: none. Every test reads the key's flag.

use super::StaticKey;
use crate::error::Refusal;
use crate::patch::text::Goal;
use crate::patch::text_guard::TextGuard;

/// No sites: tests read the key's flag.
pub(super) struct Sites;

impl Sites {
    pub(super) fn list(_: &'static StaticKey) -> Result<Self, Refusal> {
        Ok(Self)
    }

    /// Tests read the flag.
    pub(super) fn read_back(&self, _jump: bool) -> Result<(), Refusal> {
        Ok(())
    }

    /// Nothing is written to text.
    pub(super) fn ask_own_canary(_: &TextGuard) -> Result<(), Refusal> {
        Ok(())
    }

    /// Nothing to do: tests read the flag.
    pub(super) fn flip(&mut self, _: &TextGuard, _jump: bool, _: Goal) -> Result<(), Refusal> {
        Ok(())
    }
}

pub(super) fn addresses(_: &'static StaticKey) -> impl Iterator<Item = usize> {
    core::iter::empty()
}
