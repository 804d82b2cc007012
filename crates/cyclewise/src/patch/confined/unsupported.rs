//! Confined mode's twin where thread creation cannot be hooked: the same names, and a refusal.
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
///
/// # Examples
/// ```standalone_crate
/// use cyclewise::patch::{confined, single};
///
/// // SAFETY: threads are created by the C library only, and no atomics are shared with other processes.
/// let hooks = unsafe { cyclewise::enable_single!() }.and_then(|()| single::lock());
/// // SAFETY: as above, and nobody sets this process's affinities.
/// match hooks.and_then(|()| unsafe { confined::enter(None) }) {
///     Ok(guard) => {
///         std::thread::spawn(|| {}).join().unwrap(); // On the same CPU, without LOCK.
///         drop(guard);
///     }
///     Err(refusal) => println!("LOCK stays: {refusal}"),
/// }
/// assert_eq!(confined::check(), Ok(()));
/// ```
pub unsafe fn enter(_cpu: Option<u32>) -> Result<Guard, Refusal> {
    Err(unsupported())
}

/// Succeeds: confined mode is never in force here.
///
/// # Errors
/// None.
///
/// # Examples
/// ```
/// // `Ok` outside confined mode, too.
/// if let Err(violation) = cyclewise::patch::confined::check() {
///     panic!("updates may be lost: {violation}");
/// }
/// ```
pub fn check() -> Result<(), Refusal> {
    Ok(())
}

/// Succeeds: confined mode is never in force here.
///
/// # Errors
/// None.
///
/// # Examples
/// ```
/// if let Err(violation) = cyclewise::patch::confined::audit() {
///     panic!("updates may be lost: {violation}");
/// }
/// ```
pub fn audit() -> Result<(), Refusal> {
    Ok(())
}

/// Refuses: there is no mode to leave.
///
/// # Errors
/// Always, as [`enter`].
///
/// # Examples
/// ```
/// assert!(cyclewise::patch::confined::leave().is_err()); // Nobody has entered it.
/// ```
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
