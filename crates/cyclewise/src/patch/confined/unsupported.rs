//! Confined mode's counterpart where thread creation cannot be hooked: the same names, and a refusal.
//!
//! # Safety
//! Nothing here is unsafe: the keyword on [`enter`] keeps callers the same in every build.
#![expect(unsafe_code, reason = "a function whose callers write `unsafe` in every build")]

use super::single::unsupported;
use crate::error::Refusal;
use core::convert::Infallible;

/// Confined mode is in force while this exists, which is never here.
#[derive(Debug)]
#[must_use = "dropping the guard leaves confined mode"]
pub struct Guard(Infallible);

/// Leaving failed, which never happens here.
#[derive(Debug)]
pub struct Stuck {
    /// Confined mode is in force as long as this exists.
    pub guard: Guard,
    /// Why leaving failed.
    pub refusal: Refusal,
}

/// Refuses: no thread is confined, and LOCK stays.
///
/// # Errors
/// Always: [`Refusal::Unwatched`], or [`Refusal::NoLockPrefix`] on other architectures.
///
/// # Safety
/// No requirement here. Other builds have a contract.
pub unsafe fn enter(_cpu: Option<u32>) -> Result<Guard, Refusal> {
    Err(unsupported())
}

/// Succeeds: confined mode is never in force here.
///
/// # Errors
/// None.
pub fn check() -> Result<(), Refusal> {
    Ok(())
}

/// Succeeds: confined mode is never in force here.
///
/// # Errors
/// None.
pub fn audit() -> Result<(), Refusal> {
    Ok(())
}

/// Refuses: there is no mode to leave.
///
/// # Errors
/// Always, as [`enter`].
pub fn leave() -> Result<(), Refusal> {
    Err(unsupported())
}

impl Guard {
    /// The one CPU.
    #[must_use]
    pub fn cpu(&self) -> u32 {
        match self.0 {}
    }

    /// Leaves the mode.
    ///
    /// # Errors
    /// None: there is no guard.
    pub fn leave(self) -> Result<(), Stuck> {
        match self.0 {}
    }
}
