//! Where the dynamic linker lists link units: one copy of the crate coordinates them all.

mod adopting;
mod operations;

pub(super) use adopting::{adopt_present, elide_newcomers, register};
pub(super) use operations::{answer_seen, answer_state, coordinate, lock_elsewhere, reelide_elsewhere, shared};
