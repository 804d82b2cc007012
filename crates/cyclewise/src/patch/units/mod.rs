//! Link units: what an executable and its shared objects tell each other about their sites.
//!
//! Each has a descriptor ([`Unit`]) with the bounds of its tables, and an ELF note by which others find it. These functions are
//! called by the C interface.
//!
//! # Safety
//! Descriptors are C's: callers vouch that they are what they say.
#![expect(unsafe_code, reason = "descriptors of C, by their address")]

mod key;
#[cfg_attr(not(target_arch = "x86_64"), path = "no_key_sites.rs")]
mod key_sites;
#[cfg(all(feature = "std", target_arch = "x86_64", target_env = "gnu"))]
mod lifetime;

pub use super::unit::Unit;
pub use key::{Key, key_dec, key_inc, key_set};

use super::coordinator;
use crate::error::Refusal;

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
    coordinator::register(unit)
}
