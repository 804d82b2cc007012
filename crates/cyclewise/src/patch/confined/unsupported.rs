//! Confined mode where thread creation cannot be watched: the same names, and a refusal.
//!
//! # Safety
//! Nothing here is unsafe by itself: the keyword on [`enter`] keeps callers alike.
#![expect(unsafe_code, reason = "a function whose callers write `unsafe` in every build")]

use super::single::unsupported;
use crate::error::Refusal;
use core::convert::Infallible;

/// Confined mode is in force while this exists: never, here.
#[derive(Debug)]
#[must_use = "dropping the guard leaves confined mode"]
pub struct Guard(Infallible);

/// Leaving failed: the guard to try again with, and why. Never, here.
#[derive(Debug)]
pub struct Stuck {
    /// Confined mode is in force as long as this exists.
    pub guard: Guard,
    /// Why it was not left.
    pub refusal: Refusal,
}

/// Refuses: no thread is confined, and LOCK stays.
///
/// # Errors
/// Always: [`Refusal::Unwatched`], or [`Refusal::NoLockPrefix`] where there is none.
///
/// # Safety
/// None is needed; where the mode can be had there is a contract.
pub unsafe fn enter(_cpu: Option<u32>) -> Result<Guard, Refusal> {
    Err(unsupported())
}

/// Whether confined mode was kept: it is never in force here.
///
/// # Errors
/// None.
pub fn check() -> Result<(), Refusal> {
    Ok(())
}

/// Whether confined mode was kept: it is never in force here.
///
/// # Errors
/// None.
pub fn audit() -> Result<(), Refusal> {
    Ok(())
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
