//! The text locks of several link units: the coordinator's and those of the units whose sites it changes.

use super::text_guard::TextGuard;
use super::text_lock;
use super::unit::hosted::registry::{self, Slot};
use crate::error::Refusal;

/// Proof that the calling thread holds the text locks of the coordinator and of the units whose sites it changes.
pub(super) struct TextLocks {
    // Released first: the record of a change is cleared before anybody else changes a unit's text.
    own: TextGuard,
    _units: Units,
}

/// Releases units' text locks on drop.
struct Units;

impl Drop for Units {
    fn drop(&mut self) {
        registry::release();
    }
}

impl TextLocks {
    /// Takes the locks of all units in the edit list. For the holder of the mode lock.
    ///
    /// # Errors
    /// As [`text_lock::lock`].
    pub(super) fn all() -> Result<Self, Refusal> {
        Self::take(registry::ready().filter(|slot| slot.is_listed()))
    }

    /// Takes those of some units.
    ///
    /// # Errors
    /// As [`text_lock::lock`].
    pub(super) fn take(mut slots: impl Iterator<Item = &'static Slot>) -> Result<Self, Refusal> {
        let locks = Self {
            own: text_lock::lock()?,
            _units: Units,
        };
        slots.try_for_each(Slot::hold)?;
        Ok(locks)
    }

    pub(super) fn own(&self) -> &TextGuard {
        &self.own
    }
}
