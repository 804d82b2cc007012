//! Link units: what an executable and its shared objects tell each other about their sites.
//!
//! Each has a descriptor ([`Unit`]) with the bounds of its tables, and an ELF note by which others find it. These functions are
//! called by the C interface.
//!
//! # Safety
//! Descriptors are C's: callers vouch that they are what they say.
#![expect(unsafe_code, reason = "descriptors of C, by their address")]

#[cfg(all(feature = "std", target_env = "gnu"))]
mod adoption;
#[cfg(all(feature = "std", target_env = "gnu"))]
mod answer;
#[cfg(all(feature = "std", target_env = "gnu"))]
pub(super) mod coordinator;
mod key;
#[cfg_attr(
    not(all(feature = "std", target_env = "gnu")),
    allow(dead_code, reason = "nobody adopts it")
)]
mod lifetime;
#[cfg(all(feature = "std", target_env = "gnu"))]
pub(super) mod operations;
#[cfg(all(feature = "std", target_env = "gnu"))]
pub(super) mod registry;
#[cfg(all(feature = "std", target_env = "gnu"))]
mod states;
mod unit;

#[cfg(all(feature = "std", target_env = "gnu"))]
pub(super) use adoption::examine;
pub(super) use lifetime::own;

pub use key::{Key, key_dec, key_inc, key_set};
pub use unit::Unit;

use crate::error::Refusal;

/// Nobody lists link units in this build.
#[cfg(not(all(feature = "std", target_env = "gnu")))]
pub(super) fn examine(_: &Unit) {}

/// Asks for a link unit's sites to be patched with the program's from now on. True where they are; false where LOCK stays in them
/// until the program elides the next time, and for the unit whose copy elides.
///
/// # Errors
/// [`Refusal::BadUnit`], also where the dynamic linker does not list the unit for the copy that elides, as it is in another namespace
/// (dlmopen(3)). [`Refusal::Breakpoint`] and [`Refusal::UnexpectedByte`] where one of its sites does not have LOCK,
/// [`Refusal::NoMemory`] where there are too many units.
///
/// # Safety
/// `unit` is null or the descriptor of a link unit that stays loaded until its destructor has run.
pub unsafe fn register(unit: *const Unit) -> Result<bool, Refusal> {
    // SAFETY: the caller's promise.
    let unit = unsafe { unit.as_ref() }.ok_or(Refusal::BadUnit { at: 0 })?;
    unit.check()?;
    ask(unit)
}

#[cfg(all(feature = "std", target_env = "gnu"))]
fn ask(unit: &Unit) -> Result<bool, Refusal> {
    coordinator::register(unit)
}

/// No coordinator in this build.
#[cfg(not(all(feature = "std", target_env = "gnu")))]
fn ask(_: &Unit) -> Result<bool, Refusal> {
    Ok(false)
}
