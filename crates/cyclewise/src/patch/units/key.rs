//! Static keys of C: flipped in the table of the link unit that they belong to, by whichever copy of the library is called.
//!
//! # Invariants
//! 1. A key, its tests and its descriptor are in one link unit, which stays loaded during the call: its own code makes it.
//! 2. The key's words change under this copy's text lock and the link unit's, or under the former where the unit has no descriptor.
//!
//! # Safety
//! The contract of the exported functions is Invariant 1.
#![expect(unsafe_code, reason = "descriptors and keys of C, by their address")]

use super::key_sites::Sites;
use crate::error::Refusal;
use crate::patch::text::Goal;
use crate::patch::text_lock;
use crate::patch::unit::{self, Unit};
use core::ffi::c_void;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU16, AtomicU32};

/// A static key of C: `struct cw_key` of `cyclewise/atomic.h`.
#[doc(alias = "cw_key")]
#[repr(C, align(8))]
#[derive(Debug)]
pub struct Key {
    /// The current value, 0 or 1.
    on: AtomicU8,
    /// The value that tests fall through for, 0 or 1.
    default: u8,
    /// Whether it is enabled, 0 or 1.
    switched: AtomicU16,
    users: AtomicU32,
    /// Unused.
    cookie: AtomicPtr<c_void>,
}

/// Enables or disables a key of C. It stays on while it has users.
///
/// # Errors
/// [`Refusal::BadUnit`] where the descriptor is of another version or describes no table, else as
/// [`StaticKey::enable`](crate::patch::StaticKey::enable). The key is then unchanged.
///
/// # Safety
/// `unit` is the descriptor of the link unit that contains `key` and all its tests, and stays loaded until this returns; or null, if
/// that unit has none, because no test in it is a site.
/// `key` is a key that only these functions change. No address of a test of it is shared with other data of the text.
pub unsafe fn key_set(unit: *const Unit, key: *const Key, on: bool) -> Result<(), Refusal> {
    // SAFETY: the caller's promise is the same.
    unsafe { change(unit, key, |_, users| Ok((on, users))) }
}

/// Adds a user to a key of C. The first one switches it on.
///
/// # Errors
/// As [`key_set`]; [`Refusal::TooManyUsers`].
///
/// # Safety
/// As [`key_set`].
pub unsafe fn key_inc(unit: *const Unit, key: *const Key) -> Result<(), Refusal> {
    let inc = |switched, users: u32| match users.checked_add(1) {
        Some(users) => Ok((switched, users)),
        None => Err(Refusal::TooManyUsers),
    };
    // SAFETY: the caller's promise is the same.
    unsafe { change(unit, key, inc) }
}

/// Removes a user from a key of C. The last one switches it off, unless it is enabled.
///
/// # Errors
/// As [`key_set`]; [`Refusal::NoUsers`].
///
/// # Safety
/// As [`key_set`].
pub unsafe fn key_dec(unit: *const Unit, key: *const Key) -> Result<(), Refusal> {
    let dec = |switched, users: u32| match users.checked_sub(1) {
        Some(users) => Ok((switched, users)),
        None => Err(Refusal::NoUsers),
    };
    // SAFETY: the caller's promise is the same.
    unsafe { change(unit, key, dec) }
}

/// Changes `(switched, users)`, and flips the sites if the value changes.
///
/// # Safety
/// As [`key_set`].
unsafe fn change(
    unit: *const Unit,
    key: *const Key,
    to: impl FnOnce(bool, u32) -> Result<(bool, u32), Refusal>,
) -> Result<(), Refusal> {
    // SAFETY: null or a key (Invariant 1). The lifetime is longer than the caller's promise, and ends with this call.
    let key: &'static Key = unsafe { key.as_ref() }.ok_or(Refusal::BadUnit { at: 0 })?;
    // SAFETY: null or a descriptor (Invariant 1); the lifetime as above.
    let Some(unit) = (unsafe { unit.as_ref::<'static>() }) else {
        return change_without_sites(key, to);
    };
    unit.check()?;
    // Before the locks: this waits for the dynamic linker.
    unit::examine(unit);
    // Before the locks, and freed after them: see `StaticKey`.
    // SAFETY: the descriptor is the link unit's (Invariant 1).
    let mut sites = unsafe { Sites::list(unit, (&raw const *key).cast()) }?;
    // SAFETY: null or the words of the link unit's lock (Invariant 1).
    let words = unsafe { unit.text_lock().as_ref() }.ok_or_else(|| unit.bad())?;
    let held = text_lock::lock_with(words)?;
    // Relaxed, here and below: the locks order them.
    let (switched, users) = to(key.switched.load(Relaxed) != 0, key.users.load(Relaxed))?;
    let on = switched || users > 0;
    // As for a `StaticKey`.
    let must = on != (key.on.load(Relaxed) != 0) || held.was_taken_over();
    let flips = must || sites.read_back(on != (key.default != 0)).is_err();
    if flips {
        let goal = Goal {
            state: &key.on,
            value: on,
        };
        // SAFETY: the unit stays loaded during this call (Invariant 1), and its lock is held.
        let canary = unsafe { Sites::ask_canary(held.own(), unit) };
        let flipped = canary.and_then(|()| sites.flip(held.own(), on != (key.default != 0), goal));
        // As for a `StaticKey`.
        if must || users == key.users.load(Relaxed) {
            flipped?;
        }
        key.on.store(u8::from(on), Relaxed);
    }
    key.switched.store(u16::from(switched), Relaxed);
    key.users.store(users, Relaxed);
    drop(held);
    if flips {
        // As after a flip of a `StaticKey`.
        let _ = crate::patch::confined::audit();
    }
    Ok(())
}

/// Changes a key whose link unit has no descriptor, and so no sites: every test reads its value.
fn change_without_sites(key: &Key, to: impl FnOnce(bool, u32) -> Result<(bool, u32), Refusal>) -> Result<(), Refusal> {
    let held = text_lock::lock()?;
    // Relaxed: the lock orders them, and a test orders nothing.
    let (switched, users) = to(key.switched.load(Relaxed) != 0, key.users.load(Relaxed))?;
    key.on.store(u8::from(switched || users > 0), Relaxed);
    key.switched.store(u16::from(switched), Relaxed);
    key.users.store(users, Relaxed);
    drop(held);
    Ok(())
}
